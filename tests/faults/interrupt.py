#!/usr/bin/env python3
"""Interrupted compilations leave nothing, and what a killed one left is swept.

A slow C compiler is interrupted by the signals that end a command; its folder in
TMPDIR must be gone, the command must have died of the signal, and the engine
that it was to write must not be there. Then folders of killed runs: the next run
removes those that are old, ours, and no links. TENON, or tenon in BUILDDIR, is
the command.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
TENON = os.environ.get("TENON") or str(
    Path(os.environ.get("BUILDDIR", TOP / "build")) / "tenon")
SLOW = "#!/bin/sh\n[ \"$1\" = --version ] && exec echo slow\nexec sleep 60\n"
FAILING = "#!/bin/sh\n[ \"$1\" = --version ] && exec echo failing\nexit 1\n"
HOUR = 3600


def listen():
    """What ran the tests may ignore signals, as nohup does."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Place:
    """A folder with compilers and a TMPDIR."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.tmp = self.folder / "tmp"
        self.tmp.mkdir()
        for name, text in (("slow", SLOW), ("failing", FAILING)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def start(self, compiler):
        env = dict(os.environ, TMPDIR=str(self.tmp))
        return subprocess.Popen(
            [TENON, "build", "--target=c:generic", "--cache=none",
             f"--cc={self.folder / compiler}", "-o", self.folder / "m.tne",
             TOP / "tests/cli/data/add.tn"], env=env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=listen)

    def wait_for_sources(self):
        end = time.monotonic() + 60
        while not list(self.tmp.glob("*/*.c")):
            if time.monotonic() > end:
                raise RuntimeError("the compiler was never started")
            time.sleep(0.02)
        time.sleep(0.2)

    def left(self):
        return sorted(x.name for x in self.tmp.iterdir())


def interrupted(place, number):
    """What is wrong after signal `number` to the whole group, as Ctrl-C."""
    running = place.start("slow")
    place.wait_for_sources()
    os.killpg(running.pid, number)
    code = running.wait(timeout=30)
    if code != -number:
        yield f"ended with {code}"
    if place.left():
        yield f"left {place.left()}"
    if (place.folder / "m.tne").exists():
        yield "wrote an engine"


def killed(place):
    running = place.start("slow")
    place.wait_for_sources()
    os.killpg(running.pid, signal.SIGKILL)
    running.wait(timeout=30)
    return place.left()


def age(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then), follow_symlinks=False)


def swept(place):
    """What is wrong with the sweep of the next run."""
    left = killed(place)
    if len(left) != 1:
        yield f"a killed run left {left}"
        return
    old = place.tmp / left[0]
    (old / "sub").mkdir()
    (old / "sub" / "x.h").write_text("x")
    kept = place.folder / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    (old / "link").symlink_to(kept)
    young = place.tmp / "tenon-cc-young1"
    young.mkdir()
    link = place.tmp / "tenon-cc-linked"
    link.symlink_to(kept)
    other = place.tmp / "tenon-other"
    other.mkdir()
    for path, seconds in ((old, 2 * HOUR), (young, HOUR // 2),
                          (link, 2 * HOUR), (other, 2 * HOUR),
                          (kept, 2 * HOUR)):
        age(path, seconds)
    place.start("failing").wait(timeout=60)
    want = ["tenon-cc-linked", "tenon-cc-young1", "tenon-other"]
    if place.left() != want:
        yield f"left {place.left()}, not {want}"
    if not (kept / "file").exists():
        yield "followed a link"


def main():
    bad = 0
    cases = [(f"signal {number.name}", interrupted, number)
             for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    cases.append(("sweep", swept))
    for name, case, *arguments in cases:
        folder = tempfile.mkdtemp()
        for wrong in case(Place(folder), *arguments):
            bad += 1
            print(f"{name}: {wrong}")
        shutil.rmtree(folder)
    print(f"{len(cases)} cases, {bad} faults")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
