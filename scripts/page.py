"""Parts of pages that scripts make: from `<!-- made by MAKER -->` up to
`<!-- end -->`, each line and all between.

    page.py PAGE MAKER <TEXT
"""
import os
import sys

END = "<!-- end -->"


def put(page, maker, text):
    """The maker's part of the page is the text; the page appears whole."""
    begin = "<!-- made by %s -->\n" % maker
    with open(page, encoding="utf-8") as old:
        before, rest = old.read().split(begin)
    after = rest.split(END, 1)[1]
    with open(str(page) + ".new", "w", encoding="utf-8") as new:
        new.write("%s%s%s%s%s" % (before, begin, text, END, after))
    os.replace(str(page) + ".new", page)


if __name__ == "__main__":
    put(sys.argv[1], sys.argv[2], sys.stdin.read())
