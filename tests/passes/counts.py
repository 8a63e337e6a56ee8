#!/usr/bin/env python3
"""How many kernels the nets of examples/ become with the default passes.

What one block costs is the difference of two nets, one of which has a block
more. Each launch of the compiled function is looked up by the name of its
result in the module behind `fuse`, which says what the kernel computes. Prints
TAP.
"""
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

MOVES = {"reshape", "slice", "transpose", "broadcast", "pad", "concat",
         "reverse"}
WINDOWS = {"conv", "conv_transpose", "maxpool", "avgpool"}
# Launches of a block, at most.
GPT2_BLOCK = 6
BERT_LAYER = 7
RESNET_BLOCK = 3


class Net:
    """An example, with other sizes, behind the default passes."""

    def __init__(self, name, **dims):
        text = (tap.TOP / f"examples/{name}/{name}.tn").read_text()
        for dim, size in dims.items():
            text, n = re.subn(rf"\bdim {dim} = \d+;", f"dim {dim} = {size};",
                              text)
            assert n == 1, dim
        self.name = name
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.tn"
            path.write_text(text)
            self.made = self.compositions(self.opt(path, "--stop-after=fuse"))
            last = self.opt(path)
        kernels = set(re.findall(r"^kernel ([\w`:]+)\(", last, re.M))
        self.launches = [value for value, callee in self.entry(last)
                         if callee in kernels]

    @staticmethod
    def opt(path, *more):
        done = subprocess.run([tap.TENON, "opt", *more, str(path)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout.decode()

    @staticmethod
    def entry(text):
        """(first result, what makes it) of each statement of main."""
        body = re.search(r"^fn main\(.*?^}", text, re.S | re.M).group(0)
        return re.findall(r"^\s+([\w`:]+)[^=\n]*? = ([\w`:]+)\(", body, re.M)

    def compositions(self, text):
        """Result of main -> the operators of its kernel."""
        groups = {}
        for head, body in re.findall(r"^@fused\(\w+\)\nfn ([\w`:]+)(.*?)^}",
                                     text, re.S | re.M):
            groups[head] = re.findall(r" = (\w+)\(", body)
        return {value: groups.get(callee, [callee])
                for value, callee in self.entry(text)}

    def kernels(self, test):
        """The launches whose operators pass the test."""
        return [value for value in self.launches if test(self.made[value])]

    def moves(self):
        return self.kernels(lambda ops: set(ops) <= MOVES)

    def show(self, values):
        counts = Counter(" ".join(self.made[v]) for v in values)
        return "\n".join(f"{n} x {ops}" for ops, n in counts.most_common())


def is_map(ops):
    """Neither an anchor nor movement alone."""
    other = WINDOWS | {"matmul", "einsum", "sum", "reduce_max", "gather"}
    return not other & set(ops) and not set(ops) <= MOVES


def blocks(tests, name, dim, count, most):
    """Launches and movement of one block more."""
    many, few = Net(name, **{dim: count}), Net(name, **{dim: count - 1})
    one = len(many.launches) - len(few.launches)
    tests.check(f"{name}: {one} kernels a block, at most {most}",
                0 < one <= most, many.show(many.launches))
    one = len(many.moves()) - len(few.moves())
    tests.check(f"{name}: no kernel of a block moves elements alone",
                one == 0, many.show(many.moves()))


def convolutions(tests, net, convs, relus):
    """Each convolution is one kernel with all that follows it."""
    windows = net.kernels(lambda ops: "conv" in ops)
    tests.check(f"{net.name}: {len(windows)} kernels with a convolution of "
                f"{convs}", len(windows) == convs
                and all(net.made[v].count("conv") == 1 for v in windows),
                net.show(windows))
    active = net.kernels(lambda ops: "conv" in ops and "max" in ops)
    tests.check(f"{net.name}: {len(active)} of them end in a relu, of {relus}",
                len(active) == relus, net.show(windows))
    maps = net.kernels(is_map)
    tests.check(f"{net.name}: no kernel of maps alone", not maps,
                net.show(maps))
    tests.check(f"{net.name}: no kernel moves elements alone", not net.moves(),
                net.show(net.moves()))


def main():
    tests = tap.Tests()
    blocks(tests, "gpt2", "L", 12, GPT2_BLOCK)
    blocks(tests, "bert", "L", 12, BERT_LAYER)
    blocks(tests, "resnet", "L3", 6, RESNET_BLOCK)
    convolutions(tests, Net("resnet"), 53, 49)
    convolutions(tests, Net("mobilenet"), 52, 35)
    tests.end()


if __name__ == "__main__":
    main()
