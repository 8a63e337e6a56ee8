#!/usr/bin/env python3
"""Pieces of real models, small: nets.py NAME FILE. See make.py."""
import struct
import sys

from make import (BOOL, FLOAT, INT64, floats, graph, info, ints, node, tensor,
                  field)

INT8 = 3


def model(body, opset=17):
    """With the operators of ONNX Runtime beside those of ONNX."""
    sets = [("", opset), ("com.microsoft", 1)]
    return (field(1, 8) + b"".join(field(8, field(1, d) + field(2, v))
                                   for d, v in sets) + field(7, body))


def bytes_of(name, dims, values):
    return tensor(name, INT8, dims, struct.pack("<%db" % len(values), *values))


def model_quantised_lstm():
    """Two directions of one unit; scales by direction, and the zero points
    of the weights; the recurrent scales by column."""
    lstm = node("DynamicQuantizeLSTM",
                ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"],
                ["y", "h", "c"], "lstm", "com.microsoft",
                direction="bidirectional", hidden_size=1)
    return model(graph([lstm], [info("x", FLOAT, ["T", "N", 2])],
        [info("y", FLOAT, ["T", 2, "N", 1]), info("h", FLOAT, [2, "N", 1]),
         info("c", FLOAT, [2, "N", 1])],
        [bytes_of("w", [2, 2, 4], [9, -8, 7, 60, -5, 40, 3, -20,
                                   12, 11, -100, 90, 80, 70, -60, 50]),
         bytes_of("r", [2, 1, 4], [10, 20, -30, 40, 50, -60, 70, 80]),
         floats("b", [2, 8], [0.5, 0, 0.25, 0, 0, 0, 0, -0.5,
                              0, 0.5, 0, 0.75, 0.25, 0, 0, 0]),
         floats("ws", [2], [0.0625, 0.03125]),
         bytes_of("wz", [2], [0, 0]),
         floats("rs", [2, 4], [0.125, 0.0625, 0.125, 0.0625,
                               0.0625, 0.03125, 0.0625, 0.125]),
         bytes_of("rz", [2, 4], [0] * 8)]))


def model_unnamed():
    """A size that is written `?`."""
    return model(graph([node("Relu", ["x"], ["y"])],
                       [info("x", FLOAT, ["N", "?"])],
                       [info("y", FLOAT, ["N", "?"])]))


def squeezed(prefix, x, out):
    """Takes the last axis away if it is of size 1, as PyTorch exports it."""
    name = lambda n: prefix + n
    return [node("Shape", [x], [name("shape")]),
            node("Gather", [name("shape"), "last"], [name("size")], axis=0),
            node("Equal", [name("size"), "one"], [name("is_one")]),
            node("If", [name("is_one")], [out],
                 then_branch=graph([node("Squeeze", [x, "last"],
                                         [name("a")])],
                                   [], [info(name("a"), FLOAT, None)]),
                 else_branch=graph([node("Identity", [x], [name("b")])],
                                   [], [info(name("b"), FLOAT, None)]))]


def model_squeezed():
    return model(graph(squeezed("", "x", "a") + [node("Neg", ["a"], ["y"])],
                       [info("x", FLOAT, ["N", 2, "K"])],
                       [info("y", FLOAT, ["N", 2])],
                       [ints("last", [1], [-1]), ints("one", [1], [1])]))


def model_rates():
    """Two nets for two rates: of 5 elements the first has one window, the
    second two, which is wrong."""
    def net(by, size, stride):
        pool = node("AveragePool", ["x"], [by + "p"], kernel_shape=[size],
                    strides=[stride])
        return graph([pool] + squeezed(by, by + "p", by + "s") +
                     [node(by, [by + "s"], [by + "y"])], [],
                     [info(by + "y", FLOAT, ["N", 2])])
    return model(graph(
        [node("Equal", ["rate", "fast"], ["is_fast"]),
         node("If", ["is_fast"], ["y"], then_branch=net("Neg", 4, 4),
              else_branch=net("Identity", 2, 3))],
        [info("x", FLOAT, ["N", 2, "K"]), info("rate", INT64, [])],
        [info("y", FLOAT, ["N", 2])],
        [ints("last", [1], [-1]), ints("one", [1], [1]),
         ints("fast", [], [16000])]))


def model_state():
    """A state whose sizes are not called those of the input."""
    return model(graph([node("Add", ["x", "h"], ["y"])],
                       [info("x", FLOAT, ["?", 2]), info("h", FLOAT, ["?", 2])],
                       [info("y", FLOAT, ["?", 2])]))


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as out:
        out.write(globals()["model_" + sys.argv[1]]())
