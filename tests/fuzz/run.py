#!/usr/bin/env python3
"""500 random modules, each with any two of the optional passes on and off, and
80 of them compiled. Prints TAP; the seeds are named, so that
`generate.py --seed S` shows one again. FUZZ_SEED chooses other ones."""
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

HERE = Path(__file__).resolve().parent
FIRST = int(os.environ.get("FUZZ_SEED", "1"))
FUZZ = Path(tap.TENON).resolve().parent / "tests/fuzz/fuzz"
PART = 125


def generate(first, count, path, *more):
    with open(path, "w", encoding="utf-8") as out:
        subprocess.run([sys.executable, str(HERE / "generate.py"),
                        f"--seed={first}", f"--count={count}", *more],
                       stdout=out, check=True)


def judge(first, count, folder, compiles):
    """A title, whether all went well, and what was said."""
    work = Path(folder) / f"{first}-{compiles}"
    work.mkdir()
    more = ["--bundle=10"] if compiles else []
    generate(first, count, work / "m.tn", *more)
    option = ["--compile"] if compiles else []
    done = subprocess.run([str(FUZZ), *option, "m.tn"], cwd=work,
                          capture_output=True, text=True, timeout=300,
                          check=False)
    how = "compiled" if compiles else "interpreted"
    return (f"seeds {first} to {first + count - 1}, {how}",
            done.returncode == 0 and " 0 failed" in done.stdout,
            done.stdout + done.stderr)


def main():
    tests = tap.Tests()
    jobs = [(FIRST + i * PART, PART, False) for i in range(4)]
    if shutil.which("cc"):
        jobs += [(FIRST, 40, True), (FIRST + 40, 40, True)]
    with tempfile.TemporaryDirectory() as folder, \
            ThreadPoolExecutor(2) as pool:
        for title, good, text in pool.map(
                lambda job: judge(job[0], job[1], folder, job[2]), jobs):
            tests.check(title, good, text)
    tests.end()


if __name__ == "__main__":
    main()
