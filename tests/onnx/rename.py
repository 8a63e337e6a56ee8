#!/usr/bin/env python3
"""Strings of a model never become code. Each model is emitted, then again with all
its strings replaced by hostile ones: names of values, nodes, graphs, functions,
domains, sizes, and all texts. C and CUDA are the same bytes outside of comments.

What is left out: the functions of the API that hand the names over as data
(NAME_describe, NAME_dim_name, NAME_input_name, NAME_output_name, NAME_place).
Their text has to compile all the same, and give the names back: the code of one
renamed model is compiled and asked.

Models: those of data/make.py that are right, and official ones, if the package is
there (scripts/onnx-suite.sh gets it).
"""
import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import zipfile

TOP = os.environ.get("SRCDIR", os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("BUILDDIR", os.path.join(TOP, "build"))
TENON = os.path.join(BUILD, "tenon")
sys.path.insert(0, os.path.join(TOP, "tests", "onnx", "data"))
sys.path.insert(0, os.path.join(TOP, "scripts"))
import make
from onnx_suite import fields

OWN = ["relu", "names", "weights", "shapes", "old_broadcast", "branch",
       "function"]
OFFICIAL = [
    "test_lstm_with_peepholes", "test_scan9_sum", "test_if",
    "test_attention_4d_with_past_and_present_expanded", "test_resize_upsample_"
    "scales_cubic", "test_layer_normalization_2d_axis0_expanded",
    "test_range_int32_type_negative_delta_expanded", "test_qlinearmatmul_2D_"
    "uint8_float32", "test_nllloss_NCd1d2d3d4d5_mean_weight", "test_einsum_"
    "batch_matmul", "test_conv_with_strides_padding", "test_Linear_no_bias",
    "test_operator_mm",
]

# ---- Hostile strings -----------------------------------------------------------

WORDS = [
    'a"b', "*/ int x; /*", "// x", "/*", "x\n#error no", "%s%n%d", "int",
    "return", "fn", "tenon", "while", "main", "i", "j", "s", "k1", "p1", "n1",
    "t__0", "y__1", "main__f0", "result", "weight", "found_1", "x_0",
    "\\", "\\\n", "`", "'", "??/", "#include <stdio.h>", "$(touch hacked)",
    "; rm -rf .", "\u540d\u524d", "\u202e", "\t", "\x01", "NULL", "0", "-1",
    "a" * 3000, "tn_max_f32", "names_run", "__attribute__((constructor))",
    "\\u0022", "%", "\r", "x y", "(", "{", "}", "N;", "__FILE__", "dims",
]


class Renamer:
    """One new string for each old one, and no two alike."""

    def __init__(self):
        self.of = {}

    def __call__(self, old):
        if not old:
            return old
        if old not in self.of:
            n = len(self.of)
            word = WORDS[n % len(WORDS)]
            self.of[old] = (word if n < len(WORDS) else
                            "%s%d" % (word, n // len(WORDS))).encode()
        return self.of[old]


# ---- The messages: fields that are names, texts, or messages ---------------------

NAME, TEXT = "name", "text"
SCHEMA = {
    "model": {2: TEXT, 3: TEXT, 4: TEXT, 6: TEXT, 7: "graph", 8: "opset",
              14: "entry", 25: "function"},
    "graph": {1: "node", 2: TEXT, 5: "tensor", 10: TEXT, 11: "info",
              12: "info", 13: "info", 16: "entry"},
    "node": {1: NAME, 2: NAME, 3: TEXT, 4: "op", 5: "attr", 6: TEXT,
             7: "domain"},
    "attr": {5: "tensor", 6: "graph", 13: TEXT},
    "tensor": {8: NAME, 12: TEXT},
    "info": {1: NAME, 2: "type", 3: TEXT},
    "type": {1: "tensor_type"},
    "tensor_type": {2: "shape"},
    "shape": {1: "dim"},
    "dim": {2: NAME},
    "opset": {1: "domain"},
    "entry": {1: TEXT, 2: TEXT},
    "function": {1: "op", 4: NAME, 5: NAME, 7: "node", 8: TEXT, 9: "opset",
                 10: "domain", 12: "info"},
}


def functions_of(model):
    """Names and domains of the functions that the model defines."""
    ops, domains = set(), set()
    for number, value in fields(model):
        if number == 25:
            parts = dict(fields(value))
            ops.add(parts.get(1, b""))
            domains.add(parts.get(10, b""))
    return ops, domains - {b""}


def rewrite(kind, data, names, own):
    out = b""
    for number, value in fields(data):
        what = SCHEMA[kind].get(number)
        if what in (NAME, TEXT):
            value = names(value)
        elif what == "op":
            value = names(value) if value in own[0] else value
        elif what == "domain":
            value = names(value) if value in own[1] else value
        elif what:
            value = rewrite(what, value, names, own)
        out += put(kind, number, value)
    return out


# Fields of four bytes; the rest is of bytes or a number.
FLOATS = {("attr", 2)}


def put(kind, number, value):
    if isinstance(value, bytes) and (kind, number) in FLOATS:
        return make.varint(number << 3 | 5) + value
    if isinstance(value, bytes):
        return make.varint(number << 3 | 2) + make.varint(len(value)) + value
    return make.varint(number << 3) + make.varint(value)


def packed(model):
    """Floats that stand in lists one by one have no kind of their own here."""
    return rewrite("model", model, lambda s: s, (set(), set())) == model


# ---- Emitted code -----------------------------------------------------------------

TOKENS = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//[^\n]*',
                    re.S)
TABLES = re.compile(r"^const char \*\w+_(describe|dim_name|input_name|output_name|"
                    r"place)\([^)]*\)\n\{\n.*?^\}\n", re.S | re.M)


def code_of(text):
    """Without comments and tables of names."""
    text = TOKENS.sub(lambda m: m[0] if m[0][0] in "\"'" else " ", text)
    return TABLES.sub("", text)


def emit(folder, model, target):
    """File name: its bytes, code without comments."""
    os.mkdir(folder)
    path = os.path.join(folder, "m.onnx")
    with open(path, "wb") as out:
        out.write(model)
    code = os.path.join(folder, "code")
    done = subprocess.run([TENON, "emit", "--target=" + target, path, "-o",
                           code], capture_output=True)
    if done.returncode:
        return None, done.stderr.decode(errors="replace")
    found = {}
    for where, _, names in os.walk(code):
        for name in names:
            if name == "README" or "emu" in where:
                continue
            with open(os.path.join(where, name), "rb") as data:
                text = data.read()
            if name.endswith((".c", ".h", ".cu", ".cuh")):
                text = code_of(text.decode())
            found[name] = text
    return found, ""


def difference(a, b):
    if set(a) != set(b):
        return "files: %s, %s" % (sorted(a), sorted(b))
    for name in sorted(a):
        if a[name] == b[name]:
            continue
        if isinstance(a[name], bytes):
            return name
        for i, (x, y) in enumerate(zip(a[name].split("\n"),
                                       b[name].split("\n"))):
            if x != y:
                return "%s: %r and %r" % (name, x[:300], y[:300])
        return name + ": one is longer"
    return None


def check(name, model):
    """What is wrong, or None."""
    if not packed(model):
        return "the test cannot write this model"
    names = Renamer()
    renamed = rewrite("model", model, names, functions_of(model))
    with tempfile.TemporaryDirectory() as folder:
        for target in ("c:generic", "c:avx2", "cuda"):
            sides = [emit(os.path.join(folder, target + str(i)), m, target)
                     for i, m in enumerate((model, renamed))]
            for side, why in sides:
                if side is None:
                    return "%s: %s" % (target, why[:600])
            why = difference(sides[0][0], sides[1][0])
            if why:
                return "%s: %s" % (target, why)
    return None


# ---- The tables ---------------------------------------------------------------------

ASK = """
#include <stdio.h>
#include "m.h"
int main(void)
{
	printf("%s|%s|%s|", m_input_name(0), m_output_name(0), m_dim_name(0));
	return m_describe() == 0;
}
"""


def tables():
    """Renamed names come back as they were written."""
    names = Renamer()
    model = make.model_names()
    renamed = rewrite("model", model, names, functions_of(model))
    with tempfile.TemporaryDirectory() as folder:
        _, why = emit(os.path.join(folder, "m"), renamed, "c:generic")
        if why:
            return why
        code = os.path.join(folder, "m", "code")
        with open(os.path.join(code, "ask.c"), "w") as out:
            out.write(ASK)
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall",
                        "-Wextra", "-Wpedantic", "-Werror", "m.c", "ask.c",
                        "-lm", "-o", "ask"], cwd=code, check=True)
        said = subprocess.run([os.path.join(code, "ask")], check=True,
                              capture_output=True).stdout
    want = b"|".join(names.of[old] for old in (b"fn", b"out;}", b"N;")) + b"|"
    return None if said == want else "%r, not %r" % (said, want)


# ---- Models ---------------------------------------------------------------------------

def models():
    for name in OWN:
        yield name, getattr(make, "model_" + name)()
    wheels = glob.glob(os.path.join(
        os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")),
        "tenon-suite", "onnx-*.whl"))
    if not wheels:
        return
    with zipfile.ZipFile(wheels[0]) as archive:
        for path in archive.namelist():
            name = path.split("/")[-2] if path.endswith("/model.onnx") else ""
            if name in OFFICIAL:
                yield name, archive.read(path)


def main():
    failed, count = 0, 0
    for name, model in models():
        why = check(name, model)
        failed += why is not None
        count += 1
        print("%s %d - %s" % ("not ok" if why else "ok", count, name))
        if why:
            print("# " + why.replace("\n", "\n# "))
    why = tables()
    failed += why is not None
    print("%s %d - names as data" % ("not ok" if why else "ok", count + 1))
    if why:
        print("# " + why.replace("\n", "\n# "))
    print("1..%d" % (count + 1))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
