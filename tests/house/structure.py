#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""structure.py: which files of lib/ and src/ depend on which, and where that is a cycle.

    structure.py --build BUILD --source SOURCE [--limits FILE] [--list [PLACE]]

A file depends on another one if its object refers to a symbol that the other one's object defines.
The objects are those of a build (nm). What the C library defines is the C library's, although the
tracer defines some of it, too. A folder depends on another one if one of its files does.

Reported, one finding to a paragraph, with the symbols that make each edge:
  cycle    files of one folder that depend on each other in a circle, more than 4 of them
  folders  folders that depend on each other in a circle
  files    folders with more than 40 source files
  name     base names that occur twice (file.c and file.h of one folder count as one)
  type     a name of a type that is defined in two headers
  include  an #include from a lower layer to a higher one (of lib/, of src/proxygen/)
  interface  a folder with headers whose README does not name one of them as its interface
           ("Interface: `NAME.h`"); an #include of another folder's header that is not the
           interface of its folder, and that the interface does not name
  declared   a function that is declared in a header of another folder than the file that defines it
  prefix   a function of a header whose name does not begin with the name of the header, of the file
           that defines it, of their folder, or of a type that the header defines: thread_order_new
           of thread-order.h, turn_entries_open of its type TurnEntries. Singular and plural count
           as one. "-private" does not count. "wend_" comes first exactly in the names of EXPORTED
  mpi      more than 12 string literals with the name of an MPI function, or with the beginning of
           one: code asks the table of MPI (lib/record/functions.h), by id. The literals that there
           are name symbols of the MPI library, and names of values

LIMITS has what is not yet so: lines "cycle FOLDER N", "files FOLDER N", "folders FOLDER FOLDER …",
"name NAME". A finding within its limit is not reported. Lower the limits as the findings go.

