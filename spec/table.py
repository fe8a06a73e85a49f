# SPDX-License-Identifier: BSD-3-Clause
"""lib/record/functions.gen.c: the table of functions for whoever reads a recording.

The same in every build."""

import hashlib

from mpispec import EXTENTS, RELATIVES

FLAG_NAMES = ("send recv collective poll completes any persistent query pseudo large").split()


# Flags that are no part of the digest: calls are decoded without them.
OTHER_FLAGS = "local lifetime kept".split()


def _string(text):
    return "NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def flags_of(function):
    flags = ["WEND_F_" + f.upper() for f in FLAG_NAMES if f in function.flags]
    if function.self_param:
        flags.append("WEND_F_SELF")
    if function.creates_comm:
        flags.append("WEND_F_CREATES_COMM")
    return " | ".join(flags) or "0"


def _all_flags(function):
    flags = [flags_of(function)]
    flags += ["WEND_F_" + f.upper() for f in OTHER_FLAGS if f in function.flags]
    flags += ["WEND_F_" + f.upper() for f in ("matched", "neighbors", "begins", "ends", "refers")
              if getattr(function, f)]
    return " | ".join(f for f in flags if f != "0") or "0"


def _positions(function, param):
    """(count, type, displs, source, tag, extent)"""
    words = function.words()
    index = {p.name: i for i, p in enumerate(words)}
    found = {"count": -1, "type": -1, "displs": -1, "source": -1, "tag": -1}
    extent = "NONE"
    if param.extent:
        extent, names = EXTENTS[param.extent[0]]
        rule = param.extent[1]
    elif param.relative:
        names, rule = RELATIVES[param.relative[0]], param.relative[1]
    else:
        names, rule = "", []
    for name, argument in zip(names.split(), rule):
        factors = argument.split("*")  # "partitions*count"
        found[name] = index[factors[-1]]
        if len(factors) > 1:
            found["displs"] = index[factors[0]]
    return found, extent


def _params(function):
    """The initializers of a function's WendParams."""
    for p in function.words():
        at, extent = _positions(function, p)
        ctype = p.ctype if p.kind not in ("self",) else "int"
        yield (
            "    {%s, WEND_KIND_%s, WEND_DIR_%s, WEND_PLACE_%s, %s, %s, %s, %d, %d, %d, "
            "WEND_EXTENT_%s, %s, %d, %d},"
        ) % (
            _string(p.name),
            p.kind.upper(),
            p.direction.upper(),
            p.any_place().upper(),
            "true" if p.length and p.kind not in ("strings", "strings2") else "false",
            _string(ctype),
            _string(p.group),
            at["count"],
            at["type"],
            at["displs"],
            extent,
            _string(p.length),
            at["source"],
            at["tag"],
        )


def digest(function):
    """A digest of the table's description of a function. Archives name the function and rely on the
    description."""
    text = "\n".join([function.name, flags_of(function), *_params(function)])
    return "0x" + hashlib.sha256(text.encode()).hexdigest()[:8]


def table(spec):
    out = ["/* Made by spec/gen.py from spec/mpi.spec. */", '#include "lib/record/functions.h"', ""]
    for n, f in enumerate(spec.functions):
        if not f.words():
            continue
        out.append(f"static const WendParam params_{n}[] = {{ /* {f.name} */")
        out += [
            text[: -len("},")] + (", true}," if p.frees else ", false},")
            for p, text in zip(f.words(), _params(f))
        ]
        out.append("};")
    out += ["", "const WendFunction mpi_functions[] = {"]
    for n, f in enumerate(spec.functions):
        words = f.words()
        out.append(
            f'    {{"{f.name}", {_all_flags(f)}, {len(words)}, '
            f'{f"params_{n}" if words else "NULL"}, {digest(f)}, WEND_FN_{f.name}, '
            f'WEND_FN_{f.operation.name}, WEND_MODE_{f.mode.upper()}, WEND_{f.progress.upper()}, '
            f'WEND_SYNC_{f.sync.upper()}, WEND_SYNC_{f.waits.upper()}, '
            f'WEND_MAKES_{f.stated.get("makes", "none").upper()}}},'
        )
    out += [
        "};",
        f"const size_t mpi_n_functions = {len(spec.functions)};",
        "",
        "const char *const mpi_constants[] = {",
    ]
    out += [f'    "{c}",' for c in spec.constants]
    out += ["};", "const char *const mpi_constant_groups[] = {"]
    out += [f'    "{spec.group_of[c]}",' for c in spec.constants]
    out += ["};", f"const size_t mpi_n_constants = {len(spec.constants)};", "",
            "const WendConstantGroup mpi_groups[] = {"]
    for group, names in spec.groups.items():
        out.append(
            f'    {{"{group}", {len(names)}, (const '
            f'uint16_t[]){{{", ".join(str(spec.constants.index(c)) for c in names)}}}}},'
        )
    out += ["};", f"const size_t mpi_n_groups = {len(spec.groups)};"]
    return "\n".join(out) + "\n"
