#!/usr/bin/env python3
"""B81: the compile cache serves nothing stale.

Weights, text, an included file and the compiler change while path, size and
time of the files stay; each change must show. A moved file is a hit. Cut and
foreign entries are rebuilt; two processes may fill one key. Prints TAP.
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

tests = tap.Tests()
check = tests.check
MODULE = """tenon 1.0;
include "shift.tn";
weight w: f32[2] from "w.npy";
fn main(x: f32[2]) -> (y: f32[2]) { return shifted(x * w) + 1.0; }
"""
SHIFT = """tenon 1.0;
fn shifted(x: f32[2]) -> (y: f32[2]) { return x + 10.0; }
"""


def write(path, data):
    """The same time whatever the content."""
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    os.utime(path, (1000000000, 1000000000))


def npy(*values):
    return tap.npy("<f4", (len(values),),
                   struct.pack("<%df" % len(values), *values))


def start(folder, cache, *more):
    return subprocess.Popen(
        [tap.TENON, "run", os.path.join(folder, "m.tn"), "-i", "x=2xf32=1 2",
         "--cache=" + cache] + list(more), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)


def run(folder, cache, *more):
    process = start(folder, cache, *more)
    out, err = process.communicate(timeout=120)
    return out.decode() + err.decode()


def entries(cache):
    return sorted(os.path.join(top, n) for top, _, names in os.walk(cache)
                  for n in names)


with tempfile.TemporaryDirectory() as top:
    folder, cache = os.path.join(top, "a"), os.path.join(top, "cache")
    os.mkdir(folder)
    write(os.path.join(folder, "m.tn"), MODULE)
    write(os.path.join(folder, "shift.tn"), SHIFT)
    write(os.path.join(folder, "w.npy"), npy(1, 2))
    out = run(folder, cache)
    check("compiled", "[12.0 15.0]" in out, out)
    first = entries(cache)
    check("an entry is kept", len(first) > 0)
    out = run(folder, cache)
    check("again", "[12.0 15.0]" in out and entries(cache) == first, out)

    write(os.path.join(folder, "w.npy"), npy(1, 4))
    out = run(folder, cache)
    check("another weight", "[12.0 19.0]" in out, out)
    write(os.path.join(folder, "m.tn"), MODULE.replace("1.0; }", "3.0; }"))
    out = run(folder, cache)
    check("another constant", "[14.0 21.0]" in out, out)
    write(os.path.join(folder, "shift.tn"), SHIFT.replace("+", "-"))
    out = run(folder, cache)
    check("another included file", "[-6.0  1.0]" in out, out)
    before = entries(cache)
    out = run(folder, cache, "--target=c:generic")
    check("another target", "[-6.0  1.0]" in out and
          len(entries(cache)) > len(before), out)

    moved = os.path.join(top, "b")
    shutil.move(folder, moved)
    before = entries(cache)
    out = run(moved, cache)
    check("moved, a hit", "[-6.0  1.0]" in out and entries(cache) == before,
          out)

    for path in entries(cache):
        with open(path, "r+b") as f:
            f.truncate(os.path.getsize(path) // 2)
    out = run(moved, cache)
    check("cut entries are rebuilt", "[-6.0  1.0]" in out, out)
    for path in entries(cache):
        with open(path, "wb") as f:
            f.write(b"\x7fELF not ours" * 1000)
    out = run(moved, cache)
    check("foreign entries are rebuilt", "[-6.0  1.0]" in out, out)
    for path in entries(cache):
        with open(path, "r+b") as f:
            f.seek(os.path.getsize(path) // 2)
            byte = f.read(1)
            f.seek(-1, 1)
            f.write(bytes([byte[0] ^ 1]))
    out = run(moved, cache)
    check("entries with one bit changed are rebuilt", "[-6.0  1.0]" in out,
          out)

    both = os.path.join(top, "both")
    some = [start(moved, both) for _ in range(3)]
    out = [p.communicate(timeout=120)[0].decode() for p in some]
    check("three processes fill one key",
          all("[-6.0  1.0]" in o for o in out), "".join(out))
    out = run(moved, both)
    check("and it is whole", "[-6.0  1.0]" in out, out)

tests.end()
