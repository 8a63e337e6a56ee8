#!/usr/bin/env python3
"""Huge, negative and misplaced values for every attribute of every operator.

Calls of the operators of src/ir/ops.def, each sound but for one attribute.
`tenon check` must take the value or refuse it with one error at the call; an integer that is out of range is never called a
list, nor an attribute that was given missing.

TENON, or tenon in BUILDDIR, is the command; -v shows every answer.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
TENON = os.environ.get("TENON") or str(
    Path(os.environ.get("BUILDDIR", TOP / "build")) / "tenon")
INTEGERS = ["-1", "0", "3", "1000000000000", "4611686018427387904",
            "9223372036854775807", "9223372036854775808",
            "18446744073709551615", "-9223372036854775808"]
WRONG = ["1.5", "true", '"word"', "f32", "x", "[]", "[[]]", "[1, [2]]",
         "inf", "sum"]
VALUES = {
    "INT": INTEGERS + WRONG,
    "FLOAT": INTEGERS + ["1e308", "nan"] + WRONG,
    "BOOL": ["0", "1"] + WRONG,
    "STRING": ['""', '"' + "word" * 2000 + '"'] + INTEGERS[:3] + WRONG,
    "DTYPE": ["i4", "f8e5m2", "bool"] + INTEGERS[:3] + WRONG,
    "DIM": INTEGERS + WRONG,
}
for kind in ("INTS", "DIMS"):
    VALUES[kind] = (INTEGERS + WRONG + [f"[{i}]" for i in INTEGERS]
                    + [f"[{i}, {i}]" for i in INTEGERS]
                    + ["[" + "1, " * 20 + "1]"])
VALUES["PAIRS"] = VALUES["INTS"] + [f"[[{i}, 0], [0, {i}]]" for i in INTEGERS]

# Operands and sound attributes: what the rows do not say.
CALLS = {
    "cast": ("x", {"elem": "f16"}), "bitcast": ("x", {"elem": "i32"}),
    "reshape": ("x", {"shape": "[6, 4]"}),
    "transpose": ("x", {"perm": "[1, 0]"}),
    "broadcast": ("x", {"shape": "[2, 4, 6]"}),
    "slice": ("x", {"start": "[0, 0]", "stop": "[2, 2]", "step": "[1, 1]"}),
    "pad": ("x", {"pad": "1"}), "concat": ("x, x", {"axis": "0"}),
    "reverse": ("x", {"axes": "[0]"}),
    "window": ("x", {"axes": "[0]", "size": "[2]", "stride": "[1]",
                     "dilation": "[1]"}),
    "gather": ("x, i", {"axis": "0"}),
    "take_along": ("x, j", {"axis": "0"}),
    "scatter": ("x, i, u", {"axis": "0", "combine": '"add"'}),
    "scatter_nd": ("x, j, v", {"combine": '"add"'}),
    "scatter_along": ("x, j, u", {"axis": "0", "combine": '"add"'}),
    "topk": ("x", {"k": "2", "axis": "0", "largest": "true", "elem": "i64"}),
    "einsum": ("x", {"spec": '"ij->ji"'}),
    "conv": ("z, w", {}), "conv_transpose": ("z, w", {}),
    "maxpool": ("z", {"size": "[2, 2]"}),
    "avgpool": ("z", {"size": "[2, 2]"}),
    "resize": ("z", {"shape": "[9, 9]"}),
    "iota": ("", {"shape": "[4]"}), "random": ("", {"elem": "f32",
                                                   "shape": "[4]"}),
    "all": ("b", {}), "any": ("b", {}), "nonzero": ("y", {}),
    "assert": ("y > 0", {}), "print": ("y", {}),
    "argmax": ("x", {"axis": "0"}), "argmin": ("x", {"axis": "0"}),
    "cumsum": ("x", {"axis": "0"}), "cumprod": ("x", {"axis": "0"}),
    "cummax": ("x", {"axis": "0"}), "cummin": ("x", {"axis": "0"}),
}
# Not calls but statements, or without a call of their own.
STATEMENTS = {"for", "while", "scan", "yield", "dim"}
SUGAR = [("split", "x", "axis", "INT", {"parts": "2"}),
         ("split", "x", "parts", "INT", {"axis": "0"}),
         ("split", "x", "sizes", "DIMS", {"axis": "0"}),
         ("stack", "[x, x]", "axis", "INT", {}),
         ("squeeze", "q", "axes", "INTS", {}),
         ("expand_dims", "x", "axes", "INTS", {}),
         ("per_channel", "y", "axis", "INT", {"like": "x"}),
         ("softmax", "x", "axis", "INT", {}),
         ("mean", "x", "axes", "INTS", {}),
         ("full", "", "shape", "DIMS", {"value": "1.5"}),
         ("zeros", "", "shape", "DIMS", {})]
HEAD = """tenon 1.0;
fn main(x: f32[4, 6], y: f32[6], z: f32[1, 2, 8, 8], w: f32[2, 2, 3, 3],
        b: bool[4, 6], i: i64[2], j: i64[2, 6], u: f32[2, 6], v: f32[2],
        q: f32[4, 1]) -> f32 {
  r%s = %s;
  return 1.0;
}
"""


def rows():
    """(name, attribute, kind) of every operator."""
    text = (TOP / "src/ir/ops.def").read_text()
    for row in re.finditer(r'^OP\(\w+, +"(\w+)",.*?ATTRS\((.*)$', text, re.M):
        for attr in re.finditer(r"A\((\w+), (\w+), ", row.group(2)):
            yield row.group(1), attr.group(1), attr.group(2)


def cases():
    for name, attr, kind in rows():
        if name in STATEMENTS:
            continue
        operands, sound = CALLS.get(name, ("x", {}))
        for value in VALUES[kind]:
            yield name, attr, value, call(name, operands,
                                          {**sound, attr: value})
    for name, operands, attr, kind, sound in SUGAR:
        for value in VALUES[kind]:
            yield name, attr, value, call(name, operands,
                                          {**sound, attr: value})


def call(name, operands, attrs):
    written = [operands] if operands else []
    written += [f"{key}={value}" for key, value in attrs.items()]
    return f"{name}({', '.join(written)})"


def faults(lines, attr, value):
    """What is wrong with the answer to `value`."""
    errors = [line for line in lines if line["severity"] == "error"]
    if len(errors) > 1:
        yield f"{len(errors)} errors"
    for error in errors:
        text = error["message"]
        if error["line"] != 5:
            yield "a place elsewhere"
        if "not a list" in text and not value.startswith("["):
            yield "no list was given"
        if "not a list" in text and re.fullmatch(r"\[[-0-9, ]+\]", value):
            yield "a list was given and is refused for being one"
        if error["code"] in ("E0211", "E0504"):
            yield "the argument was given"


def written(name, text):
    """A module with the call in its fifth line."""
    if name in ("assert", "print"):
        return (HEAD % ("", text)).replace("r = ", "")
    return HEAD % (", s" if name in ("topk", "split") else "", text)


def check(folder, batch):
    """The answers to some cases, by the place in `batch`."""
    answers = [[] for _ in batch]
    paths = []
    for i, (name, _, _, text) in enumerate(batch):
        paths.append(str(folder / f"{i}.tn"))
        Path(paths[-1]).write_text(written(name, text))
    done = subprocess.run([TENON, "check", "--diag=json"] + paths, timeout=60,
                          capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"exit {done.returncode}, {batch[0][3]} to {batch[-1][3]}\n"
                 + done.stderr[-2000:])
    for line in done.stderr.splitlines():
        message = json.loads(line)
        answers[paths.index(message["file"])].append(message)
    if any(x["severity"] == "error" for a in answers for x in a) != (
            done.returncode == 3):
        sys.exit(f"exit {done.returncode} does not fit the messages")
    return answers


def main():
    loud = "-v" in sys.argv
    everything = list(cases())
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(everything), 100):
            batch = everything[at:at + 100]
            answers = check(Path(folder), batch)
            for (name, attr, value, text), lines in zip(batch, answers):
                wrong = list(faults(lines, attr, value))
                said = "; ".join(f"{x['code']} {x['message']}" for x in lines)
                bad += bool(wrong)
                if wrong or loud:
                    print(f"{text[:120]}: {', '.join(wrong)} [{said[:200]}]")
    print(f"{len(everything)} calls, {bad} answered badly")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
