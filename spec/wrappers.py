# SPDX-License-Identifier: BSD-3-Clause
"""Writes src/tracer/wrappers-N.gen.c: a wrapper for each function of the MPI library that has
none written by hand. There are some files of it, because one would take as long to compile as all
the rest on another core."""

import re

from mpispec import EXTENTS, HANDLES, NUMBERS, SpecError
from wrapper_onesided import OneSidedOfWrapper
from wrapper_turns import TurnsOfWrapper

# The local variables of a wrapper.
LOCALS = {
    "c", "rc", "self", "facts", "from", "filled", "elements", "i", "origin", "patterns", "at_root",
    "at_leaf", "at_member", "at_leader", "found", "posting", "unsent", "turns", "posted", "receive",
    "send", "sent", "access", "shared_order",
}
ROW = {"shape": "&c->shape", "slot": "&c->slots", "outcome": "&c->outcome"}
STATUS = "objects_encode_status(c, encode_status_filled(filled), "
PUT = {"shape": "call_put_shape", "slot": "call_put_slot", "outcome": "call_put_outcome"}
SCALAR_NUMBERS = {*NUMBERS, "enum"}
AMOUNTS = {"count", "offset"}
SIGNIFICANT = ("root", "leaf", "member", "leader")
# Values with which an argument says that others are not used, by kind.
NOTHING = {"rank": "MPI_PROC_NULL", "message": "MPI_MESSAGE_NO_PROC", "op": "MPI_NO_OP"}
LENGTH_HELPERS = {
    "cart_ndims", "graph_nodes", "graph_edges", "graph_neighbors", "type_integers",
    "type_addresses", "type_large_counts", "type_datatypes",
}


