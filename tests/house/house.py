#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""house.py SOURCE: how much there is in lib/ and src/, for those who keep it small.

Generated files do not count. A function is what .clang-format lays out as one: from a line in the
first column that ends its parameters to the next "}" in the first column. A name literal is a
string that names an MPI function (structure.py). Words are rows of the glossary.
"""
import pathlib
import re
import statistics
import sys

import structure

PARTS = ("lib", "src/tracer", "src/proxygen", "src/wend", "src")


def functions(lines):
    """The name and the number of lines of each function."""
    begin = None
    for i, line in enumerate(lines):
        if line == "{":
            begin = i
        elif line == "}" and begin is not None:
            head = begin - 1
            while head > 0 and lines[head - 1] and not lines[head - 1].endswith(("}", ";", "*/")):
                head -= 1
            name = re.search(r"(\w+)\(", " ".join(lines[head:begin]))
            if name:
                yield name.group(1), i - head + 1
            begin = None


def main():
    source = pathlib.Path(sys.argv[1])
    texts = {
        path.relative_to(source): path.read_text().splitlines()
        for top in ("lib", "src")
        for path in sorted((source / top).rglob("*.[ch]"))
        if not path.name.endswith((".gen.c", ".gen.h"))
    }
    lengths = {path: len(lines) for path, lines in texts.items()}
    found = [(n, name, path) for path, lines in texts.items() for name, n in functions(lines)]
    longest, largest = max(found), max(lengths, key=lengths.get)
    glossary = (source / "docs/glossary.md").read_text()
    literals = len(structure.mpi_literals(structure.source_files(source), source))
    print(f"{'files':20}{len(lengths):8,}")
    print(f"{'  median lines':20}{statistics.median(lengths.values()):8,.0f}")
    print(f"{'  largest':20}{lengths[largest]:8,}  {largest}")
    print(f"{'folders':20}{len({path.parent for path in lengths}):8,}")
    print(f"{'functions':20}{len(found):8,}")
    print(f"{'  longest':20}{longest[0]:8,}  {longest[1]} in {longest[2]}")
    print(f"{'name literals':20}{literals:8,}")
    print(f"{'glossary words':20}{len(re.findall('^[|] (?!word|---)', glossary, re.M)):8,}")
    print(f"{'lines':20}{sum(lengths.values()):8,}")
    rest = dict(lengths)
    for part in PARTS:
        of = [path for path in rest if str(path).startswith(part + "/")]
        print(f"{'  ' + ('other ' if part == 'src' else '') + part:20}"
              f"{sum(rest.pop(path) for path in of):8,}")


main()
