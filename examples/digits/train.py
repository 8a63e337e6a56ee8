#!/usr/bin/env python3
"""Train the two networks of this example on 8x8 handwritten digits.

Needs numpy and scikit-learn (`pip install numpy scikit-learn`); the digits
come with scikit-learn, so nothing is downloaded. Takes about 20 seconds.

The split: 1797 images, divided once by SPLIT_SEED, keeping the share of each
digit: 1437 to train on, 360 held out. The held-out images play no part in
training nor in any choice made here. The settings below were chosen by
`--validate`, which trains on 1149 of the 1437 and scores the other 288.

    train.py              train on the 1437, write every file of the example
    train.py --validate   print the score on the 288, write nothing
"""
import json
import os
import sys

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import reference

HERE = os.path.dirname(os.path.abspath(__file__))
SPLIT_SEED = 0
TRAIN_SEED = 1
EPOCHS = 60
BATCH = 64
RATE = 2e-3
DECAY = 1e-3
BN_MOMENTUM = 0.1


# ---------------------------------------------------------------- layers
#
# A layer has forward(x) and backward(dy), which returns dx and leaves the
# gradient of each parameter in self.grads under the parameter's name.

class Layer:
    def __init__(self):
        self.params, self.grads, self.state = {}, {}, {}


class Linear(Layer):
    """y = x @ weight + bias, weight stored [in, out]."""

    def __init__(self, rng, fan_in, fan_out):
        super().__init__()
        w = rng.standard_normal((fan_in, fan_out)) * np.sqrt(2 / fan_in)
        self.params = {"weight": w, "bias": np.zeros(fan_out)}

    def forward(self, x):
        self.x = x
        return x @ self.params["weight"] + self.params["bias"]

    def backward(self, dy):
        self.grads = {"weight": self.x.T @ dy, "bias": dy.sum(axis=0)}
        return dy @ self.params["weight"].T


class Conv3x3(Layer):
    """3x3 correlation, one pixel of zero padding, no bias."""

    def __init__(self, rng, fan_in, fan_out):
        super().__init__()
        w = rng.standard_normal((fan_out, fan_in, 3, 3))
        self.params = {"weight": w * np.sqrt(2 / (9 * fan_in))}

    @staticmethod
    def patches(x):
        x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        w = sliding_window_view(x, (3, 3), axis=(2, 3))
        return w.transpose(0, 2, 3, 1, 4, 5)

    def forward(self, x):
        n, c, h, w = x.shape
        m = self.params["weight"].shape[0]
        self.cols = self.patches(x).reshape(n * h * w, c * 9)
        y = self.cols @ self.params["weight"].reshape(m, c * 9).T
        return y.reshape(n, h, w, m).transpose(0, 3, 1, 2)

    def backward(self, dy):
        n, m, h, w = dy.shape
        weight = self.params["weight"]
        rows = dy.transpose(0, 2, 3, 1).reshape(n * h * w, m)
        self.grads = {"weight": (rows.T @ self.cols).reshape(weight.shape)}
        turned = weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
        cols = self.patches(dy).reshape(n * h * w, m * 9)
        dx = cols @ turned.reshape(-1, m * 9).T
        return dx.reshape(n, h, w, -1).transpose(0, 3, 1, 2)


class BatchNorm(Layer):
    """Normalises channels; the running statistics serve at inference."""

    def __init__(self, channels):
        super().__init__()
        self.params = {"weight": np.ones(channels),
                       "bias": np.zeros(channels)}
        self.state = {"running_mean": np.zeros(channels),
                      "running_var": np.ones(channels)}

    def forward(self, x):
        count = x.size // x.shape[1]
        mean, var = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
        for key, now in (("running_mean", mean),
                         ("running_var", var * count / (count - 1))):
            self.state[key] += BN_MOMENTUM * (now - self.state[key])
        self.inv = 1 / np.sqrt(var + reference.EPS)
        self.hat = (x - self._c(mean)) * self._c(self.inv)
        return self.hat * self._c(self.params["weight"]) + \
            self._c(self.params["bias"])

    def backward(self, dy):
        db = dy.sum(axis=(0, 2, 3))
        dg = (dy * self.hat).sum(axis=(0, 2, 3))
        self.grads = {"weight": dg, "bias": db}
        count = dy.size // dy.shape[1]
        inner = dy - self._c(db / count) - self.hat * self._c(dg / count)
        return inner * self._c(self.params["weight"] * self.inv)

    @staticmethod
    def _c(v):
        return v[:, None, None]


class Relu(Layer):
    def forward(self, x):
        self.on = x > 0
        return x * self.on

    def backward(self, dy):
        return dy * self.on


class MaxPool2(Layer):
    """2x2 windows, stride 2; the gradient goes to the first maximum."""

    def forward(self, x):
        n, c, h, w = x.shape
        v = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5)
        self.first = v.reshape(n, c, h // 2, w // 2, 4).argmax(axis=-1)
        return v.max(axis=(-2, -1))

    def backward(self, dy):
        n, c, h, w = dy.shape
        d = (np.arange(4) == self.first[..., None]) * dy[..., None]
        d = d.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5)
        return d.reshape(n, c, 2 * h, 2 * w)


