#!/usr/bin/env python3
"""Small models in which an input decides a shape, and such of sequences and
optional values: shapes.py NAME FILE. See make.py."""
import sys

from make import (BOOL, FLOAT, INT64, field, floats, graph, info, ints, model,
                  node, one, tensor)


def typed(name, kind):
    """An input or result of any type."""
    return field(1, name) + field(2, kind)


def tensor_type(kind, dims):
    """dims None: of unknown rank."""
    if dims is None:
        return field(1, field(1, kind))
    sizes = b"".join(field(1, field(1 if isinstance(d, int) else 2, d))
                     for d in dims)
    return field(1, field(1, kind) + field(2, sizes))


def sequence(of):
    return field(4, field(1, of))


def optional(of):
    return field(9, field(1, of))


# ---- Shapes that an input decides ---------------------------------------------

def model_axes():
    """Reduced to [2], by the one axis or the other; what is declared is the
    root of it."""
    return model(graph([node("ReduceSum", ["x", "axes"], ["s"], keepdims=0),
                        node("Sqrt", ["s"], ["y"])],
                       [info("x", FLOAT, [2, 2]), info("axes", INT64, [1])],
                       [info("y", FLOAT, [2])]))


def model_two_readers():
    """Readers ask for different shapes: nothing is known of s."""
    return model(graph([node("ReduceSum", ["x", "axes"], ["s"], "r", keepdims=0),
                        node("Add", ["s", "row"], ["y"]),
                        node("Add", ["s", "cell"], ["z"])],
                       [info("x", FLOAT, [2, 2]), info("axes", INT64, [1])],
                       [info("y", FLOAT, [2]), info("z", FLOAT, [2, 2])],
                       [floats("row", [2], [0, 0]),
                        floats("cell", [2, 1], [0, 0])]))


def model_squeeze():
    return model(graph([node("Squeeze", ["x", "axes"], ["y"])],
                       [info("x", FLOAT, [1, 2, 1]),
                        info("axes", INT64, [1])],
                       [info("y", FLOAT, [2, 1])]))


def model_unsqueeze():
    return model(graph([node("Unsqueeze", ["x", "axes"], ["y"])],
                       [info("x", FLOAT, [2]), info("axes", INT64, [1])],
                       [info("y", FLOAT, [2, 1])]))


def model_expand():
    return model(graph([node("Expand", ["x", "shape"], ["e"]),
                        node("Neg", ["e"], ["y"])],
                       [info("x", FLOAT, [2, 1]), info("shape", INT64, [2])],
                       [info("y", FLOAT, [2, 3])]))


def model_split():
    return model(graph([node("Split", ["x", "sizes"], ["a", "b"])],
                       [info("x", FLOAT, [3]), info("sizes", INT64, [2])],
                       [info("a", FLOAT, [1]), info("b", FLOAT, [2])]))


def model_range():
    """As long as is declared behind two maps."""
    return model(graph([node("Range", ["zero", "n", "step"], ["r"]),
                        node("Mul", ["r", "step"], ["s"]),
                        node("Neg", ["s"], ["y"])],
                       [info("n", FLOAT, [])], [info("y", FLOAT, [3])],
                       [floats("zero", [], [0]), floats("step", [], [2])]))


def model_long_range():
    """A length that nothing declares."""
    return model(graph([node("Range", ["from", "to", "step"], ["y"])],
                       [info("from", INT64, []), info("to", INT64, []),
                        info("step", INT64, [])], [info("y", INT64, ["n"])]))


def model_found():
    """Of what is found only how much it is; silu is a composite."""
    return model(graph([node("NonZero", ["x"], ["z"]),
                        node("Size", ["z"], ["n"]),
                        node("Sigmoid", ["x"], ["s"]),
                        node("Mul", ["x", "s"], ["y"])],
                       [info("x", FLOAT, [4])],
                       [info("n", INT64, []), info("y", FLOAT, [4])]))


def model_topk():
    return model(graph([node("TopK", ["x", "k"], ["y", "at"])],
                       [info("x", FLOAT, [4]), info("k", INT64, [1])],
                       [info("y", FLOAT, [2]), info("at", INT64, [2])]))


def model_loop():
    """As many turns as a scan result is long, if the first condition holds."""
    return loop([3])


def model_no_turn():
    """The first condition is known not to hold; nothing is declared."""
    return model(graph([node("Loop", ["n", "go", "x"], ["y", "all"],
                             body=turn())],
                       [info("x", FLOAT, [])],
                       [info("y", FLOAT, []),
                        typed("all", tensor_type(FLOAT, None))],
                       [floats("one", [], [1]), ints("n", [], [3]),
                        tensor("go", BOOL, [], b"\0")]))


def turn():
    return graph([node("Add", ["h", "one"], ["h2"]),
                  node("Identity", ["go"], ["go2"]),
                  node("Identity", ["h2"], ["each"])],
                 [info("i", INT64, []), info("go", BOOL, []),
                  info("h", FLOAT, [])],
                 [info("go2", BOOL, []), info("h2", FLOAT, []),
                  info("each", FLOAT, [])])


