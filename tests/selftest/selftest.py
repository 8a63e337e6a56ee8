#!/usr/bin/env python3
"""Tests the text-test runner on files made here, with a stand-in command.

Each case is (name, files, options, exit, counts, part of the output). Prints
TAP.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tap

RUNNER = Path(__file__).resolve().parent.parent / "run.py"

COMMAND = """#!/bin/sh
# Stands in for tenon: say WORDS, cat, warn WORDS, fail N, die, hang, check.
verb=$1
shift
case $verb in
say) echo "$*" ;;
part) printf %s "$*" ;;
cat) cat "$@" ;;
warn) echo "$*" >&2 ;;
fail) exit "$1" ;;
die) kill -SEGV $$ ;;
hang) sleep 30 ;;
check)
	awk '/x_unknown/ { bad = 1; printf "{\\"severity\\":\\"error\\"," \\
		"\\"code\\":\\"E0201\\",\\"file\\":\\"%s\\",\\"line\\":%d,\\"column\\":1," \\
		"\\"message\\":\\"unknown name x_unknown\\"}\\n", FILENAME, FNR }
	/x_shadow/ { printf "{\\"severity\\":\\"warning\\"," \\
		"\\"code\\":\\"W0202\\",\\"file\\":\\"%s\\",\\"line\\":%d,\\"column\\":1," \\
		"\\"message\\":\\"hides a name\\"}\\n", FILENAME, FNR }
	/x_other/ { bad = 1; printf "{\\"severity\\":\\"error\\"," \\
		"\\"code\\":\\"E0001\\",\\"file\\":\\"b.tn\\",\\"line\\":7," \\
		"\\"message\\":\\"broken\\"}\\n" }
	/x_many/ { print "{\\"more_errors\\":3,\\"more_warnings\\":0}" }
	END { exit bad ? 3 : 0 }' "$2" >&2 ;;
