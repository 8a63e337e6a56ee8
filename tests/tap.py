"""What the tests written in Python share: where the sources, the build and
the command are, lines of TAP, and .npy files.

A script in a folder below begins with

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import tap

SRCDIR, BUILDDIR and TENON, where set, win over the places in the tree.
"""
import os
import struct
import sys
from pathlib import Path

TOP = Path(os.environ.get("SRCDIR") or Path(__file__).resolve().parents[1])
BUILD = Path(os.environ.get("BUILDDIR") or TOP / "build")
TENON = os.path.abspath(os.environ.get("TENON") or BUILD / "tenon")


class Tests:
    """Counts and prints the points of one script."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, name, good, what=""):
        """One point; `what` came instead, if it is not good."""
        self.count += 1
        self.failed += not good
        print("ok" if good else "not ok", self.count, "-", name, flush=True)
        if not good:
            for line in what.splitlines()[:12]:
                print("#", line[:300])
        return bool(good)

    def end(self):
        """Prints the plan and leaves: 1 if a point failed."""
        print(f"1..{self.count}")
        sys.exit(self.failed != 0)


def skip(why):
    """Leaves: nothing of this script can run here."""
    print(f"1..0 # SKIP {why}")
    sys.exit(77)


def npy(descr, shape, data):
    """A .npy file of these bytes."""
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        descr, "".join("%d, " % n for n in shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) +
            head.encode() + data)
