"""flip.py FILE OFFSET: turns one bit of a byte round."""
import sys

with open(sys.argv[1], "r+b") as file:
    file.seek(int(sys.argv[2]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[2]))
    file.write(bytes([byte ^ 1]))
