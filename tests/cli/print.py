#!/usr/bin/env python3
"""`print` and `assert` are the same text, in the same order, with the same exit
status, whatever runs the program: interpreter, compiled function, engine,
emitted folder. The interpreter is the one compared with. Prints TAP."""
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

TOP = Path(os.environ.get("SRCDIR") or Path(__file__).parents[2]).resolve()
TENON = (Path(os.environ.get("BUILDDIR") or TOP / "build") / "tenon").resolve()
DATA = TOP / "tests/cli/data"
PRINTS = ["-i", "x=3xf32=1 2 3", "-i", "k=3xi32=1 2 3"]
WARN = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O1".split()
count = bad = 0


def run(*words, **options):
    done = subprocess.run([str(w) for w in words], capture_output=True,
                          **options)
    return done.stdout, done.stderr, done.returncode


def ref(path, inputs, *options):
    return run(TENON, "run", "--target=ref", *options, path, *inputs)


def check(what, got, want):
    global count, bad
    count += 1
    ok = got == want
    bad += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {what}")
    if not ok:
        for name, one in ("got", got), ("want", want):
            print(f"# {name}: {str(one)[:1500]}")


def compiled(path, inputs, options=()):
    want = ref(path, inputs, *options)
    targets = [["--target=c"], ["--target=c:generic", "--passes=none"],
               ["--target=ref", "--passes=default"]]
    if shutil.which("g++"):
        targets.append(["--target=cuda", "--emulate"])
    for target in targets:
        check(f"{path.name} {' '.join(target)} {' '.join(options)}",
              run(TENON, "run", *target, *options, path, *inputs), want)
    return want


def engine(path, inputs, folder, want):
    run(TENON, "build", path, "-o", folder / "it.tne")
    check(f"{path.name}, its engine",
          run(TENON, "run", folder / "it.tne", *inputs), want)


def warning_free(folder, name, side):
    for compiler in "gcc -std=c11", "clang -std=c11", "g++ -std=c++17 -x c++":
        words = compiler.split()
        if not shutil.which(words[0]):
            continue
        for part in side:
            check(f"{compiler} {name}{part} without a warning",
                  run(*words, *WARN, "-Iemu/include", "-c",
                      f"{name}{part}", "-o", "x.o", cwd=folder)[1:],
                  (b"", 0))


def folders(path, files, dims, folder, want):
    """What the folder's own program says on stderr."""
    for target, make, ending, side in (
            ("c", ["OPENMP="], "-run", [".c", "_main.c"]),
            ("cuda", ["emu"], "-run-emu", ["_host.c", "_main.c"])):
        out = folder / target
        run(TENON, "emit", f"--target={target}", path, "-o", out)
        warning_free(out, path.stem, side)
        if not shutil.which("make") or not shutil.which("g++"):
            continue
        _, said, code = run("make", "-s", *make, cwd=out)
        check(f"{path.name}: make {target}", (said, code), (b"", 0))
        words = [out / (path.stem + ending), *dims]
        for n, data in enumerate(files):
            (out / f"{n}.bin").write_bytes(data)
            words.append(f"{n}.bin")
        check(f"{path.name}: the folder for {target}",
              run(*words, cwd=out)[1:], want[1:])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prints = DATA / "prints.tn"
        want = compiled(prints, PRINTS)
        check("all of it is shown", want[1].count(b"\n"), 31)
        engine(prints, PRINTS, folder, want)
        folders(prints, [struct.pack("3f", 1, 2, 3),
                         struct.pack("3i", 1, 2, 3)], ["-d", "N=3"],
                folder, want)

        again = folder / "again.tn"
        again.write_bytes(run(TENON, "opt", "--passes=infer", prints)[0])
        check("what a pass printed", ref(again, PRINTS), want)

        shown = DATA / "shown.tn"
        inputs = ["-i", "x=random:4", "-i", "m=zero"]
        for n in 0, 7, 1500:
            want = compiled(shown, inputs,
                            ["--dim", f"N={n}", "--dim", "M=0"])
        want = ref(shown, ["-i", "x=zero", "-i", "m=zero"], "--dim", "N=7",
                   "--dim", "M=0")
        folders(shown, [], ["-d", "N=7"], folder, want)

        for flag in "true", "false":
            compiled(DATA / "views.tn", ["-i", "x=random:3", "-i",
                                         f"b=bool={flag}"],
                     ["--dim", "N=5"])

        asserts = DATA / "asserts.tn"
        for x, k in ("3 2 1", "1 2 3"), ("0 1 1", "5 5 5"), ("0 0 0", "0 0 0"):
            given = ["-i", f"x=3xf32={x}", "-i", f"k=3xi32={k}"]
            compiled(asserts, given)
            told = run(TENON, "run", "--target=ref", asserts.name, *given,
                       cwd=DATA)[1]
            run(TENON, "build", asserts, "-o", folder / "a.tne")
            check("asserts.tn, its engine", run(TENON, "run",
                  folder / "a.tne", *given)[1], told.split(b"\n  ")[0] +
                  (b"\n" if told else b""))
    print(f"1..{count}")
    return bad != 0


if __name__ == "__main__":
    raise SystemExit(main())
