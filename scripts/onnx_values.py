"""Inputs and results of the official tests of ONNX that are no tensors, and
inputs that a test fixes at import; see onnx_suite.py.

A sequence x of n items becomes the inputs x_0.. of `tenon`, an optional value x
the input x_0 or none: --length says how many, --shape what sizes they have,
where the model does not declare them. Results are all tensors in a row.
"""

# Tests in which a value that is an input decides what no declared type tells:
# how many items there are, or sizes inside of the graph. They pass with these
# inputs fixed at import.
FIXED = {
    "test_affine_grid_2d_align_corners_expanded": ["size"],
    "test_affine_grid_2d_expanded": ["size"],
    "test_affine_grid_3d_align_corners_expanded": ["size"],
    "test_affine_grid_3d_expanded": ["size"],
    "test_center_crop_pad_crop_and_pad_expanded": ["shape"],
    "test_center_crop_pad_crop_axes_chw_expanded": ["shape"],
    "test_center_crop_pad_crop_axes_hwc_expanded": ["shape"],
    "test_center_crop_pad_crop_expanded": ["shape"],
    "test_center_crop_pad_crop_negative_axes_hwc_expanded": ["shape"],
    "test_center_crop_pad_pad_expanded": ["shape"],
    "test_if_opt": ["cond"],
    "test_loop13_seq": ["trip_count", "cond"],
    "test_loop16_seq_none": ["trip_count", "cond"],
    "test_sequence_insert_at_front": ["position"],
    "test_split_to_sequence_1": ["split"],
}


class Value:
    """A tensor, or a sequence or optional value of such."""

    def __init__(self, kind, dtype=None, data=None, items=()):
        self.kind, self.dtype, self.data = kind, dtype, data
        self.items = list(items)


def kind_of(fields, info):
    """The type of an input or result: a list from the outside in."""
    for number, value in fields(info):
        if number in (4, 9):
            inner = next((v for n, v in fields(value) if n == 1), b"")
            return [number == 4 and "sequence" or "optional"] + \
                kind_of(fields, inner)
    return ["tensor"]


def read(fields, tensor, kinds, data):
    """The value of a file of a test, by the type of its input or result.

    SequenceProto: tensors are field 3, sequences 5, optional values 7; of
    OptionalProto 3, 5 and 7, too. A tensor may stand for an optional one."""
    if kinds[0] == "tensor":
        _, dtype, array = tensor(data)
        return Value("tensor", dtype, array)
    number = {"tensor": 3, "sequence": 5, "optional": 7}[kinds[1]]
    parts = [v for n, v in fields(data) if n == number and
             isinstance(v, bytes)]
    return Value(kinds[0], items=[read(fields, tensor, kinds[1:], part)
                                  for part in parts])


def leaves(name, value):
    """(name, value) of all tensors."""
    if value.kind == "tensor":
        return [(name, value)]
    return [leaf for i, item in enumerate(value.items)
            for leaf in leaves("%s_%d" % (name, i), item)]


def lengths(name, value):
    if value.kind == "tensor":
        return []
    return ["--length=%s=%d" % (name, len(value.items))] + [
        option for i, item in enumerate(value.items)
        for option in lengths("%s_%d" % (name, i), item)]


def declared_sizes(fields, info):
    """The sizes of the tensors of an input, names for those that have one; None:
    not even their number is declared."""
    for number, value in fields(info):
        inner = next((v for n, v in fields(value) if n == 1), b"") \
            if isinstance(value, bytes) else b""
        if number in (4, 9):
            return declared_sizes(fields, inner)
        if number == 1:
            shape = next((v for n, v in fields(value) if n == 2), None)
            return None if shape is None else [
                next((v for n, v in fields(dim)), None)
                for n, dim in fields(shape) if n == 1]
    return None


def shapes(name, value, sizes):
    """Of items whose sizes are not declared, or not the same for all."""
    found = {leaf: v.data.shape for leaf, v in leaves(name, value)}
    if sizes is not None and len(set(found.values())) < 2:
        return []
    return ["--shape=%s=%s" % (leaf, "x".join(map(str, shape)))
            for leaf, shape in found.items()]


def options(fields, info, name, value):
    """What `tenon` must be told at import: of an input that is no tensor its
    length and shapes, and where a size with a name is 0 its bounds."""
    sizes = declared_sizes(fields, info)
    if value.kind != "tensor":
        return lengths(name, value) + shapes(name, value, sizes)
    return ["--bounds=%s=0:4096" % size.decode()
            for size, have in zip(sizes or [], value.data.shape)
            if have == 0 and isinstance(size, bytes)]
