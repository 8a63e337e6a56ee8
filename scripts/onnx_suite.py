"""The official tests of ONNX, run through tenon; see onnx-suite.sh.

Comes in: the wheel of the pinned onnx package, as an archive: nothing of it is
installed or run. Each test is a model, inputs and expected results; it goes
through `tenon run`. A result passes if its shape and element type are those
expected, and its elements within the tolerance that the suite sets.

Out: a line a test that did not pass, the totals over all tests, tables by
operator and by ulp; on request doc/onnx.md and tests/onnx/passing.txt.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np

import onnx_values
import page

DATA = "onnx/backend/test/data/"
KINDS = ["node", "pytorch-converted", "pytorch-operator", "simple", "light"]
TOTAL = 1914
SAMPLE = 300

# ---- The wire format ---------------------------------------------------------


def varint(b, i):
    value = shift = 0
    while True:
        byte = b[i]
        i += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, i
        shift += 7


def fields(b):
    """(number, value) of each field: an int, or bytes."""
    i = 0
    while i < len(b):
        key, i = varint(b, i)
        kind = key & 7
        if kind == 0:
            value, i = varint(b, i)
        elif kind == 1:
            value, i = b[i:i + 8], i + 8
        elif kind == 5:
            value, i = b[i:i + 4], i + 4
        else:
            size, i = varint(b, i)
            value, i = b[i:i + size], i + size
        yield key >> 3, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


# Number in the schema: name of ours, numpy type of the stored bits.
DTYPES = {
    1: ("f32", np.float32), 2: ("u8", np.uint8), 3: ("i8", np.int8),
    4: ("u16", np.uint16), 5: ("i16", np.int16), 6: ("i32", np.int32),
    7: ("i64", np.int64), 8: ("string", None), 9: ("bool", np.bool_),
    10: ("f16", np.float16), 11: ("f64", np.float64), 12: ("u32", np.uint32),
    13: ("u64", np.uint64), 14: ("c64", np.complex64),
    15: ("c128", np.complex128), 16: ("bf16", np.uint16),
    17: ("f8e4m3fn", np.uint8), 18: ("f8e4m3fnuz", np.uint8),
    19: ("f8e5m2", np.uint8), 20: ("f8e5m2fnuz", np.uint8),
    21: ("u4", np.uint8), 22: ("i4", np.int8), 23: ("f4e2m1", np.uint8),
    24: ("f8e8m0", np.uint8), 25: ("u2", np.uint8), 26: ("i2", np.int8),
}


# Floats of 8 bits and fewer with a sign: all bits, those of the fraction, bias,
# the least pattern behind the sign that is no number.
SMALL = {"f8e4m3fn": (8, 3, 7, 0x7F), "f8e5m2": (8, 2, 15, 0x7C),
         "f8e4m3fnuz": (8, 3, 8, 0x80), "f8e5m2fnuz": (8, 2, 16, 0x80),
         "f8e8m0": None, "f4e2m1": (4, 1, 1, 0x08)}


class Unreadable(Exception):
    pass


def packed(values, step):
    """All numbers of a list, of which each value may hold several."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(signed(value))
        elif step:
            out.append(value)
        else:
            i = 0
            while i < len(value):
                number, i = varint(value, i)
                out.append(signed(number))
    return b"".join(out) if step else out


def tensor(b):
    """(name, element type, array of the stored bits)."""
    dims, lists, raw, kind, name = [], collections.defaultdict(list), None, 0, ""
    for number, value in fields(b):
        if number == 1:
            dims += packed([value], 0)
        elif number == 2:
            kind = value
        elif number == 8:
            name = value.decode()
        elif number == 9:
            raw = value
        elif number in (4, 5, 6, 7, 10, 11):
            lists[number].append(value)
    dtype, bits = DTYPES[kind]
    if bits is None:
        raise Unreadable("strings")
    count = int(np.prod(dims, dtype=np.int64))
    if dtype in ("u4", "i4", "u2", "i2", "f4e2m1"):
        width = 2 if dtype in ("u2", "i2") else 4
        if raw is None:
            raw = bytes(v & 0xFF for v in packed(lists[5], 0))
        halves = np.frombuffer(raw, np.uint8)
        parts = [(halves >> shift) & ((1 << width) - 1)
                 for shift in range(0, 8, width)]
        data = np.stack(parts, -1).reshape(-1)[:count]
        if dtype[0] == "i":
            top = 1 << (width - 1)
            data = ((data.astype(np.int16) ^ top) - top).astype(np.int8)
    elif raw is not None:
        data = np.frombuffer(raw, bits)
    elif dtype in ("f32", "c64"):
        data = np.frombuffer(packed(lists[4], 4), bits)
    elif dtype in ("f64", "c128"):
        data = np.frombuffer(packed(lists[10], 8), bits)
    elif dtype == "i64":
        data = np.array(packed(lists[7], 0), bits)
    elif dtype in ("u32", "u64"):
        data = np.array([v & 0xFFFFFFFFFFFFFFFF for v in
                         packed(lists[11], 0)], np.uint64).astype(bits)
    elif dtype == "f16":
        data = np.array(packed(lists[5], 0), np.uint16).view(np.float16)
    else:
        data = np.array(packed(lists[5], 0), np.int64).astype(bits)
    return name, dtype, data.reshape(dims)


