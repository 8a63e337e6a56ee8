#!/usr/bin/env python3
"""Every subset of the optional passes gives the same bits.

The modules of inputs/ and some examples are run by the interpreter as they
stand, then after each of the 256 subsets in the usual order, and after the
passes in other orders, lowered, scheduled and placed as well. All outputs must
be equal, byte by byte. Prints TAP.
"""
import itertools
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

TOP = tap.TOP
PASSES = ["unroll", "fold", "simplify", "canonical", "cse", "precompute",
          "dce", "fuse"]
ORDERS = 8
INPUTS = TOP / "tests/passes/inputs"
EXAMPLES = TOP / "examples"

CASES = [
    (INPUTS / "anchors.tn", " ".join(
        f"{name}=random:{k}" for k, name in enumerate("xwbrikhq")), "N=5"),
    (INPUTS / "views.tn", "x=random:1 unused=zero", "N=3"),
    (INPUTS / "views.tn", "x=random:1 unused=zero", "N=1"),
    (INPUTS / "loops.tn", "x=random:1 y=random:2", ""),
    (INPUTS / "flow.tn", "x=random:1 on=bool=true k=i32=2", ""),
    (INPUTS / "flow.tn", "x=random:1 on=bool=false k=i32=0", ""),
    (INPUTS / "index.tn", "i=3xi32=5,0,2 x=random:1", ""),
    (INPUTS / "calls.tn", "x=random:1 w=random:2 on=bool=true", "B=3"),
    (INPUTS / "calls.tn", "x=random:1 w=random:2 on=bool=false", "B=1"),
    (INPUTS / "consts.tn", "x=random:1 b=bool=false", ""),
    (INPUTS / "concat.tn", "x=random:1 w=random:2 p=bool=true", ""),
    (INPUTS / "concat.tn", "x=random:3 w=random:4 p=bool=false", ""),
    (INPUTS / "weights.tn", "x=random:1", "N=2"),
    (INPUTS / "guards.tn", "x=random:1 m=random:2", "N=6"),
    (EXAMPLES / "02-mlp/mlp.tn", "x=random:1", "B=3"),
    (EXAMPLES / "digits/digits.tn", "x=random:1", "N=1"),
]


def pipelines():
    """(is it all the way, text) of every subset and some orders."""
    for count in range(len(PASSES) + 1):
        for subset in itertools.combinations(PASSES, count):
            yield ",".join(("infer", "inline") + subset)
    shuffle = random.Random(1)
    for _ in range(ORDERS):
        order = PASSES * 2 + ["siblings", "sink", "layout"]
        shuffle.shuffle(order)
        yield ",".join(["infer", "inline"] + order)
    for subset in ([], PASSES, ["unroll", "canonical"], ["fuse"],
                   PASSES + ["sink"], ["sink", "layout"],
                   ["siblings"] + PASSES + ["sink", "layout"],
                   ["siblings", "fuse"],
                   PASSES + ["layout{seed=1}"], ["layout{seed=2}"]):
        yield ",".join(["infer", "inline"] + subset
                       + ["lower", "schedule", "plan"])


def run(case, passes, folder):
    """The outputs as bytes, or a reason."""
    path, inputs, dims = case
    out = folder / "out.npz"
    out.unlink(missing_ok=True)
    argv = [tap.TENON, "run", "--target=ref", f"--passes={passes}", str(path),
            "-o", str(out)]
    if passes != "none":
        argv.insert(2, "--verify-each")
    for word in inputs.split():
        argv += ["-i", word]
    for word in dims.split():
        argv += ["--dim", word]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=False)
    if done.returncode:
        return f"exit {done.returncode}: " + done.stderr.decode()
    if done.stderr:
        return "messages: " + done.stderr.decode()
    return out.read_bytes()


def judge(case, folder):
    """What went wrong, one entry a pipeline; and how many ran."""
    want = run(case, "none", folder)
    if isinstance(want, str):
        return ["none: " + want], 1
    wrong, count = [], 0
    for passes in pipelines():
        count += 1
        got = run(case, passes, folder)
        if isinstance(got, str):
            wrong.append(f"{passes}: {got}")
        elif got != want:
            wrong.append(f"{passes}: other outputs")
    return wrong, count


def main():
    tests = tap.Tests()
    with tempfile.TemporaryDirectory() as name:
        for case in CASES:
            wrong, count = judge(case, Path(name))
            title = f"{case[0].relative_to(TOP)} {case[1]} {case[2]}".strip()
            tests.check(f"{title} ({count} pipelines)", not wrong,
                        "\n".join(wrong))
    tests.end()


if __name__ == "__main__":
    main()
