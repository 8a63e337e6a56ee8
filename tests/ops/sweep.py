#!/usr/bin/env python3
"""Holds compiled code against the interpreter, operator by operator.

The cases are the lines of cases/*.txt, each a small expression over typed
inputs; --help shows the form. They are gathered into a few modules for each
element type, so that there are few compiler runs, and each module is run

    ref, passes none       the meaning; held against f64 where order matters
    ref, passes default    the same bits
    c, default and none    the same, floats within the case's bound

with inputs at run time, with inputs as constants, and, sizes S P R being
symbolic, by one engine for many sizes. Out-of-range indices and divisions by
zero must raise the flag, one case at a time.

With --target=cuda --emulate the stand-in runs the CUDA kernels on the CPU,
without --full not of constants.

Without --full or -t one type of each kind is swept. f32 and bool meet passes
default and none with run-time inputs; else each is compiled once a mode: the
other types symbolic with none, the rest with default.

A case that could not fail proves nothing: --break flips one bit of each
compiled result, and then every case must fail.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

from values import (FLOATS, INTS, LAYOUT, NPY, SETS, Tensor, from_bits,
                    is_float, literal, make_value, ordinal, read_npy, tap,
                    to_bits, write_npy)

HERE = os.path.dirname(os.path.abspath(__file__))

FORM = """The form of a case, one a line (# begins a comment):

    NAME: TYPES (x: T[S, 3], i: i64[5] in 0..3) EXPRESSION ; HOW

TYPES are element types or float int num bool any; the case stands for one of
each, T. S, P and R are odd sizes, P and R never 0. Inputs have special values
(NaN, infinities, extremes) unless `tame` (small) or `in LO..HI` follows the
type. `a, b = topk(x, k=2)` has two results. `{ STATEMENTS; EXPRESSION }` may
bind names. HOW is one or more, with commas, of

    ulp N      floats at most N steps apart (0 if not said)
    order      sums whose order is free: n * eps * sum of |terms|
    nsz        -0 and +0 are alike
    raises     the flag is raised by the ordinary inputs
    raise x=V  .. when the first element of x is V, and not otherwise
    static     sizes are never symbolic
    run        inputs are never constants
"""

# One of each kind: what a run of all tests has time for.
DEFAULT = ["f32", "i32", "f16", "bool"]

# ---- Cases ------------------------------------------------------------------

Input = collections.namedtuple("Input", "name dtype shape domain")
LINE = re.compile(r"(\w+): ([\w ]+?) \(([^)]*)\) (.+?)(?: ; (.*))?$")
PARAM = re.compile(r"(\w+): (\w+)(?:\[([^\]]*)\])?"
                   r"(?: (tame)| in (-?[\d.]+?)\.\.(-?[\d.]+))?(?:, |$)")


class Case:
    def __init__(self, name, types, inputs, text, how, place):
        self.name, self.types, self.place = name, types, place
        self.inputs, self.text = inputs, text
        self.ulp, self.raise_by = 0, None
        self.words = set()
        for word in (how or "").split(", "):
            if word.startswith("ulp "):
                self.ulp = int(word[4:])
            elif word.startswith("raise "):
                name, value = word[6:].split("=")
                self.raise_by = (name, int(value))
            elif word in ("order", "nsz", "raises", "static", "run"):
                self.words.add(word)
            elif word:
                raise SystemExit("%s: what is '%s'?" % (place, word))


def read_cases(folder, pattern):
    cases = []
    names = set()
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".txt"):
            continue
        with open(os.path.join(folder, file)) as f:
            for number, line in enumerate(f, 1):
                place = "%s:%d" % (file, number)
                line = line.strip()
                if not line or line.startswith("#"):
                    continue
                m = LINE.match(line)
                if not m:
                    raise SystemExit(place + ": not a case: " + line)
                name, types, params, text, how = m.groups()
                if name in names:
                    raise SystemExit(place + ": a second " + name)
                names.add(name)
                if pattern and not re.search(pattern, name):
                    continue
                types = [t for w in types.split() for t in SETS.get(w, [w])]
                inputs, end = [], 0
                for p in PARAM.finditer(params):
                    if p.start() != end:
                        break
                    end = p.end()
                    shape = p[3].split(", ") if p[3] else []
                    domain = p[4] or ((float(p[5]), float(p[6]))
                                      if p[5] else None)
                    inputs.append(Input(p[1], p[2], shape, domain))
                if end != len(params):
                    raise SystemExit(place + ": inputs: " + params[end:])
                cases.append(Case(name, types, inputs, text, how, place))
    return cases


SIZES = [3, 7, 1, 13, 17, 2]
SYMBOLIC = [(0, 1, 1), (1, 3, 7), (3, 1, 17), (7, 13, 2), (13, 7, 3),
            (17, 17, 13), (40, 40, 40)]


def sizes_of(case, dtype, k=0):
    """The sizes of S, P, R for a case that is not symbolic."""
    at = zlib.crc32(case.name.encode()) + list(NPY).index(dtype) + k
    return {"S": SIZES[at % 6], "P": SIZES[(at + 1) % 6],
            "R": SIZES[(at + 3) % 6]}


def fill(case, number, dtype, sizes):
    """Values of the inputs, {name in the module: tensor}."""
    out = {}
    for p in case.inputs:
        elem = dtype if p.dtype == "T" else p.dtype
        shape = tuple(eval(n, {}, dict(sizes)) for n in p.shape)
        rng = random.Random("%s %s %s %s" % (case.name, p.name, elem, shape))
        domain = p.domain or ("tame" if "order" in case.words else None)
        order = list(range(math.prod(shape)))
        rng.shuffle(order)
        out["c%d_%s" % (number, p.name)] = Tensor(elem, shape, tuple(
            make_value(rng, elem, domain, at) for at in order))
    return out


# ---- Modules ----------------------------------------------------------------

def body_of(case, number, dtype, sizes):
    """(statements, results): the names made unlike those of other cases."""
    text = re.sub(r"\bT\b", dtype, case.text)
    if sizes:
        text = re.sub(r"\b[SPR]\b", lambda m: str(sizes[m[0]]), text)
    parts = statements(text[1:-1]) if text[0] == "{" else [text]
    local = {p.name for p in case.inputs}
    for pattern in (r"(?:^|[{;] ?)(\w+(?:, \w+)*) = ", r"\bdim (\w+) in\b",
                    r"[(,] ?(\w+) = ", r"\b(\w+): \w+\[",
                    r"(?:\bfor|\bscan(?:\([^)]*\))?|,) (\w+) in\b"):
        for part in parts:
            for found in re.findall(pattern, part):
                local |= set(found.split(", "))

    def rename(m):
        return "c%d_%s" % (number, m[0]) if m[0] in local else m[0]
    parts = [re.sub(r'"[^"]*"|\b[A-Za-z_]\w*\b(?!\s*\()(?!=[^=])', rename, p)
             for p in parts]
    last = parts[-1]
    m = re.match(r"(\w+(?:, \w+)*) = ", last)
    if m:
        return parts, m[1].split(", ")
    if re.fullmatch(r"\w+", last):
        return parts[:-1], [last]
    return parts[:-1] + ["c%d = %s" % (number, last)], ["c%d" % number]


def statements(text):
    """Splits at the semicolons outside of braces."""
    out, depth = [""], 0
    for c in text:
        depth += (c == "{") - (c == "}")
        if c == ";" and not depth:
            out.append("")
        else:
            out[-1] += c
    return [part.strip() for part in out if part.strip()]


class Module:
    """Some cases of one element type, in one of the modes."""

    def __init__(self, mode, dtype, cases, compute=None):
        self.mode, self.dtype = mode, dtype
        self.compute = compute or dtype
        self.cases = dict(enumerate(cases))
        self.results = {}
        self.types = {}

    def sizes(self, case):
        return None if self.mode == "symbolic" else sizes_of(
            case, self.dtype, self.mode == "constant")

    def inputs(self, sizes=None):
        out = {}
        for number, case in self.cases.items():
            out.update(fill(case, number, self.dtype,
                            sizes or self.sizes(case)))
        return out

    def head(self):
        text = ["tenon 1.0;"]
        if self.mode == "symbolic":
            text += ["dim S in [0, 40];", "dim P in [1, 40];",
                     "dim R in [1, 40];"]
        params = []
        for number, case in self.cases.items():
            sizes = self.sizes(case)
            values = fill(case, number, self.dtype, sizes) if sizes else {}
            for p in case.inputs:
                elem = self.compute if p.dtype == "T" else p.dtype
                name = "c%d_%s" % (number, p.name)
                shape = ", ".join(
                    str(eval(n, {}, dict(sizes))) if sizes else n
                    for n in p.shape)
                typed = "%s: %s[%s]" % (name, elem, shape)
                if self.mode == "constant":
                    text.append("const %s = %s;" % (
                        typed, literal(values[name])))
                else:
                    params.append(typed)
        return text, params

    def text(self):
        text, params = self.head()
        lines, names = [], []
        for number, case in self.cases.items():
            body, self.results[number] = body_of(
                case, number, self.compute, self.sizes(case))
            for part in body:
                lines.append("  %s;  # %s" % (part, case.name))
            names += self.results[number]
        results = ", ".join("%s: %s" % (n, self.types[n]) for n in names
                            ) if self.types else "done: bool"
        text.append("fn main(%s) -> (%s) {" % (", ".join(params), results))
        text += lines
        text.append("  return %s;" % (
            ", ".join(names) if self.types else "true"))
        text.append("}")
        self.lines = text
        return "\n".join(text) + "\n"


# ---- Comparing --------------------------------------------------------------

def differ(case, want, got):
    """None, or how far apart they are beyond the case's bound."""
    if want.dtype != got.dtype or want.shape != got.shape:
        return "%s%s against %s%s" % (got.dtype, list(got.shape),
                                      want.dtype, list(want.shape))
    if want.data == got.data:
        return None
    for at, (a, b) in enumerate(zip(want.data, got.data)):
        if a == b:
            continue
        if not is_float(want.dtype):
            return "%d for %d at %d" % (b, a, at)
        x, y = from_bits(a, want.dtype), from_bits(b, want.dtype)
        if x != x and y != y:
            continue
        steps = abs(ordinal(a, want.dtype) - ordinal(b, want.dtype))
        if steps == 0 and not ("nsz" in case.words or
                               "order" in case.words):
            return "%r for %r at %d" % (y, x, at)
        if x != x or y != y or steps > case.ulp:
            return "%r for %r at %d (%d ulp)" % (y, x, at, steps)
    return None


def differ_order(want, got, exact, magnitude, terms, inner):
    """Sums: |want - got| <= 2 n u sum|terms|, and one rounding to the type.
    With `exact`, the sum in f64, `got` alone is held against it."""
    if want.dtype != got.dtype or want.shape != got.shape:
        return "of another type or shape"
    unit = 2.0 ** -(LAYOUT[inner][1] + 1)
    for at, (a, b) in enumerate(zip(want.data, got.data)):
        x, y = from_bits(a, want.dtype), from_bits(b, got.dtype)
        if a == b or x != x and y != y:
            continue
        if math.isinf(x) or math.isinf(y) or x != x or y != y:
            return "%r for %r at %d" % (y, x, at)
        bound = 2 * max(terms[at], 1) * unit * magnitude[at]
        if inner != want.dtype:
            step = 2.0 ** -LAYOUT[want.dtype][1]
            bound += step * max(abs(x), abs(y)) + from_bits(1, want.dtype)
        for other in [x] + ([exact[at]] if exact else []):
            if abs(y - other) > bound:
                return "%r for %r at %d (bound %.3g)" % (y, other, at, bound)
    return None


# ---- Running ----------------------------------------------------------------

class Sweep:
    def __init__(self, options):
        self.options = options
        self.failed = collections.OrderedDict()
        self.passed = set()
        self.covered = set()

    def call(self, *arguments, timeout=300):
        command = [self.options.tenon] + list(arguments)
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout)
        return (done.returncode, done.stdout.decode(errors="replace"),
                done.stderr.decode(errors="replace"))

    def fail(self, case, dtype, what):
        self.failed.setdefault((case.name, dtype), []).append(
            "%s: %s" % (case.place, what))

    def ok(self, case, dtype):
        self.passed.add((case.name, dtype))

    def declare(self, module, folder):
        """Finds the types of all results; cases with errors drop out."""
        path = os.path.join(folder, "probe.tn")
        while module.cases:
            with open(path, "w") as f:
                f.write(module.text())
            code, out, err = self.call("opt", "--passes=infer", "--diag=json",
                                       path)
            if code == 0:
                break
            lines = module.text().split("\n")
            dropped = False
            for message in err.split("\n"):
                if not message.startswith("{"):
                    continue
                message = json.loads(message)
                line = lines[message.get("line", 1) - 1]
                m = re.search(r"#(?: |.* )(\w+)$", line)
                for number, case in list(module.cases.items()):
                    if m and case.name == m[1] and \
                       message.get("severity") != "warning":
                        self.fail(case, module.dtype, "%s: %s: %s" % (
                            module.mode, message.get("code"),
                            message.get("message")))
                        del module.cases[number]
                        dropped = True
            if not dropped:
                for case in module.cases.values():
                    self.fail(case, module.dtype, "%s: opt: exit %d: %s" % (
                        module.mode, code, err[:300]))
                module.cases = {}
                return
        module.results = {}
        module.text()
        if not module.cases:
            return
        found = dict(re.findall(r"\b(c\d+\w*): (\w+(?:\[[^\]]*\])?)", out))
        for number, names in list(module.results.items()):
            for name in names:
                if name not in found:
                    self.fail(module.cases.pop(number), module.dtype,
                              "the result is not an operator's")
                    break
                module.types[name] = found[name]
        for op in re.findall(r"= (\w+)(?:<[^>]*>)?[ (]", out):
            self.covered.add((op, module.dtype))
        for op in re.findall(r" (for|while|scan|if|print|assert)\b", out):
            self.covered.add((op, module.dtype))

    def write(self, inputs, folder):
        """{input: its file}"""
        out = tempfile.mkdtemp(dir=folder)
        for name, t in inputs.items():
            write_npy(os.path.join(out, name + ".npy"), t)
        return {name: os.path.join(out, name + ".npy") for name in inputs}

    def run(self, what, wanted, files, folder, target, passes, dims=()):
        """{result: tensor} and stderr, or None and what went wrong."""
        out = tempfile.mkdtemp(dir=folder)
        arguments = ["run", what]
        if what.endswith(".tn"):
            arguments += ["--target=" + target, "--passes=" + passes]
        for name, path in files.items():
            arguments += ["-i", "%s=@%s" % (name, path)]
        for name in wanted:
            arguments += ["-o", "%s=@%s" % (
                name, os.path.join(out, name + ".npy"))]
        for name, n in dims:
            arguments.append("--dim=%s=%d" % (name, n))
        code, _, err = self.call(*arguments)
        if (code == 1) != ("warning[W0018]" in err) or code > 1:
            return None, "exit %d: %s" % (code, err[:400])
        results = {name: read_npy(os.path.join(out, name + ".npy"))
                   for name in wanted}
        shutil.rmtree(out)
        return results, err

    def hold(self, module, where, want, got, exact=None):
        for number, case in module.cases.items():
            problem = None
            for name in module.results[number]:
                a, b = want[name], got[name]
                if self.options.break_ and b.data and "ref" not in where:
                    b = b._replace(data=(b.data[0] ^ 1,) + b.data[1:])
                ordered = "order" in case.words and is_float(a.dtype)
                if ordered and exact:
                    inner = a.dtype if a.dtype in ("f64", "f32") else "f32"
                    e, m, n = (x[name] for x in exact)
                    p = differ_order(a, b, e if inner != "f64" else None,
                                     m, n, inner)
                else:
                    p = differ(case, a, b)
                problem = problem or (p and name + ": " + p)
            if problem:
                self.fail(case, module.dtype, where + ": " + problem)
            else:
                self.ok(case, module.dtype)

    def exact(self, module, inputs, folder, dims):
        """The module in f64: values, sums of magnitudes, numbers of terms."""
        if not is_float(module.dtype) or not any(
                "order" in c.words for c in module.cases.values()):
            return None
        twin = Module(module.mode, module.dtype, [], "f64")
        twin.cases = {n: c for n, c in module.cases.items()
                      if "order" in c.words}
        twin.types = {}
        if twin.mode == "constant":
            twin.mode = "constants as inputs"
            twin.sizes = lambda case: sizes_of(case, module.dtype, 1)
            inputs = twin.inputs()
        self_covered = set(self.covered)
        self.declare(twin, folder)
        self.covered = self_covered
        path = os.path.join(folder, "exact.tn")
        with open(path, "w") as f:
            f.write(twin.text())
        out = []
        for change in (lambda v: v, abs, lambda v: 1.0):
            changed = {}
            for name, t in inputs.items():
                if int(re.match(r"c(\d+)", name)[1]) not in twin.cases:
                    continue
                if t.dtype == module.dtype:
                    t = Tensor("f64", t.shape, tuple(
                        to_bits(change(from_bits(v, t.dtype)), "f64")
                        for v in t.data))
                changed[name] = t
            results, err = self.run(path, twin.types,
                                    self.write(changed, folder), folder,
                                    "ref", "none", dims)
            if results is None:
                for case in twin.cases.values():
                    self.fail(case, module.dtype, "in f64: " + err)
                return None
            out.append({n: [from_bits(v, "f64") for v in t.data]
                        for n, t in results.items()})
        return out

    def flags(self, module, folder, whats, inputs, files):
        """Each case alone raises the flag, and is named."""
        for number, case in module.cases.items():
            if not case.raise_by:
                continue
            name = "c%d_%s" % (number, case.raise_by[0])
            bad = dict(files)
            bad.update(self.write({name: inputs[name]._replace(
                data=(case.raise_by[1],) + inputs[name].data[1:])}, folder))
            want = None
            for where, what, target, passes in whats:
                got, err = self.run(what, module.results[number], bad,
                                    folder, target, passes)
                if got is None:
                    self.fail(case, module.dtype, where + ": " + err)
                    continue
                at = re.search(r"main\.tn:(\d+):", err)
                named = at and module.lines[int(at[1]) - 1].endswith(
                    "# " + case.name)
                if not named and "std.tn:" not in err:
                    self.fail(case, module.dtype, where + ": no flag here: " +
                              err[:200])
                want = want or got
                for result in module.results[number]:
                    problem = differ(case, want[result], got[result])
                    if problem:
                        self.fail(case, module.dtype,
                                  where + ", flagged: " + problem)

    def sweep(self, module, folder):
        os.makedirs(folder)
        self.declare(module, folder)
        if not module.cases:
            return
        path = os.path.join(folder, "main.tn")
        with open(path, "w") as f:
            f.write(module.text())
        whats = [("ref default", path, "ref", "default")]
        for passes in self.passes(module):
            name = "%s %s" % (self.options.target, passes)
            engine = os.path.join(folder, passes + ".tne")
            arguments = ["build", path, "-o", engine, "--passes=" + passes,
                         "--target=" + self.options.target]
            arguments += ["--emulate"] * self.options.emulate
            if self.options.cache:
                arguments.append("--cache=" + self.options.cache)
            code, _, err = self.call(*arguments)
            if code == 0:
                whats.append((name, engine, "", ""))
            else:
                for case in module.cases.values():
                    self.fail(case, module.dtype, "%s: build: exit %d: %s" % (
                        name, code, err[:300]))
        rounds = SYMBOLIC if module.mode == "symbolic" else [None]
        for sizes in rounds:
            sizes = sizes and dict(zip("SPR", sizes))
            inputs = {} if module.mode == "constant" else module.inputs(sizes)
            fixed = {d for c in module.cases.values() for p in c.inputs
                     for d in p.shape}
            dims = [] if not sizes else [
                (n, k) for n, k in sizes.items() if n not in fixed]
            mode = "constants" if module.mode == "constant" else \
                "run time" if not sizes else "S=%(S)d P=%(P)d R=%(R)d" % sizes
            files = self.write(inputs, folder)
            want, err = self.run(path, module.types, files, folder, "ref",
                                 "none", dims)
            if want is None:
                for case in module.cases.values():
                    self.fail(case, module.dtype, "%s: ref none: %s" % (
                        mode, err))
                continue
            exact = self.exact(module, inputs, folder, dims)
            if exact:
                self.hold(module, mode + ": ref against f64", want, want,
                          exact)
            raising = "W0018" in err
            for where, what, target, passes in whats:
                got, err = self.run(what, module.types, files, folder, target,
                                    passes, dims)
                where = mode + ": " + where
                if got is None:
                    for case in module.cases.values():
                        self.fail(case, module.dtype, where + ": " + err)
                    continue
                if ("W0018" in err) != raising:
                    for case in module.cases.values():
                        self.fail(case, module.dtype, where + ": flag %s" % (
                            "is not raised" if raising else "is raised"))
                self.hold(module, where, want, got, exact)
            if module.mode == "run":
                self.flags(module, folder, [
                    ("ref none", path, "ref", "none")] + whats, inputs,
                           files)

    def passes(self, module):
        """Each type meets each mode, and passes on and off; two meet both in
        one."""
        two = module.dtype in ("f32", "bool")
        if self.options.full or two and module.mode == "run":
            return ("default", "none")
        return ("none",) if module.mode == "symbolic" and not two else \
            ("default",)

    def modes(self):
        """Constants are folded before they come to a target's code."""
        if self.options.emulate and not self.options.full:
            return ("run", "symbolic")
        return ("run", "symbolic", "constant")

    def modules(self, cases):
        for dtype in NPY:
            mine = [c for c in cases if dtype in c.types and
                    c.text != "cast(x, %s)" % dtype]
            for mode in self.modes():
                for raises in (False, True):
                    some = [c for c in mine
                            if ("raises" in c.words) == raises and
                            not (mode == "symbolic" and "static" in c.words)
                            and not (mode == "constant" and
                                     ("run" in c.words or not c.inputs))]
                    if some:
                        yield Module(mode, dtype, some)