def names_of(model):
    """Inputs without initialiser, results, and operators of a model."""
    graph = next(v for n, v in fields(model) if n == 7)
    inputs, outputs, given, shapes = [], [], set(), {}
    for number, value in fields(graph):
        if number in (11, 12):
            name = next((v for n, v in fields(value) if n == 1), b"").decode()
            (inputs if number == 11 else outputs).append(name)
            shapes[name] = next((v for n, v in fields(value) if n == 2), b"")
        elif number == 5:
            given.update(v.decode() for n, v in fields(value) if n == 8)
    ops = set()
    for number, value in fields(graph):
        if number == 1:
            ops.update(v.decode() for n, v in fields(value) if n == 4)
    return [n for n in inputs if n not in given], outputs, ops, shapes


def declared_shape(kind):
    dims = []
    for n, t in fields(kind):
        for m, shape in (fields(t) if n == 1 else ()):
            for _, dim in (fields(shape) if m == 2 else ()):
                dims.append(next((v for k, v in fields(dim) if k == 1), 1))
    return dims


# ---- Tests -------------------------------------------------------------------


class Test:
    def __init__(self, kind, name):
        self.kind, self.name = kind, name
        self.rtol, self.atol = 1e-3, 1e-7
        self.told = []      # what the command is told at import
        self.fixed = []     # inputs that are fixed there


def list_tests(archive):
    tests = {}
    files = collections.defaultdict(list)
    for name in archive.namelist():
        if not name.startswith(DATA):
            continue
        parts = name[len(DATA):].split("/")
        if parts[0] == "light" and name.endswith(".onnx"):
            test = Test("light", parts[1][:-len(".onnx")])
            test.model = name
            test.outputs = [name[:-len(".onnx")] + "_output_0.pb"]
            tests[test.name] = test
        elif len(parts) > 2:
            files[parts[0], parts[1]].append(name)
    for (kind, name), members in files.items():
        if kind not in KINDS or not any(m.endswith("/model.onnx")
                                        for m in members):
            continue
        test = Test(kind, name)
        test.members = members
        tests[name if name not in tests else kind + "/" + name] = test
    return tests


def number_of(path):
    return int(re.search(r"_(\d+)\.pb$", path).group(1))


def read_value(info, data):
    return onnx_values.read(fields, tensor, onnx_values.kind_of(fields, info),
                            data)


def load(archive, test):
    """Model, inputs and expected results of the first data set of a test."""
    if test.kind == "light":
        model = archive.read(test.model)
        inputs, _, test.ops, shapes = names_of(model)
        test.inputs = []
        for name in inputs:
            shape = declared_shape(shapes[name])
            n = int(np.prod(shape))
            data = (np.arange(n).reshape(shape) / n).astype(np.float32)
            test.inputs.append((name, "f32", data))
        test.expected = [tensor(archive.read(p)) for p in test.outputs]
        return model
    path = next(m for m in test.members if m.endswith("/model.onnx"))
    model = archive.read(path)
    names, outputs, test.ops, shapes = names_of(model)
    for member in test.members:
        if member.endswith("/data.json"):
            data = json.loads(archive.read(member))
            test.rtol = data.get("rtol", test.rtol)
            test.atol = data.get("atol", test.atol)
    sets = [m for m in test.members if "/test_data_set_0/" in m]
    ins = sorted((m for m in sets if "/input_" in m), key=number_of)
    outs = sorted((m for m in sets if "/output_" in m), key=number_of)
    test.inputs = []
    for name, path in zip(names, ins):
        value = read_value(shapes[name], archive.read(path))
        test.told += onnx_values.options(fields, shapes[name], name,
                                         value)
        for leaf, item in onnx_values.leaves(name, value):
            test.inputs.append((leaf, item.dtype, item.data))
    test.expected = [
        (leaf, item.dtype, item.data) for name, path in zip(outputs, outs)
        for leaf, item in onnx_values.leaves(
            name, read_value(shapes[name], archive.read(path)))]
    return model


