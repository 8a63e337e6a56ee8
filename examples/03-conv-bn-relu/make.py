#!/usr/bin/env python3
"""Make the filters of stem.tn, one picture, and the answer in f64.

Needs numpy and safetensors. The filters are Gabor functions, waves under a
bell, at eight angles and two phases; the picture is a disc on stripes.
"""
import os

import numpy as np
from safetensors.numpy import save_file

EPS = 1e-5


def filters():
    """[16, 3, 7, 7]: the same wave on the three colours."""
    y, x = np.mgrid[-3:4, -3:4]
    bell = np.exp(-(x * x + y * y) / 8)
    out = np.empty((16, 3, 7, 7))
    for m in range(16):
        angle, phase = (m // 2) * np.pi / 8, (m % 2) * np.pi / 2
        along = x * np.cos(angle) + y * np.sin(angle)
        wave = bell * np.cos(2 * np.pi * along / 5 + phase)
        out[m] = wave - wave.mean()
    return out


def picture():
    """[1, 3, 32, 32] from 0 to 1."""
    y, x = np.mgrid[0:32, 0:32]
    disc = (x - 15.5) ** 2 + (y - 15.5) ** 2 < 100
    stripes = ((x + y) // 4) % 2
    out = np.stack([disc * 1.0, np.where(disc, 0.5, stripes),
                    0.25 + 0.5 * stripes])
    return out[None]


def convolve(x, w):
    """Cross-correlation, stride 2, three zeros around: [1, 16, 16, 16]."""
    big = np.zeros((1, 3, 38, 38))
    big[:, :, 3:35, 3:35] = x
    y = np.zeros((1, 16, 16, 16))
    for i in range(16):
        for j in range(16):
            part = big[:, :, 2 * i:2 * i + 7, 2 * j:2 * j + 7]
            y[:, :, i, j] = np.einsum("ncrs,mcrs->nm", part, w)
    return y


def stem(x, t):
    """Independent of Tenon: conv, batch norm, relu in f64."""
    t = {k: v.astype(np.float64) for k, v in t.items()}
    z = convolve(x.astype(np.float64), t["conv1.weight"])
    y = np.empty_like(z)
    for c in range(16):
        y[:, c] = (z[:, c] - t["bn1.running_mean"][c]) / \
            np.sqrt(t["bn1.running_var"][c] + EPS) * \
            t["bn1.weight"][c] + t["bn1.bias"][c]
    return np.where(y < 0, 0, y)


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    rng = np.random.default_rng(3)
    x, w = picture(), filters()
    z = convolve(x, w)
    t = {"conv1.weight": w,
         "bn1.weight": 1 + 0.1 * rng.standard_normal(16),
         "bn1.bias": 0.1 * rng.standard_normal(16),
         "bn1.running_mean": z.mean(axis=(0, 2, 3)),
         "bn1.running_var": z.var(axis=(0, 2, 3))}
    t = {k: v.astype(np.float32) for k, v in t.items()}
    x = x.astype(np.float32)
    save_file(t, "stem.safetensors")
    np.save("x.npy", x)
    np.save("expected.npy", stem(x, t).astype(np.float32))


if __name__ == "__main__":
    main()
