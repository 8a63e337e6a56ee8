"""The values of the sweep: element types, floats as patterns of bits, tensors,
.npy files, tensors as text of the language, and inputs with special values."""
import ast
import collections
import math
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

# ---- Element types ----------------------------------------------------------

FLOATS = ["f64", "f32", "f16", "bf16"]
INTS = ["i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"]
SETS = {"float": FLOATS, "int": INTS, "num": FLOATS + INTS,
        "bool": ["bool"], "any": FLOATS + INTS + ["bool"],
        "signed": ["i64", "i32", "i16", "i8"],
        "wide": ["f64", "f32"], "half": ["f16", "bf16"]}
NPY = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "|V2",
       "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "|i1",
       "u64": "<u8", "u32": "<u4", "u16": "<u2", "u8": "|u1", "bool": "|b1"}
CODE = {"f64": "Q", "f32": "I", "f16": "H", "bf16": "H",
        "i64": "q", "i32": "i", "i16": "h", "i8": "b",
        "u64": "Q", "u32": "I", "u16": "H", "u8": "B", "bool": "B"}
# Exponent bits, fraction bits.
LAYOUT = {"f64": (11, 52), "f32": (8, 23), "f16": (5, 10), "bf16": (8, 7)}


def is_float(dtype):
    return dtype in LAYOUT


def int_range(dtype):
    if dtype == "bool":
        return 0, 1
    bits = int(dtype[1:])
    return (0, 2 ** bits - 1) if dtype[0] == "u" else (
        -2 ** (bits - 1), 2 ** (bits - 1) - 1)


def to_bits(value, dtype):
    """The pattern of a float, rounded once to even."""
    if dtype == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    exponent, fraction = LAYOUT[dtype]
    top = (1 << exponent) - 1
    sign = 1 if math.copysign(1.0, value) < 0 else 0
    if value != value:
        return (top << fraction) | (1 << (fraction - 1))
    if math.isinf(value):
        body = top << fraction
    elif value == 0:
        body = 0
    else:
        bias = (1 << (exponent - 1)) - 1
        scale = max(math.frexp(value)[1] - 1, 1 - bias)
        steps = math.ldexp(abs(value), fraction - scale)
        whole = math.floor(steps)
        rest = steps - whole
        whole += rest > 0.5 or (rest == 0.5 and whole & 1)
        body = ((scale + bias - 1) << fraction) + int(whole)
        body = min(body, top << fraction)
    return (sign << (exponent + fraction)) | body


def from_bits(bits, dtype):
    if dtype == "f64":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    exponent, fraction = LAYOUT[dtype]
    top = (1 << exponent) - 1
    e = (bits >> fraction) & top
    f = bits & ((1 << fraction) - 1)
    bias = (1 << (exponent - 1)) - 1
    if e == top:
        value = math.nan if f else math.inf
    elif e:
        value = math.ldexp((1 << fraction) + f, e - bias - fraction)
    else:
        value = math.ldexp(f, 1 - bias - fraction)
    return -value if bits >> (exponent + fraction) else value


def ordinal(bits, dtype):
    """Neighbouring floats have neighbouring numbers; both zeros are 0."""
    exponent, fraction = LAYOUT[dtype]
    sign = 1 << (exponent + fraction)
    return -(bits & (sign - 1)) if bits & sign else bits


# ---- Tensors ----------------------------------------------------------------

# data: floats as patterns, else ints.
Tensor = collections.namedtuple("Tensor", "dtype shape data")


def write_npy(path, t):
    data = struct.pack("<%d%s" % (len(t.data), CODE[t.dtype]), *t.data)
    with open(path, "wb") as f:
        f.write(tap.npy(NPY[t.dtype], t.shape, data))


def read_npy(path):
    with open(path, "rb") as f:
        raw = f.read()
    size = struct.unpack("<H", raw[8:10])[0]
    head = ast.literal_eval(raw[10:10 + size].decode())
    dtype = next(d for d in NPY if NPY[d] == head["descr"])
    count = math.prod(head["shape"])
    data = struct.unpack("<%d%s" % (count, CODE[dtype]), raw[10 + size:])
    return Tensor(dtype, head["shape"], data)


def literal(t):
    """The tensor as text of the language."""
    def one(v):
        if t.dtype == "bool":
            return "true" if v else "false"
        if not is_float(t.dtype):
            return str(v)
        v = from_bits(v, t.dtype)
        return "nan" if v != v else repr(v)

    def nest(axis, at):
        if axis == len(t.shape):
            return one(t.data[at])
        step = math.prod(t.shape[axis + 1:])
        return "[" + ", ".join(nest(axis + 1, at + i * step)
                               for i in range(t.shape[axis])) + "]"
    return nest(0, 0)


def make_value(rng, dtype, domain, at):
    if dtype == "bool":
        return rng.randrange(2)
    if not is_float(dtype):
        lo, hi = int_range(dtype)
        if domain == "tame":
            return rng.randint(max(lo, -9), 9)
        if domain:
            return rng.randint(int(domain[0]), int(domain[1]) - 1)
        special = [0, 1, -1, lo, hi, 2, 7, -7, 3, -3, lo + 1, hi - 1]
        value = special[at] if at < len(special) else rng.choice(
            [rng.randint(lo, hi), rng.randint(-9, 9)])
        return min(max(value, lo), hi)
    exponent, fraction = LAYOUT[dtype]
    if domain == "tame":
        return to_bits(rng.randint(-24, 24) / 8 + rng.random() / 64, dtype)
    if domain:
        return to_bits(rng.uniform(*domain), dtype)
    top = ((1 << exponent) - 1) << fraction
    sign = 1 << (exponent + fraction)
    half = to_bits(0.5, dtype)
    special = [to_bits(1.0, dtype), top | 1 << (fraction - 1), sign,
               half, top, sign | top, to_bits(-2.5, dtype), 1, sign | 1,
               top - 1, sign | (top - 1), 1 << fraction, half - 1,
               to_bits(1.5, dtype), to_bits(-1.0, dtype), 0]
    if at < len(special):
        return special[at]
    pick = rng.randrange(4)
    if pick == 0:
        return rng.choice(special)
    if pick == 1:
        return to_bits(rng.randint(-40, 40) / 8, dtype)
    return to_bits(rng.gauss(0, 1) * 4 ** rng.randint(-3, 3), dtype)