# ---- Comparison --------------------------------------------------------------


def to_float(dtype, data):
    """Elements as f64 or wider, of bits that numpy does not know."""
    if dtype == "bf16":
        return (data.astype(np.uint32) << 16).view(np.float32)
    if dtype == "f8e8m0":
        return np.where(data == 255, np.nan,
                        np.ldexp(1.0, data.astype(np.int64) - 127))
    if dtype in SMALL:
        width, mantissa, bias, least_nan = SMALL[dtype]
        top = 1 << (width - 1)
        body = data & (top - 1)
        sign = np.where(data & top, -1.0, 1.0)
        exponent = (body >> mantissa).astype(np.int64)
        fraction = (data & ((1 << mantissa) - 1)) / (1 << mantissa)
        value = np.where(exponent == 0, np.ldexp(fraction, 1 - bias),
                         np.ldexp(1 + fraction, exponent - bias))
        value = np.where(body >= least_nan, np.nan, sign * value)
        if dtype == "f8e5m2":
            value = np.where(body == 0x7C, sign * np.inf, value)
        if dtype.endswith("fnuz"):
            value = np.where(data == top, np.nan, value)
        return value
    return data


def ordered(bits, width):
    """Bits of floats as integers in the order of their values."""
    wide = bits.astype(np.int64)
    low = np.int64(1) << (width - 1)
    return np.where(wide & low, low - wide, wide)


def ulps(dtype, got, want):
    width = {"f32": 32, "f64": 64, "f16": 16, "bf16": 16}.get(dtype)
    if width is None or got.size == 0:
        return 0
    if dtype == "f64":
        a, b = got.view(np.int64), want.view(np.int64)
        least = np.int64(-2**63)
        a = np.where(a < 0, least - a, a)
        b = np.where(b < 0, least - b, b)
        d = np.abs(a.astype(np.float64) - b.astype(np.float64))
    else:
        kind = np.uint32 if width == 32 else np.uint16
        d = np.abs(ordered(np.ascontiguousarray(got).view(kind), width) -
                   ordered(np.ascontiguousarray(want).view(kind), width))
    fg, fw = to_float(dtype, got), to_float(dtype, want)
    same = (np.isnan(fg) & np.isnan(fw)) | (fg == fw)
    return float(np.max(np.where(same, 0, d)))


def compare(test, results):
    """What differs, or None; notes the largest ulp error."""
    if len(results) != len(test.expected):
        return "%d results, not %d" % (len(results), len(test.expected))
    for i, (got, (_, dtype, want)) in enumerate(zip(results, test.expected)):
        if list(got.shape) != list(want.shape):
            return "result %d is %s, not %s" % (i, got.shape, want.shape)
        if got.dtype.kind == "V":
            got = got.view(want.dtype)
        if got.dtype != want.dtype:
            return "result %d is of %s, not %s" % (i, got.dtype, want.dtype)
        test.ulp = max(test.ulp, ulps(dtype, got, want))
        a, b = to_float(dtype, got), to_float(dtype, want)
        if a.dtype.kind in "fc":
            a, b = a.astype(np.float64), b.astype(np.float64)
            ok = np.isclose(a, b, test.rtol, test.atol, equal_nan=True)
        else:
            ok = a == b
        if not np.all(ok):
            at = tuple(np.argwhere(~ok)[0])
            return "result %d at %s is %s, not %s (%d of %d differ)" % (
                i, list(map(int, at)), a[at], b[at], np.sum(~ok), ok.size)
    return None


# ---- Running -----------------------------------------------------------------


def reason(stderr):
    """The first message, without place."""
    for line in stderr.splitlines():
        found = re.search(r"error\[(\w+)\]: (.*)", line)
        if found:
            return found.group(1) + " " + re.sub(r"\S*/(?=out\.npz)", "",
                                                 found.group(2))
    return stderr.strip().splitlines()[0] if stderr.strip() else "no message"


def save(folder, test, model):
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as out:
        out.write(model)
    arguments = list(test.told)
    arrays = {}
    for i, (name, dtype, data) in enumerate(test.inputs):
        if dtype == "bf16" or dtype in SMALL or dtype[1:] in ("2", "4"):
            data = data.view("V%d" % data.dtype.itemsize)
        arrays["i%d" % i] = data
        arguments += ["--fix" if name in test.fixed else "-i",
                      "%s=@%s=i%d" % (name, os.path.join(folder, "in.npz"),
                                      i)]
    np.savez(os.path.join(folder, "in.npz"), **arrays)
    return path, arguments


