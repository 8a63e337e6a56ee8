#!/usr/bin/env python3
"""Two real models beside ONNX Runtime, one of which hands its state on from
frame to frame, and a file with free sizes; see scripts/models.sh. Skipped where
the packages cannot be had."""
import os
import subprocess
import sys
import tempfile

top = os.environ.get("SRCDIR", os.path.join(os.path.dirname(__file__), "../.."))
build = os.environ.get("BUILDDIR", os.path.join(top, "build"))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "names.onnx")
    subprocess.run([sys.executable, os.path.join(
        top, "tests/onnx/data/make.py"), "names", path], check=True)
    done = subprocess.run(
        [os.path.join(top, "scripts/models.sh"), "--no-time", "--tenon",
         os.path.join(build, "tenon"), "--dim", "N;=1,8,3",
         "oww_melspec", "gtcrn", path])
sys.exit(done.returncode)
