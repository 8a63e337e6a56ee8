#!/usr/bin/env python3
"""Models of one operator each, written byte by byte: opers.py NAME FILE.

Each function whose name begins `model_` is one, as in make.py.
"""
import sys

import make
from make import FLOAT, INT64, field, floats, graph, info, node

ML = "ai.onnx.ml"


def one(op, inputs, outputs, weights=(), domain="", version=1, **attrs):
    """A node, its inputs and results as (name, kind, dims)."""
    names = [i[0] for i in inputs] + [
        w for w in attrs.pop("more", ())]
    body = graph([node(op, names, [o[0] for o in outputs], "n", domain,
                       **attrs)],
                 [info(*i) for i in inputs], [info(*o) for o in outputs],
                 weights)
    return make.model(body, 22) + (field(8, field(1, domain) + field(
        2, version)) if domain else b"")


# ---- Detection ---------------------------------------------------------------

def model_unique():
    """Rows, in the order in which they come first."""
    return one("Unique", [("x", FLOAT, [4, 2])],
               [("y", FLOAT, ["n", 2]), ("i", INT64, ["n"]),
                ("j", INT64, [4]), ("c", INT64, ["n"])], axis=0, sorted=0)


def model_middle():
    """Boxes about a middle, a size that only the data tell."""
    return one("NonMaxSuppression", [("b", FLOAT, [1, 3, 4]),
                                     ("s", FLOAT, [1, 1, 3])],
               [("y", INT64, ["n", 3])],
               [make.ints("most", [1], [2]), floats("iou", [1], [0.5])],
               more=["most", "iou"], center_point_box=1)


# ---- Refused -----------------------------------------------------------------

def model_random():
    return one("RandomNormalLike", [("x", FLOAT, [2])], [("y", FLOAT, [2])])


if __name__ == "__main__":
    name, path = sys.argv[1:]
    with open(path, "wb") as out:
        out.write(globals()["model_" + name]())
