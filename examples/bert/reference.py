#!/usr/bin/env python3
"""An independent reading of bert.tn in plain numpy, in f64.

`bert(ids, real, kind, weights, n_head, n_layer)` computes the vectors of the
tokens; `shrink(text, ...)` turns the text of bert.tn into that of a net of the
same build with smaller dims. Needs numpy; writing a small net needs safetensors
too.

    reference.py OUT     write a small net and its answers to the folder OUT:
                         bert.tn, bert.safetensors, and for each case
                         {ids,kind,real}_BxS.npy and y_BxS.npy (f32 [B, S, D])
"""
import math
import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EPS = 1e-12
SMALL = {"T": 20, "V": 50, "D": 16, "H": 2, "L": 2}
CASES = [(1, 1), (2, 7), (3, 17)]
TABLES = "bert.embeddings."


def layernorm(x, t, name):
    c = x - x.mean(axis=-1, keepdims=True)
    c = c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + EPS)
    return c * t[name + ".gamma"] + t[name + ".beta"]


def dense(x, t, name):
    return x @ t[name + ".weight"].T + t[name + ".bias"]


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def self_attention(x, seen, t, pre, n_head):
    """One text [S, D]; head after head, row after row, over what is seen."""
    d = x.shape[1]
    k = d // n_head
    query, key, value = (dense(x, t, f"{pre}self.{name}")
                         for name in ("query", "key", "value"))
    out = np.empty_like(x)
    for h in range(n_head):
        at = slice(h * k, (h + 1) * k)
        for i in range(len(x)):
            score = key[seen][:, at] @ query[i, at] / math.sqrt(k)
            e = np.exp(score - score.max())
            out[i, at] = (e / e.sum()) @ value[seen][:, at]
    return dense(out, t, pre + "output.dense")


def layer(x, seen, t, pre, n_head):
    a = layernorm(x + self_attention(x, seen, t, pre + "attention.", n_head),
                  t, pre + "attention.output.LayerNorm")
    m = gelu(dense(a, t, pre + "intermediate.dense"))
    return layernorm(a + dense(m, t, pre + "output.dense"), t,
                     pre + "output.LayerNorm")


def bert(ids, real, kind, weights, n_head, n_layer):
    """Vectors [B, S, D] in f64."""
    t = {k: v.astype(np.float64) for k, v in weights.items()}
    out = []
    for b, row in enumerate(ids):
        x = (t[TABLES + "word_embeddings.weight"][row]
             + t[TABLES + "token_type_embeddings.weight"][kind[b]]
             + t[TABLES + "position_embeddings.weight"][:len(row)])
        x = layernorm(x, t, TABLES + "LayerNorm")
        for i in range(n_layer):
            x = layer(x, np.nonzero(real[b])[0], t,
                      f"bert.encoder.layer.{i}.", n_head)
        out.append(x)
    return np.stack(out)


def random_weights(rng, T, V, D, H, L):
    """f32 tensors under the names of a BERT checkpoint."""
    out = {}

    def draw(*shape, mean=0.0, scale=0.1):
        return (mean + scale * rng.standard_normal(shape)).astype(np.float32)

    def norm(name):
        out[name + ".gamma"] = draw(D, mean=1.0)
        out[name + ".beta"] = draw(D)

    def linear(name, i, o):
        out[name + ".weight"] = draw(o, i, scale=i ** -0.5)
        out[name + ".bias"] = draw(o)

    assert D % H == 0
    out[TABLES + "word_embeddings.weight"] = draw(V, D, scale=0.5)
    out[TABLES + "position_embeddings.weight"] = draw(T, D)
    out[TABLES + "token_type_embeddings.weight"] = draw(2, D)
    norm(TABLES + "LayerNorm")
    for i in range(L):
        pre = f"bert.encoder.layer.{i}."
        for name in ("query", "key", "value"):
            linear(f"{pre}attention.self.{name}", D, D)
        linear(pre + "attention.output.dense", D, D)
        norm(pre + "attention.output.LayerNorm")
        linear(pre + "intermediate.dense", D, 4 * D)
        linear(pre + "output.dense", 4 * D, D)
        norm(pre + "output.LayerNorm")
    return out


def shrink(text, **dims):
    """The text of bert.tn with other sizes; S then goes up to T."""
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
    rng = np.random.default_rng(7)
    weights = random_weights(rng, **SMALL)
    save_file(weights, os.path.join(out, "bert.safetensors"))
    with open(os.path.join(HERE, "bert.tn")) as f:
        text = shrink(f.read(), **SMALL)
    with open(os.path.join(out, "bert.tn"), "w") as f:
        f.write(text)
    for b, s in CASES:
        ids = rng.integers(0, SMALL["V"], size=(b, s)).astype(np.int32)
        kind = rng.integers(0, 2, size=(b, s)).astype(np.int32)
        length = rng.integers((s + 1) // 2, s + 1, size=(b, 1))
        real = np.arange(s)[None, :] < length
        y = bert(ids, real, kind, weights, SMALL["H"], SMALL["L"])
        for name, data in (("ids", ids), ("kind", kind), ("real", real),
                           ("y", y.astype(np.float32))):
            np.save(os.path.join(out, f"{name}_{b}x{s}.npy"), data)


if __name__ == "__main__":
    main(sys.argv[1:])
