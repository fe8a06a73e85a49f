#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds assertions of tests that cannot fail: assertions.py FILE.bats…

The shell goes on after "! command" whatever the command does, and after "a && b" if a fails, unless
that is the last command of the test. The first must end in "|| false" or the like, the second be
two commands. Prints a line for each, and then exits with 1.
"""
import re
import sys

# these go on if the command before them fails, and are meant to
FOLLOWING = re.compile(r"(fail|skip|return|continue|break|echo|exit)\b|[A-Za-z_]+\+?=")
CONDITION = re.compile(r"(if|while|until|elif|for|local)\b|[#(]")


def top_level(text):
    """The parts of TEXT between && that are not quoted, in brackets or behind others, or None."""
    parts, part, quote, depth, at = [], "", None, 0, 0
    while at < len(text):
        c, two = text[at], text[at:at + 2]
        step = 1
        if quote:
            if quote == '"' and c == "\\":
                step = 2
            elif c == quote:
                quote = None
        elif c in "'\"":
            quote = c
        elif two in ("[[", "]]"):
            depth, step = depth + (1 if two == "[[" else -1), 2
        elif c in "({":
            depth += 1
        elif c in ")}":
            depth -= 1
        elif two == "||" and depth == 0:
            return None
        elif two == "&&" and depth == 0:
            parts.append(part.strip())
            part, at = "", at + 2
            continue
        part += text[at:at + step]
        at += step
    return parts + [part.strip()] if quote is None and depth == 0 else None


def statements(path):
    """(line, whether in a test, text) of each command, continued lines joined."""
    in_test, end, text, first = False, None, "", 0
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if end:
                end = None if line.strip() == end else end
                continue
            in_test = line.startswith("@test ") or in_test and line != "}\n"
            text, first = text + " " + line.strip() if text else line.strip(), first or number
            if text.endswith(("\\", "&&", "||", "|")):
                text = text.rstrip("\\")
                continue
            yield first, in_test, text
            here = re.search(r"<<-?\s*'?([A-Z]+)'?", text)
            end, text, first = here and here.group(1), "", 0


def main():
    found = False
    for path in sys.argv[1:]:
        for number, in_test, text in statements(path):
            parts = top_level(text) if in_test and not CONDITION.match(text) else None
            if text.startswith("! ") and "||" not in text:
                what = '"! command" fails no test'
            elif parts and len(parts) > 1 and not FOLLOWING.match(parts[-1]):
                what = '"a && b" fails no test if a fails'
            else:
                continue
            found = True
            print(f"{path}:{number}: {what}")
    sys.exit(found)


if __name__ == "__main__":
    main()
