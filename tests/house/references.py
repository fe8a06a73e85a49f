#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks references to sections of documents: references.py DOCUMENTS FILE...

Wherever a file says PAGE.md, "Section" and the folder DOCUMENTS has that page, the page has a
heading of that name, a paragraph that begins with it in bold, or a list item that does. Prints
FILE: the reference; the exit status is then 1.
"""
import pathlib
import re
import sys

# the markers of comments are among the words of a reference that goes over a line's end
BREAK = re.compile(r"\n[ \t]*(?:/?\*|#|//)?[ \t]*")
REFERENCE = re.compile(r'\b([a-z-]+\.md)\)?,? (?:section )?"([^"]{2,60}?)[,.]?"')


def main():
    pages = {page.name: page.read_text().replace("`", "")
             for page in pathlib.Path(sys.argv[1]).glob("*.md")}
    wrong = 0
    for name in sys.argv[2:]:
        text = BREAK.sub(" ", pathlib.Path(name).read_text(errors="replace"))
        for page, section in REFERENCE.findall(text):
            start = r"^(?:#+ (?:\d+\. )?|(?:- )?\*\*)" + re.escape(section.replace("`", ""))
            if page in pages and not re.search(start, pages[page], re.MULTILINE):
                print(f'{name}: {page}, "{section}"')
                wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