def loop(sizes):
    return model(graph([node("Loop", ["n", "go", "x"], ["y", "all"],
                             body=turn())],
                       [info("n", INT64, []), info("go", BOOL, []),
                        info("x", FLOAT, [])],
                       [info("y", FLOAT, []), info("all", FLOAT, sizes)],
                       [floats("one", [], [1])]))


def model_hinted_loop():
    """Ended by a condition; the scan result is as long as what is made of it."""
    body = graph([node("Add", ["h", "one"], ["h2"]),
                  node("Less", ["h2", "most"], ["go2"]),
                  node("Identity", ["h2"], ["each"])],
                 [info("i", INT64, []), info("go", BOOL, []),
                  info("h", FLOAT, [])],
                 [info("go2", BOOL, []), info("h2", FLOAT, []),
                  info("each", FLOAT, [])])
    return model(graph([node("Loop", ["n", "", "x"], ["h", "all"], body=body),
                        node("Neg", ["all"], ["y"])],
                       [info("n", INT64, []), info("x", FLOAT, [])],
                       [info("y", FLOAT, [3])],
                       [floats("one", [], [1]), floats("most", [], [9])]))


def model_long_loop():
    """The same of a length that nobody says."""
    return loop(["turns"])


def model_col2im():
    """Blocks of two elements: [1, 2] or [2, 1]."""
    return model(graph([node("Col2Im", ["x", "image", "block"], ["y"])],
                       [info("x", FLOAT, [1, 2, 2]), info("image", INT64, [2]),
                        info("block", INT64, [2])],
                       [info("y", FLOAT, [1, 1, 2, 2])]), 18)


def model_dft_axis():
    """Along either of two axes, which are alike."""
    return model(graph([node("DFT", ["x", "", "axis"], ["y"])],
                       [info("x", FLOAT, [2, 2, 1]), info("axis", INT64, [])],
                       [info("y", FLOAT, [2, 2, 2])]), opset=20)


def model_dft_length():
    return model(graph([node("DFT", ["x", "length"], ["y"])],
                       [info("x", FLOAT, [1, 4, 1]),
                        info("length", INT64, [])],
                       [info("y", FLOAT, [1, 2, 2])]), opset=20)


def model_stft():
    """Four or five elements a frame give three frequencies."""
    return model(graph([node("STFT", ["x", "step", "", "length"], ["y"])],
                       [info("x", FLOAT, [1, 6, 1]), info("step", INT64, []),
                        info("length", INT64, [])],
                       [info("y", FLOAT, [1, 2, 3, 2])]), 17)


def model_conv_transpose():
    """output_shape asks for a row and a column more than is computed."""
    return model(graph([node("ConvTranspose", ["x", "w", "b"], ["y"],
                             output_shape=[3, 3], strides=[1, 1])],
                       [info("x", FLOAT, [1, 1, 2, 2])],
                       [info("y", FLOAT, [1, 1, 3, 3])],
                       [floats("w", [1, 1, 1, 1], [2]), floats("b", [1], [1])]))


def model_scan8():
    """Operator set 8: two batches; the second input backwards."""
    body = graph([node("Add", ["s", "a"], ["s2"]), node("Mul", ["a", "b"], ["o"])],
                 [info("s", FLOAT, [1]), info("a", FLOAT, [1]),
                  info("b", FLOAT, [1])],
                 [info("s2", FLOAT, [1]), info("o", FLOAT, [1])])
    return model(graph([node("Scan", ["", "s0", "a", "b"], ["s", "o"], body=body,
                             num_scan_inputs=2, directions=[0, 1])],
                       [info("s0", FLOAT, [2, 1]), info("a", FLOAT, [2, 3, 1]),
                        info("b", FLOAT, [2, 3, 1])],
                       [info("s", FLOAT, [2, 1]), info("o", FLOAT, [2, 3, 1])]),
                 8)


def model_pad():
    """Nothing but run time knows how large p is."""
    return model(graph([node("Pad", ["x", "pads"], ["p"], "grow"),
                        node("ReduceSum", ["p"], ["y"], keepdims=0)],
                       [info("x", FLOAT, [2]), info("pads", INT64, [2])],
                       [info("y", FLOAT, [])]))




# ---- Sequences and optional values ---------------------------------------------

def model_identity():
    """A sequence of tensors of which not even the rank is declared."""
    kind = sequence(tensor_type(FLOAT, None))
    return model(graph([node("Identity", ["s"], ["t"])], [typed("s", kind)],
                       [typed("t", kind)]))


def model_second_reader():
    """s is read by the second node; k has an initialiser."""
    kind = sequence(tensor_type(FLOAT, [2]))
    return model(graph([node("Add", ["x", "k"], ["y"], "first"),
                        node("Identity", ["s"], ["t"], "second")],
                       [info("x", FLOAT, [2]), info("k", FLOAT, [2]),
                        typed("s", kind)],
                       [info("y", FLOAT, [2]), typed("t", kind)],
                       [floats("k", [2], [1, 1])]))


def model_unranked():
    return model(graph([node("Neg", ["x"], ["y"])],
                       [typed("x", tensor_type(FLOAT, None))],
                       [typed("y", tensor_type(FLOAT, None))]))


