#!/usr/bin/env python3
"""Refuses the command's allocations, one a run.

Each command is run as it is, to count its allocations, and then again and
again with one of them refused: all of the first ones, then evenly spread. It
must succeed with the same output, or fail with exit 6 and say something; never
crash, never give another exit, never keep more memory than a run that
succeeds. Prints TAP. --all refuses every one; --only WORD picks commands.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

HERE = Path(__file__).resolve().parent
TOP = tap.TOP
IN = TOP / "tests/passes/inputs"
DATA = TOP / "tests/cli/data"
PLUGINS = TOP / "tests/plugins/data"
FIRST, SPREAD = 40, 120

COMMANDS = [
    f"check {IN}/flow.tn",
    f"check --diag=json {HERE}/data/wrong.tn",
    f"check {TOP}/tests/lang/kernel-arithmetic.tn",
    f"emit {TOP}/tests/lang/updates.tn -o OUT/c",
    f"fmt {IN}/calls.tn",
    f"opt {IN}/loops.tn",
    f"opt --passes=infer,inline {IN}/calls.tn",
    f"opt {IN}/flow.tn",
    f"opt --target=cuda {IN}/index.tn -o OUT/m.tn",
    f"opt --passes=none {IN}/consts.tn",
    f"opt --events=OUT/events {IN}/flow.tn",
    f"opt --check-each=2 --print-changed=diff --dump-dir=OUT/d {IN}/calls.tn",
    f"opt --time-passes --json --check-analyses {IN}/flow.tn",
    f"explain --json {IN}/flow.tn",
    f"explain --op=y --why-not=plan {IN}/loops.tn",
    f"report {IN}/flow.tn",
    f"bisect --against=ref {IN}/guards.tn",
    f"emit {IN}/guards.tn -o OUT/c",
    f"emit {IN}/index.tn -o OUT/c",
    f"emit --target=c:generic {IN}/concat.tn -o OUT/c",
    f"emit --target=cuda {IN}/views.tn -o OUT/cu",
    f"emit {DATA}/asserts.tn -o OUT/c",
    f"emit --target=cuda {DATA}/shown.tn -o OUT/cu",
    f"run --target=ref --passes=default {IN}/weights.tn -i x=random:1"
    " --dim N=2",
    f"check {TOP}/tests/diag/E0229-derived-weight.tn",
    f"run --target=ref {IN}/guards.tn -i x=random:1 -i m=random:2 --dim N=6",
    f"run --target=ref --passes=default {IN}/flow.tn -i x=random:1"
    " -i on=bool=true -i k=i32=1",
    f"run --target=ref {IN}/index.tn -i i=3xi32=5,0,2 -i x=random:1"
    " -o m=@OUT/r.npy",
    f"test --target=ref {TOP}/examples/01-add/add.tn",
    f"opt --plugin=edit.so --passes=infer,inline,edit {PLUGINS}/edit.tn",
    f"emit --plugin=tour.so --target=tour-core --passes=infer,inline"
    f" {PLUGINS}/tour.tn -o OUT/t",
    f"opt --passes=infer,inline,external{{./copy}},fold {PLUGINS}/edit.tn",
    f"emit --target=dot {IN}/flow.tn -o OUT/d",
]
BUILT = ["edit", "tour"]


class Runner:
    def __init__(self, folder):
        self.folder, self.shim = folder, folder / "refuse.so"
        self.log = folder / "log"

    def build(self):
        wanted = [(self.shim, HERE / "refuse.c")]
        wanted += [(self.folder / f"{name}.so", PLUGINS / f"{name}.c")
                   for name in BUILT]
        return all(self.compile(out, source) for out, source in wanted) and \
            self.compile(self.folder / "copy", HERE / "copy.c", [])

    @staticmethod
    def compile(out, source, how=("-shared", "-fPIC")):
        cc = os.environ.get("CC", "cc").split()
        return subprocess.run(
            cc + ["-O1", *how, f"-I{TOP}/src/driver", "-o", str(out),
                  str(source)],
            stdin=subprocess.DEVNULL, capture_output=True,
            check=False).returncode == 0

    def run(self, command, number):
        """(exit, stdout, stderr, requests, blocks never given back)."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        self.log.unlink(missing_ok=True)
        env = dict(os.environ, LD_PRELOAD=str(self.shim),
                   REFUSE_AT=str(number), REFUSE_LOG=str(self.log),
                   LC_ALL="C")
        argv = [word.replace("OUT", str(out)) for word in command.split()]
        done = subprocess.run([tap.TENON] + argv, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60, cwd=self.folder, check=False)
        try:
            requests, blocks = map(int, self.log.read_text().split())
        except (OSError, ValueError):
            requests = blocks = -1
        return done.returncode, done.stdout, done.stderr, requests, blocks


def fault(run, usual):
    """What is wrong with a run in which one request was refused, or ''."""
    code, out, err, _, blocks = run
    text = err.decode("utf-8", "replace").strip()
    if code < 0:
        return f"signal {-code} {text}"
    if code not in (usual[0], 6):
        return f"exit {code}: {text}"
    if code == 6 != usual[0] and not text:
        return "exit 6 without a word"
    if code == usual[0] and out != usual[1]:
        return "success with another output"
    if blocks > usual[4]:
        return f"exit {code}: {blocks - usual[4]} blocks leaked: {text}"
    return ""


def numbers(count, every):
    """Which requests to refuse."""
    if every or count <= FIRST + SPREAD:
        return range(1, count + 1)
    step = (count - FIRST) / SPREAD
    return sorted({*range(1, FIRST + 1),
                   *(FIRST + int(step * i) for i in range(1, SPREAD + 1))})


def judge(runner, command, every):
    usual = runner.run(command, 0)
    if usual[3] < 0 or usual[0] not in (0, 3):
        return [f"as it is: exit {usual[0]} {usual[2].decode()}"], 0
    wrong, done = [], 0
    for number in numbers(usual[3], every):
        why = fault(runner.run(command, number), usual)
        done += 1
        if why:
            wrong.append(f"request {number} of {usual[3]}: {why}")
    return wrong, done


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    commands = [c for c in COMMANDS if options.only in c]
    with tempfile.TemporaryDirectory() as name:
        runner = Runner(Path(name))
        config = tap.BUILD / "config.h"
        if config.exists() and "#define TN_SANITIZED 1" in config.read_text():
            tap.skip("the sanitizers have an allocator of their own")
        if not runner.build() or runner.run("help", 0)[3] < 0:
            tap.skip("no allocator that can be replaced")
        tests = tap.Tests()
        for command in commands:
            wrong, done = judge(runner, command, options.all)
            title = command.replace(str(TOP) + "/", "")
            tests.check(f"{title} ({done} refused)", not wrong,
                        "\n".join(wrong))
    tests.end()


if __name__ == "__main__":
    main()