class Wrapper(TurnsOfWrapper, OneSidedOfWrapper):
    """Writes one wrapper. Its lines collect in self.out; declarations that outlive the call come
    first."""

    def __init__(self, function, library, number_groups):
        self.f = function
        self.proto = library.prototypes[function.name]
        self.groups = number_groups
        self.out = []
        taken = LOCALS & {p.name for p in function.params}
        if taken:
            raise SpecError(f"{function.name}: no parameter can be called {taken.pop()}")
        self.ctype = {p.name: c for p, c in zip(function.params, self.proto.params)}

    def line(self, text, depth=1):
        self.out.append("    " * depth + text)

    def is_pointer(self, p):
        return self.ctype[p.name].normal().endswith("*")

    # -- expressions --

    def word(self, p, value):
        """The word of one value of a kind that has a single word and needs no output of its own."""
        if p.kind == "pvar":
            return f"encode_pvar_word({value})"
        if p.kind in HANDLES:
            return f"handle_word(HANDLE_{p.kind.upper()}, HANDLE_VALUE({value}))"
        if p.kind == "logical":
            return f"(int64_t)({value} != 0)"
        if p.kind == "bits":
            return f"bits_{p.group}({value})"
        if p.kind in SCALAR_NUMBERS:
            return f"const_{p.group}({value})" if p.group in self.groups else f"(int64_t){value}"
        raise AssertionError(f"{self.f.name}: {p.name}: no single word for {p.kind}")

    def value_of(self, name, after):
        """A parameter as a number, for lengths and sizes. Of an out or inout parameter it is the
        value that the pointer leads to."""
        p = self.f.param(name)
        if p.direction == "in" or p.length:
            return f"(int64_t){name}"
        if p.direction == "inout" and not after:
            return f"before_{name}"
        return f"({name} ? (int64_t)*{name} : 0)"

    def length(self, rule, p, after):
        """(condition under which the length is known or None, expression)"""
        if rule in ("size", "ownsize"):
            return "facts", "comm_metadata_size(facts)" if rule == "size" else "facts->size"
        if self.f.param(rule):
            return None, self.value_of(rule, after)
        if rule in ("indegree", "outdegree"):
            return "facts", f"comm_{rule}({self.f.self_param.name})"
        m = re.fullmatch(r"(\w+)\*(\d+)", rule)
        if m:
            return None, f"{m.group(2)} * {self.value_of(m.group(1), after)}"
        m = re.fullmatch(r"(\w+)\((.*)\)", rule)
        if m and m.group(1) == "least":
            first, rest = m.group(2).split(",", 1)
            ka, a = self.length(first, p, after)
            kb, b = self.length(rest, p, after)
            return ka or kb, f"length_least({a}, {b})"
        if m and m.group(1) in ("sum", "last"):
            array, n = m.group(2).split(",")
            return None, f"length_{m.group(1)}({array}, {self.value_of(n, after)})"
        if m and m.group(1) in ("degree_in", "degree_out"):
            return (
                "facts",
                f"comm_{'in' if m.group(1) == 'degree_in' else 'out'}degree({m.group(2)})",
            )
        if m and m.group(1) in ("weights_in", "weights_out"):
            return (
                "facts",
                f"(comm_weighted({m.group(2)}) ? comm_{m.group(1)[8:]}degree({m.group(2)}) : 0)",
            )
        # Only the root has error codes; an array that another rank gives may hold none.
        if m and m.group(1) == "spawned":
            return None, f"at_root ? length_spawned({m.group(2)}) : 0"
        if m and m.group(1) in LENGTH_HELPERS:
            large = "_c" if self.f.name.endswith("_c") else ""
            known = "facts" if "comm" in m.group(2) else None
            return known, f"length_{m.group(1)}{large}({m.group(2)})"
        raise AssertionError(f"{self.f.name}: {p.name}: unknown length {rule}")

    def is_nothing(self, name):
        """C expression: the argument has a value with which others are not used. None: no value of
        its kind says so."""
        p = self.f.param(name)
        if not p or p.kind not in NOTHING:
            return None
        return (f"{name} && *{name} == {NOTHING[p.kind]}" if self.is_pointer(p)
                else f"{name} == {NOTHING[p.kind]}")

    def condition(self, p, after):
        """C condition of the parameter's significance, or None."""
        terms = []
        for word in p.conditions:
            if word in ("root", "leaf", "member"):
                terms.append(f"at_{word}")
            elif word == "later" or word[0] != "!" and self.is_nothing(word.split("|")[0]):
                if p.kind != "buf":  # of buffers it says whether they are touched
                    terms.append(f"!({self.is_nothing(word)})")
            elif word == "leader":
                terms.append("at_leader")
            elif word[0] == "!":
                terms.append(f"{word[1:]} != MPI_IN_PLACE")
            elif after:
                q = self.f.param(word)
                terms.append(
                    f"before_{word} > 0" if q.direction == "inout" else f"{word} && *{word}"
                )
        return " && ".join(terms) or None

    # -- what the call touches --

    def any_positive(self, counts, types="NULL"):
        """C condition: one of the counts is positive, of a datatype that is not empty."""
        known, n = self.length(self.f.param(counts).length, None, False)
        some = f"length_touches({counts}, sizeof *{counts}, {n}, {types})"
        return f"(!{known} || {some})" if known else some

    def touched_by_extent(self, p):
        """C condition: the extent of the buffer is not empty."""
        rule, names = p.extent
        named = dict(zip(EXTENTS[rule][1].split(), names))
        count, of_type = named.get("count"), named.get("type")
        if rule == "vectorbytes":
            return self.any_positive(count, of_type)
        terms = []
        if rule == "sum" and p.direction == "inout":
            other = next(q.name for q in self.f.params if q.kind == "buf")
            own = f"length_touches_own({count}, sizeof *{count}, self)"
            terms.append(f"({other} == MPI_IN_PLACE ? {self.any_positive(count)} : {own})")
        elif rule in ("vector", "sum"):
            terms.append(self.any_positive(count))
        elif count:
            terms.append(f"{count} > 0")
        if rule == "partitions":
            terms.append(f"{named['displs']} > 0")
        if rule in ("indegree", "outdegree"):
            terms.append(f"(!facts || comm_{rule}({self.f.self_param.name}) > 0)")
        if of_type:
            terms.append(f"!datatype_is_empty({of_type})")
        return " && ".join(terms)

    def touched(self, p):
        """C condition: the call reads or writes the buffer. None if it always does."""
        if p.attaches:
            return None  # the address says what is detached later
        terms = []
        for word in p.conditions:
            if word == "later":
                other = next(q.name for q in self.f.params if q.kind == "buf")
                terms.append(f"(self != 0 || {other} == MPI_IN_PLACE)")
            elif word[0] != "!" and word not in SIGNIFICANT:
                nothing = [self.is_nothing(name) for name in word.split("|")]
                terms.append(f"!({' && '.join(nothing)})")
        if p.extent:
            terms.append(self.touched_by_extent(p))
        elif self.splits() == "end":
            terms.append("comm_split_touches(fh)")
        return " && ".join(terms) or None

    def splits(self):
        """Whether the function begins or ends a split collective operation on a file."""
        if not self.f.param("fh") or not self.f.param("buf") or self.f.request:
            return None
        if self.f.param("buf").extent:
            return None if self.f.param("status") else "begin"
        return "end"

    def put_buffer(self, p, depth):
        touched = self.touched(p)
        if not touched:
            self.line(f"encode_in_buf(c, {p.name});", depth)
            return
        if "collective" in self.f.flags and not self.f.param("fh"):
            touched = f"{p.name} == MPI_IN_PLACE || ({touched})"
        elif self.splits() == "begin":
            touched = f"comm_split_begins(fh, {touched})"
        self.line(f"encode_in_buf_if(c, {p.name}, {touched});", depth)

    # -- input words --

    def put_in(self, p):
        row, put = ROW[p.in_place()], PUT[p.in_place()]
        cond = self.condition(p, False)
        depth = 1
        if p.kind in ("skip", "status"):
            return
        if p.length and p.kind not in ("strings", "strings2", "request"):
            self.put_array(p, False)
            return
        if p.kind == "request":
            if p.length:
                _, n = self.length(p.length, p, False)
                count = f"{p.name} && {n} > 0 ? (int)({n}) : 0"
                self.line(f"live_requests_encode(c, {count}, {p.name}, true);")
            elif self.is_pointer(p):
                self.line(f"live_requests_encode(c, 1, {p.name}, false);")
            else:
                self.line(f"live_request_encode_value(c, {p.name});")
            return
        value = p.name
        pointed = (
            p.direction == "inout" and p.kind != "buf" or self.is_pointer(p) and p.kind in HANDLES
        )
        if pointed:
            value = f"*{p.name}"
            cond = f"{p.name}" if not cond else f"{cond} && {p.name}"
        if p.kind in HANDLES or p.kind in SCALAR_NUMBERS or p.kind in ("logical", "bits"):
            word = self.word(p, value)
            if put == "call_put_slot" and p.kind in AMOUNTS and self.f.request:
                put = "call_put_amount"
            self.line(f"{put}(c, {cond} ? {word} : WEND_ABSENT);" if cond else f"{put}(c, {word});")
            return
        if cond:
            self.line(f"if (!({cond}))")
            self.line("call_put_shape(c, WEND_ABSENT);", 2)
            self.line("else")
            depth = 2
        if p.kind == "buf":
            self.put_buffer(p, depth)
        elif p.kind == "address":
            self.line(f"{self.address_put(p)}(c, {value});", depth)
        elif p.kind == "target":
            self.line(f"encode_in_target(c, facts, target_rank, {value});", depth)
        elif p.kind == "attr":
            self.line(f"encode_in_kept_pointer(c, (const void *){value});", depth)
        elif p.kind == "string":
            self.line(f"encode_string({row}, {value});", depth)
        elif p.kind in ("strings", "strings2"):
            n = (
                f"length_of_strings((char *const *){value})"
                if p.length == "null"
                else f"length_of_array({value}, {self.length(p.length, p, False)[1]})"
            )
            cast = "(char *const *)" if p.kind == "strings" else "(char **const *)"
            self.line(f"encode_{p.kind}({row}, {cast}{value}, {n});", depth)
        elif p.kind == "func":
            if p.group in self.groups:
                self.line(f"encode_in_func_{p.group}(c, (const void *)(uintptr_t){value});", depth)
            else:
                self.line(f"encode_in_func(c, (const void *)(uintptr_t){value});", depth)
        else:
            raise AssertionError(f"{self.f.name}: {p.name}: no in words for {p.kind}")

    def address_put(self, p, returned=None):
        """The function that puts an address: in a call with a datatype it is a displacement;
        elsewhere the program asked MPI for it, or computed it from such an address."""
        prefix = "out" if returned else "in"
        if p.distance:
            return f"encode_{prefix}_displacement_alone"
        return (
            "encode_in_address"
            if any(q.kind == "datatype" for q in self.f.params)
            else f"encode_{prefix}_asked_address"
        )

    # -- arrays, in and out --

    def patterns(self, p, place, after):
        """What progressions there can be (lib/record/layout.c, layout_pattern).

        None: each element has its words."""
        if after and p.kind in HANDLES:
            return None
        if p.kind == "address":
            return "PATTERN_ADDRESSES"
        if p.kind in HANDLES or place == "shape":
            return "PATTERN_EQUAL"
        if p.kind in ("enum", "logical", "bits"):
            raise AssertionError(f"{self.f.name}: {p.name}: what progressions can there be?")
        return "PATTERN_NAMED" if p.group in self.groups else "PATTERN_NUMBERS"

    def put_array(self, p, after):
        place = p.out_place() if after else p.in_place()
        length_row = "call_put_outcome" if after and place == "outcome" else "call_put_shape"
        known, n = self.length(p.length, p, after)
        cond = " && ".join(x for x in (self.condition(p, after), known) if x)
        length = f"length_of_array({p.name}, {n})"
        if p.group == "weights":
            length = f"length_of_weights({p.name}, {n})"
        elif p.kind == "errcode" and after:
            length = f"{p.name} == MPI_ERRCODES_IGNORE ? WEND_IGNORE : {length}"
        self.line("{")
        self.line(f"int64_t elements = {f'!({cond}) ? WEND_ABSENT : ' if cond else ''}{length};", 2)
        if p.kind == "address":
            self.line(
                f"Origin origin = encode_displacement_origin(c, {p.name}, elements, "
                f"sizeof *{p.name});",
                2,
            )
        element = f"{p.name}[i]"
        if p.length.endswith("*3"):
            element = f"{p.name}[i / 3][i % 3]"
        put = PUT[place]
        pattern = None if place == "outcome" else self.patterns(p, place, after)
        if pattern:
            array = (
                f"origin.base ? 0 : sizeof *{p.name}"
                if p.kind == "address"
                else "sizeof(int)"
                if p.length.endswith("*3")
                else f"sizeof *{p.name}"
            )
            begin = f"array_patterns_begin(c, {p.name}, {array}, elements, {pattern})"
            self.line(f"ArrayPatterns patterns = {begin};", 2)
            self.line(
                "for (int64_t i = 0; i < elements; i = array_patterns_next(c, &patterns, i))", 2
            )
        else:
            self.line(f"{length_row}(c, elements);", 2)
            self.line("for (int64_t i = 0; i < elements; i++)", 2)
        if p.kind == "address":
            self.line(f"encode_in_patterned_displacement(c, {element}, &origin, &patterns);", 3)
        elif after and p.kind == "datatype":
            self.line(f"datatype_made(c, {element});", 3)
        elif after and p.kind in HANDLES:
            self.line(
                f"{put}(c, handle_made(c, HANDLE_{p.kind.upper()}, HANDLE_VALUE({element})));", 3
            )
        elif p.group == "weights":
            self.line(f"{put}(c, (int64_t){element});", 3)
        else:
            self.line(f"{put}(c, {self.word(p, element)});", 3)
        self.line("}")

    # -- output words --

    def put_out(self, p, returned=None):
        f = self.f
        if p.length:
            self.put_array(p, True)
            return
        put = PUT[p.out_place()]
        cond = self.condition(p, True)
        name = p.name
        if p.kind == "status":
            self.put_out_status(p, cond)
            return
        if p.kind == "request":
            return  # live_request_end_call
        present = returned is not None or f"{name}"
        value = returned or f"*{name}"
        guard = "" if returned else name
        if cond:
            guard = f"{cond} && {guard}" if guard else cond
        if p.kind == "string":
            self.line(f"if ({guard})")
            self.line(f"encode_string({ROW[p.out_place()]}, {name});", 2)
            self.line("else")
            self.line(f"{put}(c, WEND_ABSENT);", 2)
            return
        if p.kind == "attr":
            key = next(q.name for q in f.params if q.kind == "keyval")
            self.line(f"if ({guard})")
            self.line(f"encode_out_attr(c, {key}, {name});", 2)
            self.line("else")
            self.line("call_put_outcome(c, WEND_ABSENT);", 2)
            return
        if p.kind in SCALAR_NUMBERS or p.kind in ("logical", "bits"):
            word = self.word(p, value)
            if f.name in ("MPI_Add_error_class", "MPI_Add_error_code"):
                self.line(f"error_code_added({value});")
            self.line(f"{put}(c, {f'{guard} ? {word} : WEND_ABSENT' if guard else word});")
            return
        del present
        body = []
        if p.kind == "comm":
            if returned:
                raise AssertionError(f"{f.name}: returns a communicator")
            if f.request:
                body.append(f"comm_made_later(c, {f.self_param.name}, {name});")
            else:
                body.append(f"comm_made(c, {value});")
        elif p.kind == "datatype":
            for q in f.params:
                if q.kind == "datatype" and q.is_in:
                    types = f"{q.name}, (int64_t){q.length}" if q.length else f"&{q.name}, 1"
                    body.append(f"c->varies |= datatypes_vary({types});")
            body.append(f"datatype_made(c, {value});")
        elif p.kind in HANDLES:
            kind = p.kind.upper()
            if returned:  # f2c: known or not, nothing is made
                word = f"handle_word(HANDLE_{kind}, HANDLE_VALUE({value}))"
            else:
                word = f"handle_made(c, HANDLE_{kind}, HANDLE_VALUE({value}))"
            body.append(f"call_put_shape(c, {word});")
            if not returned:
                comm = f.param("comm")
                if p.kind in ("win", "file") and comm:
                    body.append(f"comm_made_{p.kind}({value}, comm);")
                if p.kind == "message":
                    body.append(f"message_made({value}, self, source, tag);")
        elif p.kind == "buf":
            base = f"*(void **){name}"
            if p.extent:
                win = f.param("win")
                owner = (
                    "0" if not win else f"HANDLE_VALUE({'*' if win.direction == 'out' else ''}win)"
                )
                kind = "WIN" if win else "MPI"
                size = self.value_of(p.extent[1][0], True)
                # Where an empty part of a window begins differs between runs (Open MPI). In a
                # shared window others may look it up.
                if win and win.direction == "out" and "shared" not in f.name:
                    base = f"({size} ? {base} : NULL)"
                body.append(f"memory_add(WEND_SEGMENT_{kind}, {base}, (size_t){size}, {owner});")
            body.append(f"encode_in_buf(c, {base});")
        elif p.kind == "address" and f.param("datatype"):
            body.append(f"encode_out_bound(c, datatype, {value});")
        elif p.kind == "address":
            body.append(f"{self.address_put(p, returned)}(c, {value});")
        else:
            raise AssertionError(f"{f.name}: {name}: no out words for {p.kind}")
        if guard:
            self.line(f"if ({guard}) {{")
            for b in body:
                self.line(b, 2)
            self.line("} else {")
            in_shape = p.kind in ("buf", "address") and p.out_place() != "outcome"
            self.line(f"{'call_put_shape' if in_shape else put}(c, WEND_ABSENT);", 2)
            self.line("}")
        else:
            for b in body:
                self.line(b)

    def put_nulls(self):
        """Puts which results the caller gave NULL for. Lengths and the words of statuses show that
        already, except for arrays in a failed call."""
        index = {p.name: i for i, p in enumerate(self.f.words())}
        pointers = [
            p.name
            for p in self.f.params
            if p.direction in ("out", "inout")
            and self.is_pointer(p)
            and p.kind not in ("skip", "status", "buf")
            and (p.direction == "out" or not p.length)
            and not (p.conditions and p.length)
            and not (p.kind == "errcode" and p.length)
        ]
        if pointers:
            test = " | ".join(f"!{name}" for name in pointers)
            bits = " | ".join(f"(int64_t)!{name} << {index[name]}" for name in pointers)
            self.line(f"if (__builtin_expect({test}, 0))")
            self.line(f"c->nulls = {bits};", 2)

    def posted_bytes(self, relative):
        """The size that was posted, from the rule's last two arguments."""
        kind, args = relative
        if kind == "probe" or not args:
            return "0"
        factors = [self.value_of(w, False) for w in args[-2].split("*")]
        return f"encode_posted_bytes({' * '.join(factors)}, {args[-1]})"

    def put_out_status(self, p, cond):
        self.line(f"encode_status_given(c, {p.name});")
        if p.relative is None:  # of a request that came by value
            text = "live_request_encode_status(c, 0, encode_status_filled(filled));"
        else:
            kind, args = p.relative
            size = self.posted_bytes(p.relative)
            if kind == "io":
                text = f"encode_out_status_io(c, encode_status_filled(filled), {size});"
            elif kind == "message":
                text = f"{STATUS}from.self, from.source, from.tag, {size});"
            else:
                text = f"{STATUS}self, {args[0]}, {args[1]}, {size});"
        if cond:
            self.line(f"if ({cond})")
            self.line(text, 2)
            self.line("else")
            self.line("encode_out_status_absent(c);", 2)
        else:
            self.line(text)

    def put_truncated(self):
        """The status of a receive whose message was too long: the message is gone, and a replay
        must know which it was."""
        for p in self.f.params:
            if p.kind == "status" and p.relative and p.relative[0] == "recv":
                source, tag = p.relative[1][:2]
                size = self.posted_bytes(p.relative)
                self.line("else if (c->rc == MPI_ERR_TRUNCATE)")
                self.line(f"{STATUS}self, {source}, {tag}, {size});", 2)

    # -- the whole --

    def replayed(self):
        """The parameters that take another value in a replay, and the value.

        src/tracer/replay/enforce.h defines the values. Source and tag come first."""
        f = self.f
        kinds = ("recv", "probe")
        of = next((p for p in f.params if p.relative and p.relative[0] in kinds), None)
        if not of or "poll" in f.flags or "persistent" in f.flags:
            return {}
        source, tag = of.relative[1][:2]
        if of.kind == "request":
            values = {source: "posting.source", tag: "posting.tag"}
            if "send" not in f.flags:
                values[f.self_param.name] = "posting.comm"
            return values
        before = f.params[:f.params.index(of)]
        at = 2 + sum(p.is_out and p.out_place() == "outcome" for p in before)
        return {
            source: f"replay_source(c, {source}, self, {at})",
            tag: f"replay_tag(c, {tag}, {at})",
        }

    def call(self, recording):
        args = []
        replayed = self.replayed() if recording else {}
        for p in self.f.params:
            if p.kind == "func":
                kind = p.ctype.replace(" *", "").strip()
                args.append(f"CALLBACK({kind}, {p.name})")
            elif p.kind == "status" and p.direction == "out" and recording:
                args.append("filled")
            elif p.name in replayed:
                args.append(replayed[p.name])
            elif (
                self.spawns()
                and recording
                and p.kind in ("strings", "strings2", "string", "info")
            ):
                args.append(self.spawned(p))
            else:
                args.append(p.name)
        made = f"P{self.f.name}({', '.join(args)})"
        if recording and self.may_stay_unsent():
            return f"unsent ? replay_send_nowhere({self.f.request.name}) : {made}"
        if recording and self.f.flags & {"poll", "replayed"}:
            again = "c, self" if self.f.self_param and "poll" in self.f.flags else "c"
            function = self.f.name.replace("MPI_", "replay_").lower()
            return f"c->recorded ? {function}({again}, {', '.join(args)}) : {made}"
        return made

    def may_stay_unsent(self):
        """It makes a request for a send, which may be cancelled in time."""
        return self.f.request and self.f.flags & {"send", "recv", "persistent"} == {"send"}

    def spawns(self):
        return self.f.name.startswith("MPI_Comm_spawn")

    def spawned(self, p):
        """What the library gets of what is started: families.h."""
        whole = {"command": "commands", "argv": "argvs", "info": "infos"}
        return (
            f"spawn.{whole[p.name]}[0]"
            if p.name in whole
            else f"spawn.{p.name[len('array_of_'):].rstrip('s')}s"
        )

    def begin_spawn(self):
        if self.f.param("command"):
            self.line(
                "Spawn spawn = spawn_begin(c, at_root, 1, maxprocs, &(char *){(char *)command}, "
                "&(char **){argv}, &info);"
            )
        else:
            self.line(
                "Spawn spawn = spawn_begin(c, at_root, count, at_root && count > 0 ? "
                "*array_of_maxprocs : 0, array_of_commands, array_of_argv, array_of_info);"
            )

    def request_metadata(self, p):
        f = self.f
        fields = []
        if f.creates_comm:
            fields.append(".type = REQUEST_COMM")
        elif "recv" in f.flags:
            kind, args = p.relative
            if kind == "message":
                at = ".self = from.self, .source = from.source, .tag = from.tag"
            else:
                at = f".self = self, .source = {args[0]}, .tag = {args[1]}"
            fields += [".type = REQUEST_RECV", at, f".bytes = {self.posted_bytes(p.relative)}"]
            if "send" in f.flags:
                fields.append(f".sends_too = dest != MPI_PROC_NULL && {args[0]} != MPI_PROC_NULL")
        elif "send" in f.flags:
            fields.append(".type = REQUEST_SEND")
            if "persistent" in f.flags and not f.param("partitions"):
                fields += [".source = dest", ".tag = tag"]
            if self.may_stay_unsent():
                fields.append(".nowhere = unsent")
        elif p.relative and p.relative[0] == "io":
            fields += [".type = REQUEST_IO", f".bytes = {self.posted_bytes(p.relative)}"]
        elif f.param("win"):
            fields.append(".type = REQUEST_RMA")
        elif "collective" in f.flags:
            fields.append(".type = REQUEST_COLLECTIVE")
        elif "request" in f.name.lower() or "greq" in f.name.lower():
            fields.append(".type = REQUEST_GENERALIZED")
        else:
            raise AssertionError(f"{f.name}: what is its request?")
        if "posting.comm" in self.replayed().values():
            fields.append(f".nowhere = posting.comm != {f.self_param.name}")
        if "persistent" in f.flags:
            fields.append(".persistent = true")
            if f.flags & {"send", "recv"} and not f.param("partitions"):
                fields.append(f".order = comm_order_of_persistent(facts, {f.self_param.name})")
        return ", ".join(fields)

    def needs(self):
        """Facts that the body refers to."""
        text = "\n".join(self.out)
        return {
            w: re.search(rf"\b{w}\b", text)
            for w in (
                "facts", "self", "at_root", "at_leaf", "at_member", "at_leader", "from", "filled",
            )
        }

    def text(self):
        f = self.f
        result = (
            f.returned.ctype
            if f.returned and f.returned.ctype
            else self.proto.returns
            if f.returned
            else "int"
        )
        result = self.proto.returns
        params = ", ".join(self.ctype[p.name].declare(p.name) for p in f.params) or "void"

        # Inputs.
        own = f.self_param
        for p in f.params:
            if p.is_in:
                self.put_in(p)
        if f.name == "MPI_Win_create_dynamic":
            self.line("attachments_open();")
        freed = [p for p in f.params if p.frees and p.kind not in ("buf", "request")]
        # Before the call: when it returns, another thread may have the freed memory or handle.
        for p in f.params:
            if p.frees and p.kind == "buf" and not p.detaches:
                self.line(f"memory_remove({p.name});")
            elif p in freed:
                self.line(f"handle_ending(c, HANDLE_{p.kind.upper()}, before_{p.name});")
        for p in f.params:
            if p.attaches:
                size = p.extent[1][0]
                self.line(f"bool added = attachments_add(HANDLE_VALUE(win), {p.name}, {size});")
        if self.spawns():
            self.begin_spawn()
        self.line("call_start(c);")
        if "posting.source" in self.replayed().values():
            source, tag = list(self.replayed())[:2]
            self.line(f"Posting posting = replay_posting(c, {source}, {tag}, {own.name});")
        if self.may_stay_unsent():
            self.line("bool unsent = replay_unsent(c);")
        self.onesided_before()
        if f.returned:
            self.line(f"{result} rc = {self.call(True)};")
            self.line("call_stop(c, MPI_SUCCESS);")
            if f.name == "MPI_Wtime":
                self.line("rc = process_value_wtime(rc);")
        else:
            turns = self.turns()
            if turns:
                self.call_in_turns(turns)
            elif f.name in ("MPI_Start", "MPI_Startall"):
                count = "count" if f.param("count") else "1"
                requests = f.params[-1].name
                self.line(f"int rc = turns_on() && !c->recorded ? turn_start(c, {count}, "
                          f"{requests}) : {self.call(True)};")
            else:
                self.line(f"int rc = {self.call(True)};")
            self.onesided_after()
            self.line("call_stop(c, rc);")
            if f.name == "MPI_Get_processor_name":
                self.line("if (call_ok(c))")
                self.line("process_value_processor_name(c, name, resultlen);", 2)
            if self.spawns():
                self.line("spawn_end(c, at_root);")
        # Outputs.
        outputs = self.out
        self.out = []
        for p in f.params:
            if p.is_out:
                self.put_out(p)
        for p in f.hidden:
            if p.kind == "neighbours":
                made = next(q.name for q in f.params if q.kind == "comm" and q.is_out)
                self.line(f"comm_put_neighbours(c, {made} ? *{made} : MPI_COMM_NULL);")
            else:
                self.line(f"call_put_outcome(c, {p.name});")
        if f.returned and f.returned.kind != "skip":
            self.put_out(f.returned, "rc")
        if "poll" in f.flags:
            self.line("c->found_nothing = flag && !*flag;")
        for p in f.params:
            if p.kind == "request" and p.direction == "inout":
                event = "REQUEST_FREED" if p.frees else "REQUEST_STARTED" if p.starts else None
                if event and p.length:
                    self.line("for (size_t i = 0; i < c->n_requests; i++)")
                    self.line(f"request_event(c, i, &{p.name}[i], {event}, false);", 2)
                elif event:
                    self.line(f"request_event(c, 0, {p.name}, {event}, false);")
            elif p.detaches:
                self.line(f"attachments_remove(HANDLE_VALUE(win), {p.name});")
            elif p in freed:
                if p.kind == "win":
                    self.line(f"memory_remove_owner(before_{p.name});")
                    self.line(f"attachments_remove_window(before_{p.name});")
                self.line(f"handle_freed(c, HANDLE_{p.kind.upper()}, before_{p.name});")
        after, self.out = self.out, outputs
        if after:
            self.line("if (call_ok(c)) {")
            self.out += ["    " + text for text in after]
            self.line("}")
        self.put_truncated()
        for p in f.params:
            if p.attaches:
                self.line("if (added && !call_ok(c))")
                self.line(f"attachments_remove(HANDLE_VALUE(win), {p.name});", 2)
        for p in freed:
            self.line("if (!call_ok(c))")
            self.line(f"handle_stays(c, HANDLE_{p.kind.upper()}, before_{p.name});", 2)
        self.put_nulls()
        made = f.request
        if made:
            metadata = f"&(struct RequestMetadata){{{self.request_metadata(made)}}}"
            self.line(f"live_request_end_call(c, {made.name}, {metadata});")
        else:
            self.line("call_end(c);")
        self.line("return rc;")
        body = self.out

        # What it refers to, before it.
        self.out = []
        needs = self.needs.__func__(_Text(body))
        pre = []
        needs_self = own is not None
        if needs_self:
            value = (
                own.name
                if not self.is_pointer(own)
                else f"({own.name} ? *{own.name} : {self.null(own)})"
            )
            of = "" if own.kind == "comm" else f"_of_{own.kind}"
            pre.append(f"const CommMetadata *facts = comm_metadata{of}({value});")
            pre.append("int self = comm_metadata_self(facts);")
        for word in ("root", "leaf", "member"):
            if needs[f"at_{word}"]:
                pre.append(f"bool at_{word} = comm_metadata_is_{word}(facts, root);")
        if needs["at_leader"]:
            pre.append("bool at_leader = facts && local_leader == facts->rank;")
        for p in f.params:
            used = re.search(rf"\bbefore_{p.name}\b", "\n".join(body))
            if used and p.frees:
                pre.append(f"uintptr_t before_{p.name} = {p.name} ? HANDLE_VALUE(*{p.name}) : 0;")
            elif used:
                pre.append(f"int64_t before_{p.name} = {p.name} ? (int64_t)*{p.name} : 0;")
        if needs["from"]:
            pre.append("MessageMetadata from = "
                       "message_metadata(message ? *message : MPI_MESSAGE_NULL);")
        if needs["filled"]:
            status = next(p.name for p in f.params if p.kind == "status" and p.direction == "out")
            pre.append(f"MPI_Status *filled = encode_status_to_fill(c, {status});")
        for p in (q for q in f.hidden if q.kind == "found"):
            pre.append(
                f"int64_t {p.name} = "
                f"{'self != 0 ? WEND_ABSENT : ' if needs_self else ''}length_of_file(filename);"
            )
        if f.request:
            pre.append("c->amounts = c->segments = c->offsets = c->untouched = 0;")
        if needs_self:
            pre.append("call_put_slot(c, self);")

        lines = [
            f"#undef {f.name}",
            f"WEND_EXPORT {result} {f.name}({params})",
            "{",
            f"    ActiveCall *c = call_begin(WEND_FN_{f.name});",
            "    if (!c)",
            f"        return {self.call(False)};",
        ]
        lines += ["    " + p for p in pre] + body + ["}", ""]
        return "\n".join(lines)

    @staticmethod
    def null(p):
        return {"comm": "MPI_COMM_NULL", "win": "MPI_WIN_NULL", "file": "MPI_FILE_NULL"}[p.kind]


