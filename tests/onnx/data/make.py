#!/usr/bin/env python3
"""Small models of ONNX, written byte by byte: make.py NAME FILE.

Each function below whose name begins `model_` is one; its text says what is
particular about it.
"""
import os
import struct
import sys

FLOAT, INT64, STRING, BOOL = 1, 7, 8, 9
SMALL = {"f8e4m3fn": 17, "f8e4m3fnuz": 18, "f8e5m2": 19, "f8e5m2fnuz": 20,
         "u4": 21, "i4": 22, "f4e2m1": 23, "f8e8m0": 24, "u2": 25, "i2": 26}


# ---- The wire format ---------------------------------------------------------

def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


# ---- Messages ----------------------------------------------------------------

def tensor(name, kind, dims, raw):
    return (b"".join(field(1, d) for d in dims) + field(2, kind) +
            field(8, name) + field(9, raw))


def floats(name, dims, values):
    return tensor(name, FLOAT, dims, struct.pack("<%df" % len(values), *values))


def ints(name, dims, values):
    return tensor(name, INT64, dims, struct.pack("<%dq" % len(values), *values))


def external(name, kind, dims, location, **more):
    entries = {"location": location, **{k: str(v) for k, v in more.items()}}
    return (b"".join(field(1, d) for d in dims) + field(2, kind) +
            field(8, name) + field(14, 1) +
            b"".join(field(13, field(1, k) + field(2, v))
                     for k, v in entries.items()))


def info(name, kind, dims):
    if dims is None:
        return field(1, name) + field(2, field(1, field(1, kind)))
    shape = b"".join(field(1, field(1 if isinstance(d, int) else 2, d))
                     for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def attr(name, value):
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, float):
        return field(1, name) + field(2, value) + field(20, 1)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    if isinstance(value, bytes):
        return field(1, name) + field(6, value) + field(20, 5)
    number, kind = {float: (7, 6), str: (9, 8)}.get(
        type(value[0]) if value else int, (8, 7))
    return (field(1, name) + b"".join(field(number, v) for v in value) +
            field(20, kind))


def node(op, inputs, outputs, name="", domain="", **attrs):
    return (b"".join(field(1, i) for i in inputs) +
            b"".join(field(2, o) for o in outputs) + field(3, name) +
            field(4, op) +
            b"".join(field(5, attr(k, v)) for k, v in attrs.items()) +
            (field(7, domain) if domain else b""))


def graph(nodes, inputs, outputs, weights=()):
    return (b"".join(field(1, n) for n in nodes) + field(2, "g") +
            b"".join(field(5, w) for w in weights) +
            b"".join(field(11, i) for i in inputs) +
            b"".join(field(12, o) for o in outputs))


def model(body, opset=17, functions=()):
    return (field(1, 8) + field(8, field(1, "") + field(2, opset)) +
            field(7, body) + b"".join(field(25, f) for f in functions))


X = info("x", FLOAT, [2, 3])
Y = info("y", FLOAT, [2, 3])


def one(*args, outputs=(Y,), opset=17, weights=(), **attrs):
    return model(graph([node(*args, **attrs)], [X], outputs, weights), opset)


# ---- Models that are right ---------------------------------------------------

def model_relu():
    return one("Relu", ["x"], ["y"], "first")


def model_names():
    """Names that the language would not take bare."""
    odd = ["fn", "a/b:0", "`*/\n%s\"", "out;}"]
    return model(graph([node("Relu", [odd[0]], [odd[1]], "*/"),
                        node("Neg", [odd[1]], [odd[2]]),
                        node("Add", [odd[2], odd[1]], [odd[3]])],
                       [info(odd[0], FLOAT, ["N;", 3])],
                       [info(odd[3], FLOAT, ["N;", 3])]))


def model_weights():
    """A weight and a literal; what nothing reads is not there."""
    big = floats("w", [3, 40], [i / 8 for i in range(120)])
    return model(graph([node("MatMul", ["x", "w"], ["m"]),
                        node("Mul", ["m", "s"], ["y"])],
                       [X], [info("y", FLOAT, [2, 40])],
                       [big, floats("s", [], [2.0]),
                        floats("unused", [100], [0.0] * 100)]))


def model_shapes():
    """Flattens all but the first axis, as exporters write it."""
    return model(graph(
        [node("Shape", ["x"], ["s"]),
         node("Gather", ["s", "zero"], ["b"], axis=0),
         node("Unsqueeze", ["b", "axes"], ["b1"]),
         node("Concat", ["b1", "rest"], ["shape"], axis=0),
         node("Reshape", ["x", "shape"], ["y"])],
        [info("x", FLOAT, ["B", 2, 3])], [info("y", FLOAT, ["B", 6])],
        [ints("zero", [], [0]), ints("axes", [1], [0]),
         ints("rest", [1], [-1])]))


