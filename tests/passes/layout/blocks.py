#!/usr/bin/env python3
"""Whole networks of ResNet and MobileNet blocks have no kernel that only
changes a layout, written NCHW or as TensorFlow exports them, with a transpose
on either side of each convolution; and any layouts give the same bits: chosen,
drawn at random, or none, on the C back end, the CUDA stand-in, as an engine and
as an emitted program. Prints TAP."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import tap

GRAPH = "infer,inline,unroll,fold,simplify,canonical,cse,dce,sink,fuse"


class Net:
    """The text of a network; `nhwc`: every value but those of convolutions and
    pools is channels-last."""

    def __init__(self, nhwc):
        self.nhwc = nhwc
        self.weights, self.body, self.n = [], [], 0

    def name(self, wish):
        self.n += 1
        return f"{wish}{self.n}"

    def weight(self, *shape):
        name = self.name("w")
        self.weights.append(f"weight {name}: f32{list(shape)} "
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
                + f"fn main(x: f32{shape}) -> (y: f32[1, 5]) {{\n"
                + "".join(self.body)
                + f"  y = mean({y}, axes={axes}) @ transpose({fc});\n"
                + "  return y;\n}\n")


def resnet(nhwc):
    """Launches: the stem and its pool; three convolutions a block, one more
    where the channels change; what follows the last; the classifier."""
    net = Net(nhwc)
    x = net.put("r", f"relu({net.bias(net.conv('x', 3, 16, 3), 16)})")
    x = net.window("maxpool(X, size=3, stride=2, pad=1)", x)
    c = 16
    for wide, stride in ((32, 1), (32, 1), (64, 2)):
        short = x
        if c != wide:
            short = net.conv(x, c, wide, 1, f", stride={stride}")
        for m, k, more in ((16, 1, ""), (16, 3, f", stride={stride}")):
            x = net.conv(x, c, m, k, more)
            x = net.put("r", f"relu({net.bias(x, m)})")
            c = m
        x = net.bias(net.conv(x, c, wide, 1), wide)
        x = net.put("r", f"relu({x} + {short})")
        c = wide
    return net.text(x, c), 2 + 3 * 3 + 2 + 1 + 1


def mobilenet(nhwc):
    """Launches: the stem; expand, depthwise and project of each block; the mean
    and the classifier."""
    net = Net(nhwc)
    x, c = net.conv("x", 3, 16, 3, ", stride=2"), 16
    for m, stride in ((16, 1), (24, 2), (24, 1)):
        short, wide = x, 6 * c
        x = net.put("r", f"clamp({net.conv(x, c, wide, 1)}, 0.0, 6.0)")
        x = net.conv(x, wide, wide, 3, f", stride={stride}", wide)
        x = net.put("r", f"clamp({x}, 0.0, 6.0)")
        x = net.bias(net.conv(x, wide, m, 1), m)
        if c == m and stride == 1:
            x = net.put("s", f"{x} + {short}")
        c = m
    return net.text(x, c), 1 + 3 * 3 + 1 + 1


def tenon(*words, cwd=None):
    done = subprocess.run([tap.TENON, *map(str, words)], cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=300, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def entry(text):
    return re.search(r"^fn main\(.*?^}", text, re.M | re.S).group(0)


def count(tests, title, path, launches):
    """The launches of the lowered entry, none of them a transpose's."""
    _, text, fault = tenon("opt", "--target=c:avx2", "--verify-each",
                           f"--passes={GRAPH},layout,lower", path)
    body = entry(text) if not fault else fault
    found = len(re.findall(r"= main__", body))
    views = len(re.findall(r"= transpose\(", body))
    tests.check(f"{title}: {launches} kernels, {views} transposes are views",
                found == launches, f"{found} launches\n{body}")
    return body


def outputs(path, out, *words):
    code, _, fault = tenon("run", path, "-i", "x=random:1", "-o", f"y=@{out}",
                           *words)
    return Path(out).read_bytes() if code == 0 else fault.encode()


def whole(layout):
    return f"--passes={GRAPH}{layout},lower,schedule,plan"


def same(tests, title, path, folder):
    out = folder / "y.npy"
    want = outputs(path, out, "--target=c", whole(""))
    ways = [("chosen", "layout"), ("drawn from 1", "layout{seed=1}"),
            ("drawn from 2", "layout{seed=2}")]
    for what, layout in ways:
        got = outputs(path, out, "--target=c", whole("," + layout))
        tests.check(f"{title}: layouts {what}", got == want,
                    got.decode(errors="replace")[:400])


def main():
    tests = tap.Tests()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, make in (("resnet", resnet), ("mobilenet", mobilenet)):
            for nhwc in (False, True):
                text, launches = make(nhwc)
                style = f"{title}, " + ("as TensorFlow has it" if nhwc
                                        else "NCHW")
                path = folder / f"{title}{nhwc:d}.tn"
                path.write_text(text)
                count(tests, style, path, launches)
                same(tests, style, path, folder)
    tests.end()


if __name__ == "__main__":
    main()
