#!/usr/bin/env python3
"""The README says what is true: its first module, emitted by its command,
gives the C that stands there, and its other commands run.

Prints TAP. TENON names the command.
"""
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import tap

tests = tap.Tests()


def blocks(kind):
    text = (tap.TOP / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```" + kind + r"\n(.*?)^```", text, re.M | re.S)


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "blend.tn").write_text(blocks("tenon")[0], encoding="utf-8")
        (place / "examples").symlink_to(tap.TOP / "examples")
        subprocess.run([sys.executable, tap.TOP / "tests/onnx/data/make.py",
                        "relu", place / "model.onnx"], check=True)
        for block in blocks("sh"):
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                if not words or words[0] != "tenon":
                    continue
                done = subprocess.run([tap.TENON] + words[1:], cwd=place,
                                      capture_output=True, text=True,
                                      check=False)
                tests.check(line.split("#")[0].strip(),
                            done.returncode == 0, done.stderr)
        emitted = (place / "blend-c" / "blend.c").read_text(encoding="utf-8")
        tests.check("the C in the README", blocks("c")[0] in emitted,
                    emitted)
    tests.end()


main()
