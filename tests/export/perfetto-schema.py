#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A table of the fields of Perfetto's public schema, which no part of Wend is generated from.

    perfetto-schema.py compare TABLE PROTO   does PROTO have what the table has?
    perfetto-schema.py equal TABLE PROTO     and nothing else?
    perfetto-schema.py proto TABLE           prints the messages of the table for protoc

A line of the table is "MESSAGE.FIELD NUMBER TYPE", with "repeated" before the type of a repeated
field, or "ENUM.VALUE NUMBER". A type is a scalar type of proto2 or the name of a message or enum.
Compared are numbers and types, since these are what the wire has. Prints what differs, and exits
with 1 if anything does."""
import re
import sys

SCALARS = {"bool", "bytes", "double", "fixed32", "fixed64", "float", "int32", "int64", "sfixed32",
           "sfixed64", "sint32", "sint64", "string", "uint32", "uint64"}
BLOCK = re.compile(r"(message|enum|oneof|extend) +(\w[\w.]*)$")
FIELD = re.compile(r"(?:(optional|required|repeated) )?([\w.]+) (\w+) ?= ?(\d+)(?: ?\[.*\])?$")
VALUE = re.compile(r"(\w+) ?= ?(-?\d+)(?: ?\[.*\])?$")


def read_table(path):
    with open(path) as file:
        rows = (line.split() for line in file if line.strip() and not line.startswith("#"))
        return {row[0]: tuple(row[1:]) for row in rows}


def statements(path):
    """Yields each statement of a schema, without comments, and the { ; or } that ends it."""
    with open(path) as file:
        text = re.sub(r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"", " ", file.read(), flags=re.S)
    for statement in re.finditer(r"([^{};]*)([{};])", text):
        yield " ".join(statement[1].split()), statement[2]


def read_proto(path):
    """The fields of all messages and enums, as of the table. A nested name stands by itself."""
    fields, blocks = {}, []
    for text, end in statements(path):
        if end == "{":
            block = BLOCK.match(text)
            # the fields of a oneof are its message's
            blocks.append(blocks[-1] if block and block[1] == "oneof" else
                          block.groups() if block else ("", ""))
        elif end == "}":
            blocks.pop()
        elif blocks and blocks[-1][0] == "message" and FIELD.match(text):
            label, kind, name, number = FIELD.match(text).groups()
            repeated = ("repeated",) if label == "repeated" else ()
            add(fields, blocks[-1][1] + "." + name, (number, *repeated, kind.split(".")[-1]))
        elif blocks and blocks[-1][0] == "enum" and VALUE.match(text):
            name, number = VALUE.match(text).groups()
            add(fields, blocks[-1][1] + "." + name, (number,))
    return fields


def add(fields, name, described):
    """Names that occur twice in a large schema keep all their meanings."""
    fields.setdefault(name, set()).add(described)


def compare(table, proto, whole):
    different = []
    for name, row in table.items():
        found = proto.get(name, set())
        if row not in found:
            other = " or ".join(" ".join(r) for r in found) or "nothing"
            different.append(f"{name}: {' '.join(row)} in the table, {other} in the schema")
    if whole:
        different += [f"{name}: not in the table" for name in proto if name not in table]
    print("\n".join(different) or f"{len(table)} fields and values are the same")
    return bool(different)


def print_proto(table):
    blocks = {}
    for name, row in table.items():
        block, member = name.split(".")
        blocks.setdefault(block, []).append((member, row))
    print('syntax = "proto2";\npackage perfetto.protos;')
    for block, members in blocks.items():
        is_enum = len(members[0][1]) == 1
        print("enum" if is_enum else "message", block, "{")
        for member, (number, *kind) in members:
            label = "" if is_enum or kind[0] == "repeated" else "optional "
            print(f"  {label}{' '.join(kind)} {member} = {number};")
        print("}")


def main():
    command, table = sys.argv[1], read_table(sys.argv[2])
    used = {row[-1] for row in table.values() if len(row) > 1} - SCALARS
    assert used <= {name.split(".")[0] for name in table}, used
    if command == "proto":
        print_proto(table)
    else:
        sys.exit(compare(table, read_proto(sys.argv[3]), command == "equal"))


if __name__ == "__main__":
    main()