def run(options, folder, test, model):
    path, arguments = save(folder, test, model)
    results = os.path.join(folder, "out.npz")
    command = [options.tenon, "run", "--target=" + options.target, path,
               "-o", results, "--threads=1"] + arguments
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=options.timeout, errors="replace")
    if done.returncode == 4:
        return "out", reason(done.stderr)
    if done.returncode == 1 and "W0018" in done.stderr:
        return "out", "at run time: " + done.stderr.split("W0018]: ")[1] \
            .splitlines()[0]
    if done.returncode:
        return "fail", "exit %d: %s" % (done.returncode, reason(done.stderr))
    with np.load(results) as arrays:
        got = [arrays[key] for key in arrays.files]
    why = compare(test, got)
    return ("fail", why) if why else ("pass", "")


def one(options, archive, name, test):
    test.ulp, test.ops = 0, set()
    test.fixed = onnx_values.FIXED.get(name, [])
    try:
        model = load(archive, test)
    except Unreadable as why:
        path = next((m for m in test.members if m.endswith("/model.onnx")),
                    None)
        test.ops = names_of(archive.read(path))[2]
        return name, "out", str(why)
    with tempfile.TemporaryDirectory() as folder:
        try:
            state, why = run(options, folder, test, model)
        except subprocess.TimeoutExpired:
            state, why = "fail", "more than %d s" % options.timeout
    return name, state, why


def timed(options, archive, name, test):
    began = time.monotonic()
    found = one(options, archive, name, test)
    test.took = time.monotonic() - began
    return found


def run_all(options, tests, chosen):
    """Name: state and reason. One archive serves all threads."""
    states = {}
    with zipfile.ZipFile(options.wheel) as archive, \
            concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for name, state, why in pool.map(
                lambda n: timed(options, archive, n, tests[n]), chosen):
            states[name] = (state, why)
    return states


# ---- Reports -----------------------------------------------------------------


def sample(names):
    """The same 300 every time: those whose names hash lowest."""
    key = lambda name: hashlib.sha256(name.encode()).hexdigest()
    return set(sorted(names, key=key)[:SAMPLE])


def passing_file(top):
    return os.path.join(top, "tests", "onnx", "passing.txt")


def read_passing(top):
    try:
        with open(passing_file(top)) as lines:
            return {l.strip() for l in lines if l.strip() and l[0] != "#"}
    except FileNotFoundError:
        return set()


def by_operator(tests, states):
    """Operator: passed, all, and the largest error in ulp of a test that passed:
    of those that have no other operator, if any; else None, and of all."""
    table = collections.defaultdict(lambda: [0, 0, None, None])
    for name, test in tests.items():
        if name not in states:
            continue
        for op in test.ops:
            row = table[op]
            row[1] += 1
            if states[name][0] != "pass":
                continue
            row[0] += 1
            row[3] = max(row[3] or 0, test.ulp)
            if len(test.ops) == 1:
                row[2] = max(row[2] or 0, test.ulp)
    return table


def ulp_text(row):
    if row[2] is not None:
        return "%.0f" % row[2]
    return "-" if row[3] is None else "%.0f, with others" % row[3]


ULPS = [0, 1, 4, 16, 100, 1e18]


def by_ulp(tests, states):
    counts = collections.Counter()
    for name, (state, _) in states.items():
        if state == "pass":
            counts[next(u for u in ULPS if tests[name].ulp <= u)] += 1
    return counts


def by_reason(states):
    """Why tests are out of scope, without the names in it, and how many."""
    return collections.Counter(re.sub(r"'[^']*'", "''", why) for state, why in
                               states.values() if state == "out")


def write_told(out, tests, states):
    """What tests that pass were told beyond their inputs."""
    passed = [n for n in sorted(states) if states[n][0] == "pass"]
    fixed = [n for n in passed if tests[n].fixed]
    told = [n for n in passed if any("--length" in o for o in tests[n].told)]
    if fixed:
        out.write("\nOf those that passed, %d with an input fixed at import "
                  "(`--fix`), because it decides\nsizes or a number of items "
                  "that no declared type tells: %s.\n" % (len(fixed), ", ".join(
                      "%s (%s)" % (n, ", ".join(tests[n].fixed))
                      for n in fixed)))
    if told:
        out.write("\nOf those that passed, %d have sequences or optional values "
                  "as inputs, whose number of\nitems and sizes are said at "
                  "import (`--length`, `--shape`).\n" % len(told))


