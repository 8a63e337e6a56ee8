#!/usr/bin/env python3
"""B79: 200 temporaries of 64 kB, all alive at once, need no stack.

They are run with stacks of 256 kB (the process) and 64 kB (its threads), in
one row and with rows divided among threads; then the emitted code under
AddressSanitizer with a workspace of exactly the bytes that its header states.
Prints TAP.
"""
import itertools
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

TEMPORARIES, BYTES = 200, 1 << 16
HARNESS = """#include "m.h"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	static int32_t x[%d], y;
	const void *in[] = { x };
	void *out[] = { &y };
	int64_t dims[8] = { 0 };
	struct m_ctx ctx;
	int i;

	for (i = 0; i < %d; i++)
		x[i] = 1;
	if (m_init(&ctx, NULL, 0) ||
	    m_run(&ctx, in, dims, out, malloc(m_ARENA_BYTES)))
		return 2;
	printf("%%d\\n", y);
	return 0;
}
"""


def module(rows, columns):
    """Each temporary is the running sum of the one before, from one end or
    the other; the result is the sum of all of them."""
    lines = ["tenon 1.0;", f"fn main(t0: i32[{rows}, {columns}]) -> (y: i32) {{"]
    for i in range(TEMPORARIES):
        lines.append(f"  t{i + 1} = cumsum(t{i}, axis=1, reverse="
                     f"{'true' if i % 2 else 'false'});")
    lines.append("  s1 = t1;")
    for i in range(1, TEMPORARIES):
        lines.append(f"  s{i + 1} = s{i} + t{i + 1};")
    return "\n".join(lines + [f"  return sum(s{TEMPORARIES});", "}", ""])


def answer(rows, columns):
    row, total = [1] * columns, 0
    for i in range(TEMPORARIES):
        row = row[::-1] if i % 2 else row
        row = [v & 0xffffffff for v in itertools.accumulate(row)]
        row = row[::-1] if i % 2 else row
        total += sum(row)
    total = rows * total & 0xffffffff
    return total - (total >> 31 << 32)


def limited(folder):
    """`tenon run` with small stacks."""
    env = dict(os.environ, OMP_STACKSIZE="64k")
    done = subprocess.run(
        ["sh", "-c", 'ulimit -s 256; exec "$0" "$@"', tap.TENON, "run", "m.tn",
         "--threads=4", "-i", "t0=@ones.npy"], cwd=folder, env=env,
        capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def exactly(folder, elements):
    """What the emitted code prints, its workspace guarded; and its bytes."""
    done = subprocess.run([tap.TENON, "emit", "m.tn", "-o", "out"], cwd=folder,
                          capture_output=True, text=True, check=False)
    out = folder / "out"
    if done.returncode:
        return done.stderr, 0
    (out / "try.c").write_text(HARNESS % (elements, elements))
    stated = re.search(r"ARENA_BYTES INT64_C\((\d+)\)",
                       (out / "m.h").read_text())
    sources = [f.name for f in out.glob("m*.c") if f.name != "m_main.c"]
    build = ["cc", "-std=c11", "-O1", "-fsanitize=address", "try.c", *sources,
             "-lm", "-o", "try"]
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    for command in (build, ["./try"]):
        done = subprocess.run(command, cwd=out, env=env, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            break
    return done.stdout + done.stderr, int(stated[1])


def main():
    tests = tap.Tests()
    for rows, columns in ((1, BYTES // 4), (16, BYTES // 64)):
        name = f"{TEMPORARIES} temporaries of {rows} x {columns}"
        want = str(answer(rows, columns))
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            (folder / "m.tn").write_text(module(rows, columns))
            (folder / "ones.npy").write_bytes(tap.npy(
                "<i4", (rows, columns),
                struct.pack("<i", 1) * (rows * columns)))
            got = limited(folder)
            tests.check(f"{name}, small stacks", got.split()[-1:] == [want],
                        got)
            got, stated = exactly(folder, rows * columns)
            tests.check(f"{name}, the workspace as stated", got == want + "\n",
                        got)
            tests.check(f"{name}, none in it twice",
                        0 < stated <= (TEMPORARIES + 2) * BYTES, str(stated))
    tests.end()


main()
