#!/usr/bin/env python3
"""What the prover of index ranges says of random kernels is true: one that is
accepted stays inside of its buffers at many sizes, one that is refused with a
witness leaves them at the sizes of the witness. Prints TAP.
With arguments: SEED COUNT."""
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(os.environ.get("SRCDIR") or Path(__file__).parents[2])
TENON = Path(os.environ.get("BUILDDIR") or TOP / "build") / "tenon"
SEED, COUNT = (list(map(int, sys.argv[1:])) or [1, 80])
FORMS = ["({a} + {b})", "({a} - {b})", "({a} * {n})", "({a} // {n})",
         "({a} % {n})", "min({a}, {b})", "max({a}, {b})", "({a} // M)",
         "({a} % M)", "({a} * M)", "min(max({a}, 0), {b})",
         "select({a} < {b}, {a}, {c})"]
ROWS = ["0..N", "0..M", "i..N", "0..i + 1", "i..i + 3", "0..N // 3",
        "0..N % 4", "2..M"]


def index(rng, depth):
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(["i", "j", "N", "M", "d[i]",
                           str(rng.randint(0, 6))])
    parts = {key: index(rng, depth - 1) for key in "abc"}
    return rng.choice(FORMS).format(n=rng.randint(1, 6), **parts)


def condition(rng):
    sign = rng.choice(["<", "<=", "==", ">", ">=", "!="])
    return f"{index(rng, 1)} {sign} {index(rng, 1)}"


def kernel(rng):
    """The text behind the dims, and the extent of x."""
    extent = rng.choice(["N", "M", "N * M", "N + 3", "N // 2 + 1", "7"])
    at, let = index(rng, 3), ""
    if rng.random() < 0.4:
        let = f"let k: i64 = {index(rng, 2)};"
        at = rng.choice(["k", at, f"(k + {at})", f"min(k, {at})"])
    body = f"y[i] = x[{at}];"
    if rng.random() < 0.6:
        test = condition(rng) + rng.choice(["", " && ", " || "])
        test += condition(rng) if test[-1] == " " else ""
        body = f"if {rng.choice(['', '!'])}({test}) {{ {body} }}"
    step = rng.choice(["", " step 2", " step 3"])
    return f"""kernel k(x: f32[{extent}] @in, d: i64[N] @in, m: f32[M] @in,
         y: f32[N] @out) {{
  for i in 0..N{step} {{
    y[i] = 0.0;
    for j in {rng.choice(ROWS)} {{ {let} {body} }}
  }}
}}
fn main(x: f32[{extent}], d: i64[N], m: f32[M]) -> f32[N] {{
  return k(x, d, m);
}}
""", extent


def run(path, rng, extent, n, m):
    data = " ".join(str(rng.randint(-3, 12)) for _ in range(n))
    count = eval(extent, {"N": n, "M": m})
    return subprocess.run(
        [TENON, "run", "--target=ref", path, "-i", f"d={n}xi64={data}",
         "-i", f"x={count}xf32=" + "1 " * count,
         "-i", f"m={m}xf32=" + "1 " * m], capture_output=True, text=True)


def judge(path, rng):
    """What is wrong, or None; and the verdict."""
    text, extent = kernel(rng)
    dims = "tenon 1.0;\ndim N in [1, 9];\ndim M in [1, 5];\n"
    path.write_text(dims + text)
    check = subprocess.run([TENON, "check", path], capture_output=True,
                           text=True)
    codes = set(re.findall(r"E\d{4}", check.stderr))
    if check.returncode == 0:
        sizes = [(1, 1), (9, 5), (1, 5), (9, 1)]
        sizes += [(rng.randint(1, 9), rng.randint(1, 5)) for _ in range(4)]
    elif codes == {"E0803"}:
        path.write_text(dims + "@unchecked\n" + text)
        names = dict(re.findall(r"\b([NM]) = (\d+)", check.stderr))
        sizes = [(n, m) for n in range(1, 10) for m in range(1, 6)
                 if int(names.get("N", n)) == n
                 and int(names.get("M", m)) == m]
    else:
        good = check.returncode == 3 and codes <= {"E0803", "E0805"}
        return None if good else check.stderr + text, "unknown"
    for n, m in sizes:
        got = run(path, rng, extent, n, m)
        if "out of bounds" in got.stderr:
            break
    outside = "out of bounds" in got.stderr or "not plain" in got.stderr
    if check.returncode == 0:
        wrong = got.returncode != 0 and "not plain" not in got.stderr
        return (f"N = {n}, M = {m}: {got.stderr}{text}" if wrong
                else None), "inside"
    return None if outside else check.stderr + text, "outside"


def main():
    rng, good = random.Random(SEED), True
    counts = {"inside": 0, "outside": 0, "unknown": 0}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(COUNT):
            wrong, verdict = judge(Path(folder, "k.tn"), rng)
            counts[verdict] += 1
            if wrong:
                good = False
                print("# " + wrong.replace("\n", "\n# "))
    print("ok" if good else "not ok", f"1 - {COUNT} kernels: {counts}")
    enough = min(counts.values()) > COUNT // 20
    print("ok" if enough else "not ok", "2 - of each verdict there are some")
    print("1..2")
    return not (good and enough)


raise SystemExit(main())