def model_old_broadcast():
    """Operator set 6: b goes along axis 0."""
    return model(graph([node("Add", ["x", "b"], ["y"], broadcast=1, axis=0)],
                       [X, info("b", FLOAT, [2])], [Y]), 6)


def model_external():
    """A weight in weights.bin, beside the model."""
    return one("Add", ["x", "w"], ["y"],
               weights=[external("w", FLOAT, [3], "weights.bin", offset=4,
                                 length=12)])


def model_branch():
    """A branch that only run time can choose, and a loop of three turns."""
    branch = lambda op: graph([node(op, ["x"], [op])], [],
                              [info(op, FLOAT, [2, 3])])
    body = graph([node("Add", ["h", "h"], ["h2"]),
                  node("Identity", ["go"], ["go2"])],
                 [info("i", INT64, []), info("go", BOOL, []),
                  info("h", FLOAT, [2, 3])],
                 [info("go2", BOOL, []), info("h2", FLOAT, [2, 3])])
    return model(graph(
        [node("If", ["c"], ["b"], then_branch=branch("Relu"),
              else_branch=branch("Neg")),
         node("Loop", ["n", "", "b"], ["y"], body=body)],
        [X, info("c", BOOL, [])], [Y], [ints("n", [], [3])]))


def model_function():
    """A function of the model's own, called with an attribute."""
    inner = (field(1, "Leak") + field(4, "a") + field(5, "b") +
             field(6, "slope") + field(10, "mine") +
             field(9, field(1, "") + field(2, 17)) +
             field(7, field(1, "a") + field(2, "b") + field(4, "LeakyRelu") +
                   field(5, field(1, "alpha") + field(21, "slope") +
                         field(20, 1))))
    return model(graph([node("Leak", ["x"], ["y"], domain="mine",
                             slope=0.5)], [X], [Y]), functions=[inner])


def model_function_gives_nothing():
    """A function that makes another value than it says."""
    inner = (field(1, "Same") + field(4, "a") + field(5, "b") +
             field(10, "mine") + field(9, field(1, "") + field(2, 17)) +
             field(7, field(1, "a") + field(2, "c") + field(4, "Relu")))
    return model(graph([node("Same", ["x"], ["y"], domain="mine")], [X], [Y]),
                 functions=[inner])


def model_unaligned():
    """Weights at an address that is no multiple of 4; w[i, j] = i + 2 j."""
    values = [i + 2.0 * j for i in range(40) for j in range(40)]
    for pad in range(4):
        whole = one("MatMul", ["x", "w"], ["y"],
                    outputs=[info("y", FLOAT, [1, 40])],
                    weights=[field(12, "-" * pad) +
                             floats("w", [40, 40], values)])
        whole = whole.replace(X, info("x", FLOAT, [1, 40]))
        if whole.index(struct.pack("<2f", 0, 2)) % 4 == 3:
            return whole


def packed(numbers, bits):
    """Several a byte, the lowest first; the last may be filled up."""
    each = 8 // bits
    return bytes(sum((n & ((1 << bits) - 1)) << bits * k
                     for k, n in enumerate(numbers[i:i + each]))
                 for i in range(0, len(numbers), each))


def small_model(make):
    """A tensor of each type of fewer than 16 bits, of five elements, as f32."""
    numbers = {"u4": [0, 1, 8, 15, 3], "i4": [-8, -1, 0, 7, 3],
               "u2": [0, 1, 2, 3, 2], "i2": [-2, -1, 0, 1, -2],
               "f4e2m1": [1, 15, 8, 2, 7]}
    patterns = {"f8e4m3fn": [0x38, 0xFE, 0x7F, 1, 0x80],
                "f8e5m2": [0x3C, 0xFB, 0x7C, 1, 0x7E],
                "f8e4m3fnuz": [0x40, 0xFF, 0x80, 1, 0x7F],
                "f8e5m2fnuz": [0x40, 0xFF, 0x80, 1, 0x7F],
                "f8e8m0": [127, 128, 0, 254, 255]}
    data = {k: packed(v, int(k[1])) for k, v in numbers.items()}
    data.update((k, bytes(v)) for k, v in patterns.items())
    return model(graph(
        [node("Cast", ["w_" + k], [k], to=FLOAT) for k in data],
        [X], [info(k, FLOAT, [5]) for k in data],
        [make("w_" + k, SMALL[k], [5], v) for k, v in data.items()]), 25)


