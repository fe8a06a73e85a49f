#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of archives, written from docs/format.md alone: format.py [OPTION] DIRECTORY

Prints for each rank and sequence the functions that it called, in order, as "wend dump" numbers
them. With --values, prints the side streams of values, results and locks, as lines of "wend dump
--values --format=jsonl". With --times, prints for each call and unsuccessful poll: rank, thread or
callback and its number, whether it is a poll, seconds from the epoch to its start, its duration. It
reads every part to its end, so what it misunderstands shows. It is a test of the page and not for
use: it trusts the archive.
"""
import configparser
import decimal
import io
import pathlib
import re
import struct
import subprocess
import sys
import tarfile


class Bytes:
    """A cursor over the bytes of a member."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def take(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def unsigned(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                return value

    def signed(self):
        return unzigzag(self.unsigned())

    def string(self):
        return self.take(self.unsigned()).decode()

    def many(self, read):
        return [read() for _ in range(self.unsigned())]

    # Ordinary words are numbers, special ones are strings.
    def word(self):
        v = self.unsigned()
        if v % 2 == 0:
            return unzigzag(v // 2)
        if v == 1:
            return int.from_bytes(self.take(8), "little", signed=True)
        return f"special {v // 2}"

    def rule(self, bits=2):
        """Symbols: (is a rule, id, count)."""
        def symbol():
            v = self.unsigned()
            counted = bits == 1 or v & 2
            return v & 1, v >> bits, self.unsigned() if counted else 1
        return self.many(symbol)

    def row(self, n, read=None):
        """N words, or with READ=self.signed, numbers."""
        assert n > 0
        read = read or self.word
        return getattr(self, f"row_{self.unsigned()}")(n, read)

    def numbers(self, n):
        return self.row(n, self.signed)

    def row_0(self, n, read):
        first = read()
        if n == 1:
            return [first]
        step = self.signed()
        return [first + step * i for i in range(n)] if step else [first] * n

    def row_1(self, n, read):
        said = self.unsigned()
        differences = [self.signed() for _ in range(said // 2)]
        specials = self.many(read) if said % 2 else []
        rules, out, last = self.many(self.rule), [], 0
        for terminal in expand(rules, 0):
            if terminal % 2:
                out.append(specials[terminal // 2])
            else:
                last += differences[terminal // 2]
                out.append(last)
        assert len(out) == n
        return out

    def row_2(self, n, read):
        named = self.many(read)
        m = self.unsigned()
        least = self.signed() if m else 0
        coded = Coded(self).row(n, len(named) + m - 1)
        return [named[i] if i < len(named) else least + i - len(named) for i in coded]

    def row_3(self, n, read):
        return [read() for _ in range(n)]

    def row_4(self, n, read):
        said, m, ratio = self.unsigned(), self.unsigned(), self.signed()
        before, falls = said // 2, said % 2
        words = [read() for _ in range(n - m + 1)]
        run = [words[before] * ratio ** i for i in range(m)]
        return words[:before] + (run[::-1] if falls else run) + words[before + 1:]

    def row_5(self, n, _):
        p, said, base = self.unsigned(), self.unsigned(), self.signed()
        t, slope = said // 2, said % 2
        return [base + slope * i + t - (p if i % p >= p - t else 0) for i in range(n)]

    def ranks(self):
        n = self.unsigned()
        if n == 0:
            return [r - 1 for r in self.numbers(self.unsigned())]
        out = []
        for _ in range(n):
            first = self.unsigned() + (out[-1] if out else 0)
            count = self.unsigned()
            step = self.unsigned() if count > 1 else 0
            out += [first + i * step for i in range(count)]
        return out

    def sets(self, n):
        if not self.unsigned():
            return [self.ranks() for _ in range(n)]
        counts = self.numbers(n)
        total = sum(counts)
        runs = zip(*[self.numbers(total) for _ in range(3)]) if total else []
        runs = [[first + i * step for i in range(count)] for first, count, step in runs]
        out = []
        for count in counts:
            out.append(sum(runs[:count], []))
            runs = runs[count:]
        return out


class Coded:
    """Rows of coded numbers."""

    def __init__(self, source, contexts=None):
        self.source, self.contexts = source, {} if contexts is None else contexts
        self.range, self.start = 2 ** 32 - 1, source.at
        self.at, self.code = source.at, 0
        for _ in range(4):
            self.shift()

    def shift(self):
        byte = self.source.data[self.at] if self.at < len(self.source.data) else 0
        self.at += 1
        self.code = self.code << 8 | byte

    def seen(self, context):
        return self.contexts.get(context, (2 ** 15, 0)) if context else (2 ** 15, 0)

    def bit(self, *contexts):
        """A bit in the first of the contexts that saw two, else in the last one. All see it."""
        known = [c for c in contexts if self.seen(c)[1] >= 2] + list(contexts[-1:]) + [None]
        p, _ = self.seen(known[0])
        bound = (self.range >> 16) * p
        b = int(self.code < bound)
        if b:
            self.range = bound
        else:
            self.code -= bound
            self.range -= bound
        while self.range < 2 ** 24:
            self.range <<= 8
            self.shift()
        for context in filter(None, contexts):
            p, t = self.seen(context)
            change = (b * 2 ** 16 - p) * 2
            p += change // (2 * t + 5) if change > 0 else -(-change // (2 * t + 5))
            self.contexts[context] = min(max(p, 2 ** 5), 2 ** 16 - 2 ** 5), min(t + 1, 1022)
        return b

    def number(self, most):
        length = 0
        seen = "L"
        for _ in range(most.bit_length().bit_length()):
            b = self.bit(seen)
            seen += str(b)
            length = length * 2 + b
        if length < 2:
            return length
        value, seen = 1, f"{length}:"
        for i in range(length - 1):
            b = self.bit(seen if i < 2 else None)
            seen += str(b)
            value = value * 2 + b
        return value

    def row(self, n, most):
        out = [self.number(most) for _ in range(n)]
        self.end()
        return out

    def end(self):
        self.source.at = self.at - (2 if self.range < 2 ** 25 else 3)

    def tree(self, bits, *name):
        """BITS bits, each in a context of NAME and those before it."""
        value, seen = 0, ""
        for _ in range(bits):
            b = self.bit((*name, seen))
            value, seen = value * 2 + b, seen + str(b)
        return value

    def plain(self, bits):
        return int("".join(str(self.bit()) for _ in range(bits)) or "0", 2)

    def model(self, *name):
        """A number of the model NAME."""
        length = self.tree(7, *name, "L")
        if length < 2:
            return length
        top = min(length - 1, 3)
        value = 2 ** top + self.tree(top, *name, length)
        return value * 2 ** (length - 1 - top) + self.plain(length - 1 - top)


def hashed(a, b, n):
    mixed = (a * 0x9e3779b97f4a7c15 ^ b) % 2 ** 64 * 0xd6e8feb86659fd93 % 2 ** 64
    return (mixed >> 40) % n


def payloads():
    """By kind and code: the name of an element, and its payload: so many numbers, or what."""
    text = (pathlib.Path(__file__).parents[2] / "lib/record/values.h").read_text()
    found = re.findall(r'X\(\w+, "([^"]*)", (\d), (true|false)\)', text)
    values = [(name, "seconds" if seconds == "true" else int(numbers) or "bytes")
              for name, numbers, seconds in found]
    results = [("one-sided number", 1), ("one-sided data", "data"), ("one-sided turn", 1)]
    return {"values": values, "results": results, "locks": [("MPI_Win_lock", 3)]}


class SideStream:
    """One side stream: its elements as (step, name, sub-code, payload)."""

    def __init__(self, b, codes):
        self.codes = codes
        self.kind, self.id, self.birth = b.unsigned(), b.signed(), b.unsigned()
        rows = Bytes(b.take(b.unsigned()))
        self.contexts, self.memory = {}, {}
        self.keys, self.elements = (0, 0), []
        while rows.at < len(rows.data):
            n, row = rows.unsigned(), Bytes(rows.take(rows.unsigned()))
            if not n:
                assert not row.data and rows.at == len(rows.data)
                break
            self.coded = Coded(row, self.contexts)
            self.elements += [self.element() for _ in range(n)]
            self.coded.end()
            assert row.at == len(row.data)

    def again(self, place, read):
        """The last value that had this place, or a new one."""
        if not self.coded.bit(("again", place)):
            self.memory[place] = read()
        return self.memory.get(place, 0)

    def element(self):
        last, before = self.keys
        step = self.again(("step", hashed(last, before, 256)), lambda: self.coded.model("step"))
        which = self.again(("which", hashed(last, step, 256)), lambda: self.coded.tree(9, "which"))
        self.which, self.key = which, (which + step * 512) % 2 ** 64
        self.keys = self.key, last
        name, form = self.codes[which // 16]
        if form == "seconds":
            payload = self.seconds(which // 16)
        elif form == "bytes":
            payload = self.bytes(which // 16 % 8)
        elif form == "data":
            payload = self.data(hashed(self.key, last, 8))
        else:
            payload = [signed_of(self.number(i)) for i in range(form)]
        return step, name, which % 16, payload

    def number(self, i):
        place = hashed(self.key, i, 256)
        d, costs = self.memory.get(("trend", place), (0, (0, 0)))
        trend = costs[1] < costs[0]
        coded = unzigzag(self.coded.model("number", hashed(self.key, i + 8 * trend, 32)))
        difference = (coded + (d if trend else 0)) % 2 ** 64
        bits = [zigzag(v).bit_length() for v in (difference, difference - d)]
        self.memory["trend", place] = difference, tuple(
            c + b - c // 16 for c, b in zip(costs, bits))
        value = (self.memory.get(("last", self.which, i), 0) + difference) % 2 ** 64
        self.memory["last", self.which, i] = value
        return value

    def seconds(self, code):
        unit = self.again(("unit", code), lambda: self.coded.plain(3))
        n = self.number(0)
        return [lambda: float(n // 10 ** 9) + n % 10 ** 9 * 1e-9,
                lambda: float(n // 10 ** 9) + n % 10 ** 9 / 1e9,
                lambda: float(n) / 1e9,
                lambda: float(n) * 1e-9,
                lambda: float(n) / 1e6,
                lambda: float(n // 10 ** 6) + n % 10 ** 6 * 1e-6,
                lambda: struct.unpack("d", struct.pack("Q", n))[0]][min(unit, 6)]()

    def bytes(self, text):
        if self.coded.bit(("again", "text", text)):
            return self.memory.get(("text", text), b"")
        n = self.coded.model("text length")
        data = bytes(self.coded.plain(8) for _ in range(n))
        if n <= 256:
            self.memory["text", text] = data
        return data

    def data(self, i):
        old, n = self.memory.get(("data", i), (b"", 0))
        n += unzigzag(self.coded.model("data length"))
        out, right, scores = b"", 0, [2048, 2048]
        for j in range(n):
            guesses = old[j] if j < len(old) else 0, out[j - 8] if j >= 8 else 0
            second = int(scores[1] > scores[0])
            right = self.coded.bit(("guess", second, right, j % 8))
            byte = guesses[second] if right else self.coded.tree(8, "data", j % 8)
            scores = [s - s // 16 + 256 * (g == byte) for s, g in zip(scores, guesses)]
            out += bytes([byte])
        self.memory["data", i] = out + old[n:], n
        return out

    def print_values(self, rank):
        steps = 0
        for step, name, sub_code, payload in self.elements:
            steps += step
            line = f'{{"rank":{rank},"{("thread", "callback")[self.kind]}":{self.id}'
            line += f',"value":"{name}","steps":{steps}'
            if name == "clock_gettime":
                line += f',"clock":{sub_code}'
            if isinstance(payload, float):
                line += f',"seconds":{payload:.17g}'
            elif isinstance(payload, bytes):
                line += f',"bytes":"{payload.hex()}"'
            else:
                line += f',"numbers":[{",".join(map(str, payload))}]'
            print(line + "}")


class Times:
    """One stream of times: the start and the duration of each call, in seconds from the epoch."""

    def __init__(self, b):
        self.kind, self.id, self.birth = b.unsigned(), b.signed(), b.unsigned()
        self.rows = Bytes(b.take(b.unsigned()))
        assert self.rows.unsigned() == 0
        head = Bytes(self.rows.take(self.rows.unsigned()))
        self.lossless, self.percent = head.unsigned() == 0, head.unsigned()
        (tick,), self.origin = struct.unpack("<d", head.take(8)), head.signed()
        if head.at < len(head.data):
            assert head.unsigned() in (1, 2)
            self.origin += head.signed()
            tick *= 1 + struct.unpack("<d", head.take(8))[0]
            head.unsigned()
        assert head.at == len(head.data)
        self.tick = decimal.Decimal(tick)
        self.contexts, self.usual = {}, [65536, 65536]
        self.points = [0]
        while not self.lossless:
            point = self.points[-1] + max(1, self.points[-1] * self.percent // 100)
            if point >= 2 ** 62:
                break
            self.points.append(point)
        self.bits = 9 if self.lossless else (1 + len(self.points)).bit_length()

    def calls(self, places):
        """(start, duration) of the calls, of which PLACES has the places."""
        places, before, now, rows = iter(places), None, 0, self.rows
        while rows.at < len(rows.data):
            n, row = rows.unsigned(), Bytes(rows.take(rows.unsigned()))
            if not n:
                assert not row.data and rows.at == len(rows.data)
                break
            blocks = [Bytes(row.take(row.unsigned())) for _ in range(2)]
            assert row.at == len(row.data)
            coded = [Coded(block, self.contexts) for block in blocks]
            for _ in range(n):
                place = next(places)
                now += self.time(coded[1], 1, place, before)
                duration = self.time(coded[0], 0, place, before)
                start = self.origin * decimal.Decimal("1e-9") + now * self.tick
                yield start, None if duration is None else duration * self.tick
                now += duration or 0
                before = place
            for c, block in zip(coded, blocks):
                c.end()
                assert block.at == len(block.data)
        assert next(places, None) is None

    def time(self, coded, interval, place, before):
        p, q, node = place * 2 + interval, 0 if before is None else 2 ** 32 * (1 + before), 1
        for i in range(self.bits):
            contexts = [("third", interval, node)]
            if i < 9:
                contexts = [("first", hashed(p + q, node, 32768)),
                            ("second", hashed(p, node, 16384))] + contexts
            node = 2 * node + coded.bit(*contexts)
        symbol = node - 2 ** self.bits
        if symbol < 2:
            return signed_of(coded.plain(64)) if symbol else None
        if self.lossless:
            b, top = max(0, (symbol - 2 - 8) // 8), 0
            top = symbol - 2 - 8 * b
            value = top * 2 ** max(0, b - 2) + coded.plain(max(0, b - 2))
            if b < 2:
                return value * 2 ** b + coded.plain(b)
            return value * 4 + coded.tree(2, "last", interval)
        i, u = symbol - 2, self.usual[interval]
        t = self.points[i]
        gap = self.points[i + 1] - t if i + 1 < len(self.points) else 1
        m = 4 * u * self.percent // 100
        if m < gap:
            s = max(0, m.bit_length() - 1)
            t += coded.plain(((gap - 1) >> s).bit_length()) << s
        grown = min(t, 16 * u) - u
        u += grown // 64 if grown > 0 else -(-grown // 64)
        self.usual[interval] = min(max(u, 64), 2 ** 58 - 1)
        return t


def signed_of(v):
    """V modulo 2^64, as a signed number."""
    return (v + 2 ** 63) % 2 ** 64 - 2 ** 63


def zigzag(v):
    v = signed_of(v)
    return 2 * v if v >= 0 else -2 * v - 1


def unzigzag(v):
    return v // 2 if v % 2 == 0 else -(v + 1) // 2


def expand(rules, start):
    for is_rule, number, count in rules[start]:
        for _ in range(count):
            if is_rule:
                yield from expand(rules, number)
            else:
                yield number



class Program:
    """The parts of the member "program", in their order."""

    def __init__(self, data):
        self.b = Bytes(data)
        self.functions = [self.name(s) for s in self.b.many(self.b.string)]
        self.digest = int.from_bytes(self.b.take(4), "little")
        self.constants = self.b.many(self.constant)
        self.read_shapes()
        self.read_terminals()
        self.rules = []
        self.read_rules()
        self.read_classes()
        self.read_outcomes()
        self.read_polls()
        self.timed = self.b.unsigned()

    @staticmethod
    def name(said):
        return said[1:] if said.startswith(".") else "MPI_" + said

    def constant(self):
        name, kind = self.name(self.b.string()), self.b.unsigned()
        return name, [self.b.signed() for _ in range({0: 0, 1: 5, 2: 1}[kind])]

    def batches(self, keys, one, column, size):
        """Things in batches of equal keys: each thing as a list of SIZE(key) fields."""
        groups = {}
        for i, key in enumerate(keys):
            groups.setdefault(key, []).append(i)
        out = [None] * len(keys)
        for key, members in groups.items():
            if len(members) > 1 and self.b.unsigned():
                columns = [column(len(members)) for _ in range(size(key))]
                for k, i in enumerate(members):
                    out[i] = [c[k] for c in columns]
            else:
                for i in members:
                    out[i] = [one() for _ in range(size(key))]
        return out

    def read_shapes(self):
        b, n = self.b, self.b.unsigned()
        self.shapes = []
        if n:
            first, lengths = b.numbers(n), b.numbers(n)
            words = self.batches(list(zip(first, lengths)), b.word, b.row, lambda key: key[1])
            self.shapes = list(zip(first, words))

    def read_terminals(self):
        b = self.b
        self.sets = b.many(b.ranks)
        self.tables = []
        n = b.unsigned()
        while len(self.tables) < n:
            said = b.unsigned()
            k = b.unsigned() if said & 2 else 1
            ranks = self.sets[said // 4]
            row = b.row(k * len(ranks))
            for i in range(k):
                values = dict(zip(ranks, row[i * len(ranks):(i + 1) * len(ranks)]))
                self.tables.append((said & 1, values))
        n = b.unsigned()
        self.terminals, keys = [], []
        if self.shapes:
            counts, slots = b.numbers(len(self.shapes)), b.numbers(len(self.shapes))
            for shape, count in enumerate(counts):
                self.terminals += [shape] * count
                keys += [(self.shapes[shape][0], slots[shape])] * count
        assert len(self.terminals) == n

        def slot():
            form = b.unsigned()
            return (form, b.word()) if form < 4 else (4, form - 4)

        def column(many):
            return list(zip(b.numbers(many), b.row(many)))
        self.slots = self.batches(keys, slot, column, lambda key: key[1])

    def read_rules(self):
        b, self.n_rules = self.b, self.b.unsigned()
        lowest = {}
        for terminal, shape in enumerate(self.terminals):
            lowest.setdefault(1 + shape, terminal)
        new, last = dict(lowest), 0
        for i in range(self.n_rules):
            n = b.unsigned()
            rule = []
            if n:
                for _ in range(n):
                    said = b.unsigned()
                    count = self.count(b.unsigned()) if said & 2 else 1
                    number = said >> 2
                    symbol = i - 1 - number if said & 1 else last + 1 + unzigzag(number)
                    if not said & 1:
                        last = symbol
                    rule.append((said & 1, symbol, count))
            else:
                rule = self.by_kinds(b.unsigned(), new)
            for is_rule, symbol, _ in rule:
                kind = 0 if is_rule else 1 + self.terminals[symbol]
                new[kind] = max(new.get(kind, 0), symbol + 1)
                if not is_rule:
                    last = symbol
            self.rules.append(rule)

    def count(self, said):
        return said if said else ("trips", self.b.unsigned())

    def by_kinds(self, n, before):
        if not n:
            return []
        b, new = self.b, dict(before)
        kinds = b.numbers(n)
        ids, order = [0] * n, []
        for kind in sorted(set(kinds)):
            places = [i for i in range(n) if kinds[i] == kind]
            for place, below in zip(places, b.numbers(len(places))):
                ids[place] = new.get(kind, 0) - below
                new[kind] = max(new.get(kind, 0), ids[place] + 1)
            order += sorted(places, key=lambda place: ids[place])
        rule = [None] * n
        for place, count in zip(order, b.numbers(n)):
            count = count if count >= 0 else ("trips", -1 - count)
            rule[place] = (int(kinds[place] == 0), ids[place], count)
        return rule

    def read_classes(self):
        b = self.b
        self.world, self.classes = b.unsigned(), []
        n = b.unsigned()
        if not n:
            return
        self.classes = [{"ranks": ranks} for ranks in b.sets(n)]
        variants = b.numbers(len(self.classes))
        for c, n in zip(self.classes, variants):
            c["variants"] = n
            c["variant"] = b.numbers(len(c["ranks"])) if n > 1 else [0] * len(c["ranks"])
        counts = b.numbers(len(self.classes))
        total = sum(counts)
        kinds, ids, starts = [], [], []
        if total:
            kinds, ids, starts = b.row(total), b.row(total), b.row(total)
        sequences = list(zip(kinds, ids, starts))
        for c, n in zip(self.classes, counts):
            c["sequences"], sequences = sequences[:n], sequences[n:]
        for c in self.classes:
            c["trips"] = []
            if c["variants"] > 1:
                m, n = b.unsigned(), c["variants"]
                row = b.numbers(m * n) if m else []
                c["trips"] = [row[t * n:(t + 1) * n] for t in range(m)]

    def calls(self, c, variant, rule):
        """The terminals of a rule, on the ranks of a variant."""
        for is_rule, symbol, count in self.rules[rule]:
            if isinstance(count, tuple):
                count = c["trips"][count[1]][variant]
            for _ in range(count):
                if is_rule:
                    yield from self.calls(c, variant, symbol)
                else:
                    yield symbol

    def entries(self, c, start):
        """By shape, the number of calls of each rank of the class."""
        by_variant = []
        for v in range(c["variants"]):
            counts = {}
            for terminal in self.calls(c, v, start):
                shape = self.terminals[terminal]
                counts[shape] = counts.get(shape, 0) + 1
            by_variant.append(counts)
        return by_variant

    def read_outcomes(self):
        """Keeps how many unsuccessful polls came before each call: by sequence, rank and shape."""
        b = self.b
        self.before = {}
        for c in self.classes:
            for kind, number, start in c["sequences"]:
                by_variant = self.entries(c, start)
                for shape in sorted(set().union(*by_variant)):
                    n = b.unsigned()
                    for _ in range(n):
                        ranks = b.ranks() if n > 1 else c["ranks"]
                        counts = {r: by_variant[c["variant"][c["ranks"].index(r)]].get(shape, 0)
                                  for r in ranks}
                        firsts = self.content(set(counts.values()) - {0})
                        for r in ranks:
                            self.before[kind, number, r, shape] = (
                                firsts * counts[r] if len(firsts) == 1 else firsts)

    def content(self, counts):
        """The first word of each entry; one if all are the same."""
        b, v = self.b, self.b.unsigned()
        if v == 1:
            (entries,) = counts
            return [b.row(entries) for _ in range(b.unsigned())][0]
        if v % 2 == 0:
            return [0]
        end, out, pieces = b.at + v // 2, [], 0
        while b.at < end:
            repeats = b.unsigned()
            if repeats:
                run = [b.many(b.word)[0]] * repeats
            else:
                entries = b.many(lambda: b.many(b.word))
                run = [entries[i][0] for i in expand(b.many(lambda: b.rule(1)), 0)]
            out, pieces, single = out + run, pieces + 1, repeats > 0
        assert b.at == end and (pieces == 1 or {len(out)} == counts)
        return out[:1] if pieces == 1 and single else out

    def read_polls(self):
        """Keeps the terminals of unsuccessful polls, by sequence and rank."""
        b = self.b
        self.polls = {}
        if not b.unsigned():
            return
        for c in self.classes:
            for kind, number, _ in c["sequences"]:
                tables = b.many(lambda: (b.ranks(), b.many(b.unsigned)))
                if not tables:
                    continue
                for ranks, _, rules in b.many(
                        lambda: (b.ranks(), b.unsigned(), b.many(lambda: b.rule(1)))):
                    for rank in ranks:
                        (table,) = [t for of, t in tables if rank in of]
                        self.polls[kind, number, rank] = [
                            table[i] for i in expand(rules, len(rules) - 1)]

    def ranks(self):
        return sorted(rank for c in self.classes for rank in c["ranks"])

    def walk(self, rank, kind, number):
        """The terminals of the calls (poll 0) and unsuccessful polls (1) of a sequence."""
        c = next(c for c in self.classes if rank in c["ranks"])
        start = next((s[2] for s in c["sequences"] if s[:2] == (kind, number)), None)
        polls = iter(self.polls.get((kind, number, rank), []))
        before = {}
        if start is not None:
            for terminal in self.calls(c, c["variant"][c["ranks"].index(rank)], start):
                shape = self.terminals[terminal]
                if shape not in before:
                    before[shape] = iter(self.before[kind, number, rank, shape])
                for _ in range(next(before[shape])):
                    yield next(polls), 1
                yield terminal, 0
        for terminal in polls:
            yield terminal, 1

    def places(self, rank, kind, number):
        """The places of the calls and polls of a sequence, for their times."""
        numbers = [{}, {}]
        for terminal, poll in self.walk(rank, kind, number):
            first, words = self.shapes[self.terminals[terminal]]
            seen = numbers[poll]
            yield (2 * seen.setdefault((first, *words), len(seen)) + poll) % 2 ** 24

    def print_times(self, rank, stream):
        places = list(self.places(rank, stream.kind, stream.id))
        for place, (start, duration) in zip(places, stream.calls(places)):
            print(rank, ("thread", "callback")[stream.kind], stream.id, place % 2, f"{start:.9f}",
                  "-" if duration is None else f"{duration:.9f}")

    def sequences(self, rank):
        """Of calls: threads and callbacks."""
        c = next(c for c in self.classes if rank in c["ranks"])
        return sorted((kind, number) for kind, number, _ in c["sequences"] if kind < 2)

    def print_calls(self, rank):
        for kind, number in self.sequences(rank):
            for terminal, poll in self.walk(rank, kind, number):
                first = self.shapes[self.terminals[terminal]][0]
                if not poll:
                    print(rank, self.functions[first // 2], "failed" if first % 2 else "")


def side_streams(data, read):
    b = Bytes(data)
    streams = b.many(lambda: read(b))
    assert b.at == len(data)
    order = [(s.kind, s.birth) for s in streams]
    assert order == sorted(order)
    return streams


def archive_of(directory):
    """The members, and the program of each rank."""
    tar = subprocess.run(["zstd", "-dcq", directory + "/trace.tar.zst"], check=True,
                         stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        members = {m.name: archive.extractfile(m).read() for m in archive.getmembers()}
    meta = configparser.ConfigParser(interpolation=None)
    meta.read_string(members["meta"].decode())
    assert meta["recording"]["format"] == "1"
    shards = meta["recording"].get("shards", "")
    names = ["program"] + [f"program.{first}" for first in shards.split(";") if first]
    program_of = {}
    for name in names:
        program = Program(members[name])
        assert program.world == int(meta["recording"]["ranks"])
        if not program.timed:
            assert name != "program" or program.b.unsigned() == 0  # functions with times of ranks
            assert program.b.at == len(members[name])
        assert name == "program" or name == f"program.{program.ranks()[0]}"
        for rank in program.ranks():
            assert program_of.setdefault(rank, program) is program
    return members, program_of


def main():
    option = sys.argv[1] if len(sys.argv) > 2 else None
    members, program_of = archive_of(sys.argv[-1])
    codes = payloads()

    def of_kind(kind, read):
        return {int(name.split(".")[1]): side_streams(data, read)
                for name, data in sorted(members.items()) if name.startswith(kind + ".")}
    values = {kind: of_kind(kind, lambda b: SideStream(b, codes[kind])) for kind in codes}
    times = of_kind("times", Times)
    if option == "--values":
        for kind in codes:
            for rank, streams in values[kind].items():
                for stream in streams:
                    stream.print_values(rank)
    elif option == "--times":
        for rank in sorted(times):
            for stream in times[rank]:
                program_of[rank].print_times(rank, stream)
    else:
        for rank in sorted(program_of):
            program_of[rank].print_calls(rank)


if __name__ == "__main__":
    main()
