#!/usr/bin/env python3
"""How often each rule of `simplify` is applied to a corpus.

    firing.py [--fuzz N] [PATH]...

The modules of the examples and the tests, or those at PATH, and N random ones
(tests/fuzz/generate.py) go through the default passes, once as they are and
once under --fp=fast; the events tell which rules were applied. Prints one rule
a line with its count, the rarest first, then those that never were. Without
arguments it is a test: the rules that real modules need most must be among
those applied. Prints TAP then.
"""
import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

TOP = tap.TOP
PASSES = "infer,inline,unroll,fold,simplify,canonical,cse,precompute,dce"
# Of the examples alone; the conv rules are those of batch norm under --fp=fast.
NEEDED = {"conv_scale", "conv_bias", "reshape_none", "div_const"}


def rule_names():
    text = (TOP / "passes/rules.tn").read_text(encoding="utf-8")
    return re.findall(r"(?m)^rule (\w+)", text)


def modules(paths):
    for path in paths:
        path = Path(path)
        files = sorted(path.rglob("*.tn")) if path.is_dir() else [path]
        for file in files:
            yield from entries(file)


def entries(file):
    """(file, name of a function) of each that may be compiled."""
    text = file.read_text(encoding="utf-8", errors="replace")
    for name in re.findall(r"(?m)^fn (\w+)", text):
        yield file, name


def fire(file, name, counts):
    for more in ([], ["--fp=fast"]):
        with tempfile.NamedTemporaryFile() as events:
            subprocess.run([tap.TENON, "opt", f"--passes={PASSES}",
                            f"--fn={name}", f"--events={events.name}", *more,
                            str(file), "-o", "/dev/null"],
                           capture_output=True, timeout=60, check=False)
            for line in events.read().splitlines():
                event = json.loads(line)
                if event.get("event") == "rewrite" and \
                        event.get("pass") == "simplify":
                    counts[event["rule"]] += 1


def fuzz(count, folder):
    out = subprocess.run(
        [sys.executable, str(TOP / "tests/fuzz/generate.py"),
         f"--count={count}"], capture_output=True, text=True, check=True)
    for number, text in enumerate(out.stdout.split("#% ")[1:]):
        path = Path(folder) / f"fuzz{number}.tn"
        path.write_text(text.split("\n", 1)[1], encoding="utf-8")
        yield path


def report(counts, names):
    for name, count in sorted(counts.items(), key=lambda at: at[1]):
        print(f"{count:8}  {name}")
    never = [name for name in names if not counts[name]]
    print(f"{len(never)} of {len(names)} rules never applied:")
    for name in never:
        print(f"          {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fuzz", type=int, default=0)
    parser.add_argument("paths", nargs="*")
    args = parser.parse_args()
    counts = collections.Counter()
    is_test = not args.paths and not args.fuzz
    for file, name in modules(args.paths or [TOP / "examples"] +
                              ([] if is_test else [TOP / "tests"])):
        fire(file, name, counts)
    with tempfile.TemporaryDirectory() as folder:
        for path in fuzz(args.fuzz, folder) if args.fuzz else ():
            fire(path, "main", counts)
    names = rule_names()
    if not is_test:
        report(counts, names)
        return
    tests = tap.Tests()
    tests.check("rules of the library alone are applied",
                set(counts) <= set(names) | {"fold", "size",
                                             "gather-to-slice"},
                str(set(counts) - set(names)))
    for name in sorted(NEEDED):
        tests.check(f"{name} is applied to the examples", counts[name] > 0)
    tests.end()


if __name__ == "__main__":
    main()