def model_small():
    return small_model(tensor)


def model_small_lists():
    """The same bytes as numbers of the list of 32 bits."""
    return small_model(lambda name, kind, dims, raw:
                       b"".join(field(1, d) for d in dims) + field(2, kind) +
                       field(5, b"".join(varint(b) for b in raw)) +
                       field(8, name))


def model_small_short():
    return model(graph([node("Cast", ["w"], ["y"], to=FLOAT)], [X],
                       [info("y", FLOAT, [5])],
                       [tensor("w", SMALL["i2"], [5], b"1")]), 25)


def model_small_moves():
    """Weights of 4 bits on their way to a product: turned, picked, scaled in
    blocks of two rows."""
    i4 = SMALL["i4"]
    w = [-8, 7, 1, -1, 2, 3, 4, -5]
    return model(graph(
        [node("Transpose", ["w"], ["t"], perm=[1, 0]),
         node("Gather", ["t", "rows"], ["g"], axis=0),
         node("Reshape", ["g", "shape"], ["q"]),
         node("DequantizeLinear", ["q", "scale", "zero"], ["y"], axis=0,
              block_size=2)],
        [X], [info("y", FLOAT, [4, 2])],
        [tensor("w", i4, [2, 4], packed(w, 4)),
         ints("rows", [4], [3, 2, 1, 0]), ints("shape", [2], [-1, 2]),
         floats("scale", [2, 2], [1.0, 0.5, 2.0, 4.0]),
         tensor("zero", i4, [2, 2], packed([0, 1, -1, 2], 4))]), 25)


def conversion(to, **attrs):
    kind = SMALL[to]
    return model(graph([node("Cast", ["x"], ["y"], to=kind, **attrs)],
                       [info("x", FLOAT, [8])], [info("y", kind, [8])]), 25)


def model_scale_up():
    return conversion("f8e8m0")


def model_scale_down():
    return conversion("f8e8m0", round_mode="down", saturate=0)


def model_scale_nearest():
    return conversion("f8e8m0", round_mode="nearest", saturate=0)


def model_overflow():
    return conversion("f8e5m2", saturate=0)


def model_overflow_nan():
    return conversion("f8e4m3fnuz", saturate=0)


def model_wraps():
    """Floats beyond i2: the high bits of the whole number are dropped."""
    return conversion("i2")


# ---- Models that are wrong ---------------------------------------------------

def model_cut_off():
    return model_relu()[:-3]


def model_opset():
    return one("Relu", ["x"], ["y"], opset=99)


def model_roomy():
    """A value on the way, of two free sizes."""
    return model(graph([node("Relu", ["x"], ["a"]), node("Neg", ["a"], ["y"])],
                       [info("x", FLOAT, ["A", "B"])],
                       [info("y", FLOAT, ["A", "B"])]))


def model_unknown():
    """Two operators that nobody has, of three nodes."""
    return model(graph([node("Frobnicate", ["x"], ["a"], "n1"),
                        node("Twist", ["a"], ["b"], "n2"),
                        node("Frobnicate", ["b"], ["y"], "n3")], [X], [Y]))


def model_refused():
    return one("Cast", ["x"], ["y"], "c", opset=24, to=SMALL["f8e8m0"],
               round_mode="sideways",
               outputs=[info("y", SMALL["f8e8m0"], [2, 3])])


def model_cycle():
    return model(graph([node("Add", ["x", "b"], ["a"]),
                        node("Relu", ["a"], ["b"])], [X],
                       [info("b", FLOAT, [2, 3])]))


def model_missing():
    return one("Add", ["x", "nowhere"], ["y"])


def model_twice():
    return model(graph([node("Relu", ["x"], ["y"]),
                        node("Neg", ["x"], ["y"])], [X], [Y]))


def model_short():
    return one("Add", ["x", "w"], ["y"],
               weights=[tensor("w", FLOAT, [2, 3], b"1234")])


def model_outside():
    return one("Add", ["x", "w"], ["y"],
               weights=[external("w", FLOAT, [3], "../secret.bin")])


def model_no_file():
    return one("Add", ["x", "w"], ["y"],
               weights=[external("w", FLOAT, [3], "none.bin")])


def model_mistyped():
    return one("Relu", ["x"], ["y"], outputs=[info("y", FLOAT, [2, 4])])


def model_malformed():
    return one("Concat", ["x", "x"], ["y"], "c", axis=7)


