#!/usr/bin/env python3
"""Runs the text tests: every .tn and .test file under tests/ and examples/.

A test says in lines that begin with `#!` what to run and what must come out:

    #! skip-unless: json gcc        all words must hold (`!json`: must not)
    #! run: tenon fmt %s | cmp - %s
    #! exit: 3                      0 if left out; 128+N after signal N
    #! output                       stdout, exactly; each line behind `# `
    # fn main(x: f32[4]) -> (y: f32[4]) {
    #
    #! end                          (`#\\` last: no newline at the end)
    #! stderr                       stderr, exactly, ended by `#! end`
    #! output-has: SUBSTRING        in stdout; stderr-has: in stderr
    let y = x + z;  #! error[E0201]: unknown name

A file holds any number of `run`s, done in order; each is one test. What stands
between a `run` and the next belongs to it; a `skip-unless` ahead of the first
holds for the file. Commands start without a shell: `|`, `&&`, `> FILE`,
`>> FILE`, `< FILE`, `2> FILE` and `2>&1` stand alone between blanks, and files
written lie in %t. %s: the test's file, %d: its folder, %t: a fresh folder (and
the working one), %r: the top of the sources, %b: the build, %%: `%`. These
paths are put back as %s, %t .. in what is compared.

`error[CODE]: SUBSTRING` and `warning[CODE]` (text optional) stand behind the
line they belong to, or alone on the line below, or name it: `error@12[E0105]`
(0: no place in this file; the text then begins with `FILE:LINE:`, if any).
A file with any is also one test of `tenon check --diag=json %s`: exactly these
must be reported, and errors must give exit 3.

Files in folders named `data` or `inputs` are material, not tests; any other
.tn under tests/ must say something. --bless rewrites the blocks as they came.
"""
import argparse
import concurrent.futures
import difflib
import fnmatch
import functools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
DIRECTIVE = re.compile(r"([a-z][a-z-]*)(?:@(\d+))?(?:\[(\w+)\])?(?::\s*(.*))?$")
OPERATORS = {"|", "&&", ">", ">>", "<", "2>", "2>&1"}
WORD = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:\\.|[^"\\])*"|'[^']*')+""")
MATERIAL = {"data", "inputs"}
BLOCKS = {"output", "stderr"}


class Wrong(Exception):
    """A test file that does not follow the rules above."""


# ---- What the host has ---------------------------------------------------

def cpu_flags():
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return set()
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.M)
    return set(found.group(1).split()) if found else set()


