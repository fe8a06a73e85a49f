#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes from mpi.spec what follows from it.

  gen.py table SPEC
      lib/record/functions.gen.c, to stdout
  gen.py index SPEC
      lib/record/functions.gen.h
  gen.py wrappers SPEC --part N/PARTS --mpicc CC
      src/tracer/wrappers-N.gen.c for the MPI library of CC, one of PARTS files
  gen.py coverage SPEC --mpicc CC
      a list of the functions that the wrappers cover
  gen.py predefined SPEC --mpicc CC
      src/tracer/objects/predefined.gen.c: the library's predefined handles and error classes
  gen.py library SPEC --mpicc CC
      src/tracer/library.gen.h: the functions and symbols that the library has
  gen.py target SPEC --mpicc CC
      the same for proxygen, as a key file
  gen.py own SPEC --mpicc CC
      src/tracer/own.gen.h: Wend's own calls of MPI
"""

import argparse
import sys

import mpispec
from table import table


def index(spec):
    out = [
        "/* Made by spec/gen.py from spec/mpispec.py and spec/mpi.spec: kinds and ids. */",
        "#ifndef WEND_FUNCTIONS_GEN_H",
        "#define WEND_FUNCTIONS_GEN_H",
        "",
        "/* X(kind, its kind in wend/read.h) */",
        "#define WEND_KIND_TABLE(X) \\",
        " \\\n".join(f"    X({k.upper()}, {public})" for k, (_, public) in mpispec.KINDS.items()),
        "",
        "#define WEND_NUMBER_KINDS(X) \\",
        " \\\n".join(f"    X({k.upper()})" for k in mpispec.NUMBERS),
        "",
        "enum {",
    ]
    out += [f"    WEND_FN_{f.name} = {i}," for i, f in enumerate(spec.functions)]
    out += [
        "    WEND_N_FUNCTIONS",
        "};",
        "",
        "/* Index of a named constant: its word is WEND_CONST(WEND_CONSTANT_MPI_ANY_SOURCE). */",
        "enum {",
    ]
    out += [f"    WEND_CONSTANT_{c} = {i}," for i, c in enumerate(spec.constants)]
    out += ["    WEND_N_CONSTANTS", "};", "", "#endif"]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Makes from mpi.spec what follows from it.")
    parser.add_argument(
        "what",
        choices=[
            "table", "index", "wrappers", "coverage", "predefined", "library", "own", "target",
        ],
    )
    parser.add_argument("spec")
    parser.add_argument("-o", "--output", help="file to write (default stdout)")
    parser.add_argument("--mpicc", default="mpicc")
    parser.add_argument("--part", default="1/1", help="of the wrappers: N/PARTS (default 1/1)")
    args = parser.parse_args()
    try:
        spec = mpispec.Spec(args.spec)
        if args.what not in ("table", "index"):
            import library
            import wrappers
            mpi = library.Library(spec, args.mpicc)
        if args.what == "target":
            text = mpi.target(spec)
        elif args.what == "library":
            text = wrappers.header(spec, mpi)
        elif args.what == "predefined":
            text = wrappers.predefined(spec, mpi)
        elif args.what == "own":
            text = wrappers.own(spec, mpi)
        elif args.what == "wrappers":
            text = wrappers.wrappers(spec, mpi, *map(int, args.part.split("/")))
        elif args.what == "coverage":
            text = mpi.coverage(spec)
        else:
            text = {"table": table, "index": index}[args.what](spec)
    except mpispec.SpecError as e:
        sys.exit(f"gen.py: {e}")
    if args.output:
        with open(args.output, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
