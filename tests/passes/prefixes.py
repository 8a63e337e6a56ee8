#!/usr/bin/env python3
"""Every value inside of a pattern that fuses may be a result as well, or be
read by something else.

Each pattern is a chain of values. For each of them there is a function that
gives it away too, and one that adds what it sums up to to the last one. One
module calls all, each with inputs of its own; its results are those of the
interpreter without passes, at sizes 1, 5 and 17, before and after the default
passes and compiled. Prints TAP.
"""
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

# Inputs, and the values: name, type, what makes it.
PATTERNS = {
    "product": ("x[N, 6] w[6, 9] v[9]", [
        ("a", "[N, 9]", "x @ w"),
        ("b", "[N, 9]", "a + v"),
        ("c", "[N, 9]", "b * 0.5"),
        ("d", "[N, 9]", "tanh(b)"),
        ("e", "[N, 9]", "c * (d + 1.0)")]),
    "conv": ("x[2, 3, N, 7] w[3, 3, 3, 3] g[3, 1, 1] h[3, 1, 1]", [
        ("a", "[2, 3, N, 7]", "conv(x, w, pad=1)"),
        ("b", "[2, 3, N, 7]", "a * g"),
        ("c", "[2, 3, N, 7]", "b + h"),
        ("d", "[2, 3, N, 7]", "c + x"),
        ("e", "[2, 3, N, 7]", "max(d, 0.0)"),
        ("f", "[2, 3, N, 7]", "min(e, 6.0)")]),
    "softmax": ("x[N, 9]", [
        ("a", "[N, 9]", "x * 0.3"),
        ("b", "[N, 1]", "reduce_max(a, axes=[1], keep=true)"),
        ("c", "[N, 9]", "a - b"),
        ("d", "[N, 9]", "exp(c)"),
        ("e", "[N, 1]", "sum(d, axes=[1], keep=true)"),
        ("f", "[N, 9]", "d / e")]),
    "logsoftmax": ("x[N, 9]", [
        ("a", "[N, 1]", "reduce_max(x, axes=[1], keep=true)"),
        ("b", "[N, 9]", "x - a"),
        ("c", "[N, 1]", "sum(exp(b), axes=[1], keep=true)"),
        ("d", "[N, 1]", "log(c)"),
        ("e", "[N, 9]", "b - d")]),
    "layernorm": ("x[2, N, 9] g[9] h[9] w[9, 4]", [
        ("a", "[2, N, 1]", "mean(x, axes=[2], keep=true)"),
        ("b", "[2, N, 9]", "x - a"),
        ("c", "[2, N, 9]", "b * b"),
        ("d", "[2, N, 1]", "mean(c, axes=[2], keep=true)"),
        ("e", "[2, N, 1]", "1.0 / sqrt(d + 1e-3)"),
        ("f", "[2, N, 9]", "b * e"),
        ("i", "[2, N, 9]", "f * g"),
        ("j", "[2, N, 9]", "i + h"),
        ("k", "[2, N, 4]", "j @ w"),
        ("l", "[2, N, 4]", "tanh(k)")]),
    "attention": ("q[2, N, 8] k[2, N, 8] v[2, N, 8] m[N, N]", [
        ("a", "[2, N, 8]", "q * 0.35"),
        ("b", "[2, N, N]", 'einsum("hsk,htk->hst", a, k)'),
        ("c", "[2, N, N]", "select(m > 0.0, b, -1e9)"),
        ("d", "[2, N, 1]", "reduce_max(c, axes=[2], keep=true)"),
        ("e", "[2, N, N]", "exp(c - d)"),
        ("f", "[2, N, 1]", "sum(e, axes=[2], keep=true)"),
        ("g", "[2, N, N]", "e / f"),
        ("h", "[2, N, 8]", "g @ v"),
        ("i", "[N, 2, 8]", "transpose(h, perm=[1, 0, 2])")]),
    "moments": ("x[3, N, 5]", [
        ("a", "[3, N, 1]", "sum(x, axes=[2], keep=true)"),
        ("b", "[3, N, 1]", "a / 5.0"),
        ("c", "[3, N, 5]", "x - b"),
        ("d", "[3, N, 5]", "c * c"),
        ("e", "[3, N]", "sum(d, axes=[2])"),
        ("f", "[3, N]", "e / 4.0")]),
    "gelu": ("x[N, 5] w[5, 7]", [
        ("a", "[N, 7]", "x @ w"),
        ("b", "[N, 7]", "a * a * a"),
        ("c", "[N, 7]", "a + 0.044715 * b"),
        ("d", "[N, 7]", "tanh(0.79788456 * c)"),
        ("e", "[N, 7]", "0.5 * a"),
        ("f", "[N, 7]", "e * (1.0 + d)")]),
}
SIZES = [1, 5, 17]


