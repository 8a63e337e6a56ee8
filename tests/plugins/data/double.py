"""An external pass for the tests: the module's text, changed as asked."""
import re
import sys

text = sys.stdin.read()
how = sys.argv[1]
if how == "double":          # every constant 3.0 becomes two times it
    text = text.replace("= 3.0;", "= 6.0;")
elif how == "head":          # another parameter
    text = re.sub(r"fn main\(", "fn main(extra: f32[1], ", text)
elif how == "dim":           # other bounds
    text = text.replace("[1, 64]", "[1, 65]")
elif how == "rename":
    text = text.replace("fn main", "fn other")
elif how == "spoil":
    text = text.replace("tenon 1.0;", "tenon 1.0; x = ;")
elif how == "empty":
    text = ""
elif how == "fail":
    print("this went wrong", file=sys.stderr)
    sys.exit(3)
elif how == "say":
    print("a word", file=sys.stderr)
elif how == "endless":
    while True:
        sys.stdout.write(text)
elif how == "ignore":        # its input is not read
    text = open(sys.argv[2]).read()
elif how == "signal":
    import os
    import signal
    os.kill(os.getpid(), signal.SIGTERM)
sys.stdout.write(text)
