#!/usr/bin/env python3
"""exp, tanh and erf as the C back end prints them: within their bounds over all
floats (every 97th; --full: every one), the same bits by vectors and by single
elements, with FMA and without. Prints TAP; 77: no compiler."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

FUNCTIONS = {"exp": 1.0, "tanh": 2.0, "erf": 2.0}
FLAGS = "-std=c11 -O2 -ffp-contract=off".split()
CC = shutil.which(os.environ.get("CC", "cc").split()[-1])


def cpu_has(word):
    try:
        return word in Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False


def emit(folder, name, target):
    Path(folder, "f.tn").write_text(
        "tenon 1.0;\nfn f(x: f32[1024]) -> f32[1024] "
        f"{{ return {name}(x); }}\n")
    done = subprocess.run(
        [tap.TENON, "emit", f"--target={target}", "f.tn", "-o", "out"],
        cwd=folder, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def measure(folder, name, step, flags):
    """(within the bound, what was printed)"""
    source = Path(__file__).with_name("functions.c")
    build = subprocess.run(
        [CC, *FLAGS, *flags, '-DHEADER="f.h"', f"-DEXACT={name}",
         f"-DBOUND={FUNCTIONS[name]}", f"-DSTEP={step}", "-Iout", "-o", "t",
         source, "out/f.c", "-lm"], cwd=folder, capture_output=True,
        text=True)
    if build.returncode:
        return False, build.stderr
    run = subprocess.run([Path(folder, "t")], capture_output=True, text=True)
    return run.returncode == 0, run.stdout + run.stderr


def main():
    step = 1 if "--full" in sys.argv else 97
    tests = tap.Tests()
    kinds = [("c:generic", [])]
    if cpu_has("avx2") and cpu_has("fma"):
        kinds.append(("c:avx2", ["-mavx2", "-mfma"]))
    for name in FUNCTIONS:
        for target, flags in kinds:
            with tempfile.TemporaryDirectory() as folder:
                wrong = emit(folder, name, target)
                if not tests.check(f"{name}, {target}: emitted", not wrong,
                                   wrong):
                    continue
                good, vectors = measure(folder, name, step, flags)
                tests.check(f"{name}, {target}: {vectors.strip()}", good,
                            vectors)
                good, single = measure(folder, name, step,
                                       flags + ["-DTN_PLAIN"])
                tests.check(f"{name}, {target}: single elements alike",
                            good and single == vectors, single)
    tests.end()


if not CC:
    tap.skip("there is no C compiler")
main()