class Features:
    """Answers `skip-unless` words from config.h, the CPU and PATH."""
    CONFIG = {"json": "HAVE_JSON", "zip": "HAVE_ZIP",
              "cmocka": "HAVE_CMOCKA", "mpfr": "HAVE_MPFR",
              "sanitizers": "TN_SANITIZED", "coverage": "TN_COVERAGE"}
    CPU = {"avx2": {"avx2", "fma"}, "avx512": {"avx512f", "avx512vl"},
           "f16c": {"f16c"}}
    PROGRAMS = {"cc", "gcc", "g++", "clang", "clang++", "make", "dot",
                "pkg-config"}
    MODULES = {"numpy", "torch", "onnx", "sklearn"}

    def __init__(self, build):
        try:
            self.config = (build / "config.h").read_text()
        except OSError:
            self.config = ""
        self.known = sorted({*self.CONFIG, *self.CPU, *self.PROGRAMS,
                             *self.MODULES, "nvcc", "gpu", "python"})

    @functools.lru_cache(maxsize=None)
    def has(self, word):
        if word.startswith("!"):
            return not self.has(word[1:])
        if word in self.CONFIG:
            return f"#define {self.CONFIG[word]} 1" in self.config
        if word in self.CPU:
            return self.CPU[word] <= cpu_flags()
        if word in self.PROGRAMS:
            return shutil.which(word) is not None
        if word in self.MODULES:
            return subprocess.run(
                [sys.executable, "-c", f"import {word}"],
                stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
        if word == "nvcc":
            return find_nvcc() is not None
        if word == "gpu":
            return Path("/dev/nvidia0").exists()
        if word == "python":
            return True
        raise Wrong(f"unknown feature '{word}'; there are: "
                    + " ".join(self.known))


def find_nvcc():
    return shutil.which("nvcc") or shutil.which("nvcc",
                                                path="/usr/local/cuda/bin")


# ---- Reading a test ------------------------------------------------------

class Block:
    """Lines first..last (from 0, without the marks) of expected text."""

    def __init__(self, first):
        self.first, self.last, self.text = first, first, ""


class Run:
    def __init__(self, line, command):
        self.line, self.command = line, command
        self.exit, self.needs, self.blocks = 0, [], {}
        self.has = {"output": [], "stderr": []}


class Test:
    def __init__(self, path):
        self.path, self.runs, self.needs, self.diags = path, [], [], []
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        self.lines = text.split("\n")
        self.parse()

    def parse(self):
        block, code_line = None, 0
        for at, line in enumerate(self.lines[:-1] if self.lines[-1] == ""
                                  else self.lines):
            bare = line.strip()
            if block:
                if bare == "#! end":
                    block.last, block = at, None
                else:
                    self.expect(block, at, line.rstrip("\r"))
            elif bare.startswith("#!"):
                for part in re.split(r"\s#!", bare[2:]):
                    block = self.directive(at, code_line, part.strip())
            else:
                code_line = at + 1
                for part in re.split(r"\s#!", " " + line)[1:]:
                    self.diagnostic(at, at + 1, part.strip(), inline=True)
        if block:
            raise Wrong(f"line {block.first}: block without '#! end'")

    def expect(self, block, at, line):
        if line == "#\\":
            block.text = block.text.removesuffix("\n")
        elif line == "#":
            block.text += "\n"
        elif line.startswith("# "):
            block.text += line[2:] + "\n"
        else:
            raise Wrong(f"line {at + 1}: in a block, lines begin with '# '")

    def directive(self, at, code_line, text):
        """Takes one directive; the block it opens, or None."""
        match = DIRECTIVE.match(text)
        word = match.group(1) if match else None
        value = match.group(4) if match else None
        if word in ("error", "warning"):
            self.diagnostic(at, code_line, text)
            return None
        if not match or match.group(2) or match.group(3):
            raise Wrong(f"line {at + 1}: unknown directive '{text}'")
        if word == "run" and value:
            self.runs.append(Run(at + 1, value))
        elif word == "skip-unless" and value:
            (self.runs[-1] if self.runs else self).needs.extend(value.split())
        elif word in ("exit", "output", "stderr", "output-has", "stderr-has"):
            if not self.runs:
                raise Wrong(f"line {at + 1}: '{word}' before any 'run'")
            return self.expectation(at, word, value)
        else:
            raise Wrong(f"line {at + 1}: unknown directive '{text}'")
        return None

    def expectation(self, at, word, value):
        run = self.runs[-1]
        if word in BLOCKS:
            if value or word in run.blocks:
                raise Wrong(f"line {at + 1}: '{word}' takes no value and "
                            "stands once a run")
            run.blocks[word] = Block(at + 1)
            return run.blocks[word]
        if not value or (word == "exit" and not value.isdigit()):
            raise Wrong(f"line {at + 1}: '{word}' needs a value")
        if word == "exit":
            run.exit = int(value)
        else:
            run.has[word.removesuffix("-has")].append(value)
        return None

    def diagnostic(self, at, line, text, inline=False):
        match = DIRECTIVE.match(text)
        if not match or match.group(1) not in ("error", "warning") \
                or not match.group(3):
            raise Wrong(f"line {at + 1}: unknown directive '{text}'"
                        + (" behind code" if inline else ""))
        word, place, code, value = match.groups()
        line = int(place) if place else line
        self.diags.append((line, word, code, value or ""))

    def bless(self, got):
        """Rewrites the blocks; got: (run, 'output'|'stderr') -> text."""
        blocks = [(run.blocks[name], text) for (run, name), text in got.items()
                  if name in run.blocks]
        for block, text in sorted(blocks, key=lambda b: -b[0].first):
            lines = text.split("\n")
            tail = lines.pop()
            new = [("# " + line) if line else "#" for line in lines]
            if tail:
                new += ["# " + tail, "#\\"]
            self.lines[block.first:block.last] = new
        if blocks:
            text = "\n".join(self.lines)
            self.path.write_bytes(text.encode("utf-8", "surrogateescape"))


# ---- Running -------------------------------------------------------------

class Place:
    """The folders a test sees and the environment of its commands."""

    def __init__(self, options, path, folder):
        self.tenon, self.folder = options.tenon, Path(folder).resolve()
        self.marks = {"%s": str(path), "%t": str(self.folder),
                      "%b": str(options.build), "%d": str(path.parent),
                      "%r": str(TOP)}
        self.env = base_env(options)

    def expand(self, word):
        if word == "tenon":
            return str(self.tenon)
        if word == "python3":
            return sys.executable
        marks = self.marks
        return re.sub(r"%(.)", lambda m: "%" if m.group(1) == "%" else
                      marks.get(m.group(0), m.group(0)), word)

    def fold(self, data):
        """Output bytes as text, paths as marks; the longest path first."""
        text = data.decode("utf-8", "surrogateescape")
        for mark, path in sorted(self.marks.items(), key=lambda m: -len(m[1])):
            text = text.replace(path, mark)
        return text

    def file(self, word, write):
        path = (self.folder / self.expand(word)).resolve()
        if write and self.folder not in path.parents:
            raise Wrong(f"'{word}' would be written outside %t")
        return path


def base_env(options):
    env = {name: value for name, value in os.environ.items()
           if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "NO_COLOR")}
    env["LC_ALL"] = "C"
    env["PATH"] = f"{options.tenon.parent}{os.pathsep}{env.get('PATH', '')}"
    env["TENON"] = str(options.tenon)
    env["SRCDIR"], env["BUILDDIR"] = str(TOP), str(options.build)
    env["XDG_CACHE_HOME"] = str(options.cache)
    env["OMP_WAIT_POLICY"] = "passive"
    # A finding must not look like one of tenon's own exits.
    for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
        env[name] = "exitcode=99:print_stacktrace=1:" + env.get(name, "")
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return env