class _Text:
    """What Wrapper.needs looks at."""

    def __init__(self, out):
        self.out = out


def number_group(group, names):
    """int64_t const_GROUP(int64_t v): the word of a number that may be a constant."""
    lines = [f"static inline int64_t const_{group}(int64_t v)", "{"]
    if group in ("rank", "tag", "color", "index", "undefined"):
        negative = " && ".join(f"(int64_t)({n}) < 0" for n in names)
        lines += [
            "    /* Most values are none of them. The second condition is a constant. */",
            f"    if (v >= 0 && {negative})",
            "        return v;",
        ]
    for n in names:
        lines += [f"    if (v == (int64_t)({n}))", f"        return WEND_CONST(WEND_CONSTANT_{n});"]
    if group == "errcode":
        lines += [
            "    int64_t class = error_code_class((int)v);",
            "    return class == v ? v : const_errcode(class);",
            "}",
            "",
        ]
        return "\n".join(lines)
    return "\n".join(lines + ["    return v;", "}", ""])


def bits_group(group, names, have):
    lines = [f"static inline int64_t bits_{group}(int v)", "{", "    int64_t w = 0;"]
    for i, n in enumerate(names):
        if n in have:
            lines += [
                f"    if (v & {n}) {{",
                f"        w |= INT64_C(1) << {i};",
                f"        v &= ~{n};",
                "    }",
            ]
    return "\n".join(lines + ["    return w | (int64_t)(unsigned)v << 16;", "}", ""])


