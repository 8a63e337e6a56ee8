#!/usr/bin/env python3
"""doc/schedules.md holds: each block `loops` stands word by word in what
`tenon opt` makes of the page's kernel by the steps ahead of it. Prints TAP."""
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
    kernel = re.search(r"```tenon\n(.*?)```", page, re.S).group(1)
    blocks = re.findall(r"```loops\n(.*?)\n\n(.*?)```", page, re.S)
    tests = tap.Tests()
    for steps, loops in blocks:
        steps = " ".join(steps.split())
        text = "tenon 1.0;\n" + re.sub(
            r"@schedule\(.*?\)\n(?=kernel)",
            lambda match: f"@schedule({steps})\n", kernel, flags=re.S)
        got = opt(text)
        tests.check(steps, f"@scheduled({steps})" in got and loops in got,
                    got)
    tests.check("the page has blocks", len(blocks) >= 3)
    tests.end()


main()
