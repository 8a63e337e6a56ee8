#!/usr/bin/env python3
"""An independent reading of mobilenet.tn in plain numpy, in f64.

`mobilenet(images, weights)` computes the scores; `shrink(text, ...)` turns the
text of mobilenet.tn into that of a net of the same build with smaller dims.
Needs numpy; writing a small net needs safetensors too.

    reference.py OUT     write a small net and its answers to the folder OUT:
                         mobilenet.tn, mobilenet_v2.safetensors, and for each
                         case image_N.npy (f32 [N, 3, Y, X]), scores_N.npy
"""
import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EPS = 1e-5
SMALL = {"Y": 35, "X": 43, "C0": 6, "C1": 3, "C2": 3, "C3": 4, "C4": 5,
         "C5": 6, "C6": 7, "C7": 8, "C8": 20, "T": 10}
CASES = [1, 3]
# Blocks and stride of each stage.
STAGES = [(1, 1), (2, 2), (3, 2), (4, 2), (3, 1), (3, 2), (1, 1)]


def conv(x, w, stride):
    """Filters that see every channel, or the one of their own."""
    k = w.shape[2]
    pad = [(0, 0), (0, 0), (k // 2, k // 2), (k // 2, k // 2)]
    x = np.pad(x, pad)
    h, v = ((n - k) // stride + 1 for n in x.shape[2:])
    own = w.shape[1] == 1 and x.shape[1] == w.shape[0]
    y = 0.0
    for i in range(k):
        for j in range(k):
            part = x[:, :, i:i + h * stride:stride, j:j + v * stride:stride]
            y = y + (part * w[:, 0, i, j, None, None] if own else
                     np.einsum("nchw,oc->nohw", part, w[:, :, i, j]))
    return y


def conv_bn(x, t, conv_name, norm_name, stride=1):
    gamma, beta, mean, var = (
        t[f"{norm_name}.{key}"][:, None, None]
        for key in ("weight", "bias", "running_mean", "running_var"))
    y = conv(x, t[f"{conv_name}.weight"], stride)
    return (y - mean) / np.sqrt(var + EPS) * gamma + beta


def relu6(x):
    return np.clip(x, 0.0, 6.0)


def block(x, t, pre, stride):
    """One inverted residual."""
    at, y = 0, x
    if pre + "3.weight" in t:
        y = relu6(conv_bn(y, t, pre + "0.0", pre + "0.1"))
        at = 1
    y = relu6(conv_bn(y, t, f"{pre}{at}.0", f"{pre}{at}.1", stride))
    y = conv_bn(y, t, f"{pre}{at + 1}", f"{pre}{at + 2}")
    return x + y if y.shape == x.shape else y


def mobilenet(images, weights):
    """Scores [N, T] in f64 of images [N, 3, Y, X]."""
    t = {k: v.astype(np.float64) for k, v in weights.items()}
    x = relu6(conv_bn(images.astype(np.float64), t, "features.0.0",
                      "features.0.1", 2))
    number = 0
    for count, stride in STAGES:
        for i in range(count):
            number += 1
            x = block(x, t, f"features.{number}.conv.", 1 if i else stride)
    x = relu6(conv_bn(x, t, "features.18.0", "features.18.1"))
    return (x.mean(axis=(2, 3)) @ t["classifier.1.weight"].T
            + t["classifier.1.bias"])


def random_weights(rng, widths, T):
    """f32 tensors under the names of a MobileNetV2 checkpoint."""
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

    layer("features.0.0", "features.0.1", widths[0], 3, 3)
    number, i = 0, widths[0]
    for stage, (count, _) in enumerate(STAGES, 1):
        for _ in range(count):
            number += 1
            pre, at, m = f"features.{number}.conv.", 0, i
            if stage > 1:
                m, at = 6 * i, 1
                layer(pre + "0.0", pre + "0.1", m, i, 1)
            layer(f"{pre}{at}.0", f"{pre}{at}.1", m, 1, 3)
            layer(f"{pre}{at + 1}", f"{pre}{at + 2}", widths[stage], m, 1)
            i = widths[stage]
    layer("features.18.0", "features.18.1", widths[8], i, 1)
    out["classifier.1.weight"] = draw(T, widths[8], scale=widths[8] ** -0.5)
    out["classifier.1.bias"] = draw(T)
    return out


def shrink(text, **dims):
    """The text of mobilenet.tn with other sizes."""
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
    rng = np.random.default_rng(6)
    weights = random_weights(rng, [SMALL[f"C{i}"] for i in range(9)],
                             SMALL["T"])
    save_file(weights, os.path.join(out, "mobilenet_v2.safetensors"))
    with open(os.path.join(HERE, "mobilenet.tn")) as f:
        text = shrink(f.read(), **SMALL)
    with open(os.path.join(out, "mobilenet.tn"), "w") as f:
        f.write(text)
    for n in CASES:
        image = rng.standard_normal((n, 3, SMALL["Y"], SMALL["X"])).astype(
            np.float32)
        np.save(os.path.join(out, f"image_{n}.npy"), image)
        np.save(os.path.join(out, f"scores_{n}.npy"),
                mobilenet(image, weights).astype(np.float32))


if __name__ == "__main__":
    main(sys.argv[1:])
