#!/usr/bin/env python3
"""What is shown of compiling: the times of passes as a tree.

Prints TAP.
"""
import json
import os
import subprocess
import tempfile

import tap

tests = tap.Tests()
GPT2 = tap.TOP / "examples" / "gpt2" / "gpt2.tn"


def tenon(*args):
    return subprocess.run([tap.TENON, *map(str, args)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def check_part(part, faults):
    """Shares and sums of a part and all in it."""
    inside = sum(p["ms"] for p in part["parts"])
    if inside > part["ms"] + 0.01 or part["times"] < 1:
        faults.append((part["name"], part["ms"], inside))
    for p in part["parts"]:
        check_part(p, faults)


def check_times():
    done = tenon("opt", "--time-passes", "--json", "--weights=random:1", GPT2)
    roots = json.loads(done.stderr)
    tests.check("one pipeline", [r["name"] for r in roots] == ["pipeline"],
                done.stderr)
    passes = [p for p in roots[0]["parts"] if "rewrites" in p]
    names = [p["name"] for p in passes]
    known = {json.loads(line)["name"] for line in
             tenon("list", "passes", "--json").stdout.splitlines()}
    tests.check("its passes, from first to last", set(names) <= known and
                names[0] == "infer" and names[-1] == "plan", str(names))
    faults = []
    check_part(roots[0], faults)
    tests.check("parts take no longer than the whole", not faults, str(faults))
    tests.check("each pass begins with what the last one left",
              all(a["after"] == b["before"]
                  for a, b in zip(passes, passes[1:])), str(passes))
    inline = passes[names.index("inline")]
    calls = {p["name"]: p["times"] for p in inline["parts"]}
    tests.check("functions that were inlined, and how often",
              calls.get("layernorm") == 3, str(calls))
    parts = {p["name"] for p in passes[names.index("simplify")]["parts"]}
    tests.check("parts of simplify", {"matcher", "match"} <= parts, str(parts))
    tests.check("rewrites and memory", inline["rewrites"] == 11 and
              inline["allocations"] > 100 and
              inline["bytes"] > inline["allocations"], str(inline))
    done = tenon("opt", "--time-passes", "--verify-each", "--json",
                 "--weights=random:1", GPT2)
    passes = [p for p in json.loads(done.stderr)[0]["parts"]
              if "rewrites" in p]
    tests.check("verifying is a part of each pass", all(
        [q["name"] for q in p["parts"]].count("verify") == 1
        for p in passes), str(passes))


def why_not(name, text, *args):
    """What explain answers of a module, in lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "w") as f:
            f.write(text)
        done = tenon("explain", "--target=ref", *args, path)
    return done.stdout.replace(folder + "/", "").splitlines()


def check_budget():
    """Constants are no more than 64 MiB together."""
    n, steps = 100000, 100
    text = "tenon 1.0;\nfn main(x: i64[%d]) -> (y: i64[%d]) {\n" % (n, n)
    text += "  a0: i64[%d] = [%s];\n" % (n, ", ".join(map(str, range(n))))
    for i in range(steps):
        text += "  a%d = a%d * a%d;\n" % (i + 1, i, i)
    text += "  y = x + a%d;\n  return y;\n}\n" % steps
    lines = why_not("m.tn", text, "--why-not=fold",
                    "--passes=infer,inline,fold")
    done = (1 << 26) // (8 * n)
    tests.check("fold tells of its budget, of all constants", lines == [
        "m.tn:%d:9: a%d (mul): fold not done: the constant would have 100000 "
        "elements: with it all constants that were computed would be too "
        "large" % (done + 4, done + 1)], "\n".join(lines)[:2000])


def main():
    check_times()
    check_budget()
    tests.end()


if __name__ == "__main__":
    main()