def start(argv, env, cwd, data, seconds):
    """Runs a program to its end: (exit, stdout, stderr)."""
    try:
        child = subprocess.Popen(
            argv, env=env, cwd=cwd, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
    except OSError as error:
        return 127, b"", f"{argv[0]}: {error.strerror}\n".encode()
    try:
        out, err = child.communicate(data, timeout=max(seconds, 0.01))
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        return 124, out, err + b"(killed: out of time)\n"
    code = child.returncode
    return (128 - code if code < 0 else code), out, err


def split_command(command):
    """'a b | c > f && d' as [[stage, stage], [stage]]; a stage is a list of
    (is_operator, word)."""
    rest = WORD.sub("", command).strip()
    if rest:
        raise Wrong(f"cannot read the command at '{rest}'")
    parts, stage = [[[]]], None
    for raw in WORD.findall(command):
        if raw == "&&":
            parts.append([[]])
        elif raw == "|":
            parts[-1].append([])
        else:
            stage = parts[-1][-1]
            stage.append((raw in OPERATORS, raw if raw in OPERATORS
                          else "".join(shlex.split(raw))))
    if any(not stage for part in parts for stage in part):
        raise Wrong(f"a command is missing in '{command}'")
    return parts


def run_stage(stage, place, data, deadline):
    """One program with its redirections: (exit, stdout, stderr)."""
    argv, files, merge = [], {}, False
    words = iter(stage)
    for operator, word in words:
        if not operator:
            argv.append(place.expand(word))
        elif word == "2>&1":
            merge = True
        else:
            name = next(words, (True, ""))
            if name[0]:
                raise Wrong(f"'{word}' needs a file")
            files[word] = place.file(name[1], word != "<")
    if not argv:
        raise Wrong("a command is missing")
    if "<" in files:
        data = files["<"].read_bytes()
    code, out, err = start(argv, place.env, place.folder, data,
                           deadline - time.monotonic())
    if merge:
        out, err = out + err, b""
    for word, mode in ((">", "wb"), (">>", "ab")):
        if word in files:
            with open(files[word], mode) as file:
                file.write(out)
            out = b""
    if "2>" in files:
        files["2>"].write_bytes(err)
        err = b""
    return code, out, err


def run_command(command, place, seconds):
    """Status (of the last program of a pipeline that failed), stdout,
    stderr."""
    deadline = time.monotonic() + seconds
    stdout = stderr = b""
    status = 0
    for pipeline in split_command(command):
        data, status = b"", 0
        for stage in pipeline:
            code, data, err = run_stage(stage, place, data, deadline)
            stderr += err
            status = code or status
        stdout += data
        if status:
            break
    return status, stdout, stderr


# ---- Judging -------------------------------------------------------------

def diff(want, got, name):
    lines = difflib.unified_diff(
        want.splitlines(keepends=True), got.splitlines(keepends=True),
        f"expected {name}", f"{name} found")
    return "".join(line if line.endswith("\n") else line + "\n\\ no newline\n"
                   for line in lines)


def judge_run(run, place, options, got):
    """Why the run failed, '' if it did not; fills `got` for --bless."""
    status, out, err = run_command(run.command, place, options.timeout)
    text = {"output": place.fold(out), "stderr": place.fold(err)}
    why = ""
    if status != run.exit:
        why += f"exit {status}, expected {run.exit}\n"
    for name, block in run.blocks.items():
        got[run, name] = text[name]
        if text[name] != block.text and not options.bless:
            why += diff(block.text, text[name], name)
    for name, wanted in run.has.items():
        for part in wanted:
            if part not in text[name]:
                why += f"{name} does not hold '{part}'\n"
    if why:
        for name in ("output", "stderr"):
            if name not in run.blocks and text[name]:
                why += f"--- {name}:\n{text[name]}".rstrip("\n") + "\n"
    return why


def read_diags(text):
    """(line, severity, code, message) of each JSON line in the text. What has
    no place in the test's own file gets line 0."""
    found = []
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        try:
            item = json.loads(line)
            if "more_errors" in item:
                found.append((0, "error", "limit", line))
                continue
            at, message = item["line"], item["message"]
            if item["file"] not in ("%s", None):
                at, message = 0, f"{item['file']}:{at}: {message}"
            found.append((at or 0, item["severity"], item["code"], message))
        except (ValueError, KeyError, TypeError) as error:
            raise Wrong(f"--diag=json gave '{line}': {error!r}") from error
    return found


def judge_diags(test, place, options):
    status, out, err = run_command("tenon check --diag=json %s", place,
                                   options.timeout)
    text = place.fold(out) + place.fold(err)
    found, why = read_diags(text), ""
    for line, severity, code, part in test.diags:
        hit = next((d for d in found if d[:3] == (line, severity, code)
                    and part in d[3]), None)
        if hit:
            found.remove(hit)
        else:
            why += f"line {line}: not reported: {severity}[{code}]: {part}\n"
    for line, severity, code, message in found:
        why += f"line {line}: not expected: {severity}[{code}]: {message}\n"
    want = 3 if any(d[1] == "error" for d in test.diags) else 0
    if status != want:
        why += f"exit {status}, expected {want}\n"
        if not found:
            why += text
    return why


def missing(features, words):
    return " ".join(word for word in words if not features.has(word))


def run_test(path, options, features):
    """All results of a file: a list of (name, state, why)."""
    name = str(path.relative_to(TOP)) if TOP in path.parents else str(path)
    if options.pattern and not matches(options.pattern, name):
        return []
    try:
        test = Test(path)
        if not test.runs and not test.diags:
            if TOP / "examples" in path.parents and not test.needs:
                return []
            raise Wrong("says nothing to run or to expect (see run.py)")
        for word in test.needs + [w for run in test.runs for w in run.needs]:
            features.has(word)
    except Wrong as wrong:
        return [(name, "failed", f"{wrong}\n")]
    results, got = [], {}
    with tempfile.TemporaryDirectory(prefix="tenon-test-") as folder:
        place = Place(options, path, folder)
        steps = [(run.line, run.needs,
                  functools.partial(judge_run, run, place, options, got))
                 for run in test.runs]
        if test.diags:
            steps.append((test.diags[0][0], [],
                          functools.partial(judge_diags, test, place, options)))
        for line, needs, step in steps:
            lack = missing(features, test.needs + needs)
            if lack:
                results.append((f"{name}:{line}", "skipped", lack))
                continue
            try:
                why = step()
            except (Wrong, OSError) as wrong:
                why = f"{wrong}\n"
            results.append((f"{name}:{line}", "failed" if why else "passed",
                            why))
    if options.bless:
        test.bless(got)
    return results


def run_also(command, options):
    """A program that prints TAP (or 'skip NAME'), or only exits: 0 passed, 77
    skipped."""
    argv = shlex.split(command)
    if argv[0] == "python3":
        argv[0] = sys.executable
    name = "/".join(Path(argv[-1]).parts[-2:])
    if options.pattern and not matches(options.pattern, name):
        return []
    env = base_env(options)
    env["CMOCKA_MESSAGE_OUTPUT"] = "TAP"
    code, out, err = start(argv, env, None, b"", options.timeout * 5)
    text = (out + err).decode("utf-8", "replace")
    results, plan = [], 0
    for line in out.decode("utf-8", "replace").splitlines():
        planned = re.match(r"1\.\.(\d+)", line)
        plan += int(planned.group(1)) if planned else 0
        point = re.match(r"(ok|not ok|skip)\b\s*\d*\s*(?:-\s*)?(.*)$", line)
        if point:
            skip = point[1] == "skip" or re.search(r"#\s*SKIP\b", line, re.I)
            state = "skipped" if skip else \
                "passed" if point[1] == "ok" else "failed"
            results.append((f"{name}: {point[2]}", state,
                            text if state == "failed" else ""))
    if not results:
        state = {0: "passed", 77: "skipped"}.get(code, "failed")
        why = text if state == "failed" else text.strip().split("\n")[0]
        return [(name, state, f"exit {code}\n{why}" if state == "failed"
                 else why)]
    if plan and plan != len(results):
        results.append((name, "failed",
                        f"{len(results)} of {plan} tests ran\n{text}"))
    elif code and all(state != "failed" for _, state, _ in results):
        results.append((name, "failed", f"exit {code}\n{text}"))
    return results


# ---- The whole -----------------------------------------------------------

def timed(work, what, *more):
    """(seconds, what, its results); others run at the same time."""
    begin = time.monotonic()
    results = work(what, *more)
    return time.monotonic() - begin, what, results


def matches(pattern, name):
    return pattern in name or fnmatch.fnmatch(name, pattern)


def discover(paths):
    found = []
    for root in paths:
        if root.is_file():
            found.append(root)
            continue
        if not root.is_dir():
            sys.exit(f"run.py: no such file or folder: {root}")
        for path in sorted(root.rglob("*")):
            inner = path.relative_to(root).parts[:-1]
            if path.suffix in (".tn", ".test") and path.is_file() \
                    and not MATERIAL & set(inner):
                found.append(path)
    return found


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path,
                        help="files or folders; tests and examples if none")
    parser.add_argument("-k", dest="pattern", metavar="PATTERN",
                        help="only files whose name holds or matches it")
    parser.add_argument("-j", dest="jobs", type=int, metavar="N",
                        default=os.cpu_count() or 1)
    parser.add_argument("-v", dest="verbose", action="store_true",
                        help="name every test, and why one was skipped")
    parser.add_argument("--tenon", type=Path,
                        default=TOP / "build" / "tenon")
    parser.add_argument("--timeout", type=float, default=60, metavar="S")
    parser.add_argument("--bless", action="store_true",
                        help="rewrite expected blocks with what came")
    parser.add_argument("--also", action="append", default=[],
                        metavar="COMMAND", help="a program that prints TAP "
                        "or only exits (77: skipped)")
    parser.add_argument("--only-also", action="store_true",
                        help="no text tests")
    parser.add_argument("--cache", type=Path, metavar="FOLDER",
                        help="of compiled engines; tests/cache in the build")
    parser.add_argument("--times", type=int, default=0, metavar="N",
                        help="say which N took longest, in seconds")
    parser.add_argument("--counts", type=Path, metavar="FILE",
                        help="append 'passed failed skipped' to it")
    options = parser.parse_args()
    options.tenon = options.tenon.resolve()
    options.build = options.tenon.parent
    options.cache = (options.cache or options.build / "tests/cache").resolve()
    if not os.access(options.tenon, os.X_OK):
        parser.error(f"no command at {options.tenon}; run scripts/build.sh")
    return options


