#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""embed.py: makes a table of the definitions in the helpers' files, for proxygen to copy.

    embed.py names|table|prototypes FILE… -o OUTPUT

A unit is what stands at the top level of a file between two blank lines, with the comment before
it. It defines functions, variables, types or macros. A comment alone, such as a heading, is none.

names        an enum with HELPER_NAME for each unit, where NAME is the first name that it defines.
             If a file before has that name, too, HELPER_mapped_NAME is that of helpers-mapped.c.
table        of each unit its text, in three forms, and the units that it uses: helper-table.h
prototypes   declarations of all that is not static, for the helpers' files themselves

A unit needs an #include with one of its names in a comment: #include <fcntl.h> /* open, creat */.
In a header, "extern" and "enum" stand for what proxygen writes: they have no text.
"""

import argparse
import pathlib
import re

COMMENT = r"/\*.*?\*/"
STRING = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])+'"
# What no name follows from: comments, strings, and names of members.
NO_NAME = re.compile(rf"{COMMENT}|{STRING}|(?:\.|->)\s*\w+", re.DOTALL)


def blank(text):
    """TEXT of the same length, without comments and strings."""
    return re.sub(
        rf"{COMMENT}|{STRING}",
        lambda match: re.sub(r"[^\n]", " ", match[0]),
        text,
        flags=re.DOTALL,
    )


def top_level(text):
    """TEXT of the same length, without what is in braces."""
    out, depth = [], 0
    for c in text:
        depth -= c == "}"
        out.append(c if depth == 0 or c == "\n" else " ")
        depth += c == "{"
    return "".join(out)


class Unit:
    """Consecutive definitions without a blank line between them."""

    def __init__(self, path, text, includes):
        self.path, self.text = path, text
        self.includes = [
            line for line, names in includes if self.identifiers() & set(names.split(", "))
        ]
        self.names, self.declarations = [], []
        self.shared = []  # where definitions begin that other files may use
        self.written_by_proxygen = self.is_type = False
        code = blank(text)
        if code.lstrip().startswith("#define"):
            self.names.append(re.search(r"#define (\w+)", code)[1])
            return
        for match in re.finditer(r"[^\s;{}][^;{}]*(?:\{\s*\}[^;{}]*;|\{\s*\}|;)", top_level(code)):
            self.definition(match.start(), code[match.start() : match.end()], match[0])

    def definition(self, start, code, head):
        """Notes what CODE defines; HEAD is CODE without what is in braces."""
        head = " ".join(head.split())
        if head.startswith("typedef"):
            self.is_type = self.path.suffix == ".h"
            self.names += re.findall(r"(\w+);$", head)
            self.names += re.findall(r"\b[A-Z]\w+", code) if "enum" in head else []
        elif head.startswith("struct") and re.fullmatch(r"struct \w+ \{ ?\};", head):
            pass
        elif head.startswith("enum"):
            self.written_by_proxygen = True
            self.names += re.findall(r"\b[A-Z]\w+", code)
        elif head.startswith("extern"):
            self.written_by_proxygen = True
            self.names += re.findall(r"(\w+)(?=\(void\);|(?:\[[^]]*\])*[,;])", head)
        elif self.path.suffix == ".h":
            pass
        elif "(" in head.split("=")[0]:
            self.names.append(re.search(r"(\w+)\(", head)[1])
            self.share(start, head, re.sub(r"\s*\{.*", "", code, flags=re.DOTALL))
        else:
            before = re.sub(r"^.*\}", "", re.sub(r" =.*", ";", head))  # the declarators
            self.names += re.findall(r"(\w+)(?:\[[^]]*\])*[,;]", before)
            self.share(start, head, "extern " + re.sub(r"\s*=.*|;$", "", code, flags=re.DOTALL))

    def share(self, start, head, declaration):
        if not head.startswith("static") and "__attribute__((weak))" not in head:
            self.shared.append(start)
            self.declarations.append(declaration + ";")

    def of_one_file(self):
        """The text for a proxy of one file."""
        text = self.text
        for start in reversed(self.shared):
            text = text[:start] + "static " + text[start:]
        return text

    def identifiers(self):
        return set(re.findall(r"\b[A-Za-z_]\w*", NO_NAME.sub(" ", self.text)))


def units_of(path):
    text = pathlib.Path(path).read_text()
    includes = re.findall(r"^(#include <.*>) */\* (.*) \*/$", text, re.MULTILINE)
    text = re.sub(r"^#(?:if|endif|include|define PROXYGEN).*\n", "", text, flags=re.MULTILINE)
    paragraph = ""
    for line in text.splitlines(keepends=True) + ["\n"]:
        code = blank(paragraph)
        if line != "\n" or code.count("{") != code.count("}"):
            paragraph += line
            continue
        if code.strip():
            unit = Unit(path, paragraph, includes)
            if unit.names:
                yield unit
        paragraph = ""


def name_units(units):
    """Gives each unit its identifier. What two files define is that of the first."""
    home = {}
    for unit in units:
        unit.id = unit.names[0]
        if unit.id in home:
            unit.id = unit.path.stem.split("-")[-1] + "_" + unit.id
        for name in unit.names:
            home.setdefault(name, unit)
    return home


def quoted(text):
    lines = [
        '"' + line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        for line in text.splitlines(keepends=True)
    ]
    return "\n        ".join(lines or ['""'])


def names(units):
    yield "#ifndef PROXYGEN_HELPER_NAMES_H\n#define PROXYGEN_HELPER_NAMES_H\n\n"
    yield "typedef enum {\n    HELPER_NONE,\n"
    yield from (f"    HELPER_{unit.id},\n" for unit in units)
    yield "    HELPERS\n} Helper;\n\n#endif\n"


def table(units):
    home = name_units(units)
    yield '#include "src/proxygen/runtime/helper-table.h"\n\n'
    yield "const HelperText helper_texts[HELPERS] = {\n"
    for unit in units:
        used = {home[name].id for name in unit.identifiers() - set(unit.names) if name in home}
        uses = [other.id for other in units if other.id in used]
        yield f"    [HELPER_{unit.id}] = {{\n        .name = {quoted(unit.names[0])},\n"
        if not unit.written_by_proxygen:
            declarations = "".join(line + "\n" for line in unit.declarations)
            definitions = unit.text
            if unit.is_type:
                declarations, definitions = definitions, ""
            yield f"        .alone =\n        {quoted(unit.of_one_file())},\n"
            yield f"        .definitions =\n        {quoted(definitions)},\n"
            yield f"        .declarations =\n        {quoted(declarations)},\n"
        if unit.includes:
            yield f"        .includes = {quoted(chr(10).join(unit.includes))},\n"
        if uses:
            listed = "".join(f"HELPER_{other}, " for other in uses)
            yield f"        .uses = (const Helper[]){{{listed}HELPER_NONE}},\n"
        yield "    },\n"
    yield "};\n"


def prototypes(units):
    yield from (f"{line}\n" for unit in units for line in unit.declarations)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("form", choices=("names", "table", "prototypes"))
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("-o", dest="output", required=True, type=pathlib.Path)
    options = parser.parse_args()
    units = [unit for path in options.files for unit in units_of(path)]
    name_units(units)
    text = "".join(globals()[options.form](units))
    head = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* made by embed.py: do not edit */\n"
    options.output.write_text(head + text)


main()
