#!/usr/bin/env python3
"""B39: four results in four buffers of the caller, though two values are
behind them; the input stays, and what the caller writes into one changes no
other. Prints TAP; 77: no compiler.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

MODULE = """tenon 1.0;
fn main(x: f32[2], unused: f32) -> (p: f32[2], q: f32[2], r: f32[2], s: f32[2]) {
  a = x + 1;
  return x, a, a, x;
}
"""
HARNESS = """#include "m.h"
#include <stdlib.h>
#include <string.h>
static const float want[4][2] = { { 1, 2 }, { 2, 3 }, { 2, 3 }, { 1, 2 } };
int main(void)
{
	float x[2] = { 1, 2 }, unused = 7, out[4][2];
	const void *inputs[2] = { x, &unused };
	void *outputs[4] = { out[0], out[1], out[2], out[3] };
	struct m_ctx ctx;
	int64_t dims[8] = { 0 };
	int i;

	memset(out, 255, sizeof(out));
	if (m_init(&ctx, NULL, 0) ||
	    m_run(&ctx, inputs, dims, outputs, malloc(m_ARENA_BYTES + 1)))
		return 2;
	if (memcmp(out, want, sizeof(out)) || x[0] != 1 || x[1] != 2)
		return 3;
	for (i = 0; i < 4; i++) {
		out[i][0] = out[i][1] = 9;
		if (x[0] != 1 || x[1] != 2 ||
		    (i < 3 && memcmp(out[i + 1], want[i + 1],
				     sizeof(out[0]) * (size_t)(3 - i))))
			return 4;
	}
	return 0;
}
"""


def judge(folder, passes):
    """What is wrong, if anything."""
    out = Path(folder) / passes
    done = subprocess.run([tap.TENON, "emit", str(Path(folder) / "m.tn"),
                           "-o", str(out), "--passes=" + passes],
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        return done.stderr.decode()
    (out / "harness.c").write_text(HARNESS)
    sources = [n for n in os.listdir(out) if re.fullmatch(r"m(_\d+)?\.c", n)]
    done = subprocess.run(["cc", "-std=c11", "-O2", "-I.", "harness.c",
                           *sources, "-lm", "-o", "run"], cwd=out,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        return done.stderr.decode()
    done = subprocess.run(["./run"], cwd=out, check=False)
    return f"exit {done.returncode}" if done.returncode else ""


def main():
    if not shutil.which("cc"):
        tap.skip("no compiler")
    tests = tap.Tests()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "m.tn").write_text(MODULE)
        for passes in ("default", "none"):
            what = judge(folder, passes)
            tests.check("passes " + passes, not what, what)
    tests.end()


if __name__ == "__main__":
    main()
