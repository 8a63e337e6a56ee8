"""Texts with one enormous thing: big.py KIND > m.tn"""
import sys

MILLION = 1000 * 1000
BIG = 4 * MILLION
TOKEN = 10 * MILLION  # one token, refused by a look at its length
HEAD = "tenon 1.0;\nfn main(x: f32) -> f32 { return "


def edge(extra):
    """A name, a number and a string of the greatest lengths, and more."""
    return ("tenon 1.0;\nfn " + "f" * (65536 + extra)
            + "(x: f32) -> f32 { return x * 1." + "0" * (4094 + extra)
            + "; }\ntest \"" + "t" * (65536 + extra) + "\" { }\n")


KINDS = {
    "escapes": lambda: HEAD + "`" + "\\u{000061}" * MILLION + "`; }",
    "longest": lambda: edge(0),
    "longer": lambda: edge(1),
    "integer": lambda: HEAD + "1" + "0" * TOKEN + "; }",
    "decimal": lambda: HEAD + "0." + "1" * TOKEN + "; }",
    "float": lambda: HEAD + "1" + "0" * TOKEN + ".0; }",
    "exponent": lambda: HEAD + "1e" + "1" * TOKEN + "; }",
    "letters": lambda: HEAD + "1" + "a" * TOKEN + "; }",
    "name": lambda: HEAD + "a" * TOKEN + "; }",
    "quoted": lambda: HEAD + "`" + "a" * TOKEN + "`; }",
    "open-quote": lambda: HEAD + "`" + "a" * BIG,
    "open-string": lambda: "tenon 1.0;\ninclude \"" + "a" * BIG,
    "string": lambda: "tenon 1.0;\ninclude \"" + "a" * TOKEN + "\";",
    "comment": lambda: "tenon 1.0;\n#" + "a" * TOKEN
    + "\nfn main(x: f32) -> f32 { return x; }",
    "minus": lambda: HEAD + "-" * BIG + "x; }",
    "parens": lambda: HEAD + "(" * BIG + "x; }",
    "braces": lambda: "tenon 1.0;\nfn main(x: f32) -> f32 " + "{" * BIG,
    "ones": lambda: HEAD + "1" + " + 1" * (BIG // 4) + "; }",
    "commas": lambda: HEAD + "f(" + "x, " * (BIG // 3) + "x); }",
    "list": lambda: HEAD + "sum([" + "1.0, " * (BIG // 5) + "1.0]); }",
    "nul": lambda: "tenon 1.0;\n" + "\0" * BIG,
    "junk": lambda: "tenon 1.0;\n" + "$\n" * (BIG // 2),
    "axes": lambda: "tenon 1.0;\nfn main(x: f32[" + "2, " * MILLION
    + "2]) -> f32 { return 1.0; }",
}
sys.stdout.write(KINDS[sys.argv[1]]() + "\n")