def write_page(options, tests, states, counts, seconds):
    out = io.StringIO()
    out.write("\nOf all %d tests of onnx 1.22.0, with --target=%s:\n\n"
              % (TOTAL, options.target))
    out.write("| passed | out of scope | failed |\n|---|---|---|\n"
              "| %d | %d | %d |\n" % (counts["pass"], counts["out"],
                                      counts["fail"]))
    write_told(out, tests, states)
    out.write("\nThe run took %.1f minutes, %d tests at a time.\n" %
              (seconds / 60, options.j))
    out.write("\n| largest error of a test that passed | tests |\n"
              "|---|---|\n")
    ulp = by_ulp(tests, states)
    last = None
    for u in ULPS:
        text = "0 ulp" if u == 0 else "to %d ulp" % u if u < 1e9 else \
            "more than %d ulp" % last
        out.write("| %s | %d |\n" % (text, ulp[u]))
        last = u
    out.write("\n## By operator\n\nTests that have the operator in their "
              "graph, how many of them pass, and the largest error\nof "
              "those, in steps of the element type: of tests that have no "
              "other operator,\nwhere there are such.\n\n"
              "| operator | passed | of | largest error, ulp |\n"
              "|---|---|---|---|\n")
    for op, row in sorted(by_operator(tests, states).items()):
        out.write("| %s | %d | %d | %s |\n" % (op, row[0], row[1],
                                              ulp_text(row)))
    out.write("\n## Why out of scope\n\n| tests | reason |\n|---|---|\n")
    for why, count in by_reason(states).most_common():
        out.write("| %d | %s |\n" % (count, why.replace("|", "\\|")))
    out.write("\n## What does not pass\n\n| test | why |\n|---|---|\n")
    for name in sorted(states):
        state, why = states[name]
        if state != "pass":
            out.write("| %s | %s%s |\n" % (name, "" if state == "out" else
                      "**wrong**: ", why.replace("|", "\\|")[:160]))
    out.write("\n")
    page.put(os.path.join(options.top, "doc", "onnx.md"),
             "scripts/onnx-suite.sh", out.getvalue())


def write_passing(options, states):
    with open(passing_file(options.top), "w") as out:
        out.write("# Tests of onnx 1.22.0 that pass; scripts/onnx-suite.sh "
                  "--update\n")
        for name in sorted(states):
            if states[name][0] == "pass":
                out.write(name + "\n")


def report(options, tests, states, seconds):
    counts = collections.Counter(state for state, _ in states.values())
    for name in sorted(states):
        state, why = states[name]
        if state == "fail" or (options.verbose and state == "out"):
            print("%-4s %s: %s" % (state, name, why))
    for why, count in by_reason(states).most_common(options.reasons):
        print("# %4d out of scope: %s" % (count, why))
    lost = sorted(n for n in read_passing(options.top)
                  if n in states and states[n][0] != "pass")
    for name in lost:
        print("LOST %s: %s" % (name, states[name][1]))
    if options.slow:
        for name in sorted(states, key=lambda n: -tests[n].took)[:options.slow]:
            print("# %6.1f s %s" % (tests[name].took, name))
    print("%d passed, %d failed, %d out of scope, of %d%s, in %.0f s" % (
        counts["pass"], counts["fail"], counts["out"], len(states),
        "" if len(states) == TOTAL else " (%d in all)" % TOTAL, seconds))
    if options.update and len(states) == TOTAL:
        write_page(options, tests, states, counts, seconds)
        write_passing(options, states)
    return 1 if lost else 0


def needs(parser, tenon):
    if not os.access(tenon, os.X_OK):
        parser.error("no command %s: build it by scripts/build.sh, or name "
                     "another by --tenon" % tenon)


def main():
    parser = argparse.ArgumentParser(prog="onnx-suite.sh", add_help=False)
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--wheel", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--top", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--target", default="ref")
    parser.add_argument("-k", default="")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--reasons", type=int, default=0)
    parser.add_argument("--slow", type=int, default=0)
    parser.add_argument("--timeout", type=int, default=900)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    needs(parser, options.tenon)
    with zipfile.ZipFile(options.wheel) as archive:
        tests = list_tests(archive)
    if len(tests) != TOTAL:
        print("%d tests in the archive, not %d" % (len(tests), TOTAL))
        return 1
    chosen = sample(tests) if options.sample else set(tests)
    chosen = sorted(n for n in chosen if re.search(options.k, n))
    began = time.monotonic()
    states = run_all(options, tests, chosen)
    return report(options, tests, states, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
