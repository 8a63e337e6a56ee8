"""A text whose functions call the one before twice: 2 ** 24 calls in all."""
print("tenon 1.0;")
print("fn g0(x: f32) -> f32 { return exp(x); }")
for n in range(1, 25):
    print(f"fn g{n}(x: f32) -> f32 {{ return g{n-1}(g{n-1}(x)); }}")
