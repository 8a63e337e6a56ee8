#!/usr/bin/env python3
"""B76: callers' buffers need the alignment of their elements, no more.

The emitted code is compiled with UBSan's alignment check and run with f32 at
4, f16 at 2 and i8 at 1 byte beyond a multiple of 64, with the widest vectors
of this computer. Prints TAP; 77: no such compiler.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

tests = tap.Tests()
MODULE = """tenon 1.0;
const k: f32[3] = [0.5, 1.5, 2.5];
fn main(x: f32[37], h: f16[37], i: i8[37]) -> (y: f32[37], g: f16[37], j: i8[37]) {
  return x * 2 + sum(k), h + h, i + 1;
}
"""
HARNESS = """#include "m.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned char in[3][256], out[3][256];
int main(int argc, char **argv)
{
	size_t size = 0;
	unsigned char *weights = malloc(1 << 16);
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	struct m_ctx ctx;
	unsigned char *base[6];
	const void *inputs[3];
	void *outputs[3];
	int64_t dims[8] = { 0 };
	int i, bad = 0;

	if (file)
		size = fread(weights, 1, 1 << 16, file);
	for (i = 0; i < 3; i++) {
		size_t off = (size_t)(4 >> i);
		base[i] = in[i] + (64 - (size_t)in[i] % 64) + off;
		base[3 + i] = out[i] + (64 - (size_t)out[i] % 64) + off;
		inputs[i] = base[i];
		outputs[i] = base[3 + i];
	}
	for (i = 0; i < 37; i++) {
		float x = (float)i;
		unsigned short one = 0x3c00;
		memcpy(base[0] + 4 * i, &x, 4);
		memcpy(base[1] + 2 * i, &one, 2);
		base[2][i] = (unsigned char)i;
	}
	if (m_init(&ctx, size ? weights : NULL, size) ||
	    m_run(&ctx, inputs, dims, outputs, malloc(m_ARENA_BYTES + 1)))
		return 2;
	for (i = 0; i < 37; i++) {
		float y;
		unsigned short two;
		memcpy(&y, base[3] + 4 * i, 4);
		memcpy(&two, base[4] + 2 * i, 2);
		bad += y != (float)(2 * i) + 4.5f || two != 0x4000 ||
			base[5][i] != i + 1;
	}
	return bad != 0;
}
"""

with tempfile.TemporaryDirectory() as folder:
    flags = ["-fsanitize=alignment,undefined", "-fno-sanitize-recover=all"]
    path = os.path.join(folder, "m.tn")
    with open(os.path.join(folder, "try.c"), "w") as f:
        f.write("int main(void) { return 0; }\n")
    probe = subprocess.run(["cc"] + flags + ["try.c", "-o", "try"],
                           cwd=folder, stderr=subprocess.DEVNULL)
    if probe.returncode:
        tap.skip("no sanitizer in cc")
    with open(path, "w") as f:
        f.write(MODULE)
    with open(os.path.join(folder, "harness.c"), "w") as f:
        f.write(HARNESS)
    for passes in ("default", "none"):
        out = os.path.join(folder, passes)
        done = subprocess.run([tap.TENON, "emit", path, "-o", out,
                               "--passes=" + passes], stderr=subprocess.PIPE)
        sources = [n for n in os.listdir(out)
                   if re.fullmatch(r"m(_\d+)?\.c", n)]
        done = subprocess.run(
            ["cc", "-std=c11", "-O2", "-march=native", "-I."] + flags +
            ["../harness.c"] + sources + ["-lm", "-o", "run"], cwd=out,
            stderr=subprocess.PIPE)
        why = done.stderr.decode()
        if not done.returncode:
            done = subprocess.run(
                ["./run"] + [n for n in os.listdir(out)
                             if n.endswith(".weights")],
                cwd=out, stderr=subprocess.PIPE)
            why = "exit %d %s" % (done.returncode, done.stderr.decode())
        tests.check("passes " + passes, not done.returncode, why)
tests.end()
