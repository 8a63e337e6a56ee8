#!/usr/bin/env python3
"""An independent reading of digits.tn and mlp.tn in plain numpy, in f64.

It shares no code with Tenon nor with the layers of train.py; the tests hold
Tenon's answers against what it computes. Needs numpy alone.

    reference.py     from the weights and the held-out images, write
                     expected_digits.npy and expected_mlp.npy: f32 [360, 10]
"""
import json
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EPS = 1e-5


def conv3x3(x, w):
    """Cross-correlation with one pixel of zeros around: x NCHW, w MCRS."""
    n, _, h, wd = x.shape
    big = np.zeros((n, x.shape[1], h + 2, wd + 2))
    big[:, :, 1:-1, 1:-1] = x
    y = np.zeros((n, w.shape[0], h, wd))
    for r in range(3):
        for s in range(3):
            y += np.einsum("nchw,mc->nmhw",
                           big[:, :, r:r + h, s:s + wd], w[:, :, r, s])
    return y


def batchnorm(x, gamma, beta, mean, var):
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        y[:, c] = (x[:, c] - mean[c]) / np.sqrt(var[c] + EPS) * gamma[c] \
            + beta[c]
    return y


def maxpool2(x):
    return np.maximum(np.maximum(x[:, :, 0::2, 0::2], x[:, :, 0::2, 1::2]),
                      np.maximum(x[:, :, 1::2, 0::2], x[:, :, 1::2, 1::2]))


def relu(x):
    return np.where(x < 0, 0, x)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def wide(weights):
    return {k: v.astype(np.float64) for k, v in weights.items()}


def digits(x, weights):
    """Probabilities [n, 10] of the convolutional net for x [n, 1, 8, 8]."""
    t, h = wide(weights), x.astype(np.float64)
    for i in "12":
        h = conv3x3(h, t[f"conv{i}.weight"])
        h = batchnorm(h, t[f"bn{i}.weight"], t[f"bn{i}.bias"],
                      t[f"bn{i}.running_mean"], t[f"bn{i}.running_var"])
        h = maxpool2(relu(h))
    h = h.reshape(len(x), 128)
    h = relu(h @ t["fc1.weight"] + t["fc1.bias"])
    return softmax(h @ t["fc2.weight"] + t["fc2.bias"])


def mlp(x, weights):
    """Probabilities [n, 10] of the plain net for x [n, 1, 8, 8]."""
    t, h = wide(weights), x.astype(np.float64).reshape(len(x), 64)
    for i in "12":
        h = relu(h @ t[f"fc{i}.weight"] + t[f"fc{i}.bias"])
    return softmax(h @ t["fc3.weight"] + t["fc3.bias"])


def load_safetensors(path):
    """Name to array, for a file whose tensors are all f32."""
    with open(path, "rb") as f:
        size = int.from_bytes(f.read(8), "little")
        header, data = json.loads(f.read(size)), f.read()
    out = {}
    for name, t in header.items():
        if name == "__metadata__":
            continue
        assert t["dtype"] == "F32", name
        lo, hi = t["data_offsets"]
        out[name] = np.frombuffer(data[lo:hi], "<f4").reshape(t["shape"])
    return out


def main():
    os.chdir(HERE)
    x = np.load("heldout_x.npy")
    p = digits(x, load_safetensors("digits.safetensors"))
    q = mlp(x, dict(np.load("mlp.npz")))
    np.save("expected_digits.npy", p.astype(np.float32))
    np.save("expected_mlp.npy", q.astype(np.float32))


if __name__ == "__main__":
    main()
