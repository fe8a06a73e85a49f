# SPDX-License-Identifier: BSD-3-Clause
"""The MPI library that Wend is built for.

Reads the exact prototypes from its mpi.h, finds which functions it defines, and compares both with
the specification."""

import os
import re
import shlex
import subprocess
import tempfile

from mpispec import SpecError


def _run(command, what, ok_codes=(0,)):
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=False
        )
    except OSError as e:
        raise SpecError(f"{what}: {e}") from e
    if done.returncode not in ok_codes:
        raise SpecError(f"{what}: {' '.join(command)} failed:\n{done.stderr.strip()}")
    return done


def _without_attributes(text):
    """TEXT without __attribute__((…)) and whatever else may surround a prototype."""
    out = []
    while True:
        at = text.find("__attribute__")
        if at < 0:
            break
        out.append(text[:at])
        rest = text[at + len("__attribute__"):]
        depth = 0
        for i, ch in enumerate(rest):
            depth += (ch == "(") - (ch == ")")
            if depth == 0 and ch == ")":
                text = rest[i + 1:]
                break
        else:
            text = ""
    out.append(text)
    return re.sub(r"\b(extern|__extension__|static|inline)\b", " ", "".join(out))


VERSIONS = ["OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION", "MPICH_VERSION"]


class CParam:
    """One parameter of a C prototype: type before and after the name."""

    def __init__(self, text):
        text = " ".join(text.split())
        m = re.fullmatch(r"(.*?)(\w+)\s*((?:\[\w*\]\s*)*)", text)
        if m and m.group(1):
            self.before, self.after = m.group(1).strip(), m.group(3).replace(" ", "")
        else:  # a type alone
            self.before, self.after = text, ""

    def declare(self, name):
        return f"{self.before} {name}{self.after}".replace("* ", "*")

    def normal(self):
        """The type without qualifiers, with one spelling for arrays."""
        t = re.sub(r"\b(const|restrict|__restrict)\b", "", self.before)
        dims = re.findall(r"\[(\w*)\]", self.after)
        if len(dims) > 1:
            return re.sub(r"\s", "", t) + "".join(f"[{d}]" for d in dims)
        return re.sub(r"\s", "", t) + "*" * len(dims)


class Prototype:
    def __init__(self, returns, params):
        self.returns = " ".join(returns.split())
        parts = [p.strip() for p in params.split(",")]
        self.varargs = "..." in parts
        self.params = [CParam(p) for p in parts if p not in ("void", "", "...")]


