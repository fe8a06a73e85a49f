#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the prose of Markdown files: prose.py FILE...

A line has at most 100 columns, a sentence at most 40 words. Tables and code blocks are excepted,
and so is the markup of lists, headings, links and code spans. A link to a file leads to one that is
there. Prints FILE:LINE: what is wrong; the exit status is then 1.
"""
import os
import re
import sys

COLUMNS, WORDS = 100, 40
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")


def paragraphs(lines):
    """Yields (line number, text) of each paragraph and list item."""
    at, text, code = 0, [], False
    for number, line in enumerate(lines, 1):
        fence = line.lstrip().startswith("```")
        if fence or code or not line.strip() or line.lstrip().startswith(("|", "#")):
            if text:
                yield at, " ".join(text)
            text, code = [], code != fence
            continue
        if ITEM.match(line) and text:
            yield at, " ".join(text)
            text = []
        at = at if text else number
        text.append(ITEM.sub("", line.rstrip(), count=1) if not text else line.strip())
    if text:
        yield at, " ".join(text)


def plain(text):
    """Without markup: a code span is one word, a link is its text."""
    text = re.sub(r"(`+)(?:.+?)\1", "code", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", "", text)


def sentences(text):
    return re.split(r"(?<=[.!?])[\"')]*\s+", plain(text))


def complaints(lines):
    code = False
    for number, line in enumerate(lines, 1):
        fence = line.lstrip().startswith("```")
        code = code != fence
        if len(line) > COLUMNS and not (code or fence or line.lstrip().startswith("|")):
            yield number, f"{len(line)} columns, {COLUMNS} allowed"
    for number, text in paragraphs(lines):
        for sentence in sentences(text):
            words = [w for w in sentence.split() if re.search(r"\w", w)]
            if len(words) > WORDS:
                start = " ".join(words[:6])
                yield number, f"a sentence of {len(words)} words, {WORDS} allowed: {start}..."


def dead_links(name, lines):
    for number, line in enumerate(lines, 1):
        for target in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", line):
            if not os.path.exists(os.path.join(os.path.dirname(name), target)):
                yield number, f"there is no {target}"


def main():
    bad = False
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as f:
            lines = f.read().split("\n")
        for number, complaint in [*complaints(lines), *dead_links(name, lines)]:
            print(f"{name}:{number}: {complaint}")
            bad = True
    return bad


if __name__ == "__main__":
    sys.exit(main())
