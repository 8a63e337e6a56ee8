#!/usr/bin/env python3
"""What people type who come from Python, numpy, torch or C.

Each line below, in the body of a function, must give exactly one error, in its
line, with a way out that holds the words behind it. TENON, or tenon in BUILDDIR,
is the command.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
TENON = os.environ.get("TENON") or str(
    Path(os.environ.get("BUILDDIR", TOP / "build")) / "tenon")
BODY = "tenon 1.0;\nfn main(x: f32[4, 4]) -> f32[4, 4] {\n  %s\n  return x;\n}\n"
HABITS = [
    ("y = np.exp(x);", "write exp(x)"),
    ("y = torch.relu(x);", "write relu(x)"),
    ("y = x.exp();", "write exp(x)"),
    ("y = x.reshape(2, 8);", "write reshape(x)"),
    ("y = x.view(-1);", "reshape(x, [2, _])"),
    ("y = x.astype(f16);", "cast(x, f32)"),
    ("y = x.permute(1, 0);", "transpose(x, perm=[1, 0])"),
    ("y = permute(x, 1, 0);", "transpose(x, perm=[1, 0])"),
    ("y = permute(x, [1, 0]);", "transpose(x, perm=[1, 0])"),
    ("y = x.shape;", "shape(x)"),
    ("y = x.T;", "transpose(x)"),
    ("y = x.size;", "count(x)"),
    ("y = x.ndim;", "rank(x)"),
    ("y = x.dtype;", "elem(x)"),
    ("y = len(x);", "size(x, 0)"),
    ("f = lambda a: a;", "functions are no values"),
    ("def f(a): return a;", "a function is `fn"),
    ("let y = x;", "bound without a word"),
    ("var y = x;", "bound without a word"),
    ("auto y = x;", "bound without a word"),
    ("float y = x;", "`y: f32 = x;`"),
    ("const y = 1;", "constants stand outside"),
    ("y: float = x;", "it is called `f32`"),
    ("y: f32[4][4] = x;", "f32[2, 3]"),
    ("y := x;", "bound with `=`"),
    ("y += x;", "a name is bound once"),
    ("y -= x;", "a name is bound once"),
    ("x++;", "a name is bound once"),
    ("y = sum(x, axis==0);", "one `=`"),
    ("y = sum(x, axis=0);", "did you mean 'axes'"),
    ("y = sum(x, dim=0);", "axes=[0]"),
    ("y = sum(x, keepdims=true);", "keep=true"),
    ("y = sum(x, axes=(0, 1));", "a list stands in brackets"),
    ("y = max(x, axis=0);", "reduce_max(x, axes=[..])"),
    ("y = x", "insert ;"),
    ("y = \u201cx\u201d;", "typographic quotes"),
    ("y = 'x';", "double quotes"),
    ("y = x \u00d7 x;", "write *"),
    ("y = x \u2212 1.0;", "minus"),
    ("y =\u00a0x;", "cannot be seen"),
    ("y = \ufeffx;", "cannot be seen"),
    ("y = x \\", "lines may break anywhere"),
    ("y = x > 0 ? x : 0;", "select(condition, a, b)"),
    ("y = x if x > 0 else 0;", "select(c, a, b)"),
    ("if (x > 0) { y = x; } else { y = x; }", "`if` is a value"),
    ("while (true) { y = x; }", "`while` is a value"),
    ("for i in range(4): y = x;", "`for` is a value"),
    ("y = [i for i in x];", "`for` is a value"),
    ("y = relu(x) and x;", "written `&&`"),
    ("y = (x) is x;", "written `==`"),
    ("y = x and x;", "`&&`"),
    ("y = x is x;", "`==`"),
    ("y = not x;", "`!`"),
    ("y = x < x < x;", "comparisons do not chain"),
    ("y = (float)x;", "cast(x, f32)"),
    ("y = x as f32;", "cast(x, f32)"),
    ("y = float(x);", "cast(x, f32)"),
    ("y = x[::2];", "slice(x, start"),
    ("y = x[-1];", "x[S - 1]"),
    ("y = x[:, None];", "expand_dims(x, axes=[0])"),
    ("y = x[x > 0];", "nonzero(x)"),
    ("y = None;", "leave the argument out"),
    ("y = True;", "`true`"),
    ("pass;", "left out"),
    ("del x;", "need not be deleted"),
    ("assert x > 0;", "assert(x > 0);"),
    ("import numpy as np;", "include \"FILE\";"),
    ("y = reshape(x, [-1]);", "one size may be `_`"),
    ("y = reshape(x, (2, 8));", "a list stands in brackets"),
    ("y = dot(x, x);", "a @ b"),
    ("y = where(x > 0, x, 0.0);", "select(condition, a, b)"),
    ("y = concatenate([x, x], axis=0);", "concat(a, b, axis=0)"),
    ("y = cat(x, x, dim=0);", "concat(a, b, axis=0)"),
    ("y = maximum(x, 0.0);", "max(a, b)"),
    ("y = zeros_like(x);", "zeros(shape(x))"),
    ("y = log2(x);", "log(x) / log(2.0)"),
    ("y = x // 2;", "floor(a / b)"),
    ("y = 1 / 2;", "`//`"),
    ("y = 1. * x;", "digits on both sides"),
    ("y = .5 * x;", "digits on both sides"),
    ("y = 1.f * x;", "digits on both sides"),
    ("y = 2f * x;", "1.5_f16"),
    ("y = {1, 2};", "[1, 2]"),
    ("y = x /* c */;", "begins with `#`"),
    ("y = x; // c", "begins with `#`"),
    ("y = x;;", "one `;` is enough"),
]
# White space of other systems changes nothing.
HARMLESS = ["y = x ** 2;", "y =\tx;", "y = x;\r", "y = x;  # \u201cx\u201d"]


def check(path, text):
    path.write_bytes(text.encode())
    done = subprocess.run([TENON, "check", "--diag=json", str(path)],
                          capture_output=True, text=True, timeout=60)
    return done.returncode, [json.loads(x) for x in done.stderr.splitlines()]


def fault(path, line, want):
    code, said = check(path, BODY % line)
    if code != 3 or len(said) != 1:
        return f"exit {code}, {len(said)} messages"
    if said[0]["line"] != 3:
        return f"told of line {said[0]['line']}"
    edit = said[0]["edit"]
    helps = f"{said[0]['help']} insert {edit['insert'] if edit else ''}"
    return None if want in helps else f"help: {said[0]['help']}"


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.tn"
        for line, want in HABITS:
            wrong = fault(path, line, want)
            bad += bool(wrong)
            if wrong:
                print(f"{line}: {wrong}")
        texts = [BODY % line for line in HARMLESS]
        texts += ["\ufeff" + texts[0], texts[0].replace("\n", "\r\n")]
        for text in texts:
            code, said = check(path, text)
            bad += code != 0 or bool(said)
            if code or said:
                print(f"{text!r}: exit {code}")
    print(f"{len(HABITS) + len(texts)} texts, {bad} answered badly")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