class Library:
    def __init__(self, spec, mpicc):
        self.mpicc = shlex.split(mpicc)
        names = [f.name for f in spec.functions if "pseudo" not in f.flags]
        with tempfile.TemporaryDirectory() as scratch:
            text, expansions = self._preprocess(scratch, spec.constants + names + VERSIONS)
            self.prototypes = {}
            for statement in text.split(";"):
                m = re.match(
                    r"^([\w\s*]+?)\b(P?MPIX?_\w+)\s*\(([^()]*)\)\s*$",
                    _without_attributes(statement).split("}")[-1].strip(),
                )
                if m and "typedef" not in m.group(1):
                    self.prototypes[m.group(2)] = Prototype(m.group(1), m.group(3))
            self.declared = {n for n in self.prototypes if not n.startswith("P")}
            every = sorted(self.declared | set(names))
            undefined = self._undefined(scratch, every + ["P" + n for n in every])
        self.defined = {n for n in every if n not in undefined}
        # Functions that the application can call, and those that the tracer can forward.
        self.has = self.declared & self.defined
        self.lacks_profiling = {
            n for n in self.has if "P" + n in undefined or "P" + n not in self.prototypes
        }
        self.undeclared = {n for n in self.defined - self.declared}
        self.expansions = expansions
        words = set(re.findall(r"\w+", text))
        # (Open MPI's names of what MPI 3 removed expand to an assertion that fails.)
        self.constants = {
            c
            for c in spec.constants
            if (expansions[c] != c or c in words) and "_Static_assert" not in expansions[c]
        }
        # Variables and functions of the library that constants expand to: MPI_UNWEIGHTED,
        # MPI_COMM_DUP_FN, Open MPI's handles.
        mentioned = {w for c in self.constants for w in re.findall(r"[A-Za-z_]\w*", expansions[c])}
        outside = set(re.findall(r"\w+", " ".join(re.findall(r"\bextern\b([^;{}]*)", text))))
        for statement in _without_attributes(text).split(";")[:-1]:
            if statement.rstrip().endswith(")"):
                outside.update(re.findall(r"(?<=[\s*])(\w+)\s*\(", statement))
        self.symbols = sorted(mentioned & outside - {"void", "int", "long", "sizeof"})

    def _calls(self, source, names):
        """For names that are macros with arguments: calls that expand them, "MPI_Comm_f2c(x)"."""
        with open(source, "w", encoding="utf-8") as f:
            f.write("#include <mpi.h>\n")
        text = _run(self.mpicc + ["-E", "-dM", source], "cannot preprocess mpi.h").stdout
        params = dict(re.findall(r"^#define (\w+)\(([^)]*)\)", text, re.M))
        return {n: f"{n}({re.sub('[^,]+', 'x', params[n])})" for n in names if n in params}

    def _preprocess(self, scratch, constants):
        source = os.path.join(scratch, "probe.c")
        calls = self._calls(source, constants)
        with open(source, "w", encoding="utf-8") as f:
            f.write("#include <mpi.h>\n")
            f.write("wend_constants_begin\n")
            # The name as a string keeps its own spelling; behind it, what it expands to.
            f.writelines(f'"{c}" => {calls.get(c, c)} wend_end\n' for c in constants)
        text = _run(self.mpicc + ["-E", "-P", source], "cannot preprocess mpi.h").stdout
        text, _, tail = text.partition("wend_constants_begin")
        found = dict(re.findall(r'"(\w+)" =>\s*(.*?)\s*wend_end', tail, re.S))
        return text, found

    def _undefined(self, scratch, names):
        """Which of the names the linker does not find: one link for all."""
        source = os.path.join(scratch, "link.c")
        with open(source, "w", encoding="utf-8") as f:
            f.writelines(f"extern char {n};\n" for n in names)
            f.write(
                "void *volatile probe[] = {"
                + ", ".join("&" + n for n in names)
                + "};\nint main(void) { return probe[0] == 0; }\n"
            )
        done = _run(
            self.mpicc + ["-w", "-fno-builtin", source, "-o", os.path.join(scratch, "link")],
            "cannot link with MPI",
            (0, 1),
        )
        if done.returncode == 0:
            return set()
        missing = set(re.findall(r"undefined reference to [`'\"](\w+)", done.stderr)) | set(
            re.findall(r"undefined symbol: (\w+)", done.stderr)
        )
        if not missing:
            raise SpecError(f"cannot link with MPI:\n{done.stderr.strip()}")
        return missing

    # -- agreement with the specification --

    def check(self, function):
        """Raises SpecError unless the specification has the parameters of the prototype."""
        proto = self.prototypes[function.name]
        params = [p for p in function.params if not (proto.varargs and p.name == "varargs")]
        if len(params) != len(proto.params):
            raise SpecError(
                f"{function.name}: {len(params)} parameters in mpi.spec, {len(proto.params)} in "
                "mpi.h"
            )
        for p, c in zip(params, proto.params):
            expected = self._expected(p)
            if expected and c.normal() not in expected:
                raise SpecError(
                    f"{function.name}: {p.name} is {c.normal()} in mpi.h, by mpi.spec it is "
                    f"{' or '.join(expected)}"
                )

    @staticmethod
    def _expected(p):
        if p.kind == "skip":
            return None
        base = p.ctype.replace(" ", "")
        if p.kind in ("string", "strings", "strings2", "buf", "func"):
            return [base]
        if p.kind == "attr":
            return [base]
        if p.length and p.length.endswith("*3"):
            return [base + "[][3]"]
        if p.length or p.direction in ("out", "inout"):
            return [base + "*"]
        if p.kind == "request" or p.kind == "status":
            return [base, base + "*"]
        return [base]

    def recordable(self, spec):
        """Functions of the specification that this library has, in order."""
        return [
            f for f in spec.functions if f.name in self.has and f.name not in self.lacks_profiling
        ]

    def target(self, spec):
        """A key file: the library's name, and the functions and macros that it offers programs."""
        expansion = self.expansions
        macros = {
            f.name
            for f in spec.functions
            if expansion.get(f.name, f.name) != f.name and "_Static_assert" not in expansion[f.name]
        }
        has = sorted(self.has | macros | set(self.constants))
        return "[library]\nname=" + self._name() + "\nhas=" + "".join(f"{n};" for n in has) + "\n"

    def _name(self):
        value = {v: self.expansions.get(v, v).strip('"') for v in VERSIONS}
        if value["OMPI_MAJOR_VERSION"] != "OMPI_MAJOR_VERSION":
            return "Open MPI " + ".".join(value[v] for v in VERSIONS[:3])
        return (
            f"MPICH {value['MPICH_VERSION']}"
            if value["MPICH_VERSION"] != "MPICH_VERSION"
            else f"the MPI library of {self.mpicc[0]}"
        )

    def coverage(self, spec):
        known = {f.name for f in spec.functions if "pseudo" not in f.flags}
        recorded = [f.name for f in self.recordable(spec)]
        unknown = sorted(self.has - known)
        lines = [f"functions that the MPI library declares and defines: {len(self.has)}",
                 f"recorded: {len(recorded)}",
                 f"difference: {len(self.has) - len(recorded)}"]
        lines += [f"  {n}: not in mpi.spec" for n in unknown]
        lines += [f"  {n}: no P{n} to forward to" for n in sorted(self.lacks_profiling & known)]
        large = [n for n in recorded if n.endswith("_c")]
        lines.insert(2, f"of these, large-count variants: {len(large)}")
        absent = sorted(known - self.has - self.undeclared)
        lines.append(
            f"in mpi.spec, but not functions of this library (absent, or macros): {len(absent)}"
        )
        lines += [f"  {n}" for n in absent]
        if self.undeclared:
            lines.append(
                "defined by the library, but not declared by its mpi.h (not recorded): "
                f"{len(self.undeclared)}"
            )
            lines += [f"  {n}" for n in sorted(self.undeclared)]
        return "\n".join(lines) + "\n"