def func_group(group, names):
    lines = [f"static inline void encode_in_func_{group}(ActiveCall *c, const void *f)", "{"]
    for n in names:
        lines += [
            f"    if (f == (const void *)(uintptr_t){n}) {{",
            f"        call_put_shape(c, WEND_CONST(WEND_CONSTANT_{n}));",
            "        return;",
            "    }",
        ]
    return "\n".join(lines + ["    encode_in_func(c, f);", "}", ""])


def predefined(spec, library):
    """src/tracer/objects/predefined.gen.c: the tables of objects.h.

    MPI_T_PVAR_ALL_HANDLES is no constant expression everywhere: encode_pvar_word knows it."""
    lines = ["/* Made by spec/gen.py from spec/mpi.spec: predefined handles and error classes. */",
             '#include "lib/record/functions.h"', '#include "objects/objects.h"', "",
             "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"", "",
             "const PredefinedHandle mpi_predefined[] = {"]
    for kind in HANDLES + ["request"]:
        for n in spec.groups.get(kind, []):
            if n in library.constants and n != "MPI_T_PVAR_ALL_HANDLES":
                lines.append(f"    {{HANDLE_{kind.upper()}, WEND_CONSTANT_{n}, (uintptr_t){n}}},")
    lines += [
        "};",
        "const size_t mpi_n_predefined = sizeof mpi_predefined / sizeof mpi_predefined[0];",
        "",
        "const ErrorClass mpi_error_classes[] = {",
    ]
    lines += [
        f"    {{{n}, WEND_CONSTANT_{n}}}," for n in spec.groups["errcode"] if n in library.constants
    ]
    return "\n".join(
        lines
        + [
            "};",
            "const size_t mpi_n_error_classes = sizeof mpi_error_classes / sizeof "
            "mpi_error_classes[0];",
            "",
        ]
    )


