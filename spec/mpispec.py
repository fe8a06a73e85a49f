# SPDX-License-Identifier: BSD-3-Clause
"""Reads mpi.spec, the specification of MPI's functions, and derives what follows from each line."""

import re

# Kinds of parameters: the C type, "|" before that of the large-count variant if it has another, and
# the kind in include/wend/read.h. docs/recording.md has the words of each. Archives store kinds by
# number: a new one comes last.
KINDS = {
    "self": ("int", "SELF"),  # hidden: the caller's rank in the call's communicator, window or file
    "comm": ("MPI_Comm", "COMMUNICATOR"),
    "group": ("MPI_Group", "GROUP"),
    "datatype": ("MPI_Datatype", "DATATYPE"),
    "op": ("MPI_Op", "OP"),
    "errhandler": ("MPI_Errhandler", "ERRHANDLER"),
    "info": ("MPI_Info", "INFO"),
    "file": ("MPI_File", "FILE"),
    "win": ("MPI_Win", "WINDOW"),
    "message": ("MPI_Message", "MESSAGE"),
    "session": ("MPI_Session", "SESSION"),
    "keyval": ("int", "KEYVAL"),
    "tenum": ("MPI_T_enum", "T_ENUM"),
    "cvar": ("MPI_T_cvar_handle", "T_CVAR"),
    "pvar": ("MPI_T_pvar_handle", "T_PVAR"),
    "pvarsession": ("MPI_T_pvar_session", "T_PVAR_SESSION"),
    "eventreg": ("MPI_T_event_registration", "T_EVENT_REGISTRATION"),
    "event": ("MPI_T_event_instance", "T_EVENT"),
    "request": ("MPI_Request", "REQUEST"),
    "buf": ("void *", "BUFFER"),  # choice buffer, or base pointer made by MPI
    "address": ("MPI_Aint", "ADDRESS"),  # may be an absolute address
    "count": ("int|MPI_Count", "COUNT"),
    "int": ("int", "INTEGER"),
    "disp": ("int|MPI_Aint", "DISPLACEMENT"),
    "offset": ("MPI_Offset", "OFFSET"),
    "rank": ("int", "RANK"),
    "tag": ("int", "TAG"),
    "color": ("int", "COLOR"),
    "index": ("int", "INDEX"),
    "errcode": ("int", "ERROR_CODE"),  # error code or class
    "logical": ("int", "LOGICAL"),
    "enum": ("int", "ENUMERATION"),
    "bits": ("int", "BITS"),
    "string": ("char *", "STRING"),
    # NULL-terminated or counted array of strings: length word, then each as a string
    "strings": ("char **", "STRING"),
    # array of arrays of strings, each to a NULL (MPI_Comm_spawn_multiple): length, each as strings
    "strings2": ("char ***", "STRING"),
    "func": ("int", "FUNCTION"),
    "attr": ("void *", "ATTRIBUTE"),
    "status": ("MPI_Status", "STATUS"),
    "segment": ("", "MEMORY"),  # of wend_free: a bare segment word, shape
    "skip": ("", "OTHER"),
    # no parameter in C: the bytes that the named file had before the call, or -1 if there was none.
    # Rank 0 of the communicator records it
    "found": ("int", "FILE_SIZE"),
    # displacement at the target of a one-sided operation: in a dynamic window an address there
    "target": ("MPI_Aint", "TARGET"),
    # no parameter in C: the neighbours in the graph that the call made, in the library's order
    # (lib/record/neighbours.h)
    "neighbours": ("int", "NEIGHBOURS"),
}
CTYPES = {kind: ctype for kind, (ctype, _) in KINDS.items()}
# Kinds whose elements are numbers of the program, of one word each.
NUMBERS = "count int disp offset rank tag color index errcode".split()
HANDLES = list(KINDS)[list(KINDS).index("comm") : list(KINDS).index("event") + 1]
# Kinds whose constants are the group of the same name.
OWN_GROUP = HANDLES + ["request", "rank", "tag", "color", "index", "errcode"]
# Enums that C declares as such; the others are int.
ENUMS = {"safeties": "MPI_T_cb_safety", "orderings": "MPI_T_source_order"}

# Where the value goes if the line does not say.
SHAPE_KINDS = set(HANDLES) | {
    "request", "logical", "enum", "bits", "string", "strings", "strings2", "func", "status",
    "segment", "skip",
}
OUTCOME_OUT = {"index", "errcode", "string", "attr"}

