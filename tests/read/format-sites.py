#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of call sites, written from docs/format.md: format-sites.py DIRECTORY

Prints for each call and unsuccessful poll: rank, thread or callback and its number, whether it is a
poll, the address in its module, "-" if it is not known. With call stacks, the addresses in the
callers follow, and "cut" if there may be more. With --names, prints the functions, files and lines
of each address that has names, as JSON. A test, as format.py is.
"""
import collections
import json
import pathlib
import sys

from format import Bytes, Coded, archive_of, hashed, side_streams, unzigzag

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "spec"))
import mpispec

GUESSES = 4096


class Sites:
    """What the member that ranks share and that of a rank have alike. They set the decoder,
    self.coded."""

    def __init__(self, stacks):
        self.stacks, self.guesses, self.trust = stacks, {}, {}
        # frames and, with stacks, sites: (place, caller); places: (module, address) or None
        self.sites, self.frames, self.places = [], [], []
        self.last_site, self.n_seen = 0, 0

    def number(self, name):
        return self.coded.model(name)

    def holds(self, kind, place, context=None):
        """Whether the guess at PLACE, which is known, holds."""
        trust = self.trust.get((kind, place), 0)
        good = self.coded.bit(("guess", kind, context, trust))
        self.trust[kind, place] = min(trust + 1, 3) if good else 0
        return good

    def guessed(self, kind, place, read, context=None):
        """A value that is noted at its place."""
        if (kind, place) in self.guesses and self.holds(kind, place, context):
            return self.guesses[kind, place]
        self.trust[kind, place] = 0
        self.guesses[kind, place] = read()
        return self.guesses[kind, place]

    def begin_stream(self):
        self.marks, self.before = (0, 0, 0), 0

    def elements(self, n, used=lambda site: None):
        """N elements of a stream; calls USED with each site."""
        for _ in range(n):
            found = self.coded.bit(("found", self.before))
            code = 0 if found else 1 if self.coded.bit("wrong") else 2
            self.before = code + 1
            site = self.site(self.marks, code)
            mark = site * 4 + code + 1
            step = 0
            if code:
                step = self.guessed("step", hashed(mark, self.marks[0], 1024),
                                    lambda: self.number("step"))
            used(site)
            self.marks = (mark, *self.marks[:2])
            yield code, step, site

    def site(self, marks, code):
        x, y, z = marks
        mixed = (x + 31 * ((y + z * 0xff51afd7ed558ccd) % 2 ** 64)) % 2 ** 64
        far = ("far", hashed(mixed, code, 1024))
        near = ("near", hashed(x, code, 1024))
        older = ("older", near[1])
        site, tried = None, []
        for guess in (far, near, older):
            value = self.guesses.get(guess)
            if value is None or value in tried:
                continue
            tried.append(value)
            if self.holds(*guess):
                site = value
                break
        if site is None:
            if self.coded.bit("new site"):
                site = self.n_seen
            else:
                site = self.last_site + unzigzag(self.number("site"))
        self.n_seen = max(self.n_seen, site + 1)
        self.last_site = site
        self.guesses[far] = site
        if self.guesses.get(near, site) != site:
            self.guesses[older] = self.guesses[near]
        self.guesses[near] = site
        return site

    def address(self, site):
        """(module, address), or None: unknown."""
        return self.places[self.sites[site][0]] if self.stacks else self.sites[site]

    def callers(self, site):
        """The addresses in the callers, the innermost first, and whether the stack was cut."""
        out, caller = [], self.sites[site][1]
        while caller > 1:
            place, caller = self.frames[caller - 2]
            out.append(self.places[place][1])
        return out, caller == 1


class Own(Sites):
    """A stream of the member of a rank, with its sites."""

    def __init__(self, b, stacks):
        super().__init__(stacks)
        self.kind, self.id, self.birth = b.unsigned(), b.signed(), b.unsigned()
        block = Bytes(b.take(b.unsigned()))
        self.modules, self.last_address, contexts = [], {}, {}
        table = Bytes(block.take(block.unsigned()))
        while table.at < len(table.data):
            self.sites.append(self.stack(table) if stacks else self.description(table))
        self.begin_stream()
        self.cut, self.all = False, []
        while block.at < len(block.data):
            n, chunk = block.unsigned(), Bytes(block.take(block.unsigned()))
            if not n:
                assert not chunk.data and block.at == len(block.data)
                self.cut = True
                break
            self.coded = Coded(chunk, contexts)
            self.all += self.elements(n)
            self.coded.end()
            assert chunk.at == len(chunk.data)

    def description(self, table):
        module = table.unsigned() - 1
        if module < 0:
            return None
        if module == len(self.modules):
            self.modules.append((table.string(), table.take(table.unsigned())))
        address = (self.last_address.get(module, 0) + table.signed()) % 2 ** 64
        self.last_address[module] = address
        return module, address

    def stack(self, table):
        caller = table.unsigned()
        for _ in range(table.unsigned()):
            self.places.append(self.description(table))
            self.frames.append((len(self.places) - 1, caller))
            caller = len(self.frames) + 1
        self.places.append(self.description(table))
        return len(self.places) - 1, caller


class Shared(Sites):
    """The member "sites" or "stacks": its modules, sites, and contents of ranks."""

    def __init__(self, data, stacks):
        super().__init__(stacks)
        b = Bytes(data)
        self.modules = b.many(lambda: (b.take(b.unsigned()), b.take(b.unsigned())))
        ranks = b.sets(b.unsigned())
        assert [r[0] for r in ranks] == sorted(r[0] for r in ranks)
        self.coded, self.of_rank = Coded(b), {}
        self.last_address, self.last = {"site": None, "frame": None}, (0, 0)
        for members in ranks:
            streams = self.content()
            for rank in members:
                self.of_rank[rank] = streams
        self.coded.end()
        assert b.at == len(b.data)

    def content(self):
        return [self.stream() for _ in range(self.number("streams"))]

    def stream(self):
        kind, said = self.number("kind"), self.number("id")
        birth, n = self.number("birth"), self.number("elements")
        cut = self.coded.bit("cut")
        self.begin_stream()
        return kind, unzigzag(said), birth, cut, list(self.elements(n, self.use))

    def streams(self, rank):
        """By sequence: whose sites they are, whether the stream was cut, its elements."""
        return {s[:2]: (self, *s[3:]) for s in self.of_rank.get(rank, [])}

    def use(self, site):
        """What follows an element: the description of a site that is new."""
        if site == len(self.sites):
            self.sites.append(self.stack() if self.stacks else self.description("site"))
        self.last = self.sites[site]
        used = self.address(site)
        self.last_address["site"] = used or self.last_address["site"]

    def description(self, of):
        said = self.number(("module", of))
        if not said:
            return None
        last = self.last_address[of]
        base = last[1] if last and last[0] == said - 1 else 0
        if self.coded.bit(("near", of)):
            d = self.number(("near address", of))
        else:
            d = unzigzag(self.number(("address", of)))
        self.last_address[of] = said - 1, (base + d) % 2 ** 64
        return self.last_address[of]

    def key(self, caller):
        return caller if caller < 2 else 2 + self.frames[caller - 2][0]

    def stack(self):
        place, caller = self.last
        way = self.guessed("way", hashed(self.key(caller), place, 1024),
                           lambda: self.number("way"))
        sibling = 0
        if way == 0:
            caller = len(self.frames) + 2 - self.number("distance")
        elif way == 1:
            sibling = place + 1
        for _ in range(way - 1):
            sibling = self.frames[caller - 2][0] + 1
            caller = self.frames[caller - 2][1]
        for _ in range(self.guessed("length", hashed(self.key(caller), sibling, 1024),
                                    lambda: self.number("length"))):
            self.frames.append((self.place(caller, sibling, "frame"), caller))
            caller, sibling = len(self.frames) + 1, 0
        return self.place(caller, sibling, "site"), caller

    def place(self, caller, sibling, of):
        """The number of a place."""
        def new_or_known():
            if not self.coded.bit(("new place", of)):
                return self.number("place")
            self.places.append(self.description(of))
            return len(self.places) - 1
        return self.guessed("place", hashed(2 * self.key(caller) + (of == "site"), sibling, 1024),
                            new_or_known, of)


class Follower:
    """The sites of the calls of a sequence, by its elements."""

    def __init__(self, elements, cut):
        self.elements, self.cut = collections.deque(elements), cut
        self.guesses, self.others, self.n = {}, set(), 0
        self.last, self.right, self.lost = None, 0, False

    def element(self, code):
        return bool(self.elements) and self.elements[0][0] == code

    def site(self, function, shape, signature):
        while self.element(2) and self.right >= self.elements[0][1]:
            self.right -= self.elements.popleft()[1]
        if self.lost or (self.cut and not self.elements):
            self.lost = True
            return None
        by_shape = ("shape", shape, self.last)
        own = ("signature", signature, self.last)
        place = by_shape
        if by_shape not in self.guesses:
            if self.n < GUESSES:
                self.n += 1
            else:
                place = ("function", function, self.last)
        elif by_shape in self.others and own in self.guesses:
            place = own
        guess = self.guesses.setdefault(place, None)
        if guess is None:
            assert self.element(0)
            site, self.right = self.elements.popleft()[2], 0
        elif self.element(1) and self.elements[0][1] == self.right:
            site, self.right = self.elements.popleft()[2], 0
        else:
            site, self.right = guess, self.right + 1
        if guess not in (None, site) and place == by_shape and self.n < GUESSES:
            self.others.add(by_shape)
            self.n += 1
            place = own
        self.guesses[place] = self.last = site
        return site


class Slots:
    """The values of the slots of terminals."""

    def __init__(self):
        spec = mpispec.Spec(str(pathlib.Path(__file__).parents[2] / "spec/mpi.spec"))
        self.with_self = {f.name for f in spec.functions if f.self_param}

    def values(self, program, terminal, rank):
        function = program.functions[program.shapes[program.terminals[terminal]][0] // 2]
        own, out = rank, []
        for i, (form, value) in enumerate(program.slots[terminal]):
            assert form not in (2, 3), "derived values: not read here"
            relative = form == 1
            if form == 4:
                relative, by_rank = program.tables[value]
                value = by_rank[rank]
            if relative and not isinstance(value, str):
                value += own
            out.append(value)
            if i == 0 and function in self.with_self:
                own = value
        return function, tuple(out)


def print_names(data):
    b = Bytes(data)
    texts = [None] + b.many(b.string)

    def module():
        b.string() # path
        b.take(b.unsigned()) # identifier
        at = 0
        for _ in range(b.unsigned()):
            at += b.unsigned()
            frames = b.many(lambda: (texts[b.unsigned()], texts[b.unsigned()], b.unsigned()))
            print(json.dumps([at, frames]))
    b.many(module)
    assert b.at == len(data)


def main():
    members, programs = archive_of(sys.argv[-1])
    if sys.argv[1] == "--names":
        print_names(members["names"])
        return
    stacks = any(name.startswith("stacks") for name in members)
    member = "stacks" if stacks else "sites"
    shared = Shared(members[member], stacks) if member in members else None
    slots = Slots()
    for rank in sorted(programs):
        program = programs[rank]
        streams = shared.streams(rank) if shared else {}
        if f"{member}.{rank}" in members:
            assert not streams
            own = side_streams(members[f"{member}.{rank}"], lambda b: Own(b, stacks))
            streams = {(s.kind, s.id): (s, s.cut, s.all) for s in own}
        assert set(streams) <= set(program.sequences(rank))
        for kind, number in program.sequences(rank):
            # a sequence of pseudo-calls alone has no stream
            sites, cut, elements = streams.get((kind, number), (None, False, []))
            follower = Follower(elements, cut)
            for terminal, poll in program.walk(rank, kind, number):
                function, values = slots.values(program, terminal, rank)
                site = None
                if not function.startswith("wend_"): # pseudo-calls have none
                    first, words = program.shapes[program.terminals[terminal]]
                    shape = (poll, first, *words)
                    site = follower.site(function, shape, (shape, values))
                found = sites.address(site) if site is not None else None
                line = [rank, ("thread", "callback")[kind], number, poll,
                        found[1] if found else "-"]
                if stacks and site is not None:
                    callers, cut = sites.callers(site)
                    line += callers + ["cut"] * cut
                print(*line)


if __name__ == "__main__":
    main()