def header(spec, library):
    """src/tracer/library.gen.h: all that the tracer takes from the MPI library."""
    functions = [f.name for f in library.recordable(spec)]
    return (
        "\n".join(
            [
                "/* Made by spec/gen.py: what the MPI library has. The symbols are weak, because",
                " * processes without MPI (a shell, a launcher) load the tracer too, even with",
                " * LD_BIND_NOW set. */",
            ]
            + [f"#define HAVE_{n} 1" for n in functions]
            + [f"#pragma weak {n}" for n in library.symbols + ["P" + n for n in functions]]
        )
        + "\n"
    )


def own(spec, library):
    """src/tracer/own.gen.h: see src/tracer/interpose/interpose.h."""
    lines = [
        "/* Made by spec/gen.py: in a file that includes this, PMPI_ functions are the MPI",
        " * library's, whatever other tool comes behind Wend (interpose.h). */",
        "#ifndef WEND_OWN_GEN_H",
        "#define WEND_OWN_GEN_H",
        "",
        "#include <mpi.h>",
        "",
        "/* the functions are weak */",
        '#include "library.gen.h"',
        '#include "interpose/interpose.h"',
        "",
    ]
    lines += [
        f"#define P{f.name}(...) WEND_OWN({f.name}, __VA_ARGS__)" for f in library.recordable(spec)
    ]
    return "\n".join(lines + ["", "#endif"]) + "\n"


