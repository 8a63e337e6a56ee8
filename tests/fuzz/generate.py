#!/usr/bin/env python3
"""Random valid modules, weighted to what breaks compilers of tensor graphs.

    generate.py [--seed S] [--count N] [--bundle K] [--size OPS]

Prints N modules made from seeds S, S + 1, ..: each behind a line `#% S`. With
--bundle K, each K of them are functions of one module whose `main` calls them
all, so that a compiler starts once for K.

What is likely: axes of size 0 and 1, scalars, named dims; small integers beside
large ones; NaN and infinities through max, min, compares and casts; reductions
next to transposes, reshapes, slices and pads; rows: reductions stretched over
what they sum up, once and again, products and transposes behind them; values
read inside a chain of maps and outside it; several results; indices out of
range; windows with odd attributes; branches and loops; operators of the
library; weights.

A result's name ends in `_x` if every back end must give the same bits, in `_r`
if rounding may differ (sums of floats, transcendental functions). What is
rounded never reaches an operator that jumps (compares, casts to integers,
floor, sorting), so such results are near each other.
"""
import argparse
import random

FLOATS = ["f32", "f64", "f16", "bf16"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTS = SIGNED + UNSIGNED
SIZES = [0, 1, 1, 2, 3, 3, 4, 5]
MOST_ELEMENTS = 600
# The largest size a named dim may have, to keep within MOST_ELEMENTS.
DIMS = {"N": (0, 5), "M": (1, 4)}


class Value:
    def __init__(self, name, dtype, shape, near=False):
        self.name = name
        self.dtype = dtype
        self.shape = tuple(shape)
        self.near = near

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_float(self):
        return self.dtype in FLOATS

    @property
    def is_int(self):
        return self.dtype in INTS


def most(shape):
    n = 1
    for s in shape:
        n *= DIMS[s][1] if isinstance(s, str) else s
    return n


class Graph:
    """One function in the making."""

    def __init__(self, seed, size):
        self.r = random.Random(seed)
        self.w = random.Random(seed + 0x5eed)
        self.seed = seed
        self.values = []
        self.lines = []
        self.params = []
        self.weights = []
        self.count = 0
        self.indent = "  "
        self.uses_exp = False
        for _ in range(self.r.randint(1, 4)):
            self.param()
        steps = self.r.randint(2, size)
        tries = 0
        while self.count < steps and tries < steps * 20:
            tries += 1
            self.step()
        self.pick_results()

    # ---- Text ----------------------------------------------------------

    def type(self, dtype, shape):
        if not shape:
            return dtype
        return f"{dtype}[{', '.join(self.dim(s) for s in shape)}]"

    def dim(self, s):
        return f"{s}{self.seed}" if isinstance(s, str) else str(s)

    def dims(self, shape):
        return "[" + ", ".join(self.dim(s) for s in shape) + "]"

    def add(self, text, dtype, shape, near):
        if most(shape) > MOST_ELEMENTS or len(shape) > 6:
            return None
        name = f"v{self.count}"
        self.count += 1
        self.lines.append(f"{self.indent}{name} = {text};")
        value = Value(name, dtype, shape, near)
        self.values.append(value)
        return value

    # ---- Picking -------------------------------------------------------

    def shape(self, rank=None):
        if rank is None:
            rank = self.r.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
        return tuple(self.r.choice(["N", "M"]) if self.r.random() < 0.25
                     else self.r.choice(SIZES) for _ in range(rank))

    def dtype(self):
        return self.r.choice(["f32"] * 8 + ["f64", "f16", "bf16"] + INTS
                             + ["i32", "i64", "bool", "i8", "u8"])

    def param(self, dtype=None, shape=None):
        value = Value(f"x{len(self.params)}", dtype or self.dtype(),
                      self.shape() if shape is None else shape)
        if self.params and self.w.random() < 0.3 and \
                not any(isinstance(s, str) for s in value.shape):
            value.name = f"w{self.seed}_{len(self.weights)}"
            self.weights.append(value)
        else:
            self.params.append(value)
        self.values.append(value)
        return value

    def pick(self, test=lambda v: True):
        """A value, recent ones more likely; None if there is none."""
        fit = [v for v in self.values if test(v)]
        if not fit:
            return None
        if self.r.random() < 0.5:
            return self.r.choice(fit[-4:])
        return self.r.choice(fit)

    def need(self, dtype, shape):
        """A value of that type, a parameter if nothing else has it."""
        found = self.pick(lambda v: v.dtype == dtype
                          and v.shape == tuple(shape))
        if found and self.r.random() < 0.8:
            return found
        if len(self.params) + len(self.weights) < 8:
            return self.param(dtype, shape)
        return found

    def literal(self, dtype):
        if dtype == "bool":
            return self.r.choice(["true", "false"])
        if dtype in FLOATS:
            return self.r.choice(["0.0", "1.0", "-1.0", "2.0", "0.5", "-0.0",
                                  "3.0", "inf", "-inf", "nan", "0.25"])
        if dtype in UNSIGNED:
            return self.r.choice(["0", "1", "2", "3", "7", "255"])
        return self.r.choice(["0", "1", "-1", "2", "3", "-7", "127", "-128"])

    def partner(self, a):
        """Something to combine `a` with: equal, broadcasting, or a scalar."""
        p = self.r.random()
        if p < 0.25:
            return Value(self.literal(a.dtype), a.dtype, ())
        if p < 0.4:
            k = self.r.randint(0, a.rank)
            shape = [1 if self.r.random() < 0.4 else s
                     for s in a.shape[a.rank - k:]]
            return self.need(a.dtype, shape)
        return self.need(a.dtype, a.shape)

    # ---- Operators -----------------------------------------------------

    def step(self):
        ways = [(self.unary, 5), (self.binary, 9), (self.compare, 3),
                (self.select, 3), (self.cast, 4), (self.reduce, 6),
                (self.arg, 2), (self.scan_op, 2), (self.transpose, 4),
                (self.reshape, 4), (self.expand, 3), (self.slice, 4),
                (self.pad, 3), (self.concat, 3), (self.reverse, 1),
                (self.broadcast, 2), (self.gather, 3), (self.take, 1),
                (self.scatter, 2), (self.order, 2), (self.matmul, 3),
                (self.conv, 2), (self.pool, 2), (self.library, 6),
                (self.branch, 2), (self.loop, 2), (self.whiles, 1),
                (self.scan, 2), (self.same, 2), (self.split, 1),
                (self.bits, 2), (self.constant, 1), (self.rows, 6),
                (self.product, 3)]
        way = self.r.choices([w for w, _ in ways], [n for _, n in ways])[0]
        way()

    def unary(self):
        a = self.pick(lambda v: v.dtype != "bool")
        if not a:
            return
        near = a.near
        if a.is_float:
            op = self.r.choice(["-", "abs", "sqrt", "floor", "round", "sign",
                                "trunc", "ceil", "exp", "tanh", "sin", "log",
                                "erf", "abs", "-"])
            if op in ("floor", "round", "sign", "trunc", "ceil") and near:
                return
            near |= op in ("exp", "tanh", "sin", "log", "erf")
        else:
            op = self.r.choice(["-", "abs", "sign"])
        text = f"-{a.name}" if op == "-" else f"{op}({a.name})"
        self.add(text, a.dtype, a.shape, near)

    def binary(self):
        a = self.pick(lambda v: v.dtype != "bool")
        b = a and self.partner(a)
        if not b:
            return
        near = a.near or b.near
        if a.is_float:
            op = self.r.choice(["+", "-", "*", "*", "+", "/", "max", "min"])
        else:
            op = self.r.choice(["+", "-", "*", "//", "%", "max", "min",
                                "tdiv", "rem"])
        self.pair(op, a, b, a.dtype, near)

    def pair(self, op, a, b, dtype, near):
        if self.r.random() < 0.3 and b.rank <= a.rank and "(" not in b.name \
                and a.rank + b.rank > 0:
            left, right = b.name, a.name
        else:
            left, right = a.name, b.name
        text = f"{op}({left}, {right})" if op.isalpha() \
            else f"{left} {op} {right}"
        if left == right and not a.rank and a.name[0] not in "vx":
            return None
        return self.add(text, dtype, a.shape, near)

    def bits(self):
        a = self.pick(lambda v: v.is_int)
        if not a:
            return
        b = self.partner(a)
        if not b:
            return
        op = self.r.choice(["&", "|", "^", "<<", ">>"])
        text = f"{a.name} {op} {b.name}"
        self.add(text, a.dtype, a.shape, False)

    def compare(self):
        a = self.pick(lambda v: v.dtype != "bool" and not v.near)
        b = a and self.partner(a)
        if not b or b.near:
            return
        op = self.r.choice(["<", "<=", "==", "!=", ">", ">="])
        self.pair(op, a, b, "bool", False)

    def select(self):
        a = self.pick(lambda v: v.rank < 5)
        if not a:
            return
        mask = self.need("bool", a.shape if self.r.random() < 0.8 else ())
        b = a and self.partner(a)
        if not mask or not b:
            return
        if self.r.random() < 0.5:
            text = f"select({mask.name}, {a.name}, {b.name})"
        else:
            text = f"select({mask.name}, {b.name}, {a.name})"
        self.add(text, a.dtype, a.shape, a.near or b.near)

    def cast(self):
        a = self.pick()
        to = self.dtype()
        if a.near and to not in FLOATS:
            return
        # Rounding twice jumps by more than a step of the wider type.
        self.add(f"cast({a.name}, {to})", to, a.shape, a.near)

    def axes(self, a):
        k = self.r.randint(0, a.rank)
        return sorted(self.r.sample(range(a.rank), k))

    def reduce(self):
        a = self.pick(lambda v: v.dtype != "bool" and v.rank > 0)
        if not a:
            return
        op = self.r.choice(["sum", "reduce_max", "reduce_min", "prod", "sum"])
        axes = self.axes(a)
        keep = self.r.random() < 0.4
        shape = [1 if i in axes else s for i, s in enumerate(a.shape)] \
            if keep else [s for i, s in enumerate(a.shape) if i not in axes]
        near = a.near or (a.is_float and op in ("sum", "prod"))
        text = f"{op}({a.name}, axes={axes}"
        text += ", keep=true)" if keep else ")"
        self.add(text, a.dtype, shape, near)

    def arg(self):
        a = self.pick(lambda v: v.dtype != "bool" and v.rank > 0
                      and not v.near)
        if not a:
            return
        fit = [i for i, s in enumerate(a.shape) if s != 0 and s != "N"]
        if not fit:
            return
        axis = self.r.choice(fit)
        last = self.r.choice(["", ", last=true"])
        op = self.r.choice(["argmax", "argmin"])
        self.add(f"{op}({a.name}, axis={axis}{last})", "i64",
                 a.shape[:axis] + a.shape[axis + 1:], False)

    def scan_op(self):
        a = self.pick(lambda v: v.dtype != "bool" and v.rank > 0)
        if not a:
            return
        op = self.r.choice(["cumsum", "cumprod", "cummax", "cummin"])
        axis = self.r.randrange(a.rank)
        more = self.r.choice(["", ", exclusive=true", ", reverse=true",
                              ", exclusive=true, reverse=true"])
        near = a.near or (a.is_float and op in ("cumsum", "cumprod"))
        self.add(f"{op}({a.name}, axis={axis}{more})", a.dtype, a.shape, near)

    def transpose(self):
        a = self.pick(lambda v: v.rank > 1)
        if not a:
            return
        perm = list(range(a.rank))
        self.r.shuffle(perm)
        self.add(f"transpose({a.name}, perm={perm})", a.dtype,
                 [a.shape[i] for i in perm], a.near)

    def reshape(self):
        a = self.pick(lambda v: all(s == 1 or s == 0 or s in ("N", "M")
                                    or True for s in v.shape))
        shape = list(a.shape)
        for _ in range(self.r.randint(1, 3)):
            p = self.r.random()
            if p < 0.35:
                shape.insert(self.r.randint(0, len(shape)), 1)
            elif p < 0.6 and 1 in shape:
                shape.remove(1)
            elif p < 0.8:
                at = [i for i in range(len(shape) - 1)
                      if not isinstance(shape[i], str)
                      and not isinstance(shape[i + 1], str)]
                if at:
                    i = self.r.choice(at)
                    shape[i:i + 2] = [shape[i] * shape[i + 1]]
            else:
                at = [i for i, s in enumerate(shape)
                      if not isinstance(s, str) and s in (4, 6, 8, 9, 12, 15)]
                if at:
                    i = self.r.choice(at)
                    k = 3 if shape[i] % 3 == 0 else 2
                    shape[i:i + 1] = [shape[i] // k, k]
        self.add(f"reshape({a.name}, {self.dims(shape)})", a.dtype, shape,
                 a.near)

    def expand(self):
        a = self.pick(lambda v: v.rank < 4)
        if not a:
            return
        at = self.r.randint(0, a.rank)
        shape = a.shape[:at] + (1,) + a.shape[at:]
        self.add(f"expand_dims({a.name}, axes=[{at}])", a.dtype, shape, a.near)

    def broadcast(self):
        a = self.pick(lambda v: v.rank < 4)
        if not a:
            return
        shape = [self.r.choice([2, 3, 0, "M", "N"]) if s == 1
                 and self.r.random() < 0.8 else s for s in a.shape]
        if self.r.random() < 0.4:
            shape.insert(0, self.r.choice([1, 2, 3, "M"]))
        self.add(f"broadcast({a.name}, {self.dims(shape)})", a.dtype, shape,
                 a.near)

    def slice(self):
        a = self.pick(lambda v: v.rank > 0)
        if not a:
            return
        start, stop, step, shape = [], [], [], []
        for s in a.shape:
            if isinstance(s, str) or self.r.random() < 0.4:
                start.append("0")
                stop.append(self.dim(s))
                step.append(1)
                shape.append(s)
                continue
            lo = self.r.randint(0, s)
            hi = self.r.randint(lo, s)
            k = self.r.choice([1, 1, 1, 2, 3])
            start.append(str(lo))
            stop.append(str(hi))
            step.append(k)
            shape.append(-(-(hi - lo) // k))
        text = (f"slice({a.name}, start=[{', '.join(start)}], "
                f"stop=[{', '.join(stop)}], step={step})")
        self.add(text, a.dtype, shape, a.near)

    def pad(self):
        a = self.pick(lambda v: v.rank > 0
                      and all(not isinstance(s, str) for s in v.shape))
        if not a:
            return
        pads = [[self.r.choice([0, 0, 1, 2]), self.r.choice([0, 0, 1])]
                for _ in a.shape]
        shape = [s + p + q for s, (p, q) in zip(a.shape, pads)]
        value = "" if self.r.random() < 0.5 or a.dtype == "bool" \
            else f", {self.typed(a.dtype)}"
        self.add(f"pad({a.name}{value}, pad={pads})", a.dtype, shape, a.near)

    def typed(self, dtype):
        """A literal that needs no other operand for its type."""
        return f"cast({self.literal(dtype)}, {dtype})" if dtype not in (
            "f32",) else self.literal(dtype)

    def concat(self):
        a = self.pick(lambda v: v.rank > 0)
        if not a:
            return
        fit = [i for i, s in enumerate(a.shape) if not isinstance(s, str)]
        if not fit:
            return
        axis = self.r.choice(fit)
        parts = [a]
        for _ in range(self.r.randint(1, 2)):
            other = self.pick(lambda v: v.dtype == a.dtype
                              and v.rank == a.rank
                              and not isinstance(v.shape[axis], str)
                              and all(i == axis or s == t for i, (s, t)
                                      in enumerate(zip(v.shape, a.shape))))
            parts.append(other)
        self.r.shuffle(parts)
        shape = list(a.shape)
        shape[axis] = sum(p.shape[axis] for p in parts)
        self.add(f"concat({', '.join(p.name for p in parts)}, axis={axis})",
                 a.dtype, shape, any(p.near for p in parts))

    def split(self):
        a = self.pick(lambda v: v.rank > 0 and any(
            s in (2, 4, 6, 8) for s in v.shape))
        if not a:
            return
        axis = next(i for i, s in enumerate(a.shape) if s in (2, 4, 6, 8))
        shape = list(a.shape)
        shape[axis] //= 2
        names = [f"v{self.count}", f"v{self.count + 1}"]
        self.count += 2
        self.lines.append(f"{self.indent}{', '.join(names)} = split({a.name}, "
                          f"axis={axis}, parts=2);")
        for name in names:
            self.values.append(Value(name, a.dtype, shape, a.near))

    def reverse(self):
        a = self.pick(lambda v: v.rank > 0)
        if a:
            axes = self.axes(a) or [0]
            self.add(f"reverse({a.name}, axes={axes})", a.dtype, a.shape,
                     a.near)

    def same(self):
        """A value twice: what cse and fusion share."""
        if not self.lines:
            return
        a = self.pick(lambda v: v.dtype != "bool")
        if a:
            self.add(f"{a.name} + {a.name}", a.dtype, a.shape, a.near)

    def constant(self):
        dtype = self.dtype()
        shape = [s for s in self.shape() if not isinstance(s, str)][:2]
        if dtype == "bool":
            return
        if self.r.random() < 0.5:
            self.add(f"full({self.dims(shape)}, {self.literal(dtype)}, "
                     f"elem={dtype})", dtype, shape, False)
        elif shape:
            self.add(f"iota({self.dims(shape)}, axis=0, elem={dtype})", dtype,
                     shape, False)

    def gather(self):
        a = self.pick(lambda v: v.rank > 0)
        if not a:
            return
        fit = [i for i, s in enumerate(a.shape) if s != 0 and s != "N"]
        index = self.need(self.r.choice(["i32", "i64", "u8", "i8"]),
                          self.shape(self.r.choice([0, 1, 1, 2])))
        if not fit or not index:
            return
        axis = self.r.choice(fit)
        shape = a.shape[:axis] + index.shape + a.shape[axis + 1:]
        self.add(f"gather({a.name}, {index.name}, axis={axis})", a.dtype,
                 shape, a.near)

    def take(self):
        a = self.pick(lambda v: v.rank > 0 and 0 not in v.shape
                      and "N" not in v.shape)
        if not a:
            return
        axis = self.r.randrange(a.rank)
        shape = list(a.shape)
        shape[axis] = self.r.choice([1, 2, 3])
        index = self.need("i64", shape)
        if index:
            self.add(f"take_along({a.name}, {index.name}, axis={axis})",
                     a.dtype, shape, a.near)

    def scatter(self):
        a = self.pick(lambda v: v.rank > 0 and v.dtype != "bool")
        if not a:
            return
        axis = self.r.randrange(a.rank)
        k = self.r.choice([0, 1, 2, 3])
        index = self.need(self.r.choice(["i32", "i64", "u8"]), (k,))
        update = index and self.need(a.dtype, a.shape[:axis] + (k,)
                                     + a.shape[axis + 1:])
        if not update:
            return
        how = self.r.choice(["set", "add", "mul", "max", "min"])
        near = a.near or update.near or (a.is_float and how in ("add", "mul"))
        self.add(f"scatter({a.name}, {index.name}, {update.name}, "
                 f"axis={axis}, combine=\"{how}\")", a.dtype, a.shape, near)

    def order(self):
        a = self.pick(lambda v: v.rank > 0 and v.dtype != "bool"
                      and not v.near)
        if not a:
            return
        axis = self.r.randrange(a.rank)
        down = self.r.choice(["", ", descending=true"])
        if self.r.random() < 0.5:
            self.add(f"sort({a.name}, axis={axis}{down})", a.dtype, a.shape,
                     False)
        else:
            self.add(f"argsort({a.name}, axis={axis}{down})", "i64", a.shape,
                     False)

    def matmul(self):
        a = self.pick(lambda v: v.rank in (1, 2, 3) and v.dtype != "bool")
        if not a:
            return
        n = self.r.choice([1, 2, 3, 5, "M"])
        k = a.shape[-1]
        b = self.need(a.dtype, (k, n) if self.r.random() < 0.8 else (k,))
        if not b:
            return
        shape = a.shape[:-1] + b.shape[1:]
        self.add(f"{a.name} @ {b.name}", a.dtype, shape,
                 a.near or b.near or a.is_float)

    # ---- Rows ----------------------------------------------------------

    def row_axes(self, a):
        """The last axes, or any."""
        if self.r.random() < 0.6:
            return list(range(a.rank - self.r.randint(1, min(2, a.rank)),
                              a.rank))
        return self.axes(a) or [a.rank - 1]

    def rows(self):
        """As norms and softmax do: each row against what it sums up to."""
        a = self.pick(lambda v: v.rank > 0 and v.dtype != "bool")
        axes = a and self.row_axes(a)
        for _ in range(self.r.randint(1, 3) if a else 0):
            a = self.row(a, axes)
            if not a:
                return
            if self.r.random() < 0.2:
                axes = self.row_axes(a)
            if self.r.random() < 0.3:
                self.product_of(a)
        if a and a.rank > 1 and self.r.random() < 0.3:
            perm = list(range(a.rank))
            self.r.shuffle(perm)
            self.add(f"transpose({a.name}, perm={perm})", a.dtype,
                     [a.shape[i] for i in perm], a.near)

    def row(self, a, axes):
        """One reduction of a, a map on it maybe, and a against it."""
        op = self.r.choice(["sum", "reduce_max", "reduce_min", "sum"])
        shape = [1 if i in axes else s for i, s in enumerate(a.shape)]
        near = a.near or (a.is_float and op == "sum")
        top = self.add(f"{op}({a.name}, axes={axes}, keep=true)", a.dtype,
                       shape, near)
        if top and self.r.random() < 0.4:
            top = self.add(self.r.choice([f"{top.name} * {top.name}",
                                          f"{top.name} + 1",
                                          f"abs({top.name})"]),
                           a.dtype, shape, near)
        if top and a.is_float and self.r.random() < 0.3:
            top = self.add(f"1 / (1 + abs({top.name}))", a.dtype, shape, near)
        if not top:
            return None
        left, right = a.name, top.name
        if self.r.random() < 0.3:
            left, right = right, left
        op = self.r.choice(["-", "*", "+", "max", "-"])
        a = self.add(f"{op}({left}, {right})" if op.isalpha()
                     else f"{left} {op} {right}", a.dtype, a.shape, near)
        if a and a.is_float and self.r.random() < 0.5:
            op = self.r.choice(["exp", "tanh", "relu"])
            a = self.add(f"{op}({a.name})", a.dtype, a.shape,
                         near or op != "relu")
        return a

    def product(self):
        a = self.pick(lambda v: v.rank in (2, 3) and v.dtype != "bool")
        if a:
            self.product_of(a)

    def product_of(self, a):
        """Of rows with a matrix, or with one of each batch that lies along."""
        if a.rank not in (2, 3):
            return
        n = self.r.choice([1, 2, 3, 5, "M"])
        k, batch = a.shape[-1], a.shape[:-2]
        p = self.r.random()
        if p < 0.4:
            b = self.need(a.dtype, batch + (k, n))
            text = b and f"{a.name} @ {b.name}"
        elif p < 0.8:
            b = self.need(a.dtype, batch + (n, k))
            text = b and ('einsum("...sk,...tk->...st", '
                          f"{a.name}, {b.name})")
        else:
            b = self.need(a.dtype, batch + (n, k))
            perm = list(range(a.rank - 2)) + [a.rank - 1, a.rank - 2]
            text = b and f"{a.name} @ transpose({b.name}, perm={perm})"
        if b:
            self.add(text, a.dtype, a.shape[:-1] + (n,),
                     a.near or b.near or a.is_float)

    def window(self, n):
        """A size, stride, pad and dilation that fit an axis of n."""
        size = self.r.choice([1, 2, 3])
        stride = self.r.choice([1, 1, 2, 3])
        dilation = self.r.choice([1, 1, 2])
        lo, hi = self.r.choice([0, 0, 1, 2]), self.r.choice([0, 1, 0, 2])
        reach = dilation * (size - 1) + 1
        out = (n + lo + hi - reach) // stride + 1
        return (size, stride, [lo, hi], dilation, out) if n + lo + hi >= reach \
            else None

    def conv(self):
        a = self.pick(lambda v: v.rank in (3, 4) and v.is_float and all(
            not isinstance(s, str) and s > 0 for s in v.shape[1:]))
        if not a:
            return
        windows = [self.window(s) for s in a.shape[2:]]
        if None in windows:
            return
        c = a.shape[1]
        groups = self.r.choice([g for g in (1, 1, 2, c) if c % g == 0])
        m = groups * self.r.choice([1, 2])
        w = self.need(a.dtype, (m, c // groups) + tuple(x[0] for x in windows))
        bias = self.need(a.dtype, (m,)) if self.r.random() < 0.5 else None
        if not w:
            return
        text = f"conv({a.name}, {w.name}"
        text += f", {bias.name}" if bias else ""
        text += f", stride={[x[1] for x in windows]}"
        text += f", pad={[x[2] for x in windows]}"
        text += f", dilation={[x[3] for x in windows]}, groups={groups})"
        self.add(text, a.dtype, (a.shape[0], m) + tuple(
            x[4] for x in windows), True)

    def pool(self):
        a = self.pick(lambda v: v.rank in (3, 4) and v.dtype != "bool" and all(
            not isinstance(s, str) and s > 0 for s in v.shape[2:]))
        if not a:
            return
        windows = [self.window(s) for s in a.shape[2:]]
        if None in windows:
            return
        op = self.r.choice(["maxpool", "avgpool"]) if a.is_float else "maxpool"
        text = f"{op}({a.name}, size={[x[0] for x in windows]}"
        text += f", stride={[x[1] for x in windows]}"
        text += f", pad={[x[2] for x in windows]}"
        text += f", dilation={[x[3] for x in windows]}"
        if op == "avgpool":
            text += f", count=\"{self.r.choice(['valid', 'pad'])}\""
        self.add(text + ")", a.dtype, a.shape[:2] + tuple(
            x[4] for x in windows), a.near or op == "avgpool")

    def library(self):
        a = self.pick(lambda v: v.is_float)
        if not a:
            return
        exact = ["relu", "relu6", "square", "hard_tanh", "leaky_relu"]
        near = ["sigmoid", "silu", "gelu", "softplus", "elu", "hard_swish",
                "mish", "softsign", "reciprocal", "rsqrt", "hard_sigmoid"]
        rows = ["softmax", "logsoftmax", "layernorm", "rmsnorm", "l2norm"]
        p = self.r.random()
        if p < 0.35:
            self.add(f"{self.r.choice(exact)}({a.name})", a.dtype, a.shape,
                     a.near)
        elif p < 0.6:
            self.add(f"{self.r.choice(near)}({a.name})", a.dtype, a.shape,
                     True)
        elif p < 0.75 and a.rank:
            self.add(f"{self.r.choice(rows)}({a.name})", a.dtype, a.shape,
                     True)
        elif p < 0.85 and a.rank:
            axes = self.axes(a)
            shape = [s for i, s in enumerate(a.shape) if i not in axes]
            op = self.r.choice(["mean", "var", "logsumexp"])
            self.add(f"{op}({a.name}, axes={axes})", a.dtype, shape, True)
        elif p < 0.9:
            b = self.partner(a)
            if b:
                self.pair(self.r.choice(["max", "min"]), a, b, a.dtype,
                          a.near or b.near)
        elif not a.near:
            op = self.r.choice(["isnan", "isinf", "isfinite"])
            self.add(f"{op}({a.name})", "bool", a.shape, False)

    # ---- Control flow --------------------------------------------------

    def inner(self, a):
        """An expression of a's type over it and what is outside."""
        if a.dtype == "bool":
            return f"!{a.name}", a.near
        b = self.pick(lambda v: v.dtype == a.dtype and v.shape == a.shape)
        other = b.name if b else self.literal(a.dtype)
        op = self.r.choice(["+", "*", "-"])
        return f"{a.name} {op} {other}", a.near or bool(b and b.near)

    def branch(self):
        on = self.need("bool", ())
        a = self.pick()
        b = a and self.need(a.dtype, a.shape)
        if not on or not b:
            return
        one, near1 = self.inner(a)
        other, near2 = self.inner(b)
        if self.r.random() < 0.3:
            other, near2 = b.name, b.near
        self.add(f"if {on.name} {{ yield {one}; }} "
                 f"else {{ yield {other}; }}", a.dtype, a.shape,
                 near1 or near2)

    def loop(self):
        a = self.pick(lambda v: v.dtype != "bool")
        if not a:
            return
        carry = Value("h", a.dtype, a.shape, True)
        text, near = self.inner(carry)
        turns = self.r.choice(["0..3", "0..1", "2..2", "1..4"])
        others = a.near or near
        self.add(f"with (h = {a.name}) for i in {turns} {{ yield {text}; }}",
                 a.dtype, a.shape, others)

    def whiles(self):
        a = self.pick(lambda v: v.dtype != "bool")
        if not a:
            return
        carry = Value("h", a.dtype, a.shape, a.near)
        text, near = self.inner(carry)
        names = [f"v{self.count}", f"v{self.count + 1}"]
        self.count += 2
        most_turns = self.r.choice([2, 3, 7])
        self.lines.append(
            f"{self.indent}{', '.join(names)} = with (h = {a.name}, c = 0) "
            f"while (max={most_turns}) c < 3 {{ yield {text}, c + 1; }};")
        self.values.append(Value(names[0], a.dtype, a.shape, a.near or near))
        self.values.append(Value(names[1], "i64", (), False))

    def scan(self):
        a = self.pick(lambda v: v.rank > 0 and v.dtype != "bool")
        c = a and self.need(a.dtype, a.shape[1:])
        if not c:
            return
        names = [f"v{self.count}", f"v{self.count + 1}"]
        self.count += 2
        back = self.r.choice(["", " (reverse=true)"])
        self.lines.append(
            f"{self.indent}{', '.join(names)} = with (c = {c.name}) scan{back}"
            f" row in {a.name} {{ n = c + row; emit n * c; yield n; }};")
        near = a.near or c.near or a.is_float
        self.values.append(Value(names[0], a.dtype, c.shape, near))
        self.values.append(Value(names[1], a.dtype, a.shape, near))

    # ---- Results -------------------------------------------------------

    def pick_results(self):
        made = [v for v in self.values if v.name[0] == "v"] or self.values
        count = min(len(made), self.r.choice([1, 1, 2, 3, 4]))
        picked = self.r.sample(made, count)
        if made[-1] not in picked:
            picked[0] = made[-1]
        self.results = picked

    def head(self, name):
        params = ", ".join(f"{p.name}: {self.type(p.dtype, p.shape)}"
                           for p in self.params)
        results = ", ".join(
            f"o{i}_{'r' if v.near else 'x'}: {self.type(v.dtype, v.shape)}"
            for i, v in enumerate(self.results))
        return f"fn {name}({params}) -> ({results}) {{"

    def body(self, name):
        give = ", ".join(v.name for v in self.results)
        return "\n".join([self.head(name)] + self.lines
                         + [f"  return {give};", "}"])

    def used_dims(self):
        text = self.body("f")
        return [d for d in DIMS if f"{d}{self.seed}" in text]

    def declare(self):
        dims = [f"dim {d}{self.seed} in [{DIMS[d][0]}, {DIMS[d][1]}];\n"
                for d in self.used_dims()]
        weights = [f"weight {w.name}: {self.type(w.dtype, w.shape)} "
                   f"@weights(random, seed={i});\n"
                   for i, w in enumerate(self.weights)]
        return "".join(dims + weights)


def bundle(graphs):
    """One module whose main calls all of them."""
    parts = ["tenon 1.0;\n"] + [g.declare() for g in graphs]
    parts += [g.body(f"g{g.seed}") + "\n" for g in graphs]
    params, results, lines, give = [], [], [], []
    for g in graphs:
        for p in g.params:
            params.append(f"g{g.seed}_{p.name}: {g.type(p.dtype, p.shape)}")
        names = []
        for i, v in enumerate(g.results):
            kind = "r" if v.near else "x"
            results.append(f"g{g.seed}_o{i}_{kind}: "
                           f"{g.type(v.dtype, v.shape)}")
            names.append(f"g{g.seed}_t{i}")
        args = ", ".join(f"g{g.seed}_{p.name}" for p in g.params)
        lines.append(f"  {', '.join(names)} = g{g.seed}({args});")
        give += names
    parts.append(f"fn main({', '.join(params)}) ->\n    "
                 f"({', '.join(results)}) {{\n")
    parts.append("\n".join(lines))
    parts.append(f"\n  return {', '.join(give)};\n}}\n")
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--bundle", type=int, default=0)
    parser.add_argument("--size", type=int, default=14)
    args = parser.parse_args()
    graphs = [Graph(args.seed + i, args.size) for i in range(args.count)]
    if args.bundle:
        for i in range(0, len(graphs), args.bundle):
            part = graphs[i:i + args.bundle]
            print(f"#% {part[0].seed}")
            print(bundle(part), end="")
        return
    for graph in graphs:
        print(f"#% {graph.seed}")
        print("tenon 1.0;")
        print(graph.declare(), end="")
        print(graph.body("main"))


if __name__ == "__main__":
    main()
