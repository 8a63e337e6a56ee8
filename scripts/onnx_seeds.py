"""Seeds and words for fuzz-onnx.sh: onnx_seeds.py WHEELS FOLDER.

Comes in: the folder with the wheel of onnx, if there is one, and the importer.
Out: into FOLDER models of the official tests up to 4 KiB, the smallest of each
set of operators, and those of tests/onnx/data/make.py; on standard output the
operators and attributes as a dictionary of libFuzzer.
"""
import glob
import hashlib
import importlib.util
import os
import re
import sys
import zipfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MOST = 4096


def official(wheels, folder):
    """Models whose nodes have the same operators are much alike: the smallest."""
    for wheel in glob.glob(os.path.join(wheels, "onnx-*.whl")):
        least = {}
        with zipfile.ZipFile(wheel) as archive:
            for info in archive.infolist():
                if not info.filename.endswith("/model.onnx") or \
                        info.file_size > MOST:
                    continue
                model = archive.read(info)
                kind = tuple(sorted(set(re.findall(rb'"[\x02-\x1c]([A-Z]\w+)',
                                                   model))))
                if kind not in least or len(model) < len(least[kind]):
                    least[kind] = model
        for model in least.values():
            write(folder, model)


def write(folder, model):
    name = hashlib.sha256(model).hexdigest()[:16] + ".onnx"
    with open(os.path.join(folder, name), "wb") as out:
        out.write(model)


def own(folder):
    path = os.path.join(TOP, "tests", "onnx", "data", "make.py")
    spec = importlib.util.spec_from_file_location("make", path)
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for name in dir(make):
        if name.startswith("model_"):
            model = getattr(make, name)()
            if len(model) <= 4 * MOST:
                write(folder, model)


def words():
    found = set()
    for path in glob.glob(os.path.join(TOP, "importers", "onnx", "*.[cd]*")):
        with open(path) as text:
            found |= set(re.findall(r'"([A-Za-z_][\w.]{1,30})"', text.read()))
    for i, word in enumerate(sorted(found)):
        print('w%d="%s"' % (i, word))


if __name__ == "__main__":
    official(sys.argv[1], sys.argv[2])
    own(sys.argv[2])
    words()