def wrappers(spec, library, part=1, parts=1):
    functions = library.recordable(spec)
    for f in functions:
        library.check(f)
    generated = [f for f in functions if not f.flags & {"special", "control"}]
    used = {}
    for f in functions:
        for p in f.params + ([f.returned] if f.returned else []):
            if p.group and p.kind not in HANDLES and p.kind not in ("request", "skip"):
                used.setdefault(p.group, set()).add(p.kind)
    out = [
        "/* Made by spec/gen.py from spec/mpi.spec for the MPI library at hand. */",
        '#include "encode/encode.h"',
        '#include "families/families.h"',
        '#include "side-streams/onesided.h"',
        '#include "side-streams/process-values.h"',
        '#include "replay/enforce.h"',
        '#include "objects/turns.h"',
        "",
        "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"",
        "",
    ]
    number_groups, helpers = set(), []
    for group, kinds in used.items():
        have = [n for n in spec.groups[group] if n in library.constants]
        if group == "weights" or not have and kinds != {"bits"}:
            continue
        if "bits" in kinds:
            helpers.append(bits_group(group, spec.groups[group], have))
        elif "func" in kinds:
            helpers.append(func_group(group, have))
        else:
            helpers.append(number_group(group, have))
        number_groups.add(group)
    out += helpers
    for f in generated[part - 1::parts]:
        out.append(Wrapper(f, library, number_groups).text())
    return "\n".join(out)
