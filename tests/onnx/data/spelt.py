#!/usr/bin/env python3
"""Parts of networks spelt out as exporters do: spelt.py NAME FILE."""
import sys

from make import BOOL, FLOAT, floats, graph, info, ints, model, node


class Net:
    """Nodes one after the other; numbers become initialisers."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def value(self, x):
        if isinstance(x, str):
            return x
        name = "c%d" % len(self.weights)
        self.weights.append(floats(name, [], [x]))
        return name

    def __call__(self, op, *args, out=None, **attrs):
        out = out or "t%d" % len(self.nodes)
        self.nodes.append(node(op, [self.value(a) for a in args], [out],
                               **attrs))
        return out

    def vector(self, name, *values):
        self.weights.append(floats(name, [len(values)], values))
        return name

    def axes(self, name, *values):
        self.weights.append(ints(name, [len(values)], values))
        return name

    def model(self, inputs, shape, opset=17):
        return model(graph(self.nodes, [info(*i) for i in inputs],
                           [info("y", FLOAT, shape)], self.weights), opset)


X = [("x", FLOAT, ["B", 4])]


def gelu_erf(n):
    """PyTorch."""
    e = n("Add", n("Erf", n("Div", "x", 1.4142135623730951)), 1.0)
    n("Mul", n("Mul", "x", e), 0.5, out="y")


def gelu_tanh(n):
    """Hugging Face."""
    u = n("Add", "x", n("Mul", 0.044715, n("Pow", "x", 3.0)))
    t = n("Tanh", n("Mul", u, 0.7978845608028654))
    n("Mul", n("Mul", 0.5, "x"), n("Add", 1.0, t), out="y")


def silu(n):
    n("Mul", "x", n("Sigmoid", "x"), out="y")


def quick_gelu(n):
    n("Mul", "x", n("Sigmoid", n("Mul", "x", 1.702)), out="y")


def hard_swish(n):
    """PaddlePaddle."""
    c = n("Clip", n("Add", "x", 3.0), 0.0, 6.0)
    n("Div", n("Mul", "x", c), 6.0, out="y")


def relu6(n):
    n("Clip", n("Neg", "x"), 0.0, 6.0, out="y")


def mish(n):
    n("Mul", "x", n("Tanh", n("Softplus", "x")), out="y")


def softmax(n):
    e = n("Exp", n("Sub", "x", n("ReduceMax", "x", axes=[-1], keepdims=1)))
    n("Div", e, n("ReduceSum", e, n.axes("a", -1), keepdims=1), out="y")


def layernorm(n):
    """PyTorch, before operator set 17."""
    d = n("Sub", "x", n("ReduceMean", "x", axes=[-1], keepdims=1))
    v = n("ReduceMean", n("Pow", d, 2.0), axes=[-1], keepdims=1)
    z = n("Div", d, n("Sqrt", n("Add", v, 1e-5)))
    s = n("Mul", z, n.vector("gamma", 1, 2, 3, 4))
    n("Add", s, n.vector("beta", 5, 6, 7, 8), out="y")


def not_quite(n):
    """The mean of another axis is no norm; nor is 3 half of 6."""
    d = n("Sub", "x", n("ReduceMean", "x", axes=[-1], keepdims=1))
    v = n("ReduceMean", n("Pow", d, 2.0), axes=[0], keepdims=1)
    z = n("Div", d, n("Sqrt", n("Add", v, 1e-5)))
    n("Div", n("Mul", z, n("Clip", n("Add", z, 2.0), 0.0, 6.0)), 6.0, out="y")


def layernorm_wide(n):
    """The scale has an axis more than what is normed: that norm is found, but
    has no such scale."""
    d = n("Sub", "x", n("ReduceMean", "x", axes=[-1], keepdims=1))
    v = n("ReduceMean", n("Pow", d, 2.0), axes=[-1], keepdims=1)
    m = n("Div", d, n("Sqrt", n("Add", v, 1e-12)))
    n.weights.append(floats("gamma", [2, 1, 4], [1, 2, 3, 4, 5, 6, 7, 8]))
    n("ReduceMean", n("Mul", m, "gamma"), axes=[0], keepdims=0, out="y")


def rmsnorm(n):
    """As Llama is exported."""
    v = n("ReduceMean", n("Pow", "x", 2.0), axes=[-1], keepdims=1)
    r = n("Reciprocal", n("Sqrt", n("Add", v, 1e-6)))
    n("Mul", n.vector("gamma", 1, 2, 3, 4), n("Mul", "x", r), out="y")


def batchnorm(n):
    for name in ("mean", "var", "gamma", "beta"):
        n.weights.append(floats(name, [4, 1], [1, 2, 3, 4]))
    z = n("Div", n("Sub", "x", "mean"), n("Sqrt", n("Add", "var", 1e-5)))
    n("Add", n("Mul", z, "gamma"), "beta", out="y")
    return [("x", FLOAT, ["B", 4, 3])]


QKV = [("q", FLOAT, ["B", 2, "S", 4]), ("k", FLOAT, ["B", "S", 2, 4]),
       ("v", FLOAT, ["B", 2, "S", 4])]


def attention(n):
    """BERT: the keys are turned as they come, the mask is a summand."""
    k = n("Transpose", "k", perm=[0, 2, 3, 1])
    s = n("Div", n("MatMul", "q", k), 2.0)
    p = n("Softmax", n("Add", s, "mask"), axis=-1)
    n("MatMul", p, "v", out="y")
    return QKV + [("mask", FLOAT, ["B", 1, 1, "S"])]


def attention_empty(n):
    """PyTorch's scaled_dot_product_attention: a row of -inf gives 0."""
    k = n("Mul", n("Transpose", "k", perm=[0, 2, 3, 1]), 0.5)
    s = n("Add", n("MatMul", "q", k), n("Where", "see", 0.0, float("-inf")))
    p = n("Softmax", s, axis=-1)
    n("MatMul", n("Where", n("IsNaN", p), 0.0, p), "v", out="y")
    return QKV + [("see", BOOL, ["B", 1, 1, "S"])]


if __name__ == "__main__":
    net, of = Net(), globals()[sys.argv[1]]
    inputs = of(net) or X
    with open(sys.argv[2], "wb") as out:
        out.write(net.model(inputs, inputs[0][2]))
