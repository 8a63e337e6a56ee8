#!/usr/bin/env python3
"""Make the weights of mlp.tn, five inputs, and the answer in f64.

Needs numpy. The weights are random: this example shows the mechanics; the
folder `digits` has nets that know something.
"""
import os

import numpy as np


def mlp(x, w1, b1, w2, b2):
    """Independent of Tenon: probabilities [n, 10] for x [n, 64]."""
    x, w1, b1, w2, b2 = (a.astype(np.float64) for a in (x, w1, b1, w2, b2))
    h = x @ w1 + b1
    z = np.where(h < 0, 0, h) @ w2 + b2
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    rng = np.random.default_rng(2)

    def draw(*shape):
        return rng.standard_normal(shape)

    t = {"x": draw(5, 64),
         "w1": draw(64, 32) * np.sqrt(2 / 64), "b1": 0.1 * draw(32),
         "w2": draw(32, 10) * np.sqrt(2 / 32), "b2": 0.1 * draw(10)}
    t = {name: a.astype(np.float32) for name, a in t.items()}
    t["expected"] = mlp(**t).astype(np.float32)
    for name, a in t.items():
        np.save(name + ".npy", a)


if __name__ == "__main__":
    main()