# ---- Coverage ---------------------------------------------------------------

KINDS = {"F": FLOATS, "INT": INTS, "NUM": FLOATS + INTS, "B": ["bool"],
         "ANY": FLOATS + INTS + ["bool"], "TN_KIND_B": ["bool"],
         "TN_KIND_X": []}
# Rows that no expression stands for: they are made by passes, or end blocks.
NO_CASE = {"launch": "made by lower", "yield": "ends a region",
           "return": "ends every function", "call": "main of every module",
           "const": "every module in mode constant",
           "print": "an effect on the host", "assert": "tests/cases",
           "dim": "prints bare; dim_value and dim_map are its cases"}


def lacking(top, covered, swept):
    """Rows of the table and library operators that no case reads, by type of
    those swept."""
    out = []
    with open(os.path.join(top, "src/ir/ops.def")) as f:
        rows = re.findall(r'^OP\(\w+,\s*"(\w+)",\s*(\w+), \w+\([^)]*\), '
                          r'-?\d+, [\w |]+, ([\w |]+),', f.read(), re.M)
    for name, kind, mask in rows:
        if name in NO_CASE:
            continue
        types = [t for w in mask.split(" | ") for t in KINDS[w]]
        if kind in ("FLOW", "SOURCE"):
            types = ["f32", "i64"]
        absent = [t for t in types
                  if t in swept and (name, t) not in covered]
        if absent:
            out.append("%s (%s)" % (name, " ".join(absent)))
    with open(os.path.join(top, "grammar/std.tn")) as f:
        ops = re.findall(r"^op (\w+)<T: (\w+)|^op (\w+)", f.read(), re.M)
    for name, kind, other in ops:
        types = SETS["num" if kind == "number" else kind] if kind else ["i64"]
        absent = [t for t in types
                  if t in swept and (name or other, t) not in covered]
        if absent:
            out.append("%s (%s)" % (name or other, " ".join(absent)))
    return out


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=FORM,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenon", default=tap.TENON)
    parser.add_argument("--target", default="c")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--cache", default="")
    parser.add_argument("--keep", metavar="FOLDER", help="leave modules there")
    parser.add_argument("-k", metavar="PATTERN", help="names of cases")
    parser.add_argument("-t", metavar="TYPES",
                        help="these types, with commas, or all [%s]"
                        % ",".join(DEFAULT))
    parser.add_argument("-v", action="store_true", help="all failures")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--full", action="store_true",
                        help="passes on and off in every mode for all types")
    parser.add_argument("--break", dest="break_", action="store_true")
    options = parser.parse_args()
    options.tenon = os.path.abspath(options.tenon)
    if options.t == "all" or (options.full and not options.t):
        options.t = list(NPY)
    else:
        options.t = options.t.split(",") if options.t else DEFAULT
    cases = read_cases(os.path.join(HERE, "cases"), options.k)
    sweep = Sweep(options)
    folder = options.keep or tempfile.mkdtemp(prefix="sweep.")
    probe = os.path.join(folder, "target.tn")
    os.makedirs(folder, exist_ok=True)
    with open(probe, "w") as f:
        f.write("tenon 1.0;\nfn main(x: f32) -> (y: f32) { return x + 1; }\n")
    code, _, err = sweep.call(
        "run", probe, "-i", "x=f32=1", "--target=" + options.target,
        *["--emulate"] * options.emulate)
    if code in (4, 5):
        print("no %s here: %s" % (options.target, err.strip()[:200]))
        return 77
    modules = [m for m in sweep.modules(cases) if m.dtype in options.t]
    def one(pair):
        try:
            sweep.sweep(pair[1], os.path.join(folder, "%03d-%s-%s" % (
                pair[0], pair[1].mode, pair[1].dtype)))
        except Exception as error:
            for case in pair[1].cases.values():
                sweep.fail(case, pair[1].dtype, "%s: %r" % (
                    pair[1].mode, error))
            if options.v:
                raise
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        list(pool.map(one, enumerate(modules)))
    if not options.keep:
        shutil.rmtree(folder)
    types = collections.OrderedDict((c.name, []) for c in cases)
    for name, dtype in sweep.passed:
        types[name].append(dtype)
    bad = count = 0
    for name, dtypes in types.items():
        why = [(d, w) for (n, d), w in sweep.failed.items() if n == name]
        if not dtypes and not why:
            continue
        count += 1
        bad += bool(why)
        print("%sok - %s (%s)" % ("not " if why else "", name, " ".join(
            [d for d, _ in why] or [d for d in NPY if d in dtypes])))
        for dtype, lines in why:
            for line in lines if options.v else lines[:2]:
                print("# %s: %s" % (dtype, line.replace("\n", " ")))
    if not options.k:
        absent = lacking(tap.TOP, sweep.covered, options.t)
        count += 1
        bad += bool(absent)
        print("%sok - every operator has a case" % ("not " * bool(absent)))
        for line in absent:
            print("# none for " + line)
    print("1..%d" % count, flush=True)
    print("# %d passed, %d failed, 0 skipped" % (count - bad, bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
