#!/usr/bin/env python3
"""Whole networks of ResNet and MobileNet blocks have no kernel that only
changes a layout, written NCHW or as TensorFlow exports them, with a transpose
on either side of each convolution; and any layouts give the same values: chosen,
drawn at random, or none, compiled C, an engine, the CUDA stand-in, and the
interpreter. Values are integers, whose sums are the same in any order. Prints
TAP."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import tap

GRAPH = "infer,inline,unroll,fold,simplify,canonical,cse,dce,sink,fuse"


class Net:
    """The text of a network of f32, or of i32; `nhwc`: every value but those of
    convolutions and pools is channels-last."""

    def __init__(self, nhwc, dtype):
        self.nhwc, self.dtype = nhwc, dtype
        self.weights, self.body, self.n = [], [], 0

    def name(self, wish):
        self.n += 1
        return f"{wish}{self.n}"

    def weight(self, *shape):
        name = self.name("w")
        self.weights.append(f"weight {name}: {self.dtype}{list(shape)} "
                            f"@weights(random, seed={self.n});\n")
        return name

    def put(self, wish, text):
        name = self.name(wish)
        self.body.append(f"  {name} = {text};\n")
        return name

    def window(self, text, x):
        """An operator that is NCHW, `X` in its text."""
        if self.nhwc:
            x = self.put("t", f"transpose({x}, perm=[0, 3, 1, 2])")
        y = self.put("c", text.replace("X", x))
        if self.nhwc:
            y = self.put("t", f"transpose({y}, perm=[0, 2, 3, 1])")
        return y

    def conv(self, x, c, m, k, more="", groups=1):
        w = self.weight(m, c // groups, k, k)
        more = f", pad={k // 2}{more}"
        more += f", groups={groups}" if groups > 1 else ""
        return self.window(f"conv(X, {w}{more})", x)

    def bias(self, x, c):
        b = self.weight(c)
        if self.nhwc:
            return self.put("b", f"{x} + {b}")
        return self.put("b", f"{x} + per_channel({b}, like={x}, axis=1)")

    def text(self, y, channels):
        axes = "[1, 2]" if self.nhwc else "[2, 3]"
        fc = self.weight(5, channels)
        shape = "[1, 16, 16, 3]" if self.nhwc else "[1, 3, 16, 16]"
        return ("tenon 1.0;\n" + "".join(self.weights)
                + f"fn main(x: {self.dtype}{shape})"
                + f" -> (y: {self.dtype}[1, 5]) {{\n" + "".join(self.body)
                + f"  y = sum({y}, axes={axes}) @ transpose({fc});\n"
                + "  return y;\n}\n")


def resnet(nhwc, dtype):
    net = Net(nhwc, dtype)
    x = net.put("r", f"max({net.bias(net.conv('x', 3, 16, 3), 16)}, 0)")
    x = net.window("maxpool(X, size=3, stride=2, pad=1)", x)
    c = 16
    for wide, stride in ((32, 1), (32, 1), (64, 2)):
        short = x
        if c != wide:
            short = net.conv(x, c, wide, 1, f", stride={stride}")
        for m, k, more in ((16, 1, ""), (16, 3, f", stride={stride}")):
            x = net.conv(x, c, m, k, more)
            x = net.put("r", f"max({net.bias(x, m)}, 0)")
            c = m
        x = net.bias(net.conv(x, c, wide, 1), wide)
        x = net.put("r", f"max({x} + {short}, 0)")
        c = wide
    return net.text(x, c)


def mobilenet(nhwc, dtype):
    net = Net(nhwc, dtype)
    x, c = net.conv("x", 3, 16, 3, ", stride=2"), 16
    for m, stride in ((16, 1), (24, 2), (24, 1)):
        short, wide = x, 6 * c
        x = net.put("r", f"max({net.conv(x, c, wide, 1)}, 0)")
        x = net.conv(x, wide, wide, 3, f", stride={stride}", wide)
        x = net.put("r", f"max({x}, 0)")
        x = net.bias(net.conv(x, wide, m, 1), m)
        if c == m and stride == 1:
            x = net.put("s", f"{x} + {short}")
        c = m
    return net.text(x, c)


def tenon(*words, cwd=None):
    done = subprocess.run([tap.TENON, *map(str, words)], cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=300, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def entry(passes, path):
    code, text, fault = tenon("opt", "--target=c:avx2", "--verify-each",
                              f"--passes={passes}", path)
    if code:
        return [fault]
    return re.search(r"^fn main\(.*?^}", text, re.M | re.S).group(0).split("\n")


def is_work(line):
    """An operator or a group, which is to be a kernel."""
    return re.search(r" = \w+\(", line) and not re.search(
        r" = (reshape|transpose|dim)\(", line)


def count(tests, title, path):
    """Each operator and group is a kernel, and no transpose is one."""
    before = entry(f"{GRAPH},layout", path)
    after = entry(f"{GRAPH},layout,lower", path)
    works = len([line for line in before if is_work(line)])
    launches = len([line for line in after if is_work(line)])
    found = [len([line for line in text if " = transpose(" in line])
             for text in (before, after)]
    tests.check(f"{title}: {launches} kernels, {found[1]} transposes are views",
                works == launches > 5 and found[0] == found[1] < 7,
                "\n".join(before + after))


def outputs(path, out, *words):
    code, _, fault = tenon("run", path, "-i", "x=random:1", "-o", f"y=@{out}",
                           *words)
    return Path(out).read_bytes() if code == 0 else fault.encode()


def whole(layout):
    return f"--passes={GRAPH}{layout},lower,schedule,plan"


def same(tests, title, path, folder):
    out = folder / "y.npy"
    want = outputs(path, out, "--target=c", whole(""))
    ways = [("chosen", ["--target=c", whole(",layout")]),
            ("drawn from 1", ["--target=c", whole(",layout{seed=1}")]),
            ("drawn from 2", ["--target=c", whole(",layout{seed=2}")]),
            ("for CUDA, drawn from 3", ["--target=cuda", "--emulate",
                                        whole(",layout{seed=3}")]),
            ("none, interpreted", ["--target=ref"])]
    for what, words in ways:
        got = outputs(path, out, *words)
        tests.check(f"{title}: layouts {what}", got == want,
                    got.decode(errors="replace")[:400])
    engine = folder / "e.tne"
    code, _, fault = tenon("build", path, "-o", engine)
    got = outputs(engine, out) if code == 0 else fault.encode()
    tests.check(f"{title}: an engine", got == want, got)


def main():
    tests = tap.Tests()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, make in (("resnet", resnet), ("mobilenet", mobilenet)):
            for nhwc in (False, True):
                style = f"{title}, " + ("as TensorFlow has it" if nhwc
                                        else "NCHW")
                path = folder / f"{title}{nhwc:d}.tn"
                path.write_text(make(nhwc, "f32"))
                count(tests, style, path)
                path.write_text(make(nhwc, "i32"))
                same(tests, style, path, folder)
    tests.end()


if __name__ == "__main__":
    main()