--list prints every edge, or those of one file or folder, PLACE. The exit status is 1 if anything
was reported.
"""

import argparse
import ctypes
import pathlib
import re
import subprocess
import sys

CYCLE_MOST = 4
FILES_MOST = 40
# Nothing else is linked with this target: the helpers of proxies, whose names proxies have.
ALONE = "libruntime_a"
MPI_NAMES_MOST = 12
# Whose functions a library shows. Those of include/ are not looked at.
EXPORTED = ("lib/archive/steps.h",)
FOLDERS = ("lib", "src")
# From the bottom to the top: each includes those to its left.
LAYERS = {
    "lib": (
        "base", "times", "record", "ranks", "merge", "archive", "read", "analysis",
    ),
    "src/proxygen": ("model", "analysis", "plan", "runtime", "emit"),
}


def is_source(path):
    return path.suffix in (".c", ".h") and not path.name.endswith((".gen.c", ".gen.h"))


def source_files(source):
    """The source files by folder, as paths relative to SOURCE."""
    found = {}
    for top in FOLDERS:
        for path in sorted((source / top).rglob("*")):
            if is_source(path):
                path = path.relative_to(source)
                found.setdefault(str(path.parent), []).append(path)
    return found


def source_of(path, build, source):
    """The source of an object, FOLDER/[TARGET-]NAME.o, and its target; None: it has none here."""
    folder = path.parent.relative_to(build)
    for target, name in (("", path.stem), *[tuple(path.stem.split("-", 1))] * ("-" in path.stem)):
        for root in (source, build):
            if (root / folder / (name + ".c")).is_file():
                return str(folder / (name + ".c")), target
    return None, None


def is_of_libc(symbol, libc=ctypes.CDLL("libc.so.6")):
    return hasattr(libc, symbol)


class Objects:
    """The symbols that the objects of a build define, and those that they refer to."""

    def __init__(self, build, source):
        self.defined = {}  # symbol -> {(file, target)}
        self.referred = {}  # (file, target) -> {symbol}
        objects = {}
        for top in FOLDERS:
            for path in sorted((build / top).rglob("*.o")):
                file, target = source_of(path, build, source)
                # What tests compile once more may be from an earlier build.
                if file and not target.startswith(("tests_", "bench_")):
                    objects[str(path)] = (file, target)
        if not objects:
            sys.exit(f"structure.py: {build} has no objects: run make there first")
        # -A: each line begins with the name of the object.
        text = subprocess.run(
            ["nm", "-A", "-P", *objects], check=True, capture_output=True, text=True
        ).stdout
        for line in text.splitlines():
            name, symbol, kind = re.match(r"(.*?):\s+(\S+)\s+(\S)", line).groups()
            if symbol == "main":
                continue
            if kind in "Uwv":
                self.referred.setdefault(objects[name], set()).add(symbol)
            elif kind.isupper() and not is_of_libc(symbol):
                self.defined.setdefault(symbol, set()).add(objects[name])

    def edges(self):
        """{file: {file: {symbol}}}. A symbol that two files define is that of the same target."""
        edges = {}
        for (file, target), symbols in self.referred.items():
            for symbol in symbols:
                definers = self.defined.get(symbol, ())
                same = {other for other, its in definers if its == target}
                for other in same or {other for other, its in definers if its != ALONE}:
                    if other != file:
                        edges.setdefault(file, {}).setdefault(other, set()).add(symbol)
        return edges


def cycles(edges):
    """The strongly connected components of more than one node, largest first (Tarjan 1972)."""
    number, low, stack, found = {}, {}, [], []

    def visit(first):
        work = [(first, iter(sorted(edges.get(first, ()))))]
        number[first] = low[first] = len(number)
        stack.append(first)
        while work:
            node, after = work[-1]
            for other in after:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    work.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in stack:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    at = stack.index(node)
                    if len(stack) - at > 1:
                        found.append(sorted(stack[at:]))
                    del stack[at:]

    for node in sorted(edges):
        if node not in number:
            visit(node)
    return sorted(found, key=lambda cycle: (-len(cycle), cycle))


def folder_of(file):
    return str(pathlib.PurePath(file).parent)


def within(edges, nodes):
    return {a: {b: how for b, how in edges.get(a, {}).items() if b in nodes} for a in nodes}


def folder_edges(edges):
    """{folder: {folder: {"file -> file: symbols"}}}"""
    between = {}
    for a, others in edges.items():
        for b, symbols in others.items():
            if folder_of(a) != folder_of(b):
                line = f"{a} -> {b}: {' '.join(sorted(symbols))}"
                between.setdefault(folder_of(a), {}).setdefault(folder_of(b), set()).add(line)
    return between


class Limits:
    """Known faults that are accepted for now."""

    def __init__(self, path):
        self.numbers = {}  # (kind, folder) -> N
        self.names = set()
        self.folders = []  # sets of folders
        for line in path.read_text().splitlines() if path else ():
            kind, *words = line.split("#")[0].split() or [None]
            if kind in ("cycle", "files"):
                self.numbers[kind, words[0]] = int(words[1])
            elif kind == "name":
                self.names.add(words[0])
            elif kind == "folders":
                self.folders.append(set(words))
            elif kind:
                sys.exit(f"{path}: unknown kind of limit: {kind}")


def cycles_in_folders(edges, limits):
    folders = {folder_of(file) for file in edges}
    for folder in sorted(folders):
        inside = within(edges, {file for file in edges if folder_of(file) == folder})
        most = limits.numbers.get(("cycle", folder), CYCLE_MOST)
        for cycle in cycles(inside):
            if len(cycle) > most:
                yield [f"cycle: {folder}: {len(cycle)} files, {most} are allowed"] + [
                    f"  {a} -> {b}: {' '.join(sorted(symbols))}"
                    for a, others in sorted(within(edges, set(cycle)).items())
                    for b, symbols in sorted(others.items())
                ]


def cycles_of_folders(edges, limits):
    between = folder_edges(edges)
    for cycle in cycles(between):
        if not any(set(cycle) <= known for known in limits.folders):
            yield [f"folders: {' '.join(cycle)} are a cycle"] + [
                f"  {line}"
                for a, others in sorted(within(between, set(cycle)).items())
                for b, lines in sorted(others.items())
                for line in sorted(lines)
            ]


def large_folders(files, limits):
    for folder, paths in sorted(files.items()):
        most = limits.numbers.get(("files", folder), FILES_MOST)
        if len(paths) > most:
            yield [f"files: {folder} has {len(paths)}, {most} are allowed"]


def names_twice(files, limits):
    places = {}
    for folder, paths in files.items():
        for path in paths:
            places.setdefault(path.stem, set()).add(folder)
    for name, folders in sorted(places.items()):
        if len(folders) > 1 and name not in limits.names:
            yield [f"name: {name} is a file in {', '.join(sorted(folders))}"]


COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# "} Name;" of a typedef, "typedef ... Name;", "typedef ... (*Name)(...);", "struct Name {" at the
# start of a line; "typedef struct X X;" defines nothing.
TYPE = re.compile(
    r"^\} ?(\w+);|^typedef [^{;]*\(\*(\w+)\)\(|"
    r"^typedef (?!(?:struct|union|enum) (\w+) \3;)[^{;()]*[ *](\w+)(?:\[\w*\])?;|"
    r"^(?:struct|union|enum) (\w+) \{",
    re.MULTILINE,
)


def types_twice(files, source):
    places = {}
    for paths in files.values():
        for path in (path for path in paths if path.suffix == ".h"):
            text = COMMENT_OR_STRING.sub("", (source / path).read_text())
            for match in TYPE.finditer(text):
                name = match[1] or match[2] or match[4] or match[5]
                places.setdefault(name, set()).add(str(path))
    for name, where in sorted(places.items()):
        if len(where) > 1:
            yield [f"type: {name} is defined in {', '.join(sorted(where))}"]


def mpi_literals(files, source):
    """String literals that name MPI functions. C types are no functions."""
    spec = source / "spec"
    if not spec.is_dir():
        return []
    sys.path.insert(0, str(spec))
    sys.dont_write_bytecode = True
    import mpispec

    functions = {f.name for f in mpispec.Spec(spec / "mpi.spec").functions}
    begun = {name[:n] for name in functions for n in range(len("MPIX_T"), len(name) + 1)}
    begun -= set(mpispec.CTYPES.values()) - functions
    found = []
    for path in (path for paths in files.values() for path in paths):
        for match in COMMENT_OR_STRING.finditer((source / path).read_text()):
            name = re.fullmatch(r'"P?(\w+)"', match[0])
            if name and name[1] in begun:
                found.append(f"  {path}: {match[0]}")
    return found


def mpi_names(files, source):
    found = mpi_literals(files, source)
    if len(found) > MPI_NAMES_MOST:
        yield [f"mpi: {len(found)} string literals name functions of MPI", *found]


def is_above(home, folder, levels):
    if folder.startswith("lib/") and home.startswith("src/"):
        return True
    return levels.get(home, -1) > levels[folder]


def includes_upwards(files, source):
    """Includes that lead to a higher layer, or from lib/ to src/."""
    headers = {}
    for folder, paths in files.items():
        for path in paths:
            headers.setdefault(path.name, set()).add(folder)
    for top, names in LAYERS.items():
        levels = {f"{top}/{name}": level for level, name in enumerate(names)}
        for folder in sorted(levels.keys() & files.keys()):
            for path in files[folder]:
                text = (source / path).read_text()
                for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
                    homes = headers.get(pathlib.PurePath(name).name, set())
                    if folder in homes and "/" not in name:
                        continue
                    homes = homes - {folder}
                    if homes and all(is_above(home, folder, levels) for home in homes):
                        home = min(homes)
                        yield [f"include: {path} includes {name} of {home}, which is above it"]


def interfaces(files, source):
    """The name of each folder's interface, and a finding for each folder that has none."""
    found, findings = {}, []
    for folder, paths in sorted(files.items()):
        headers = {path.name for path in paths if path.suffix == ".h"}
        readme = source / folder / "README.md"
        text = readme.read_text() if readme.is_file() else ""
        named = re.findall(r"\bInterface: `([^`]+)`", text)
        if len(named) == 1 and named[0] in headers:
            found[folder] = named[0]
        elif headers:
            names = " and ".join(named) or "no header"
            findings.append([f"interface: {folder}/README.md names {names} as the interface"])
    return found, findings


