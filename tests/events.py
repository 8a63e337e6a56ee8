#!/usr/bin/env python3
"""The stream of events is what doc/events.md says.

Runs opt, emit and build with --events on modules with hostile names, parses
every line as JSON and holds it against the tables of the document: known
kinds, known members in their order, types, those that are always there. Then
what events say together: passes nest not, counts agree, fuel goes down, the
arena holds its places. Prints TAP.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

top = os.environ.get("SRCDIR", os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
tenon = os.environ.get("TENON") or os.path.join(
    os.environ.get("BUILDDIR", "build"), "tenon")
count = 0
failed = 0
TYPES = {"text": str, "int": int, "number": (int, float)}
# A quote, a backslash, an escape, a byte that is not UTF-8, a line separator.
NASTY = b'a"b\\n\x1b[1m\xff\xe2\x80\xa8 c.tn'
MODULE = """tenon 1.0;
dim B in [1, 8] opt 1, 4;
fn main(x: f32[B, 16], `we "ird\\\\ \\u{a} \\u{1f600}`: f32[16])
    -> (y: f32[B, 16]) {
  a = relu(x + `we "ird\\\\ \\u{a} \\u{1f600}`) * sum([1.0, 2.0]);
  unread = sin(x) + cos(x);
  zeros = broadcast(0.0, shape=[100000]);
  `t \\u{7} "` = cumsum(a, axis=1);
  d = `t \\u{7} "` * `t \\u{7} "`;
  e = cumsum(d + exp(x), axis=1);
  y = with (h = e) for i in 0..100 { yield cumsum(h * 0.5, axis=0); };
  return y;
}
"""


def check(name, good, what=""):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", count, name))
    if not good:
        print("# " + str(what)[:400].replace("\n", " "))


def read_schema():
    """Kind -> list of (member, type, when)."""
    schema = {}
    with open(os.path.join(top, "doc", "events.md")) as f:
        text = f.read()
    for part in text.split("\n## ")[1:]:
        rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]+) \|", part, re.M)
        if rows:
            schema[part.split("\n")[0].strip()] = rows
    return schema


def refuse(name):
    raise ValueError("no JSON: " + name)


def unique(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a member twice: %r" % pairs)
    return dict(pairs)


def faults_of(line, schema):
    """What is wrong with a line (bytes), and the event."""
    event = json.loads(line.decode("utf-8"), parse_constant=refuse,
                       object_pairs_hook=unique)
    names = list(event)
    if not names or names[0] != "event" or event["event"] not in schema:
        return ["unknown kind"], event
    rows = schema[event["event"]]
    order = [row[0] for row in rows]
    faults = []
    for name in names[1:]:
        if name not in order:
            faults.append("unknown member " + name)
        elif not isinstance(event[name], TYPES[rows[order.index(name)][1]]):
            faults.append("type of " + name)
    known = [name for name in names[1:] if name in order]
    if known != [name for name in order if name in event]:
        faults.append("order")
    faults += ["no " + row[0] for row in rows
               if row[2].strip() == "always" and row[0] not in event]
    return faults, event


def read_events(data, schema):
    """Events of a stream, and all faults."""
    events, faults = [], []
    if not data.endswith(b"\n"):
        faults.append("no newline at the end")
    for line in data.split(b"\n")[:-1]:
        try:
            wrong, event = faults_of(line, schema)
        except ValueError as error:
            wrong, event = [str(error)], {"event": "?"}
        faults += [fault + ": " + repr(line) for fault in wrong]
        events.append(event)
    return events, faults


def check_story(name, events, fuel=None):
    """What the events say together."""
    inside, rewrites, faults = None, 0, []
    places = []
    for event in events:
        kind = event["event"]
        if kind == "pass-begin":
            if inside:
                faults.append("begins inside " + inside)
            inside, rewrites = event["pass"], 0
            start = event["ops"]
        elif kind == "rewrite":
            rewrites += 1
            if event["pass"] != inside:
                faults.append("rewrite of %s inside %s" %
                              (event["pass"], inside))
        elif kind == "pass-end":
            if event["pass"] != inside or event["rewrites"] != rewrites:
                faults.append("end of " + event["pass"])
            if event["result"] == "same" and event["ops"] != start:
                faults.append("same and other: " + event["pass"])
            if fuel is not None and not 0 <= event["fuel"] <= fuel:
                faults.append("fuel %s" % event["fuel"])
            inside = None
        elif kind == "place":
            places.append(event)
            if ("value" in event) == ("scratch" in event):
                faults.append("of nobody")
        elif kind == "plan":
            if event["buffers"] != len(places):
                faults.append("buffers")
            if max(p["offset"] + p["bytes"] for p in places) != event["arena"]:
                faults.append("arena")
            if event["peak"] > event["arena"]:
                faults.append("peak")
            places = []
    if inside:
        faults.append(inside + " does not end")
    check(name + ": the story holds", not faults, faults)


def run(folder, verb, *more):
    """The stream of a run, the result."""
    path = os.path.join(os.fsencode(folder), b"events.json")
    done = subprocess.run([tenon, verb, b"--events=" + path, *more],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(path, "rb") as f:
        return f.read(), done


def kinds(events):
    return {event["event"] for event in events}


def check_stream(name, data, done, schema, fuel=None):
    events, faults = read_events(data, schema)
    check(name + ": exits with 0", done.returncode == 0, done.stderr)
    check(name + ": every line is as the document says", not faults,
          faults[:3])
    check_story(name, events, fuel)
    return events


def check_opt(folder, model, schema):
    data, done = run(folder, "opt", model)
    events = check_stream("opt", data, done, schema)
    rewrites = [e for e in events if e["event"] == "rewrite"]
    passes = {e["pass"] for e in rewrites}
    check("opt: rewrites are told", {"inline", "fold", "dce", "fuse", "lower"} <=
          passes, passes)
    sources = {e["file"] for e in rewrites if "file" in e}
    check("opt: the path of the text, mended", sources ==
          {os.fsencode(folder).decode() + '/a"b\\n\x1b[1m\ufffd\u2028 c.tn'},
          sources)
    source = open(model, "rb").read()
    fuse = [e for e in rewrites if e["rule"] == "fuse"][0]
    there = source[fuse["begin"]:fuse["end"]]
    check("opt: the span is that of the operator", b"relu" in there and
          fuse["line"] == 5 or b"exp" in there and fuse["line"] == 10, fuse)
    misses = [e for e in events if e["event"] == "miss" and
              e["value"] == "zeros"]
    check("opt: what was left is told, with place and reason", misses and
          misses[0]["pass"] == "fold" and misses[0]["line"] == 7 and
          misses[0]["reason"] == "the constant would have 100000 elements: "
          "that is above the limit", misses)
    names = {e["value"] for e in events if e["event"] == "place" and
             "value" in e}
    over = [e for e in events if e["event"] == "place" and "over" in e]
    where = {e["value"]: e["offset"] for e in events
             if e["event"] == "place" and "value" in e}
    check("opt: work in place is told", over and
          all(e["offset"] == where[e["over"]] for e in over), over)
    check("opt: odd names as they are", 't \x07 "' in names, names)
    again, _ = run(folder, "opt", model)
    times = re.compile(rb'"(verify_)?ms":[0-9.]+')
    check("opt: the same lines again", times.sub(b"", data) ==
          times.sub(b"", again))


def check_fuel(folder, model, schema):
    spent = []
    for fuel in (0, 1, 2, 1000):
        data, done = run(folder, "opt", "--fuel=%d" % fuel, "--verify-each",
                         model)
        events = check_stream("fuel %d" % fuel, data, done, schema, fuel)
        optional = [e for e in events if e["event"] == "rewrite" and
                    e["pass"] not in ("inline", "lower")]
        left = [e for e in events if e["event"] == "pass-end"][-1]["fuel"]
        check("fuel %d: each says what it leaves, 0 at the last" % fuel,
              [e.get("fuel") for e in optional] ==
              list(range(fuel - 1, fuel - 1 - len(optional), -1)), optional)
        check("fuel %d: each optional rewrite costs one" % fuel,
              fuel - left == len(optional), (left, len(optional)))
        check("fuel %d: lower goes on" % fuel,
              any(e.get("pass") == "lower" for e in events
                  if e["event"] == "rewrite"))
        spent.append(len(optional))
    check("fuel: ends the optional rewrites", spent[:3] == [0, 1, 2] and
          spent[3] > 2, spent)


def check_emit(folder, model, schema, target):
    name = "emit " + target
    out = os.path.join(folder, target.replace(":", "-"))
    data, done = run(folder, "emit", "--target=" + target, "-o", out, model)
    events = check_stream(name, data, done, schema)
    written = {e["name"]: e.get("bytes") for e in events
               if e["event"] == "file"}
    there = {f: os.path.getsize(os.path.join(out, f)) for f in written}
    check(name + ": files and their sizes", written == there,
          (written, there))
    kernels = [e for e in events if e["event"] == "kernel"]
    code = "".join(open(os.path.join(out, f)).read() for f in written
                   if f.endswith((".c", ".cu", ".h")))
    check(name + ": kernels are in the code", kernels and
          all(e["function"] + "(" in code for e in kernels), kernels)


def check_build(folder, model, schema):
    done = subprocess.run([tenon, "build", "--events=-", "--cache=none", "-o",
                           os.path.join(folder, "m.tne"), model],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    events = check_stream("build", done.stdout, done, schema)
    check("build: passes, places, kernels and files",
          kinds(events) == set(schema), set(schema) - kinds(events))


def check_errors(folder, model):
    done = subprocess.run([tenon, "opt", "--events=" + folder, model],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check("a folder is no file", done.returncode == 6 and
          b"Is a directory" in done.stderr, done.stderr)
    if os.path.exists("/dev/full"):
        done = subprocess.run([tenon, "opt", "--events=/dev/full", model],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check("a full disk is told", done.returncode == 6 and
              b"cannot write the events" in done.stderr, done.stderr)


def main():
    schema = read_schema()
    check("the document has the kinds", len(schema) == 14, list(schema))
    bad = b'{"event":"plan","fn":"f","arena":"x","peak":0,"extra":1}'
    check("a bad line is seen", sorted(faults_of(bad, schema)[0]) ==
          ["no buffers", "no step", "no steps", "type of arena", "unknown member extra"],
          faults_of(bad, schema))
    folder = tempfile.mkdtemp()
    try:
        model = os.path.join(os.fsencode(folder), NASTY)
        with open(model, "wb") as f:
            f.write(MODULE.encode())
        check_opt(folder, model, schema)
        check_fuel(folder, model, schema)
        check_emit(folder, model, schema, "c:generic")
        check_emit(folder, model, schema, "cuda:sm_80")
        check_build(folder, model, schema)
        check_errors(folder, model)
    finally:
        shutil.rmtree(folder)
    print("1..%d" % count)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