class Flatten(Layer):
    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, dy):
        return dy.reshape(self.shape)


# ---------------------------------------------------------------- models

def conv_net(rng):
    """(name, layer) pairs of digits.tn."""
    return [("conv1", Conv3x3(rng, 1, 32)), ("bn1", BatchNorm(32)),
            ("", Relu()), ("", MaxPool2()),
            ("conv2", Conv3x3(rng, 32, 32)), ("bn2", BatchNorm(32)),
            ("", Relu()), ("", MaxPool2()), ("", Flatten()),
            ("fc1", Linear(rng, 128, 64)), ("", Relu()),
            ("fc2", Linear(rng, 64, 10))]


def mlp(rng):
    """(name, layer) pairs of mlp.tn."""
    return [("", Flatten()),
            ("fc1", Linear(rng, 64, 64)), ("", Relu()),
            ("fc2", Linear(rng, 64, 32)), ("", Relu()),
            ("fc3", Linear(rng, 32, 10))]


def weights_of(net):
    """Every stored tensor under its name in the weight file, as f32."""
    out = {}
    for name, layer in net:
        for key, value in {**layer.params, **layer.state}.items():
            out[f"{name}.{key}"] = value.astype(np.float32)
    return out


# ---------------------------------------------------------------- training

def shifted(x, rng):
    """Moves each image by -1, 0 or 1 pixel each way, filling with zero."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    dy, dx = rng.integers(0, 3, size=(2, len(x)))
    rows = dy[:, None, None] + np.arange(8)[:, None]
    cols = dx[:, None, None] + np.arange(8)
    return padded[np.arange(len(x))[:, None, None], 0, rows, cols][:, None]


def backward(net, logits, labels):
    """Gradient of the mean cross entropy, through the whole network."""
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    d = e / e.sum(axis=1, keepdims=True)
    d[np.arange(len(labels)), labels] -= 1
    d /= len(labels)
    for _, layer in reversed(net):
        d = layer.backward(d)


def adam(net, moments, step, rate):
    """One step of Adam with decoupled weight decay on the matrices."""
    for i, (_, layer) in enumerate(net):
        for key, g in layer.grads.items():
            m, v = moments.setdefault((i, key), (0.0, 0.0))
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            moments[i, key] = m, v
            p = layer.params[key]
            if p.ndim > 1:
                p -= rate * DECAY * p
            p -= rate * (m / (1 - 0.9 ** step)) / \
                (np.sqrt(v / (1 - 0.999 ** step)) + 1e-8)


def train(make, shift, x, y):
    """Trains in f64 with a rate that falls to zero along a cosine.

    With `shift` every image is moved at random before each use: by the
    validation score that helps the convolutional net and harms the MLP.
    """
    rng = np.random.default_rng(TRAIN_SEED)
    net, moments, step = make(rng), {}, 0
    steps = EPOCHS * (len(x) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for at in range(0, len(x) - BATCH + 1, BATCH):
            pick = order[at:at + BATCH]
            h = shifted(x[pick], rng) if shift else x[pick]
            for _, layer in net:
                h = layer.forward(h)
            backward(net, h, y[pick])
            step += 1
            adam(net, moments, step,
                 RATE * 0.5 * (1 + np.cos(np.pi * step / steps)))
    return weights_of(net)


# ---------------------------------------------------------------- files

def save_safetensors(path, tensors):
    """Little-endian header length, JSON, data from a multiple of 64 on."""
    header, at = {}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(t.shape),
                        "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for t in tensors.values():
            f.write(t.astype("<f4").tobytes())


def load_split():
    """Images scaled to 0..1 as [n, 1, 8, 8]; the 1437, then the 360."""
    digits = load_digits()
    x = (digits.images / 16.0)[:, None]
    return train_test_split(x, digits.target, test_size=360,
                            stratify=digits.target, random_state=SPLIT_SEED)


def accuracy(p, y):
    right = int((p.argmax(axis=1) == y).sum())
    return f"{right}/{len(y)} = {right / len(y):.4f}"


def main(args):
    if args not in ([], ["--validate"]):
        sys.exit(__doc__)
    x, hx, y, hy = load_split()
    if args:
        x, hx, y, hy = train_test_split(x, y, test_size=288, stratify=y,
                                        random_state=SPLIT_SEED)
    what = "validation" if args else "held-out"
    out = {"digits": (train(conv_net, True, x, y), reference.digits),
           "mlp": (train(mlp, False, x, y), reference.mlp)}
    for name, (weights, model) in out.items():
        print(f"{name:8}{what} {accuracy(model(hx, weights), hy)}   "
              f"train {accuracy(model(x, weights), y)}")
    if not args:
        os.chdir(HERE)
        save_safetensors("digits.safetensors", out["digits"][0])
        np.savez("mlp.npz", **out["mlp"][0])
        np.save("heldout_x.npy", hx.astype(np.float32))
        np.save("heldout_y.npy", hy.astype(np.int64))
        reference.main()


if __name__ == "__main__":
    main(sys.argv[1:])
