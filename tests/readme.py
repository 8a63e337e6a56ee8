#!/usr/bin/env python3
"""The README says what is true: its first module, emitted by its command,
gives the C that stands there, and its other commands run.

Prints TAP. TENON names the command.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("BUILDDIR", TOP / "build"))
TENON = os.path.abspath(os.environ.get("TENON", BUILD / "tenon"))
count = 0
bad = 0


def report(good, name, detail=""):
    """One line of TAP."""
    global count, bad
    count += 1
    bad += not good
    print(("ok" if good else "not ok"), count, "-", name)
    for line in detail.splitlines() if not good else []:
        print("#", line)


def blocks(kind):
    text = (TOP / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```" + kind + r"\n(.*?)^```", text, re.M | re.S)


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "blend.tn").write_text(blocks("tenon")[0], encoding="utf-8")
        (place / "examples").symlink_to(TOP / "examples")
        for block in blocks("sh"):
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                if not words or words[0] != "tenon":
                    continue
                done = subprocess.run([TENON] + words[1:], cwd=place,
                                      capture_output=True, text=True,
                                      check=False)
                report(done.returncode == 0, line.split("#")[0].strip(),
                       done.stderr)
        emitted = (place / "blend-c" / "blend.c").read_text(encoding="utf-8")
        report(blocks("c")[0] in emitted, "the C in the README", emitted)
    print(f"1..{count}")
    return bad != 0


sys.exit(main())
