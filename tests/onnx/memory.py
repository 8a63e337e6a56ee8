#!/usr/bin/env python3
"""Weights of a model are not copied when it is imported: 64 MiB of them, beside
the model and inside of it, aligned and not, with 24 MB of data for the process.
The weights written beside the text are those of the model."""
import os
import resource
import subprocess
import sys
import tempfile

TOP = os.environ.get("SRCDIR", os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.environ.get("BUILDDIR", os.path.join(TOP, "build"))
sys.path.insert(0, os.path.join(TOP, "bench"))
import onnx_large as large

MEMORY = 24 << 20
COUNT = 4


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def imports(path, *more):
    done = subprocess.run([os.path.join(BUILD, "tenon"), "import", path, *more],
                          stdout=subprocess.PIPE, preexec_fn=limit)
    return done.returncode == 0


def holds(path):
    """The data of the weights stand one behind the other at the end."""
    with open(path, "rb") as data:
        data.seek(-COUNT * large.EACH, os.SEEK_END)
        return all(data.read(large.EACH) == large.chunk(i)
                   for i in range(COUNT))


def main():
    failed = 0
    kinds = {"beside the model": lambda f: large.beside(f, COUNT),
             "inside": lambda f: large.inside(f, COUNT, False),
             "inside, not aligned": lambda f: large.inside(f, COUNT, True)}
    print("1..%d" % len(kinds))
    for i, (name, make_it) in enumerate(kinds.items()):
        with tempfile.TemporaryDirectory() as folder:
            path = make_it(folder)
            text = os.path.join(folder, "out", "m.tn")
            os.mkdir(os.path.dirname(text))
            fine = imports(path) and imports(path, "-o", text) and \
                holds(text[:-3] + ".safetensors")
        failed += not fine
        print("%s %d - %s" % ("ok" if fine else "not ok", i + 1, name))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
