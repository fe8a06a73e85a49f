# SPDX-License-Identifier: BSD-3-Clause
"""Compares small random sequences with completions in two ways: with `wend diff`, and by trying
all orders that rules 4 and 5 of docs/comparing.md allow.

Usage: diff-definition.py WEND SCRIPT ROUNDS [SEED]

A sequence is a list of letters (calls) and numbers (completions of that request)."""
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter

WEND, SCRIPT, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
rng = random.Random(SEED)


def is_completion(item):
    return isinstance(item, int)


def head(items):
    """The completions at the beginning."""
    n = next((i for i, item in enumerate(items) if not is_completion(item)), len(items))
    return items[:n]


def window(items, length):
    """The groups of the first LENGTH completions as [(completions, body)], and the items behind
    them. The j-th completion of request r is (r, j). None if no group ends there."""
    groups, seen, rest = [], Counter(), items
    while length > 0:
        done = head(rest)
        rest = rest[len(done):]
        n = next((i for i, item in enumerate(rest) if is_completion(item)), len(rest))
        keys = []
        for r in done:
            keys.append((r, seen[r]))
            seen[r] += 1
        length -= len(done)
        if length < 0 or not done:
            return None
        groups.append((keys, rest[:n]))
        if length > 0:
            rest = rest[n:]
    return groups, rest, seen


def splits(row, keys, rows):
    """All ways to write ROW as the rows of KEYS in order."""
    if not keys:
        if not row:
            yield rows
        return
    known = rows.get(keys[0])
    for n in range(len(row) + 1) if known is None else [len(known)]:
        if known is None or row[:n] == known:
            yield from splits(row[n:], keys[1:], {**rows, keys[0]: row[:n]})


def all_splits(parts, rows):
    if not parts:
        yield rows
        return
    for more in splits(parts[0][1], parts[0][0], rows):
        yield from all_splits(parts[1:], more)


def prefixes(row, keys, rows):
    """For all ways in which ROW can begin with the rows of KEYS: the rest of ROW."""
    if not keys:
        yield row, rows
        return
    known = rows.get(keys[0])
    longest = next((i for i, item in enumerate(row) if is_completion(item)), len(row))
    for n in range(longest + 1) if known is None else [len(known)]:
        if known is None or row[:n] == known:
            yield from prefixes(row[n:], keys[1:], {**rows, keys[0]: row[:n]})


def by_completion(a, b, rest_a, rest_b):
    ends = [[]]
    if len(a) == len(b) > 1:
        shortest = min((body for _, body in a[:-1] + b[:-1]), key=len)
        ends = [shortest[len(shortest) - n:] for n in range(len(shortest) + 1)]
    for end in ends:
        sides = []
        for groups in (a, b):
            if any(body[len(body) - len(end):] != end for _, body in groups[:-1]):
                break
            sides.append([(keys, body[:len(body) - len(end)]) for keys, body in groups[:-1]])
        if len(sides) < 2:
            continue
        joint = [
            (frozenset(keys), body)
            for keys, body in sides[0]
            if (frozenset(keys), body) in [(frozenset(k), other) for k, other in sides[1]]
        ]
        closed = [
            (keys, body)
            for side in sides
            for keys, body in side
            if (frozenset(keys), body) not in joint
        ]
        for rows in all_splits(closed, {}):
            if set(a[-1][0]) == set(b[-1][0]) and equal(rest_a, rest_b):
                return True
            for behind_a, more in prefixes(rest_a, a[-1][0], rows):
                for behind_b, _ in prefixes(rest_b, b[-1][0], more):
                    if equal(behind_a, behind_b):
                        return True
    return False


def equal(a, b):
    a, b = list(a), list(b)
    while a and b:
        if is_completion(a[0]) and is_completion(b[0]) and head(a) != head(b):
            break
        if a[0] != b[0]:
            return False
        a, b = a[1:], b[1:]
    if not a or not b:
        return not a and not b
    completions = sum(map(is_completion, a))
    for length in range(1, completions + 1):
        x, y = (
            window(a, length),
            window(b, length) if length <= sum(map(is_completion, b)) else None,
        )
        if x and y and x[2] == y[2]:
            break
    else:
        return False
    bodies = [
        [(len(keys), body) for keys, body in side[0][:-1]] + [len(side[0][-1][0])]
        for side in (x, y)
    ]
    if bodies[0] == bodies[1] and equal(x[1], y[1]):
        return True
    return by_completion(x[0], y[0], x[1], y[1])


def sequence(rows, sizes):
    """A run of a program: completions of the requests, some at a time, each followed by its row."""
    left, items = {r: list(of) for r, of in enumerate(rows)}, []
    while any(left.values()):
        ready = [r for r in left if left[r]]
        rng.shuffle(ready)
        done = ready[:rng.choice(sizes)]
        items += done
        for r in done:
            items += left[r].pop(0)
    return items


def mutate(items):
    """Exchanges a letter with the next, or changes it."""
    items = list(items)
    letters = [i for i, item in enumerate(items) if not is_completion(item) and item in "xy"]
    if letters:
        i = rng.choice(letters)
        if i + 1 in letters and rng.random() < 0.7:
            items[i], items[i + 1] = items[i + 1], items[i]
        else:
            items[i] = "y" if items[i] == "x" else "x"
    return items


def record(items, name, requests):
    posts = [f"MPI_Irecv source={r} request=r{r}" for r in range(requests)]
    lines = ["ranks 1", "MPI_Init"] + posts
    for item in items:
        if is_completion(item):
            lines.append(f"MPI_Test request=r{item} done=r{item} -> flag=1")
        elif item.startswith("R"):
            lines.append(posts[int(item[1:])])
        else:
            lines.append(f"MPI_Send dest={'xy'.index(item)}")
    subprocess.run(["rm", "-rf", name], check=True)
    subprocess.run(
        [SCRIPT, "-", name], input="\n".join(lines + ["MPI_Finalize"]) + "\n", text=True, check=True
    )


def main():
    told = Counter()
    for round_number in range(ROUNDS):
        rows = []
        for r in range(rng.randint(2, 4)):
            times = rng.choice([1, 1, 1, 2])
            rows.append(
                [
                    [rng.choice("xy") for _ in range(rng.choice([0, 1, 1, 2]))]
                    + ([f"R{r}"] if t + 1 < times else [])
                    for t in range(times)
                ]
            )
        tail, sizes = [rng.choice("xy") for _ in range(rng.randint(0, 3))], rng.choice(
            [[1], [1, 2], [1, 2, 3]]
        )
        a, b = sequence(rows, sizes) + tail, sequence(rows, sizes) + tail
        legal = rng.random() < 0.4
        if not legal:
            b = mutate(b)
        record(a, "a", len(rows))
        record(b, "b", len(rows))
        expected = equal(a, b)
        for pair in (("a", "b"), ("b", "a")):
            status = subprocess.run([WEND, "diff", *pair], capture_output=True).returncode
            if status != (0 if expected else 1):
                print(
                    f"round {round_number}, seed {SEED}: wend diff {' '.join(pair)} exits "
                    f"{status}, by the rules {'equal' if expected else 'different'}:"
                )
                print(*a, "--", *b)
                return 1
        if legal and not expected:
            print(
                f"round {round_number}, seed {SEED}: a legal order is different by the rules:\n",
                *a,
                "--",
                *b,
            )
            return 1
        told[expected] += 1
    print(f"{told[True]} equal, {told[False]} different")
    return 0


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    sys.exit(main())