def model_endless():
    """A function that calls itself."""
    inner = (field(1, "F") + field(4, "a") + field(5, "b") +
             field(10, "mine") + field(9, field(1, "") + field(2, 17)) +
             field(7, node("F", ["a"], ["b"], domain="mine")))
    return model(graph([node("F", ["x"], ["y"], domain="mine")], [X], [Y]),
                 functions=[inner])


def model_bursting():
    """Each function calls the one before twice: a million nodes."""
    def twice(i):
        inner = "F%d" % (i - 1)
        calls = [node(inner, ["a"], ["m"], domain="mine"),
                 node(inner, ["m"], ["b"], domain="mine")] if i else \
            [node("Relu", ["a"], ["b"])]
        return (field(1, "F%d" % i) + field(4, "a") + field(5, "b") +
                field(10, "mine") + field(9, field(1, "") + field(2, 17)) +
                b"".join(field(7, call) for call in calls))
    return model(graph([node("F20", ["x"], ["y"], domain="mine")], [X], [Y]),
                 functions=[twice(i) for i in range(21)])


def model_unsorted():
    return model(graph([node("Relu", ["a"], ["y"]),
                        node("Neg", ["x"], ["a"])], [X], [Y]))


def model_strings():
    return model(graph([node("Identity", ["x"], ["y"])],
                       [info("x", STRING, [2])], [info("y", STRING, [2])]))


def model_deep():
    """Graphs in graphs, deeper than anybody needs."""
    body = graph([node("Relu", ["x"], ["y"])], [], [Y])
    for _ in range(60):
        body = graph([node("If", ["c"], ["y"], then_branch=body,
                           else_branch=body[:0])], [], [Y])
    return model(body)


def model_huge():
    """A tensor whose sizes overflow."""
    return one("Add", ["x", "w"], ["y"],
               weights=[tensor("w", FLOAT, [1 << 62, 1 << 62], b"")])


def model_opset_28():
    """One more than the newest that is known."""
    return one("Relu", ["x"], ["y"], opset=28)


def model_opset_0():
    return one("Relu", ["x"], ["y"], opset=0)


def model_no_opset():
    return field(1, 8) + field(7, graph([node("Relu", ["x"], ["y"])], [X], [Y]))


def model_other_opset():
    """The operator set of somebody else alone."""
    return (field(1, 8) + field(8, field(1, "mine") + field(2, 1)) +
            field(7, graph([node("Relu", ["x"], ["y"], "r")], [X], [Y])))


def model_later():
    """An operator that a later set has."""
    return one("Mish", ["x"], ["y"], "m", opset=17)


def model_no_graph():
    return field(1, 8) + field(8, field(1, "") + field(2, 17))


def model_empty():
    return model(graph([], [X], []))


def model_no_outputs():
    return model(graph([node("Relu", ["x"], ["y"])], [X], []))


def model_unmade():
    """A result that nothing gives."""
    return one("Relu", ["x"], ["z"])


def model_nameless_output():
    return model(graph([node("Relu", ["x"], ["y"])], [X],
                       [field(2, field(1, field(1, FLOAT)))]))


def model_nameless_input():
    return model(graph([node("Relu", ["x"], ["y"])],
                       [info("", FLOAT, [2, 3]), X], [Y]))


def model_two_inputs():
    """Two inputs of one name."""
    return model(graph([node("Relu", ["x"], ["y"])], [X, X], [Y]))


def model_two_weights():
    return one("Add", ["x", "w"], ["y"],
               weights=[floats("w", [3], [1.0] * 3)] * 2)


def model_two_outputs():
    """A result that is handed out twice is none of a model's faults."""
    return model(graph([node("Relu", ["x"], ["y"])], [X], [Y, Y]))


def model_remade_input():
    return one("Relu", ["x"], ["x"], outputs=[info("x", FLOAT, [2, 3])])


def model_two_attributes():
    body = node("Concat", ["x", "x"], ["y"], "c", axis=0)
    return model(graph([body + field(5, attr("axis", 1))], [X],
                       [info("y", FLOAT, [4, 3])]))


def model_float_axis():
    """An integer is due."""
    return one("Concat", ["x", "x"], ["y"], "c", axis=1.0)


def model_text_axis():
    return one("Concat", ["x", "x"], ["y"], "c", axis="one")


def model_int_alpha():
    """A float is due."""
    return one("LeakyRelu", ["x"], ["y"], "l", alpha=1)


def model_ints_axis():
    return one("Softmax", ["x"], ["y"], "s", axis=[1])