def includes_of_inner_headers(files, source):
    """Includes of headers that are neither the interface of their folder nor named in it."""
    interface, findings = interfaces(files, source)
    yield from findings
    home = {path.name: folder for folder, paths in files.items() for path in paths}
    named = {
        folder: {name, *re.findall(r"[\w-]+\.h\b", (source / folder / name).read_text())}
        for folder, name in interface.items()
    }
    for folder, paths in sorted(files.items()):
        own = {path.name for path in paths}
        for path in paths:
            text = (source / path).read_text()
            for include in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
                name = pathlib.PurePath(include).name
                other = home.get(name)
                if name not in own and other in named and name not in named[other]:
                    yield [
                        f"interface: {path} includes {include}, which {other}/{interface[other]}"
                        " does not name"
                    ]


PREPROCESSOR = re.compile(r"^[ \t]*#(?:.*\\\n)*.*", re.MULTILINE)
# Also "typedef struct X X;", and a type that is defined in one line.
ANY_TYPE = re.compile(
    r"^typedef [^{;(]*[ *](\w+);|\} ?(\w+);|^(?:struct|union|enum) (\w+) \{", re.MULTILINE
)


def replaced_throughout(pattern, by, text):
    """TEXT with all that matches replaced, until nothing matches."""
    count = 1
    while count:
        text, count = re.subn(pattern, by, text)
    return text