def inputs_of(text):
    return re.findall(r"(\w+)\[([^]]*)\]", text)


def function(name, inputs, values, at, gives):
    """The pattern with the value at `at` given away, or read once more."""
    params = ", ".join(f"{n}: f32[{s}]" for n, s in inputs_of(inputs))
    last = values[-1]
    lines = [f"  {n} = {text};" for n, _, text in values]
    if gives:
        head = f"(y: f32{last[1]}, z: f32{values[at][1]})"
        lines.append(f"  return {last[0]}, {values[at][0]};")
    else:
        head = f"(y: f32{last[1]})"
        lines.append(f"  return {last[0]} + sum({values[at][0]});")
    return "\n".join([f"fn {name}({params}) -> {head} {{"] + lines + ["}", ""])


def module():
    """The text, and the shape of each input of its main."""
    parts, shapes, lines, heads, results = [], {}, [], [], []
    for pattern, (inputs, values) in PATTERNS.items():
        for at in range(len(values) - 1):
            for gives in (True, False):
                name = f"{pattern}_{values[at][0]}{'_out' if gives else ''}"
                parts.append(function(name, inputs, values, at, gives))
                args = []
                for n, shape in inputs_of(inputs):
                    args.append(f"{name}_{n}")
                    shapes[args[-1]] = shape
                names = [f"{name}_y"] + [f"{name}_z"] * gives
                types = [values[-1][1]] + [values[at][1]] * gives
                heads += [f"{n}: f32{t}" for n, t in zip(names, types)]
                results += names
                lines.append(f"  {', '.join(names)} = "
                             f"{name}({', '.join(args)});")
    params = ", ".join(f"{n}: f32[{s}]" for n, s in shapes.items())
    main = [f"fn main({params})\n    -> ({', '.join(heads)}) {{"] + lines
    main += [f"  return {', '.join(results)};", "}", ""]
    return ("tenon 1.0;\ndim N in [1, 17] opt 5;\n\n" + "\n".join(parts)
            + "\n" + "\n".join(main), shapes)


def write_inputs(path, shapes, size):
    """All inputs in one .npz."""
    draw = random.Random(size)
    with zipfile.ZipFile(path, "w") as out:
        for name, text in shapes.items():
            shape = [size if s == "N" else int(s) for s in text.split(", ")]
            count = 1
            for s in shape:
                count *= s
            data = struct.pack(f"<{count}f",
                               *(draw.uniform(-1, 1) for _ in range(count)))
            out.writestr(name + ".npy", tap.npy("<f4", shape, data))


def tenon(*argv):
    done = subprocess.run([tap.TENON, *map(str, argv)], capture_output=True,
                          text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    tests = tap.Tests()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, shapes = module()
        (folder / "m.tn").write_text(text)
        how = {"passes": [folder / "m.tn", "--target=ref", "--verify-each"]}
        if shutil.which("cc"):
            code, said = tenon("build", folder / "m.tn", "-o",
                               folder / "m.tne")
            tests.check("built", code == 0, said)
            how["compiled"] = [folder / "m.tne"]
        for size in SIZES:
            write_inputs(folder / "in.npz", shapes, size)
            code, said = tenon("run", folder / "m.tn", "--target=ref",
                               "--passes=none", "-i",
                               f"@{folder / 'in.npz'}", "-o",
                               folder / "want.npz")
            tests.check(f"size {size}", code == 0, said)
            for title, argv in how.items():
                code, said = tenon("run", *argv, "-i",
                                   f"@{folder / 'in.npz'}", "-o",
                                   folder / "got.npz")
                if code == 0:
                    code, said = tenon("compare", folder / "got.npz",
                                       folder / "want.npz", "--rtol=1e-5",
                                       "--atol=2e-5")
                tests.check(f"size {size}, {title}: {text.count('fn ') - 1} "
                            "functions", code == 0, said)
    tests.end()


if __name__ == "__main__":
    main()
