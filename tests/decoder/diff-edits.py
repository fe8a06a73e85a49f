# SPDX-License-Identifier: BSD-3-Clause
"""Edits random programs of nested loops: wend diff must name the edit, and nothing else.
Usage: diff-edits.py WEND SCRIPT ROUNDS [SEED]

A program is a list of calls ("send", tag) and loops ("loop", times, body). Tags are unique, so
there is one shortest explanation."""
import os
import random
import subprocess
import sys
import tempfile

WEND, SCRIPT, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 13
rng = random.Random(SEED)
RANKS = 3
tags = iter(range(1, 10 ** 9))


def send():
    return ["send", next(tags)]


def body(depth):
    """A body that begins and ends with a call, so that loops do not merge."""
    items = [send()]
    for _ in range(rng.randint(0, 4)):
        items += (
            [["loop", rng.randint(3, 40 if depth < 2 else 5), body(depth + 1)]]
            if depth < 3 and rng.random() < 0.3
            else [send()]
        )
    return items + [send()]


def program():
    return [
        x
        for _ in range(rng.randint(1, 4))
        for x in (
            [send()]
            if rng.random() < 0.4
            else [send(), ["loop", rng.randint(3, 200), body(1)], send()]
        )
    ]


def length(items):
    return sum(1 if x[0] == "send" else x[1] * length(x[2]) for x in items)


def lines(items):
    for x in items:
        if x[0] == "send":
            yield f"MPI_Send count=1 dest=0 tag={x[1]}"
        else:
            yield f"repeat {x[1]}"
            yield from lines(x[2])
            yield "end"


def places(items, first, loops):
    """(list, index, number of the first call, loops around) of each item in its first iteration."""
    for i, x in enumerate(items):
        yield items, i, first, loops
        if x[0] == "loop":
            yield from places(x[2], first, loops + [(x[1], length(x[2]))])
        first += length([x])


def number(n):
    return f"{n:,}"


def calls(n):
    return "1 call" if n == 1 else number(n) + " calls"


def nested(loops):
    if not loops:
        return ""
    times = 1
    for n, _ in loops:
        times *= n
    return f", in each of {number(times)} iterations of a loop of {calls(loops[0][1])}"


def edit(items):
    """Makes an edit. Returns the lines that wend diff must print for it."""
    where, i, first, loops = rng.choice(list(places(items, 1, []))) # behind MPI_Init
    kinds = ["tag", "insert", "delete"] if where[i][0] == "send" else ["times", "iteration"]
    kind = rng.choice(kinds)
    x = where[i]
    if kind == "tag":
        old, x[1] = x[1], next(tags)
        return f"call {first}: MPI_Send: tag {old} and {x[1]}" + nested(loops)
    if kind == "insert":
        n = rng.randint(1, 3)
        where[i:i] = [send() for _ in range(n)]
        return (
            f"before call {first}: only in b: "
            + ("MPI_Send" if n == 1 else calls(n))
            + nested(loops)
        )
    if kind == "delete" and 0 < i < len(where) - 1:
        del where[i]
        return f"call {first}: only in a: MPI_Send" + nested(loops)
    if kind == "times":
        old, period = x[1], length(x[2])
        x[1] += rng.choice([-1, 1, 2, 7])
        return (
            f"calls {first} to {first + old * period - 1}: a loop of {calls(period)}, {old} times "
            f"and {x[1]} times"
            + nested(loops)
        )
    if kind == "iteration" and not loops and x[1] >= 5:
        # one call of one iteration, the rest as before
        which, at = rng.randint(1, x[1] - 3), rng.choice(
            [j for j, y in enumerate(x[2]) if y[0] == "send"]
        )
        other, old = [list(y) for y in x[2]], x[2][at][1]
        other[at][1] = next(tags)
        call = first + which * length(x[2]) + length(x[2][:at])
        where[i:i + 1] = [["loop", which, x[2]], *other, ["loop", x[1] - which - 1, x[2]]]
        return f"call {call}: MPI_Send: tag {old} and {other[at][1]}"
    return None


def copy(items):
    return [[x[0], x[1]] if x[0] == "send" else [x[0], x[1], copy(x[2])] for x in items]


def record(programs, name):
    text = [f"ranks {RANKS}"]
    for rank, items in enumerate(programs):
        text += [f"rank {rank}", "MPI_Init", *lines(items), "MPI_Finalize"]
    subprocess.run(["rm", "-rf", name], check=True)
    subprocess.run([SCRIPT, "-", name], input="\n".join(text) + "\n", text=True, check=True)


def set_of(ranks):
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    return "ranks " + (
        f"{ranks[0]}-{ranks[-1]}"
        if ranks[-1] - ranks[0] == len(ranks) - 1
        else ", ".join(map(str, ranks))
    )


def main():
    made = 0
    while made < ROUNDS:
        items = program()
        if length(items) > 3000:
            continue
        changed = copy(items)
        said = edit(changed)
        if said is None:
            continue
        ranks = sorted(rng.sample(range(RANKS), rng.randint(1, RANKS)))
        made += 1
        record([items] * RANKS, "a")
        record([changed if rank in ranks else items for rank in range(RANKS)], "b")
        result = subprocess.run([WEND, "diff", "a", "b"], capture_output=True, text=True)
        found = [line for line in result.stdout.splitlines() if line.startswith("rank")]
        expected = [f"{set_of(ranks)}, thread 0, {said}"]
        if result.returncode != 1 or found != expected:
            print(
                f"round {made}, seed {SEED}: exit {result.returncode}, expected\n  "
                f"{expected[0]}\n{result.stdout}{result.stderr}",
                *lines(items),
                "--",
                *lines(changed),
                sep="\n",
            )
            return 1
        if subprocess.run([WEND, "diff", "-q", "b", "a"]).returncode != 1:
            print(f"round {made}, seed {SEED}: the other way about they are equal")
            return 1
    return 0


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    sys.exit(main())
