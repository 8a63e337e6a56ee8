# Writes a module of n operators over f32[4, 8]: a chain whose links also reach
# back, and n/10 links without a name. With deep=1 a bare chain.
BEGIN {
	srand(1)
	print "tenon 1.0;"
	print "fn main(x: f32[4, 8], y: f32[4, 8]) -> (z: f32[4, 8]) {"
	print "  v0 = x + y;"
	split("tanh exp neg abs sqrt", one, " ")
	split("+ - *", two, " ")
	for (i = 1; i < n; i++) {
		before = "v" (i - 1)
		back = "v" int(i - 1 - rand() * (i < 50 ? i - 1 : 49))
		if (deep || i % 3 == 0)
			printf "  v%d = %s(%s);\n", i, one[1 + i % 5], before
		else
			printf "  v%d = %s %s %s;\n", i, before,
				two[1 + i % 3], back
	}
	printf "  return v%d;\n}\n", n - 1
}
