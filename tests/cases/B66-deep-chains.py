#!/usr/bin/env python3
"""B66 and B82: deep chains, long functions, long lists, deep nesting.

Written by this script, since the texts are megabytes. A chain of n integer
additions gives x + n, with an 8 MB stack; a list and a function of any length
parse; nesting beyond the bound is refused with a place. Prints TAP.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

tests = tap.Tests()
check = tests.check


def run(folder, text, *arguments):
    path = os.path.join(folder, "m.tn")
    with open(path, "w") as f:
        f.write("tenon 1.0;\n" + text)
    done = subprocess.run([tap.TENON, arguments[0], path] + list(arguments[1:]),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=240)
    return (done.returncode, done.stdout.decode(errors="replace"),
            done.stderr.decode(errors="replace"))


def chain(n):
    lines = ["fn main(x: i32[2]) -> (y: i32[2]) {", "  v0 = x + 1;"]
    lines += ["  v%d = v%d + 1;" % (i, i - 1) for i in range(1, n)]
    return "\n".join(lines + ["  return v%d;" % (n - 1), "}"]) + "\n"


def convolved(n):
    """Such a chain in which every tenth step is a convolution by w."""
    lines = ["fn main(x: i32[1, 1, 2, 2], w: i32[1, 1, 1, 1]) -> "
             "(y: i32[1, 1, 2, 2]) {", "  v0 = x + 0;"]
    lines += ["  v%d = %s;" % (i + 1, "v%d + 1" % i if i % 10 else
                               "conv(v%d, w)" % i) for i in range(n)]
    return "\n".join(lines + ["  return v%d;" % n, "}"]) + "\n"


with tempfile.TemporaryDirectory() as folder:
    for n in (680, 10000, 20000):
        for target in ("ref", "c"):
            for passes in ("default", "none"):
                if target == "c" and passes == "none" and n > 680:
                    continue
                code, out, err = run(folder, chain(n), "run", "-i",
                                     "x=2xi32=5 -7", "--target=" + target,
                                     "--passes=" + passes)
                want = "[%d %d]" % (5 + n, n - 7)
                check("%d additions, %s, passes %s" % (n, target, passes),
                      code == 0 and want in " ".join(out.split()), out + err)
    for target, passes in (("ref", "default"), ("ref", "none"),
                           ("c", "default")):
        code, out, err = run(folder, chain(200000), "run", "-i",
                             "x=2xi32=5 -7", "--target=" + target,
                             "--passes=" + passes)
        check("200000 additions, %s, passes %s" % (target, passes),
              code == 0 and "[200005 199993]" in out, out + err)
    for target in ("ref", "c"):
        code, out, err = run(folder, convolved(680), "run", "-i",
                             "x=1x1x2x2xi32=1 2 3 -4", "-i", "w=1x1x1x1xi32=1",
                             "--target=" + target)
        check("680 steps, every tenth a convolution, " + target, code == 0 and
              re.findall(r"-?\d+", out)[-4:] == ["613", "614", "615", "608"],
              out + err)
    code, out, err = run(folder, chain(300000), "check")
    check("300000 statements", code == 0, err)
    code, out, err = run(folder, "const k: i32[2000000] = [%s];\n"
                         "fn main() -> (y: i32) { return sum(k); }\n" %
                         ", ".join(["1"] * 2000000), "run", "--target=ref")
    check("a list of 2000000", "2000000" in out, out + err)
    for depth, good in ((100, True), (20000, False)):
        code, out, err = run(folder, "fn main(x: f32) -> (y: f32) {\n  "
                             "return %sx%s;\n}\n" % ("(" * depth, ")" * depth),
                             "check")
        check("%d parentheses" % depth, code == 0 if good else
              code == 3 and "too deep" in err and ":3:" in err, err)
    for depth, good in ((50, True), (3000, False)):
        text = "fn main(x: f32, c: bool) -> (y: f32) {\n"
        text += "".join("q%d = if c { " % i for i in range(depth))
        text += "yield x; "
        text += "".join("} else { yield x; }; %s" % (
            "yield q%d; " % i if i else "return q0;\n")
            for i in reversed(range(depth)))
        code, out, err = run(folder, text + "}\n", "check")
        check("%d nested ifs" % depth, code == 0 if good else
              code in (0, 3) and (code == 0 or "too deep" in err), err)
    # B68: wide nodes. Sums of 2000 in groups: an expression of more
    # operators than the bound is refused as too deep.
    def added(names):
        return " + ".join("(%s)" % " + ".join(names[i:i + 100])
                          for i in range(0, len(names), 100))

    names = ["a%d" % i for i in range(2000)]
    params = ", ".join(n + ": f32[1, 3]" for n in names)
    code, out, err = run(
        folder, "fn main(x: f32[1, 3]) -> (y: f32, n: f32) {\n%s  c = concat("
        "%s, axis=0);\n  s = %s;\n  return sum(c), sum(s);\n}\n" % (
            "".join("  %s = x + %d;\n" % (n, i % 7)
                    for i, n in enumerate(names)),
            ", ".join(names), added(names)),
        "run", "-i", "x=1x3xf32=1 2 3")
    total = sum(6 + 3 * (i % 7) for i in range(2000))
    check("concat and sum of 2000", code == 0 and
          out.count("%d.0" % total) == 2, out + err)
    results = ", ".join("r%d: i32" % i for i in range(3000))
    code, out, err = run(folder, "fn main(x: i32) -> (%s) {\n  return %s;\n}\n"
                         % (results, ", ".join("x + %d" % i
                                               for i in range(3000))),
                         "run", "-i", "x=i32=5")
    check("3000 results", code == 0 and "r2999: i32 =\n3004\n" in out,
          out[-200:] + err)
    params = ", ".join("a%d: i32" % i for i in range(2000))
    code, out, err = run(folder, "fn main(%s) -> (y: i32) {\n  return %s;\n}\n"
                         % (params, added(["a%d" % i for i in range(2000)])),
                         "run", *[w for i in range(2000)
                                  for w in ("-i", "a%d=i32=%d" % (i, i))])
    check("2000 inputs", code == 0 and "1999000" in out, out + err)

tests.end()
