#!/usr/bin/env python3
"""doc/schedules.md holds: each block `loops` stands word by word in what
`tenon opt` makes of the page's kernel by the steps ahead of it. Prints TAP."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

TOP = Path(os.environ.get("SRCDIR") or Path(__file__).parents[2])
TENON = Path(os.environ.get("BUILDDIR") or TOP / "build") / "tenon"


def opt(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.tn")
        path.write_text(text)
        done = subprocess.run([TENON, "opt", path], capture_output=True,
                              text=True)
    return done.stdout + done.stderr


def main():
    page = (TOP / "doc/schedules.md").read_text()
    kernel = re.search(r"```tenon\n(.*?)```", page, re.S).group(1)
    blocks = re.findall(r"```loops\n(.*?)\n\n(.*?)```", page, re.S)
    good = len(blocks) >= 3
    for number, (steps, loops) in enumerate(blocks, 1):
        steps = " ".join(steps.split())
        text = "tenon 1.0;\n" + re.sub(
            r"@schedule\(.*?\)\n(?=kernel)",
            lambda match: f"@schedule({steps})\n", kernel, flags=re.S)
        got = opt(text)
        right = f"@scheduled({steps})" in got and loops in got
        good &= right
        print("ok" if right else "not ok", number, "-", steps)
        if not right:
            print("# " + got.replace("\n", "\n# "))
    print(f"1..{len(blocks)}")
    return not good


raise SystemExit(main())