def model_map():
    """x[i] * y for all items, and the sum of all; N is one size."""
    body = graph([node("Mul", ["a", "b"], ["c"])],
                 [info("a", FLOAT, ["N"]), info("b", FLOAT, ["N"])],
                 [info("c", FLOAT, ["N"])])
    return model(graph([node("SequenceMap", ["x", "y"], ["z"], body=body),
                        node("ConcatFromSequence", ["z"], ["w"], axis=0)],
                       [typed("x", sequence(tensor_type(FLOAT, ["N"]))),
                        info("y", FLOAT, ["N"])],
                       [typed("z", sequence(tensor_type(FLOAT, ["N"]))),
                        info("w", FLOAT, ["M"])]))


def model_optional():
    """An optional tensor: whether it is there, and a sequence of two."""
    kind = optional(tensor_type(FLOAT, [2]))
    pair = node("SequenceConstruct", ["x", "x"], ["pair"])
    return model(graph([node("OptionalHasElement", ["o"], ["has"]), pair],
                       [typed("o", kind), info("x", FLOAT, [2])],
                       [info("has", BOOL, []),
                        typed("pair", sequence(tensor_type(FLOAT, [2])))]), 18)


def model_if_sequence():
    """Run time chooses between two sequences; or, with `else` of another
    length, cannot."""
    return if_sequence(2)


def model_if_lengths():
    return if_sequence(1)


def if_sequence(items):
    kind = sequence(tensor_type(FLOAT, [2]))
    yes = graph([node("Neg", ["x"], ["m"]),
                 node("SequenceConstruct", ["x", "m"], ["s"])], [],
                [typed("s", kind)])
    no = graph([node("SequenceConstruct", ["x"] * items, ["t"])], [],
               [typed("t", kind)])
    return model(graph([node("If", ["c"], ["y"], "i", then_branch=yes,
                             else_branch=no)],
                       [info("c", BOOL, []), info("x", FLOAT, [2])],
                       [typed("y", kind)]))


def model_gather_loop():
    """A loop that adds an item to a sequence each turn, and gathers what it
    carries."""
    kind = sequence(tensor_type(FLOAT, []))
    body = graph([node("SequenceInsert", ["s", "h"], ["s2"]),
                  node("Add", ["h", "h"], ["h2"]),
                  node("Identity", ["go"], ["go2"]),
                  node("Identity", ["h"], ["each"])],
                 [info("i", INT64, []), info("go", BOOL, []), typed("s", kind),
                  info("h", FLOAT, [])],
                 [info("go2", BOOL, []), typed("s2", kind),
                  info("h2", FLOAT, []), info("each", FLOAT, [])])
    return model(graph([node("SequenceEmpty", [], ["none"]),
                        node("Loop", ["n", "", "none", "x"], ["y", "h", "all"],
                             "l", body=body)],
                       [info("n", INT64, []), info("x", FLOAT, [])],
                       [typed("y", kind), info("h", FLOAT, []),
                        info("all", FLOAT, ["T"])]))


def model_parts():
    """Parts of sizes that an input says."""
    return model(graph([node("SplitToSequence", ["x", "sizes"], ["y"], axis=0)],
                       [info("x", FLOAT, [3]), info("sizes", INT64, [2])],
                       [typed("y", sequence(tensor_type(FLOAT, None)))]))


def model_even_parts():
    """Parts of one size, which an input says: nobody knows how many."""
    return model(graph([node("SplitToSequence", ["x", "size"], ["y"], "s")],
                       [info("x", FLOAT, [3]), info("size", INT64, [])],
                       [typed("y", sequence(tensor_type(FLOAT, None)))]))


def model_places():
    """An item put in, one taken out, one picked: run time says where."""
    kind = sequence(tensor_type(FLOAT, []))
    return model(graph([node("SequenceInsert", ["s", "x", "at"], ["t"]),
                        node("SequenceErase", ["s", "at"], ["u"]),
                        node("SequenceAt", ["s", "at"], ["v"], "pick")],
                       [typed("s", kind), info("x", FLOAT, []),
                        info("at", INT64, [])],
                       [typed("t", kind), typed("u", kind),
                        info("v", FLOAT, [])]))


def model_places_apart():
    """Items of different sizes."""
    kind = sequence(tensor_type(FLOAT, ["?"]))
    return model(graph([node("SequenceAt", ["s", "at"], ["v"], "pick")],
                       [typed("s", kind), info("at", INT64, [])],
                       [info("v", FLOAT, ["n"])]))


def model_map_type():
    """Maps are not read."""
    return model(graph([node("Identity", ["m"], ["n"])],
                       [typed("m", field(5, field(1, INT64)))],
                       [typed("n", field(5, field(1, INT64)))]))


def model_non_zero():
    """Places of a matrix of any number of rows."""
    return model(graph([node("NonZero", ["x"], ["y"])],
                       [info("x", FLOAT, ["N", 4])],
                       [info("y", INT64, [2, "found"])]))


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as out:
        out.write(globals()["model_" + sys.argv[1]]())
