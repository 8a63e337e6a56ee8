#!/usr/bin/env python3
"""The default schedules of convolutions and pools over channels that lie along
memory, of random shapes: they are tiled, their text is accepted when it is read
again, and neither the interpreter on it nor compiled code gives other bits than
on the plain kernel. Prints TAP."""
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

KINDS = ("conv", "blocked", "lanes", "groups", "depthwise", "max", "average")
SUMMED = KINDS[:4]  # over channels


class Shape:
    """Of one kernel; `text` is its module."""

    def __init__(self, rng):
        self.kind = rng.choice(KINDS)
        self.batch = rng.choice((1, 1, 2))
        self.window = rng.choice((1, 2, 3, 3, 5))
        self.stride = rng.choice((1, 1, 2, 3))
        self.dilation = rng.choice((1, 1, 1, 2))
        reach = (self.window - 1) * self.dilation
        self.pad = rng.randint(0, reach)
        least = max(1, reach + 1 - 2 * self.pad)
        self.height = least + rng.randint(0, 3)
        self.width = least + rng.choice((0, 1, 3, 6, 12, 17))
        self.inputs = rng.choice((1, 3, 5))
        self.results = rng.choice((8, 16, 20, 24, 40, 64, 67))
        if self.kind in ("blocked", "lanes"):
            self.results = rng.choice((16, 48, 64))
            self.block = rng.choice((8, 16))
        if self.kind == "groups":
            self.groups = rng.choice((2, 3))
            self.results = self.groups * rng.choice((16, 32))
        if self.kind not in SUMMED:
            self.inputs = self.results

    def __str__(self):
        return " ".join(f"{key}={value}" for key, value in
                        vars(self).items())

    def out(self, size):
        reach = (self.window - 1) * self.dilation
        return (size + 2 * self.pad - reach - 1) // self.stride + 1

    def clip(self, axis, size):
        """Lets as passes/lower_window.c writes them."""
        by = self.dilation
        return f"""
        let start_{axis}: i64 = {axis} * {self.stride} - {self.pad};
        let from_{axis}: i64 = (max(0 - start_{axis}, 0) + {by - 1}) // {by};
        let to_{axis}: i64 = min({self.window},
          (max({size} - start_{axis}, 0) + {by - 1}) // {by});"""

    def place(self):
        by = self.dilation
        return f"n, start_h + r * {by}, start_w + s * {by}"

    def term(self):
        window = f"{self.window}, {self.window}"
        if self.kind == "conv":
            return (f"f32[{window}, {self.inputs}, {self.results}]",
                    "ci", "r, s, ci, c")
        if self.kind == "blocked":
            by = self.block
            return (f"f32[{self.results // by}, {window}, {self.inputs}, "
                    f"{by}]", "ci", f"c // {by}, r, s, ci, c % {by}")
        if self.kind == "lanes":
            by = self.block
            return (f"f32[{self.results // by}, {window}, {self.inputs}, "
                    f"{by}]", "ci", "b, r, s, ci, c")
        if self.kind == "groups":
            each = self.results // self.groups
            return (f"f32[{window}, {self.inputs}, {self.results}]",
                    f"c // {each} * {self.inputs} + ci", "r, s, ci, c")
        if self.kind == "depthwise":
            return f"f32[{window}, {self.results}]", "c", "r, s, c"
        return None, "c", None

    def text(self, annotation=""):
        f, channel, index = self.term()
        channels = self.inputs * (self.groups if self.kind == "groups" else 1)
        x = f"f32[{self.batch}, {self.height}, {self.width}, {channels}]"
        oh, ow = self.out(self.height), self.out(self.width)
        y = f"f32[{self.batch}, {oh}, {ow}, {self.results}]"
        loops = (f"for n in 0..{self.batch} {{ for h in 0..{oh} {{ "
                 f"for w in 0..{ow} {{ for c in 0..{self.results}")
        at, ends = "n, h, w, c", "} } } }"
        if self.kind == "lanes":
            blocks, by = self.results // self.block, self.block
            y = f"f32[{self.batch}, {blocks}, {oh}, {ow}, {by}]"
            loops = (f"for n in 0..{self.batch} {{ for b in 0..{blocks} {{ "
                     f"for h in 0..{oh} {{ for w in 0..{ow} {{ "
                     f"for c in 0..{by}")
            at, ends = "n, b, h, w, c", ends + " }"
        read = f"x[{self.place()}, {channel}]"
        add = f"acc += {read} * f[{index}];"
        if self.kind in SUMMED:
            add = f"for ci in 0..{self.inputs} {{ {add} }}"
        if self.kind == "max":
            add = f"acc = max(acc, {read});"
        if self.kind == "average":
            add = f"acc += {read};"
        value = "acc"
        if self.kind == "average":
            value = ("acc / cast(max(to_h - from_h, 0) * "
                     "max(to_w - from_w, 0), f32)")
        param = f", f: {f} @in" if f else ""
        return f"""tenon 1.0;
@fp(contract)
{annotation}{" @unchecked" if self.kind == "groups" else ""}
kernel k(x: {x} @in{param}, y: {y} @out) {{
  {loops} {{ {self.clip("h", self.height)}
        {self.clip("w", self.width)}
        let mut acc: f32 = {"-inf" if self.kind == "max" else "0.0"};
        for r in from_h..to_h {{ for s in from_w..to_w {{ {add} }} }}
        y[{at}] = {value};
  {ends}
}}
fn main(x: {x}{f", f: {f}" if f else ""}) -> (y: {y}) {{
  y: {y} = k({"x, f" if f else "x"});
  return y;
}}
"""

    def inputs_of(self, word):
        given = ["-i", f"x={word}:1"]
        return given + ["-i", f"f={word}:2"] if self.term()[0] else given


def tenon(*words):
    done = subprocess.run([tap.TENON, *words], capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def run(folder, name, text, target, shape, word):
    """The bytes of y, or what the command says."""
    path, out = folder / f"{name}.tn", folder / f"{name}.npy"
    path.write_text(text)
    out.unlink(missing_ok=True)
    code, _, error = tenon("run", path, f"--target={target}",
                           *shape.inputs_of(word), "-o", f"y=@{out}")
    return out.read_bytes() if code == 0 else error


def interpret(tests, folder, shape, target):
    path = folder / "plain.tn"
    path.write_text(shape.text())
    code, scheduled, error = tenon("opt", path, f"--target={target}")
    name = f"{target}: {shape}"
    known = shape.kind != "groups"
    if code or "tile(" not in scheduled or \
            (known and "@unchecked" in scheduled):
        return tests.check(name, False, error or scheduled)
    for word in ("random", "special"):
        plain = run(folder, "plain", shape.text(), "ref", shape, word)
        got = run(folder, "got", scheduled, "ref", shape, word)
        if plain != got or not isinstance(got, bytes):
            return tests.check(name, False, str(got)[:500] + scheduled)
    return tests.check(name, True)


def compiled(tests, folder, shape, target):
    plain = run(folder, "plain", shape.text("@scheduled(hand)"), target, shape,
                "random")
    got = run(folder, "got", shape.text(), target, shape, "random")
    tests.check(f"compiled for {target}: {shape}",
                plain == got and isinstance(got, bytes), str(got)[:500])


def main():
    rng = random.Random(4)
    tests = tap.Tests()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for number in range(60):
            shape = Shape(rng)
            interpret(tests, folder, shape,
                      ("c:avx2", "c:avx512", "c:neon")[number % 3])
        for number in range(8 if shutil.which("cc") else 0):
            compiled(tests, folder, Shape(rng),
                     ("c:native", "c:generic")[number % 2])
    tests.end()


main()
