#!/usr/bin/env python3
"""An independent reading of resnet.tn in plain numpy, in f64.

`resnet(images, weights, blocks)` computes the scores; `shrink(text, ...)` turns
the text of resnet.tn into that of a net of the same build with smaller dims.
Needs numpy; writing a small net needs safetensors too.

    reference.py OUT     write a small net and its answers to the folder OUT:
                         resnet.tn, resnet50.safetensors, and for each case
                         image_N.npy (f32 [N, 3, Y, X]), scores_N.npy
"""
import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EPS = 1e-5
SMALL = {"Y": 37, "X": 45, "W": 3, "L1": 2, "L2": 2, "L3": 3, "L4": 2, "T": 10}
CASES = [1, 3]


def windows(x, k, stride, pad, fill):
    """[k * k, N, C, .., ..]: the pixel at each place of the window."""
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)],
               constant_values=fill)
    h, w = ((n - k) // stride + 1 for n in x.shape[2:])
    return np.stack([x[:, :, i:i + h * stride:stride, j:j + w * stride:stride]
                     for i in range(k) for j in range(k)])


def conv(x, w, stride):
    k = w.shape[2]
    pixels = windows(x, k, stride, k // 2, 0.0)
    return np.einsum("pnchw,ocp->nohw", pixels, w.reshape(*w.shape[:2], k * k))


def batchnorm(x, t, name):
    gamma, beta, mean, var = (
        t[f"{name}.{key}"][:, None, None]
        for key in ("weight", "bias", "running_mean", "running_var"))
    return (x - mean) / np.sqrt(var + EPS) * gamma + beta


def relu(x):
    return np.maximum(x, 0.0)


def block(x, t, pre, stride):
    """A bottleneck and what goes round it."""
    y = relu(batchnorm(conv(x, t[pre + "conv1.weight"], 1), t, pre + "bn1"))
    y = relu(batchnorm(conv(y, t[pre + "conv2.weight"], stride), t,
                       pre + "bn2"))
    y = batchnorm(conv(y, t[pre + "conv3.weight"], 1), t, pre + "bn3")
    if pre + "downsample.0.weight" in t:
        x = batchnorm(conv(x, t[pre + "downsample.0.weight"], stride), t,
                      pre + "downsample.1")
    return relu(y + x)


def resnet(images, weights, blocks):
    """Scores [N, T] in f64 of images [N, 3, Y, X]."""
    t = {k: v.astype(np.float64) for k, v in weights.items()}
    x = relu(batchnorm(conv(images.astype(np.float64), t["conv1.weight"], 2),
                       t, "bn1"))
    x = windows(x, 3, 2, 1, -np.inf).max(axis=0)
    for stage, count in enumerate(blocks, 1):
        for i in range(count):
            stride = 2 if i == 0 and stage > 1 else 1
            x = block(x, t, f"layer{stage}.{i}.", stride)
    return x.mean(axis=(2, 3)) @ t["fc.weight"].T + t["fc.bias"]


def random_weights(rng, W, T, blocks):
    """f32 tensors under the names of a ResNet-50 checkpoint."""
    out = {}

    def draw(*shape, mean=0.0, scale=0.1):
        return (mean + scale * rng.standard_normal(shape)).astype(np.float32)

    def layer(conv_name, norm_name, o, i, k):
        out[f"{conv_name}.weight"] = draw(o, i, k, k,
                                          scale=(2 / (i * k * k)) ** 0.5)
        out[f"{norm_name}.weight"] = draw(o, mean=1.0)
        out[f"{norm_name}.bias"] = draw(o)
        out[f"{norm_name}.running_mean"] = draw(o)
        out[f"{norm_name}.running_var"] = np.abs(draw(o, mean=1.0))

    layer("conv1", "bn1", W, 3, 7)
    wide = W
    for stage, count in enumerate(blocks, 1):
        m = W << (stage - 1)
        for i in range(count):
            pre = f"layer{stage}.{i}."
            layer(pre + "conv1", pre + "bn1", m, wide, 1)
            layer(pre + "conv2", pre + "bn2", m, m, 3)
            layer(pre + "conv3", pre + "bn3", 4 * m, m, 1)
            if i == 0:
                layer(pre + "downsample.0", pre + "downsample.1", 4 * m, wide,
                      1)
            wide = 4 * m
    out["fc.weight"] = draw(T, wide, scale=wide ** -0.5)
    out["fc.bias"] = draw(T)
    return out


def shrink(text, **dims):
    """The text of resnet.tn with other sizes."""
    for name, size in dims.items():
        text, n = re.subn(rf"\bdim {name} = \d+;", f"dim {name} = {size};",
                          text)
        assert n == 1, name
    return text


def main(args):
    if len(args) != 1:
        sys.exit(__doc__)
    from safetensors.numpy import save_file
    out = args[0]
    os.makedirs(out, exist_ok=True)
    rng = np.random.default_rng(5)
    blocks = [SMALL[f"L{i}"] for i in range(1, 5)]
    weights = random_weights(rng, SMALL["W"], SMALL["T"], blocks)
    save_file(weights, os.path.join(out, "resnet50.safetensors"))
    with open(os.path.join(HERE, "resnet.tn")) as f:
        text = shrink(f.read(), **SMALL)
    with open(os.path.join(out, "resnet.tn"), "w") as f:
        f.write(text)
    for n in CASES:
        image = rng.standard_normal((n, 3, SMALL["Y"], SMALL["X"])).astype(
            np.float32)
        np.save(os.path.join(out, f"image_{n}.npy"), image)
        np.save(os.path.join(out, f"scores_{n}.npy"),
                resnet(image, weights, blocks).astype(np.float32))


if __name__ == "__main__":
    main(sys.argv[1:])