FLAGS = (
    "large special control send recv collective poll completes any persistent query pseudo"
    " replayed local lifetime kept"
).split()
# The values of facts.
SYNCS = "none loose all from_root to_root".split()
MAKES = "dup topology split group pair pair_of_groups merge spawn connect".split()
MODES = {"B": "buffered", "S": "synchronous", "R": "ready"}
EXTENTS = {  # name: (WEND_EXTENT_, names of its arguments)
    "count": ("COUNT", "count type"),
    "each": ("COUNT_SIZE", "count type"),
    "own": ("COUNT_OWN_SIZE", "count type"),
    "vector": ("VECTOR", "count type displs"),
    "vectorbytes": ("VECTOR_BYTES", "count type displs"),
    "sum": ("COUNTS_SUM", "count type"),
    "indegree": ("NEIGHBORS_IN", "count type"),
    "outdegree": ("NEIGHBORS_OUT", "count type"),
    "bytes": ("BYTES", "count"),
    "one": ("COUNT", "type"),
    "partitions": ("PARTITIONS", "displs count type"),
}
RELATIVES = {
    "recv": "source tag count type", "probe": "source tag", "message": "source count type",
    "io": "count type",
}


class SpecError(Exception):
    pass


class Param:
    """One parameter of one function; attributes as in the header comment of mpi.spec."""

    def __init__(self, name):
        self.name = name
        self.kind = self.group = self.ctype = self.length = self.place = None
        self.direction = "in"
        self.extent = self.relative = None   # (rule, [arguments])
        self.frees = self.starts = self.attaches = self.detaches = False
        self.large_only = self.distance = False
        self.conditions = []

    @property
    def is_in(self):
        return self.direction in ("in", "inout")

    @property
    def is_out(self):
        """Has out words; docs/recording.md says:
        "`inout` handles, requests, messages and buffers have in words only"."""
        if self.kind == "skip":
            return False
        if self.direction == "inout":
            return self.kind not in HANDLES and self.kind not in ("request", "buf", "status")
        return self.direction in ("out", "return")

    def in_place(self):
        """Place of the in words of a parameter: an inout's place is that of its out words."""
        if self.direction == "inout" or self.place is None:
            return "shape" if self.kind in SHAPE_KINDS else "slot"
        return self.place

    def out_place(self):
        if self.place is not None:
            return self.place
        return (
            "outcome"
            if self.kind in OUTCOME_OUT
            else "shape"
            if self.kind in SHAPE_KINDS
            else "slot"
        )

    def any_place(self):
        return self.out_place() if self.is_out else self.in_place()


class Function:
    def __init__(self, name):
        self.name = name
        self.flags = set()
        self.stated = {}      # FACT=VALUE of its line
        self.operation = self # the function that it is a variant of
        self.sync = self.waits = "none"
        self.params = []      # as in C
        self.hidden = []      # results that C does not have
        self.returned = None  # a Param, when the function does not return an error code

    def param(self, name):
        for p in self.params:
            if p.name == name:
                return p
        return None

    @property
    def self_param(self):
        """The first in parameter that is a communicator, window or file. The hidden parameter self
        is the caller's rank in it."""
        for p in self.params:
            if p.kind in ("comm", "win", "file") and p.is_in and not p.length:
                return p
        return None

    @property
    def creates_comm(self):
        return (
            any(p.kind == "comm" and p.direction == "out" for p in self.params)
            and "query" not in self.flags
            and self.name != "MPI_Comm_get_parent"
        )

    @property
    def request(self):
        """The request that it makes."""
        for p in self.params:
            if p.kind == "request" and p.direction == "out":
                return p
        return None

    @property
    def progress(self):
        """When it returns."""
        if "persistent" in self.flags:
            return "persistent"
        return "nonblocking" if self.request or "poll" in self.flags else "blocking"

    @property
    def mode(self):
        """The mode of a send."""
        if "send" not in self.flags:
            return "none"
        letter = re.match(r"MPI_I?([bsrBSR])send", self.name)
        return MODES[letter[1].upper()] if letter else "standard"

    @property
    def matched(self):
        """Looks for a message and takes it, or receives such a message."""
        return "recv" in self.flags and any(p.kind == "message" for p in self.params)

    @property
    def neighbors(self):
        return "collective" in self.flags and "eighbor_" in self.name

    @property
    def begins(self):
        return "collective" in self.flags and re.search("_begin(_c)?$", self.name)

    @property
    def ends(self):
        return "collective" in self.flags and self.name.endswith("_end")

    @property
    def refers(self):
        """Returns references to objects that exist already."""
        return "_get_" in self.name or self.name.startswith("MPI_Type_create_f90")

    def words(self):
        """All parameters of the recording: self first, the returned value last."""
        every = self.params + self.hidden
        if self.self_param:
            hidden = Param("self")
            hidden.kind, hidden.ctype = "self", "int"
            every.insert(0, hidden)
        if self.returned:
            every.append(self.returned)
        return every