def main():
    options = parse_options()
    features = Features(options.build)
    nvcc = find_nvcc()
    if nvcc:
        os.environ["PATH"] += os.pathsep + str(Path(nvcc).parent)
    roots = options.paths or [path for path in (TOP / "tests", TOP / "examples")
                              if path.is_dir()]
    files = [] if options.only_also else \
        discover([root.resolve() for root in roots])
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    times = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(timed, run_also, command, options)
                for command in options.also]
        work += [pool.submit(timed, run_test, path, options, features)
                 for path in files]
        for future in work:
            seconds, what, results = future.result()
            times.append((seconds, what))
            for name, state, why in results:
                counts[state] += 1
                if state == "failed":
                    print(f"FAIL {name}\n    "
                          + why.rstrip("\n").replace("\n", "\n    "))
                elif options.verbose:
                    print(f"{state} {name}"
                          + (f" ({why.strip()})" if why else ""))
                sys.stdout.flush()
    for seconds, what in sorted(times, reverse=True)[:options.times]:
        print(f"{seconds:7.1f} s  {what}")
    if options.counts:
        with open(options.counts, "a") as file:
            print(*counts.values(), file=file)
    nothing = not any(counts.values()) and not options.pattern
    if nothing:
        print("nothing was run")
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if counts["failed"] or nothing else 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
