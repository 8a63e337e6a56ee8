#!/usr/bin/env python3
"""What is shown of compiling: the times of passes as a tree.

Prints TAP.
"""
import json
import subprocess

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


def main():
    check_times()
    tests.end()


if __name__ == "__main__":
    main()
