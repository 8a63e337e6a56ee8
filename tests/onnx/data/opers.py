#!/usr/bin/env python3
"""Models of one operator each, written byte by byte: opers.py NAME FILE.

Each function whose name begins `model_` is one, as in make.py.
"""
import sys

import make
from make import FLOAT, INT64, field, floats, graph, info, node

ML = "ai.onnx.ml"


def one(op, inputs, outputs, given=(), domain="", version=1, **attrs):
    """A node, its inputs and results as (name, kind, dims)."""
    names = [i[0] for i in inputs] + [
        w for w in attrs.pop("more", ())]
    body = graph([node(op, names, [o[0] for o in outputs], "n", domain,
                       **attrs)],
                 [info(*i) for i in inputs],
                 [info(*o) for o in outputs if o[0]],
                 given)
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


# ---- Places ------------------------------------------------------------------

def model_cubic_border():
    """Cubics at a place beyond the border, and at one between it and the first
    element's middle."""
    return one("GridSample", [("x", FLOAT, [1, 1, 1, 4]),
                              ("g", FLOAT, [1, 1, 2, 2])],
               [("y", FLOAT, [1, 1, 1, 2])], mode="cubic",
               padding_mode="border", align_corners=0)


def model_resize_10():
    """Columns are left out, rows are repeated."""
    return make.model(graph([node("Resize", ["x", "scales"], ["y"], "n")],
                            [info("x", FLOAT, [1, 1, 2, 7])],
                            [info("y", FLOAT, [1, 1, 4, 2])],
                            [floats("scales", [4], [1.0, 1.0, 2.0, 0.3])]), 10)


def model_resize_to_one():
    """A result of one element: the first."""
    return make.model(graph([node("Resize", ["x", "", "", "sizes"], ["y"], "n",
                                  mode="cubic", coordinate_transformation_mode=
                                  "pytorch_half_pixel")],
                            [info("x", FLOAT, [5])],
                            [info("y", FLOAT, [1])],
                            [make.ints("sizes", [1], [1])]), 13)


def model_backwards():
    """From before the first element; from the fourth down to the second last,
    by twos: of most sizes nothing."""
    return make.model(graph([node("Slice", ["x", "a", "b", "z", "s"], ["y"]),
                             node("Slice", ["x", "c", "d", "z", "t"], ["z1"])],
                            [info("x", FLOAT, ["n"])],
                            [info("y", FLOAT, ["k"]), info("z1", FLOAT, ["m"])],
                            [make.ints("a", [1], [-9]),
                             make.ints("b", [1], [-20]),
                             make.ints("c", [1], [3]),
                             make.ints("d", [1], [-2]),
                             make.ints("z", [1], [0]),
                             make.ints("s", [1], [-1]),
                             make.ints("t", [1], [-2])]))


# ---- Features and trees ------------------------------------------------------

def model_grams():
    """Pairs with skips in rows of any length, and single ones; the columns
    not in order; what is there counts as its weight."""
    return one("TfIdfVectorizer", [("x", INT64, ["n", "c"])],
               [("y", FLOAT, ["n", 4])], ngram_counts=[0, 2],
               ngram_indexes=[3, 1, 2, 0], pool_int64s=[5, 7, 5, 7, 7, 5],
               min_gram_length=1, max_gram_length=2, max_skip_count=1,
               mode="IDF", weights=[0.5, 1.0, 2.0, 4.0])


# Tree 0 asks element 0 whether it is at most 1, then element 1 whether it is
# less than 2, and is yes to what is missing there. Tree 1 is a leaf.
NODES = dict(
    nodes_treeids=[0, 0, 0, 0, 0, 1], nodes_nodeids=[0, 1, 2, 3, 4, 0],
    nodes_featureids=[0, 0, 1, 0, 0, 0],
    nodes_values=[1.0, 0.0, 2.0, 0.0, 0.0, 0.0],
    nodes_modes=["BRANCH_LEQ", "LEAF", "BRANCH_LT", "LEAF", "LEAF", "LEAF"],
    nodes_truenodeids=[1, 0, 3, 0, 0, 0],
    nodes_falsenodeids=[2, 0, 4, 0, 0, 0],
    nodes_missing_value_tracks_true=[0, 0, 1, 0, 0, 0])


def trees(op, outputs, **attrs):
    return one(op, [("x", FLOAT, ["n", 2])], outputs, domain=ML, version=3,
               **{**NODES, **attrs})


def targets(how, **more):
    return trees("TreeEnsembleRegressor", [("y", FLOAT, ["n", 2])],
                 target_treeids=[0, 0, 0, 0, 1], target_nodeids=[1, 3, 3, 4, 0],
                 target_ids=[0, 0, 1, 1, 0],
                 target_weights=[1.0, 2.0, 4.0, 8.0, 1.5],
                 aggregate_function=how, n_targets=2,
                 base_values=[0.25, 0.5], **more)


def model_tree_sum():
    return targets("SUM")


def model_tree_average():
    return targets("AVERAGE")


def model_tree_max():
    return targets("MAX")


def votes(ids, weights, **attrs):
    return trees("TreeEnsembleClassifier",
                 [("l", INT64, ["n"]), ("y", FLOAT, ["n", 2])],
                 class_treeids=[0, 0, 0, 1], class_nodeids=[1, 3, 4, 0],
                 class_ids=ids, class_weights=weights, **attrs)


def model_tree_binary():
    """One class has weights: they are in favour of the other."""
    return votes([0] * 4, [-1.0, 1.0, 3.0, -0.5], classlabels_int64s=[7, -2],
                 post_transform="LOGISTIC")


def model_tree_share():
    return votes([0] * 4, [0.25, 0.5, 0.75, 0.125],
                 classlabels_int64s=[7, -2])