esac
"""

CASES = [
    ("a right output passes",
     {"a.test": "#! run: tenon say hello\n#! output\n# hello\n#! end\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a wrong output fails and shows the difference",
     {"a.test": "#! run: tenon say hello\n#! output\n# bye\n#! end\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "+hello"),
    ("an empty block wants no output",
     {"a.test": "#! run: tenon say hello\n#! output\n#! end\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "+hello"),
    ("a missing line end is seen",
     {"a.test": "#! run: tenon part x\n#! output\n# x\n#! end\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "no newline"),
    ("a missing line end can be wanted",
     {"a.test": "#! run: tenon part x\n#! output\n# x\n#\\\n#! end\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("empty lines in a block",
     {"a.test": "#! run: printf 'a\\n\\nb\\n'\n"
                "#! output\n# a\n#\n# b\n#! end\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("an unwanted exit fails",
     {"a.test": "#! run: tenon fail 3\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "exit 3, expected 0"),
    ("a wanted exit passes",
     {"a.test": "#! run: tenon fail 3\n#! exit: 3\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a wanted exit that does not come fails",
     {"a.test": "#! run: tenon say x\n#! exit: 3\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "exit 0, expected 3"),
    ("a signal is 128 and its number",
     {"a.test": "#! run: tenon die\n#! exit: 139\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a command that hangs is ended and fails",
     {"a.test": "#! run: tenon hang\n"},
     ["--timeout", "1"], 1, "0 passed, 1 failed, 0 skipped", "out of time"),
    ("a program that is not there fails",
     {"a.test": "#! run: no-such-program-at-all\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "exit 127"),
    ("stderr, exactly and in part",
     {"a.test": "#! run: tenon warn oh no\n#! stderr\n# oh no\n#! end\n"
                "#! stderr-has: no\n#! output\n#! end\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a part that is not in stdout fails",
     {"a.test": "#! run: tenon say oh no\n#! output-has: yes\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "does not hold 'yes'"),
    ("a part that is not in stderr fails",
     {"a.test": "#! run: tenon say yes\n#! stderr-has: yes\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "does not hold 'yes'"),
    ("pipes, files and &&",
     {"a.test": "#! run: tenon say one > f && tenon cat < f | tenon cat - f\n"
                "#! output\n# one\n# one\n#! end\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("quotes hide operators",
     {"a.test": "#! run: tenon say 'a | b' \"c && d\" '>'\n"
                "#! output\n# a | b c && d >\n#! end\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("2> and 2>&1",
     {"a.test": "#! run: tenon warn w 2> f && tenon cat f && "
                "tenon warn v 2>&1\n#! output\n# w\n# v\n#! end\n"
                "#! stderr\n#! end\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a failure early in a pipeline counts",
     {"a.test": "#! run: tenon fail 4 | tenon cat\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "exit 4"),
    ("&& stops at the first failure",
     {"a.test": "#! run: tenon fail 4 && tenon say no\n#! exit: 4\n"
                "#! output\n#! end\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("no file is written outside %t",
     {"a.test": "#! run: tenon say x > ../x\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "outside %t"),
    ("%s and %t are put back in output",
     {"a.test": "#! run: tenon say %s %t/x 100%%\n"
                "#! output\n# %s %t/x 100%\n#! end\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("the runs of a file share %t and count one by one",
     {"a.test": "#! run: tenon say x > f\n#! run: tenon cat f\n"
                "#! output\n# x\n#! end\n#! run: tenon fail 1\n"},
     [], 1, "2 passed, 1 failed, 0 skipped", "a.test:6"),
    ("an unknown directive fails",
     {"a.test": "#! run: tenon say x\n#! ouput\n# x\n#! end\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "unknown directive 'ouput'"),
    ("an unknown directive behind code fails",
     {"a.tn": "let x = 1; #! eror[E0201]: no\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "unknown directive"),
    ("a block that does not end fails",
     {"a.test": "#! run: tenon say x\n#! output\n# x\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "without '#! end'"),
    ("a block line without its mark fails",
     {"a.test": "#! run: tenon say x\n#! output\nx\n#! end\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "begin with '# '"),
    ("an expectation before any run fails",
     {"a.test": "#! exit: 1\n#! run: tenon fail 1\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "before any 'run'"),
    ("a file that says nothing fails",
     {"a.tn": "# only a remark\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "says nothing"),
    ("material is no test",
     {"data/a.tn": "x\n", "x/inputs/b.tn": "x\n",
      "a.test": "#! run: tenon say x\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a diagnostic at its line passes",
     {"a.tn": "let a = 1;\nlet b = x_unknown; #! error[E0201]: unknown name\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a diagnostic below its line, and by number",
     {"a.tn": "x_unknown\n#! error[E0201]\nx_unknown\n"
              "#! error@3[E0201]: unknown\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a diagnostic that is not reported fails",
     {"a.tn": "let a = 1; #! error[E0201]: unknown\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "not reported"),
    ("a diagnostic that nobody expects fails",
     {"a.tn": "x_unknown #! error[E0201]: unknown\nx_unknown\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "line 2: not expected"),
    ("a diagnostic with another code fails",
     {"a.tn": "x_unknown #! error[E0202]: unknown\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "not reported"),
    ("a diagnostic with another text fails",
     {"a.tn": "x_unknown #! error[E0201]: no such text\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "not reported"),
    ("a diagnostic at another line fails",
     {"a.tn": "x_unknown\n\nok #! error[E0201]: unknown\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "line 1: not expected"),
    ("a diagnostic of another file",
     {"a.tn": "x_other #! error@0[E0001]: b.tn:7: broken\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a diagnostic of another file is not taken for one here",
     {"a.tn": "\n\n\n\n\n\nx_other #! error[E0001]: broken\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "line 0: not expected"),
    ("diagnostics beyond the limit are not expected",
     {"a.tn": "x_many x_unknown #! error[E0201]: unknown\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "more_errors"),
    ("a warning alone exits 0",
     {"a.tn": "x_shadow #! warning[W0202]: hides\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("two diagnostics of one line",
     {"a.tn": "x_unknown x_shadow #! error[E0201]: u #! warning[W0202]: h\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a feature that is there",
     {"a.test": "#! skip-unless: json !zip\n#! run: tenon say x\n"},
     [], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a feature that is missing skips the file",
     {"a.test": "#! skip-unless: zip\n#! run: tenon fail 1\n"
                "#! run: tenon fail 2\n"},
     ["-v"], 0, "0 passed, 0 failed, 2 skipped", "(zip)"),
    ("a feature that is missing skips one run",
     {"a.test": "#! run: tenon say x\n#! run: tenon fail 1\n"
                "#! skip-unless: zip\n"},
     [], 0, "1 passed, 0 failed, 1 skipped", ""),
    ("an unknown feature fails",
     {"a.test": "#! skip-unless: zipp\n#! run: tenon say x\n"},
     [], 1, "0 passed, 1 failed, 0 skipped", "unknown feature 'zipp'"),
    ("-k picks by name",
     {"a.test": "#! run: tenon say x\n", "b.test": "#! run: tenon fail 1\n"},
     ["-k", "a.test"], 0, "1 passed, 0 failed, 0 skipped", ""),
    ("a folder without a test fails", {}, [], 1,
     "0 passed, 0 failed, 0 skipped", "nothing was run"),
    ("--also reads TAP",
     {}, ["--also", "printf 'ok 1 - a\\nnot ok 2 - b\\nok 3 # SKIP c\\n'"],
     1, "1 passed, 1 failed, 1 skipped", "b"),
    ("--also sees a plan that was not kept",
     {}, ["--also", "printf '1..3\\nok 1 - a\\nok 2 - b\\n'"],
     1, "2 passed, 1 failed, 0 skipped", "2 of 3"),
    ("--also sees an exit behind good TAP",
     {}, ["--also", "sh -c 'echo ok 1; exit 9'"],
     1, "1 passed, 1 failed, 0 skipped", "exit 9"),
    ("--also takes 77 for skipped",
     {}, ["--also", "sh -c 'exit 77'"], 0, "0 passed, 0 failed, 1 skipped", ""),
    ("--also takes any other exit for failed",
     {}, ["--also", "sh -c 'exit 5'"], 1, "0 passed, 1 failed, 0 skipped", ""),
]


def prepare(folder, files):
    build = folder / "build"
    build.mkdir()
    (build / "config.h").write_text("#define HAVE_JSON 1\n"
                                    "/* #undef HAVE_ZIP */\n")
    command = build / "tenon"
    command.write_text(COMMAND)
    command.chmod(0o755)
    cases = folder / "cases"
    cases.mkdir()
    for name, text in files.items():
        path = cases / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return command, cases


def run(folder, options):
    return subprocess.run(
        [sys.executable, str(RUNNER), "--tenon", str(folder / "build/tenon"),
         "-j", "1", *options, str(folder / "cases")],
        capture_output=True, text=True)


def check_case(case):
    name, files, options, code, counts, part = case
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        prepare(folder, files)
        done = run(folder, options)
    last = done.stdout.splitlines()[-1:] or [""]
    good = done.returncode == code and last[0] == counts \
        and part in done.stdout
    return name, good, f"exit {done.returncode}\n{done.stdout}{done.stderr}"


def check_bless():
    """--bless writes what came; the blessed file then passes unchanged."""
    text = ("tail\n#! run: printf 'a\\n\\nb'\n#! output\n# old\n#! end\n"
            "#! run: tenon warn w\n#! stderr\n#! end\n#! output\n#! end\n")
    want = ("tail\n#! run: printf 'a\\n\\nb'\n"
            "#! output\n# a\n#\n# b\n#\\\n#! end\n"
            "#! run: tenon warn w\n#! stderr\n# w\n#! end\n"
            "#! output\n#! end\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _, cases = prepare(folder, {"a.test": text})
        run(folder, ["--bless"])
        got = (cases / "a.test").read_text()
        again = run(folder, [])
    good = got == want and again.returncode == 0
    return "--bless rewrites blocks", good, got + again.stdout


def check_counts():
    """--counts appends one line a run."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        prepare(folder, {"a.test": "#! run: tenon say x\n"})
        counts = folder / "counts"
        run(folder, ["--counts", str(counts)])
        run(folder, ["--counts", str(counts)])
        got = counts.read_text()
    return "--counts appends", got == "1 0 0\n1 0 0\n", got


def check_times():
    """--times names the slowest, slowest first."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        prepare(folder, {"a.test": "#! run: true\n",
                         "b.test": "#! run: sleep 0.4\n",
                         "c.test": "#! run: true\n"})
        got = run(folder, ["--times", "1"]).stdout
    return "--times", " s  " in got and "b.test" in got \
        and "a.test" not in got and "c.test" not in got, got


def main():
    os.environ.pop("CMOCKA_MESSAGE_OUTPUT", None)
    tests = tap.Tests()
    results = [check_case(case) for case in CASES]
    results += [check_bless(), check_counts(), check_times()]
    for name, good, text in results:
        tests.check(name, good, text)
    tests.end()


if __name__ == "__main__":
    main()