def _choose(ctype, large):
    small, _, big = ctype.partition("|")
    return (big or small) if large else small


def _split(text, where):
    """Splits at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, ch in enumerate(text):
        if ch in "([<":
            depth += 1
        elif ch in ")]" or (ch == ">" and text[i - 1] != "-"):
            depth -= 1
        elif ch == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    if depth:
        raise SpecError(f"{where}: unbalanced brackets")
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


def _plainer_names(f):
    """Names that f has without one of its variations, if such a function exists: a large count, a
    persistent or nonblocking form, a half of a split collective, a mode, a matched probe."""
    if "large" in f.flags:
        yield re.sub("_c$", "", f.name)
    if "persistent" in f.flags:
        yield re.sub("_init$", "", f.name)
    if "collective" in f.flags:
        yield re.sub("_(begin|end)$", "", re.sub("_c$", "", f.name))
    if f.progress == "nonblocking":
        yield re.sub("^MPI_[IR]([a-z])", lambda m: "MPI_" + m[1].upper(), f.name)
        yield re.sub("^(MPI_Comm_|MPI_File_)i", r"\1", f.name)
    if f.mode not in ("none", "standard"):
        yield "MPI_Send"
    if f.matched:
        yield re.sub("^MPI_M([a-z])", lambda m: "MPI_" + m[1].upper(), f.name)


_PARAM = re.compile(r"(\w+)(?::(\w+)(?:\.(\w+))?)?(?:<([^>]*)>)?(?:\[(.*?)\])?((?:\s+\S+)*)$")


class Spec:
    def __init__(self, path):
        self.path = path
        self.functions = []        # sorted by name as in the file; large variants follow their line
        self.constants = []        # names, by index
        self.groups = {}           # group -> [name, …]
        self.group_of = {}         # name -> its first group
        self._names = {}
        self._by_name = {}
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                line = line.strip()
                if line and not line.startswith("#"):
                    self._line(line, f"{path}:{number}")
        names = [
            f.name for f in self.functions if "pseudo" not in f.flags and not f.name.endswith("_c")
        ]
        if names != sorted(names, key=str.lower):
            raise SpecError(
                f"{path}: functions are not sorted: "
                f"{[a for a, b in zip(names, sorted(names, key=str.lower)) if a != b][0]}"
            )
        for f in self.functions:
            self._find_operation(f)

    def _find_operation(self, f):
        """Finds what f is a variant of, and takes from there what f's line does not say."""
        plainer = [f.stated["is"]] if "is" in f.stated else _plainer_names(f)
        if "is" in f.stated and f.stated["is"] not in self._by_name:
            raise SpecError(f"{self.path}: {f.name}: there is no {f.stated['is']}")
        for name in plainer:
            if name != f.name and name in self._by_name:
                f.operation = self._find_operation(self._by_name[name])
                break
        f.stated = {**f.operation.stated, **f.stated}
        if "collective" in f.flags and f.self_param:
            f.sync, _, f.waits = f.stated.get("sync", "loose").partition(",")
            f.waits = f.waits or f.sync
        return f.operation

    def __getitem__(self, name):
        return self._by_name[name]

    def _line(self, line, where):
        head, colon, body = line.partition(":")
        words = head.split()
        if not colon or not words:
            raise SpecError(f"{where}: no colon")
        if words[0] == "constants" and len(words) == 2:
            group = self.groups.setdefault(words[1], [])
            for name in body.split():
                group.append(name)
                if name not in self.group_of:
                    self.group_of[name] = words[1]
                    self.constants.append(name)
        elif words[0] == "names" and len(words) == 2:
            for name in body.split():
                if name in self._names:
                    raise SpecError(f"{where}: {name} has a kind already")
                self._names[name] = words[1]
        else:
            flags = [w for w in words[1:] if "=" not in w]
            stated = dict(w.split("=", 1) for w in words[1:] if "=" in w)
            for flag in flags:
                if flag not in FLAGS:
                    raise SpecError(f"{where}: unknown flag {flag}")
            for key, value in stated.items():
                known = {"sync": SYNCS, "makes": MAKES, "is": value}.get(key, [])
                if [v for v in value.split(",") if v not in known]:
                    raise SpecError(f"{where}: unknown {key}={value}")
            self._add(words[0], flags, body, where, False).stated = stated
            if "large" in flags:
                self._add(words[0] + "_c", flags, body, where, True).stated = {**stated}

    def _add(self, name, flags, body, where, large):
        if name in self._by_name:
            raise SpecError(f"{where}: {name} is there already")
        f = Function(name)
        f.flags = set(flags) - {"large"} | ({"large"} if large else set())
        body, arrow, returned = body.partition("->")
        if arrow:
            f.returned = self._param("return:" + returned.strip(), where, large)
            f.returned.direction = "return"
        for text in _split(body, where):
            p = self._param(text, where, large)
            if p.kind == "found":
                p.direction, p.place, p.ctype = "out", "outcome", ""
                f.hidden.append(p)
            elif p.kind == "neighbours":
                p.direction, p.place, p.ctype, p.length = "out", "outcome", "", "neighbours"
                f.hidden.append(p)
            elif large or not p.large_only:
                f.params.append(p)
        for p in f.params:
            self._check(f, p, where)
        self.functions.append(f)
        self._by_name[name] = f
        return f

    def _param(self, text, where, large):
        m = _PARAM.match(text)
        if not m:
            raise SpecError(f"{where}: cannot read parameter {text!r}")
        name, kind, group, ctype, length, words = m.groups()
        p = Param(name)
        if kind is None:
            kind = self._names.get(name)
            if kind is None:
                raise SpecError(f"{where}: {name} has no kind")
            kind, _, group = kind.partition(".")
        if kind not in KINDS:
            raise SpecError(f"{where}: unknown kind {kind}")
        p.kind, p.length = kind, length
        p.group = group or (kind if kind in OWN_GROUP and kind in self.groups else None)
        if p.group and p.group not in self.groups:
            raise SpecError(f"{where}: unknown group {p.group}")
        if kind in ("enum", "bits") and not p.group:
            raise SpecError(f"{where}: {name} needs a group")
        p.ctype = _choose(ctype or ENUMS.get(p.group) or CTYPES[kind], large)
        for word in words.split():
            rule = re.fullmatch(r"=(\w+)\(([^)]*)\)", word)
            if word in ("in", "out", "inout"):
                p.direction = word
            elif word in ("@shape", "@slot", "@outcome"):
                p.place = word[1:]
            elif word == "frees":
                p.frees = True
            elif word == "starts" and kind == "request":
                p.starts = True
            elif word == "attaches" and kind == "buf":
                p.attaches = True
            elif word == "detaches" and kind == "buf":
                p.detaches = True
            elif word == "large":
                p.large_only = True
            elif word == "distance" and kind == "address":
                p.distance = True
            elif word[0] == "?" and len(word) > 1:
                p.conditions.append(word[1:])
            elif rule and kind == "buf" and rule[1] in EXTENTS:
                p.extent = (rule[1], rule[2].split(","))
            elif rule and kind in ("status", "request") and rule[1] in RELATIVES:
                p.relative = (rule[1], [a for a in rule[2].split(",") if a])
            else:
                raise SpecError(f"{where}: {name}: unknown word {word}")
        return p

    @staticmethod
    def _check(f, p, where):
        names = {q.name for q in f.params}
        used = []
        if p.extent:
            used += p.extent[1]
            if len(p.extent[1]) != len(EXTENTS[p.extent[0]][1].split()):
                raise SpecError(f"{where}: {p.name}: wrong number of arguments of {p.extent[0]}")
        if p.relative:
            used += [w for a in p.relative[1] for w in a.split("*")]
            if p.relative[1] and len(p.relative[1]) != len(RELATIVES[p.relative[0]].split()):
                raise SpecError(f"{where}: {p.name}: wrong number of arguments of {p.relative[0]}")
        used += [
            name for c in p.conditions if c not in ("root", "leaf", "member", "leader", "later")
            for name in c.lstrip("!").split("|")
        ]
        for name in used:
            if name not in names:
                raise SpecError(f"{where}: {p.name}: there is no parameter {name}")
