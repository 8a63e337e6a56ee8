"""spoil.py FOLDER HOW: spoils the entries of a cache of compiled objects."""
import pathlib
import sys

for path in pathlib.Path(sys.argv[1]).glob("*.tno"):
    data = bytearray(path.read_bytes())
    if sys.argv[2] == "truncate":
        data = data[:len(data) // 2]
    elif sys.argv[2] == "flip":
        data[len(data) // 2] ^= 1
    else:
        data[8:40] = bytes(32)
    path.write_bytes(data)