def model_no_axis():
    return one("Concat", ["x", "x"], ["y"], "c")


def model_nameless_attribute():
    body = node("Concat", ["x", "x"], ["y"], "c", axis=0)
    return model(graph([body + field(5, field(3, 1) + field(20, 2))], [X],
                       [info("y", FLOAT, [4, 3])]))


def model_long():
    return one("Add", ["x", "w"], ["y"],
               weights=[tensor("w", FLOAT, [3], b"1234" * 4)])


def model_negative():
    return one("Add", ["x", "w"], ["y"],
               weights=[tensor("w", FLOAT, [-3], b"")])


def model_negative_input():
    """Some write -1 for a size that is not known."""
    return model(graph([node("Relu", ["x"], ["y"])],
                       [info("x", FLOAT, [-1, 3])], [info("y", FLOAT, [-1, 3])]))


def model_huge_input():
    sizes = [1 << 40, 1 << 40]
    return model(graph([node("Relu", ["x"], ["y"])],
                       [info("x", FLOAT, sizes)], [info("y", FLOAT, sizes)]))


def model_huge_result():
    """A result whose size overflows, of small operands."""
    return model(graph([node("Expand", ["x", "s"], ["y"])],
                       [info("x", FLOAT, [1])], [info("y", FLOAT, [1 << 62, 4])],
                       [ints("s", [2], [1 << 62, 4])]))


def model_scalar_shape():
    """The shape of a scalar: nothing, and not from nowhere."""
    return model(graph([node("Shape", ["x"], ["y"])], [info("x", FLOAT, [])],
                       [info("y", INT64, [0])]))


def model_scalar_condition():
    """Of what is kept, one flag for all."""
    return model(graph([node("Compress", ["x", "c"], ["y"])],
                       [X, info("c", BOOL, [])], [Y]))


def model_long_tuples():
    """Tuples of indices whose length no int has."""
    return model(graph([node("GatherND", ["x", "i"], ["y"])],
                       [X, info("i", INT64, [1, 1 << 31])],
                       [info("y", FLOAT, [1])]))


def model_many_batches():
    return model(graph([node("GatherND", ["x", "i"], ["y"],
                             batch_dims=1 << 32)],
                       [X, info("i", INT64, [2, 1])], [info("y", FLOAT, [3])]))


def model_many_axes():
    return one("Add", ["x", "w"], ["y"],
               weights=[tensor("w", FLOAT, [1] * 20, b"1234")])


def model_mixed():
    """Operands of two element types."""
    return model(graph([node("Add", ["x", "i"], ["y"], "sum")],
                       [X, info("i", INT64, [3])], [Y]))


def model_absolute():
    return one("Add", ["x", "w"], ["y"],
               weights=[external("w", FLOAT, [3], "/etc/passwd")])


def model_nowhere():
    """External data without a file."""
    return one("Add", ["x", "w"], ["y"],
               weights=[field(1, 3) + field(2, FLOAT) + field(8, "w") +
                        field(14, 1)])


def model_odd_offset():
    return one("Add", ["x", "w"], ["y"],
               weights=[external("w", FLOAT, [3], "weights.bin",
                                 offset="many")])


def model_far_offset():
    return one("Add", ["x", "w"], ["y"],
               weights=[external("w", FLOAT, [3], "weights.bin",
                                 offset=(1 << 64) - 4, length=12)])


def model_binary_name():
    """A name that is no UTF-8."""
    body = field(1, b"\xff\xfe") + field(2, "y") + field(4, "Relu")
    return model(graph([body], [X], [Y]))


def model_no_operator():
    return model(graph([field(1, "x") + field(2, "y") + field(3, "n")], [X],
                       [Y]))


def model_no_type():
    return model(graph([node("Relu", ["x"], ["y"])], [field(1, "x")], [Y]))


def model_no_rank():
    return model(graph([node("Relu", ["x"], ["y"])],
                       [field(1, "x") + field(2, field(1, field(1, FLOAT)))],
                       [Y]))


def model_wrong_wire():
    """The name of a node as a number."""
    body = field(1, "x") + field(2, "y") + field(3, 7) + field(4, "Relu")
    return model(graph([body], [X], [Y]))


def model_segment():
    return one("Add", ["x", "w"], ["y"],
               weights=[floats("w", [3], [1.0] * 3) + field(3, field(1, 0))])


if __name__ == "__main__":
    name, path = sys.argv[1:]
    with open(path, "wb") as out:
        out.write(globals()["model_" + name]())
