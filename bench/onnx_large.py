"""Models with large weights for onnx-large.sh: onnx_large.py TENON MIB.

Out: a line a model. The memory is what the process has of its own (RssAnon),
looked at every few milliseconds; that it never has more than the bound is also
enforced, by a limit on its data.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(TOP, "tests", "onnx", "data"))
import make

SIDE = 2048                     # of a weight: 16 MiB
EACH = SIDE * SIDE * 4
MEMORY = 200 * 10**6
SECONDS = 3
BEGIN = make.field(1, 8) + make.field(8, make.field(1, "") + make.field(2, 17))


def chunk(i):
    return (b"%08d" % i) * (EACH // 8)


def head(number, size):
    return make.varint(number << 3 | 2) + make.varint(size)


def graph(count, rest):
    """A chain of products, without its weights."""
    nodes = [make.node("MatMul", ["v%d" % i, "w%d" % i], ["v%d" % (i + 1)])
             for i in range(count)]
    ends = [make.info("v%d" % i, make.FLOAT, [1, SIDE]) for i in (0, count)]
    return make.graph(nodes, ends[:1], ends[1:], rest)


def write(path, count, graph_size, pieces):
    with open(path, "wb") as out:
        out.write(BEGIN + head(7, graph_size))
        for piece in pieces:
            out.write(piece() if callable(piece) else piece)


def inside(folder, count, odd):
    """Weights in the model; `odd`: at addresses that are no multiple of 4."""
    path = os.path.join(folder, "inside.onnx")
    body = graph(count, [])
    at = len(BEGIN) + len(head(7, count * EACH)) + len(body)
    pieces, size = [body], len(body)
    for i in range(count):
        for pad in range(4):
            before = (make.field(1, SIDE) * 2 + make.field(2, make.FLOAT) +
                      make.field(8, "w%d" % i) +
                      make.field(12, "-" * pad) + head(9, EACH))
            begin = head(5, len(before) + EACH) + before
            if ((at + len(begin)) % 4 != 0) == odd:
                break
        pieces += [begin, lambda i=i: chunk(i)]
        at += len(begin) + EACH
        size += len(begin) + EACH
    write(path, count, size, pieces)
    return path


def beside(folder, count):
    path = os.path.join(folder, "beside.onnx")
    weights = [make.external("w%d" % i, make.FLOAT, [SIDE, SIDE],
                             "beside.bin", offset=i * EACH, length=EACH)
               for i in range(count)]
    body = graph(count, weights)
    write(path, count, len(body), [body])
    with open(os.path.join(folder, "beside.bin"), "wb") as out:
        for i in range(count):
            out.write(chunk(i))
    return path


def own_memory(pid):
    try:
        with open("/proc/%d/status" % pid) as lines:
            for line in lines:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def measured(command):
    """Exit status, seconds, and the most memory of its own."""
    began, most = time.monotonic(), 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                               preexec_fn=limit)
    while process.poll() is None:
        most = max(most, own_memory(process.pid))
        time.sleep(0.002)
    return process.returncode, time.monotonic() - began, most


def read_all(folder):
    began = time.monotonic()
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as data:
            while data.read(1 << 24):
                pass
    return time.monotonic() - began


def one(tenon, name, folder, path):
    """Imports; then writes text and weights elsewhere, which is not timed."""
    read_all(folder)
    reading = read_all(folder)
    status, seconds, memory = measured([tenon, "import", path])
    with tempfile.TemporaryDirectory() as out:
        wrote, took, more = measured([tenon, "import", path, "-o",
                                      os.path.join(out, "m.tn")])
        size = sum(os.path.getsize(os.path.join(out, n))
                   for n in os.listdir(out))
    fine = status == 0 and wrote == 0 and seconds - reading < SECONDS
    print("| ONNX model, %.1f GB of weights %s: import | %.2f s, %.1f MB of its "
          "own (reading the file %.2f s; with weights written %.2f s, %.1f MB) "
          "| %d s beyond reading, %d MB | %s |" % (
              size / 1e9, name, seconds, memory / 1e6, reading, took,
              more / 1e6, SECONDS, MEMORY / 1e6, "yes" if fine else "no"),
          flush=True)
    return fine


def main():
    tenon, size = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    count = max(1, (size << 20) // EACH)
    least = min(count, (1900 << 20) // EACH)
    fine = True
    for name, make_it in (
            ("beside it", lambda f: beside(f, count)),
            ("inside it", lambda f: inside(f, least, False)),
            ("inside it, not aligned", lambda f: inside(f, least, True))):
        with tempfile.TemporaryDirectory() as folder:
            fine &= one(tenon, name, folder, make_it(folder))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
