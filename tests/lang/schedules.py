#!/usr/bin/env python3
"""doc/schedules.md holds: each block `loops` stands word by word in what
`tenon opt` makes of the page's last kernel above it by the steps ahead of it.
Prints TAP."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap


def opt(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.tn")
        path.write_text(text)
        done = subprocess.run([tap.TENON, "opt", path], capture_output=True,
                              text=True)
    return done.stdout + done.stderr


def main():
    page = (tap.TOP / "doc/schedules.md").read_text()
    blocks = re.findall(r"```(tenon|loops)\n(.*?)```", page, re.S)
    tests = tap.Tests()
    for word, block in blocks:
        if word == "tenon":
            kernel = block
            continue
        steps, loops = block.split("\n\n", 1)
        steps = " ".join(steps.split())
        text = "tenon 1.0;\n" + re.sub(
            r"@schedule\(.*?\)\n(?=kernel)",
            lambda match: f"@schedule({steps})\n", kernel, flags=re.S)
        got = opt(text)
        tests.check(steps, f"@scheduled({steps})" in got and loops in got,
                    got)
    tests.check("the page has blocks", tests.count >= 4)
    tests.end()


main()
