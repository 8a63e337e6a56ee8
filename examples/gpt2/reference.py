#!/usr/bin/env python3
"""An independent reading of gpt2.tn in plain numpy, in f64.

`gpt2(ids, weights, n_head)` computes the scores; `shrink(text, ...)` turns the
text of gpt2.tn into that of a net of the same build with smaller dims, so that
the answer can be checked in a moment. Both serve the tests. Needs numpy;
writing a small net needs safetensors too.

    reference.py OUT     write a small net and its answers to the folder OUT:
                         gpt2.tn, gpt2.safetensors, and for each case
                         ids_BxS.npy (i32 [B, S]), logits_BxS.npy (f32 [B, V])
"""
import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EPS = 1e-5
SMALL = {"T": 16, "V": 50, "D": 16, "H": 2, "L": 2}
CASES = [(1, 1), (2, 7), (8, 16)]


def layernorm(x, g, b):
    c = x - x.mean(axis=-1, keepdims=True)
    return c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + EPS) * g + b


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) *
                                  (x + 0.044715 * x ** 3)))


def self_attention(x, t, n_head):
    """One sequence [S, D]; head after head, row after row."""
    s, d = x.shape
    k = d // n_head
    qkv = x @ t["attn.c_attn.weight"] + t["attn.c_attn.bias"]
    out = np.empty_like(x)
    for h in range(n_head):
        at = slice(h * k, (h + 1) * k)
        query, key, value = (qkv[:, i * d:(i + 1) * d][:, at]
                             for i in range(3))
        for i in range(s):
            score = key[:i + 1] @ query[i] / np.sqrt(k)
            e = np.exp(score - score.max())
            out[i, at] = (e / e.sum()) @ value[:i + 1]
    return out @ t["attn.c_proj.weight"] + t["attn.c_proj.bias"]


def block(x, t, n_head):
    """One transformer block over one sequence [S, D]."""
    a = x + self_attention(layernorm(x, t["ln_1.weight"], t["ln_1.bias"]),
                           t, n_head)
    m = layernorm(a, t["ln_2.weight"], t["ln_2.bias"])
    m = gelu_tanh(m @ t["mlp.c_fc.weight"] + t["mlp.c_fc.bias"])
    return a + m @ t["mlp.c_proj.weight"] + t["mlp.c_proj.bias"]


def gpt2(ids, weights, n_head, n_layer):
    """Scores [B, V] of the token after each row of ids [B, S], in f64."""
    w = {k: v.astype(np.float64) for k, v in weights.items()}
    out = []
    for row in ids:
        x = w["wte.weight"][row] + w["wpe.weight"][:len(row)]
        for i in range(n_layer):
            pre = f"h.{i}."
            x = block(x, {k[len(pre):]: v for k, v in w.items()
                          if k.startswith(pre)}, n_head)
        y = layernorm(x[-1], w["ln_f.weight"], w["ln_f.bias"])
        out.append(w["wte.weight"] @ y)
    return np.stack(out)


def random_weights(rng, T, V, D, H, L):
    """f32 tensors under the names of a GPT-2 checkpoint."""
    def draw(*shape, mean=0.0, scale=0.1):
        return (mean + scale * rng.standard_normal(shape)).astype(np.float32)

    def norm(name):
        return {f"{name}.weight": draw(D, mean=1.0), f"{name}.bias": draw(D)}

    def linear(name, a, b):
        return {f"{name}.weight": draw(a, b, scale=a ** -0.5),
                f"{name}.bias": draw(b)}

    assert D % H == 0
    out = {"wte.weight": draw(V, D, scale=0.5), "wpe.weight": draw(T, D),
           **norm("ln_f")}
    for i in range(L):
        out |= norm(f"h.{i}.ln_1") | norm(f"h.{i}.ln_2")
        out |= linear(f"h.{i}.attn.c_attn", D, 3 * D)
        out |= linear(f"h.{i}.attn.c_proj", D, D)
        out |= linear(f"h.{i}.mlp.c_fc", D, 4 * D)
        out |= linear(f"h.{i}.mlp.c_proj", 4 * D, D)
    return out


def shrink(text, **dims):
    """The text of gpt2.tn with other sizes; S then goes up to T."""
    for name, size in dims.items():
        text, n = re.subn(rf"\bdim {name} = \d+;", f"dim {name} = {size};",
                          text)
        assert n == 1, name
    text, n = re.subn(r"dim S in \[1, \d+\] opt [\d, ]+;",
                      f"dim S in [1, {dims['T']}] opt 1, {dims['T']};", text)
    assert n == 1
    return text


def main(args):
    if len(args) != 1:
        sys.exit(__doc__)
    from safetensors.numpy import save_file
    out = args[0]
    os.makedirs(out, exist_ok=True)
    rng = np.random.default_rng(4)
    weights = random_weights(rng, **SMALL)
    save_file(weights, os.path.join(out, "gpt2.safetensors"))
    with open(os.path.join(HERE, "gpt2.tn")) as f:
        text = shrink(f.read(), **SMALL)
    with open(os.path.join(out, "gpt2.tn"), "w") as f:
        f.write(text)
    for b, s in CASES:
        ids = rng.integers(0, SMALL["V"], size=(b, s)).astype(np.int32)
        logits = gpt2(ids, weights, SMALL["H"], SMALL["L"])
        np.save(os.path.join(out, f"ids_{b}x{s}.npy"), ids)
        np.save(os.path.join(out, f"logits_{b}x{s}.npy"),
                logits.astype(np.float32))


if __name__ == "__main__":
    main(sys.argv[1:])