def functions_of(header):
    """The functions that the text of a header has, each with whether it defines it; no macros, and
    no functions of GLib or of the C library."""
    text = PREPROCESSOR.sub("", COMMENT_OR_STRING.sub("", header))
    text = replaced_throughout(r"\{[^{}]*\}", ";", text)
    text = replaced_throughout(r"\([^()]*\)", "@", text)
    for statement in text.split(";"):
        words = statement.split()
        for name in re.findall(r"\b([a-z]\w*)@", statement) if "typedef" not in words else ():
            if not name.startswith("g_") and not is_of_libc(name):
                yield name, "static" in words


def words_of(name):
    """call_stack: of call-stack, call-stack-private, CallStack and WendCallStack"""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    return re.sub(r"^wend_|_private$", "", name)


def numbers_of(words):
    """The words in singular and plural."""
    for end, other in (("", ""), ("", "s"), ("s", ""), ("es", ""), ("y", "ies"), ("ies", "y")):
        if words.endswith(end):
            yield words[: len(words) - len(end)] + other


def begins_with(function, names, exported):
    known = {number for name in names for number in numbers_of(words_of(name))}
    function, found = re.subn("^wend_", "", function)
    return found == exported and any((function + "_").startswith(name + "_") for name in known)


def functions_elsewhere(files, objects, source):
    """Functions whose header, or whose name, is not that of the place where they are defined."""
    for header in (path for paths in files.values() for path in paths if path.suffix == ".h"):
        text = (source / header).read_text()
        types = ANY_TYPE.findall(COMMENT_OR_STRING.sub("", text))
        names = {header.stem, header.parent.name, *(name for found in types for name in found)}
        for function, inline in functions_of(text):
            places = () if inline else objects.defined.get(function, ())
            places = [pathlib.PurePath(file) for file, _ in sorted(places)]
            here = [place for place in places if place.parent == header.parent]
            if places and not here:
                yield [f"declared: {header} has {function}, which {places[0]} defines"]
            names_here = names - {""} | {place.stem for place in here}
            if not begins_with(function, names_here, str(header) in EXPORTED):
                yield [f"prefix: {header}: {function}"]


def print_edges(edges, place):
    for a, others in sorted(edges.items()):
        for b, symbols in sorted(others.items()):
            if place is None or any(file.startswith(place) for file in (a, b)):
                print(f"{a} -> {b}: {' '.join(sorted(symbols))}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default="build")
    parser.add_argument("--source", type=pathlib.Path, default=".")
    parser.add_argument("--limits", type=pathlib.Path)
    parser.add_argument("--list", nargs="?", const=None, default=False, metavar="PLACE")
    arguments = parser.parse_args()
    objects = Objects(arguments.build, arguments.source)
    edges = objects.edges()
    if arguments.list is not False:
        print_edges(edges, arguments.list)
        return 0
    limits = Limits(arguments.limits)
    files = source_files(arguments.source)
    findings = [
        *cycles_in_folders(edges, limits),
        *cycles_of_folders(edges, limits),
        *large_folders(files, limits),
        *names_twice(files, limits),
        *types_twice(files, arguments.source),
        *mpi_names(files, arguments.source),
        *includes_upwards(files, arguments.source),
        *includes_of_inner_headers(files, arguments.source),
        *functions_elsewhere(files, objects, arguments.source),
    ]
    for finding in findings:
        print("\n".join(finding))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