def model_tree_strings():
    return votes([0] * 4, [1.0] * 4, classlabels_strings=["a", "b"])


def model_tree_circle():
    return targets("SUM", nodes_truenodeids=[1, 0, 2, 0, 0, 0])


def model_tree_lost():
    return targets("SUM", nodes_falsenodeids=[2, 0, 9, 0, 0, 0])


def model_labels():
    """Reals, and what is missing, to whole numbers."""
    return one("LabelEncoder", [("x", FLOAT, [5])], [("y", INT64, [5])],
               domain=ML, version=2, keys_floats=[1.5, float("nan"), 2.5],
               values_int64s=[10, 20, 30], default_int64=-7)


def model_linear_two():
    """One score for two classes."""
    return one("LinearClassifier", [("x", FLOAT, [2, 2])],
               [("l", INT64, [2]), ("y", FLOAT, [2, 2])], domain=ML,
               coefficients=[1.0, -1.0], intercepts=[0.5],
               classlabels_ints=[7, -2])


def model_one_class():
    return one("SVMRegressor", [("x", FLOAT, [2, 2])], [("y", FLOAT, [2, 1])],
               domain=ML, kernel_type="POLY", kernel_params=[1.0, 1.0, 2.0],
               n_supports=1, support_vectors=[1.0, 0.0], coefficients=[2.0],
               rho=[-3.0], one_class=1)


# ---- What ONNX Runtime's optimiser writes -------------------------------------

MS = "com.microsoft"
UINT8 = 2


def bytes_of(name, dims, values):
    return make.tensor(name, UINT8, dims, bytes(values))


def model_qlinear():
    """Scales 1/2 and 1/4 to 1; zero points 10, 0, 100."""
    return one("QLinearAdd", [("x", UINT8, [4])], [("y", UINT8, [4])],
               [floats("s", [], [0.5]), bytes_of("z", [], [10]),
                bytes_of("b", [4], [0, 4, 8, 255]), floats("t", [], [0.25]),
                floats("u", [], [1.0]), bytes_of("w", [], [100])],
               domain=MS, more=["s", "z", "b", "t", "", "u", "w"])


def model_nbits():
    """Two rows of one block of 16 weights of 4 bits, of which 5 are used; the
    lower half of a byte comes first."""
    rows = [0x89, 0x7A, 0x8B] + [0x88] * 5 + [0x10, 0x32, 0x04] + [0] * 5
    return one("MatMulNBits", [("x", FLOAT, [1, 5])], [("y", FLOAT, [1, 2])],
               [bytes_of("b", [2, 1, 8], rows), floats("s", [2], [0.5, 2.0]),
                bytes_of("z", [2], [0x08, 0x01])],
               domain=MS, more=["b", "s", "z"], bits=4, K=5, N=2,
               block_size=16)


def model_fused():
    return one("FusedConv", [("x", FLOAT, [1, 1, 3])],
               [("y", FLOAT, [1, 1, 2])],
               [floats("w", [1, 1, 2], [1.0, -1.0]), floats("b", [1], [0.5])],
               domain=MS, more=["w", "b"], activation="Clip",
               activation_params=[-1.0, 1.0])


def model_skip():
    """The norm of a sum, and the sum."""
    return one("SkipSimplifiedLayerNormalization",
               [("x", FLOAT, [1, 2]), ("s", FLOAT, [1, 2])],
               [("y", FLOAT, [1, 2]), ("", FLOAT, []), ("", FLOAT, []),
                ("z", FLOAT, [1, 2])],
               [floats("g", [2], [1.0, 2.0])], domain=MS, more=["g"],
               epsilon=0.0)


INT32 = 6


def int32s(name, dims, values):
    return make.tensor(name, INT32, dims, b"".join(
        v.to_bytes(4, "little") for v in values))


def model_heads():
    """Scores of 0 to two keys, of which the second is masked."""
    return one("MultiHeadAttention",
               [("q", FLOAT, [1, 1, 2]), ("k", FLOAT, [1, 2, 2]),
                ("v", FLOAT, [1, 2, 2])], [("y", FLOAT, [1, 1, 2])],
               [int32s("m", [1, 2], [1, 0])], domain=MS, more=["", "m"],
               num_heads=1)


def model_one_head():
    """All in one: queries of 0, values twice the input; the first of two sees
    itself alone."""
    w = [0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0]
    return one("Attention", [("x", FLOAT, [1, 2, 2])],
               [("y", FLOAT, [1, 2, 2])], [floats("w", [2, 6], w)],
               domain=MS, more=["w"], num_heads=1, unidirectional=1)


def model_embed():
    return one("EmbedLayerNormalization", [("i", INT32, [1, 2])],
               [("y", FLOAT, [1, 2, 2]), ("n", INT32, [1]),
                ("s", FLOAT, [1, 2, 2])],
               [floats("w", [2, 2], [1.0, 3.0, 5.0, 7.0]),
                floats("p", [2, 2], [0.0, 0.0, 0.0, 2.0]),
                floats("g", [2], [1.0, 1.0]), floats("b", [2], [0.0, 0.5])],
               domain=MS, more=["", "w", "p", "", "g", "b"], epsilon=0.0)


# ---- Refused -----------------------------------------------------------------

def model_maps():
    return one("ZipMap", [("x", FLOAT, [2, 2])], [("y", FLOAT, [2, 2])],
               domain=ML, classlabels_int64s=[0, 1])


def model_random():
    return one("RandomNormalLike", [("x", FLOAT, [2])], [("y", FLOAT, [2])])


if __name__ == "__main__":
    name, path = sys.argv[1:]
    with open(path, "wb") as out:
        out.write(globals()["model_" + name]())
