# SPDX-License-Identifier: BSD-3-Clause
"""Random programs whose completions come in random orders. All orders of one program must be
equal, and a change of any other call must be found.

Usage: diff-random.py WEND SCRIPT ROUNDS [SEED]"""
import os
import random
import subprocess
import sys
import tempfile

WEND, SCRIPT, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 20240601
rng = random.Random(SEED)


class Phase:
    """N receives that one function completes. The calls that follow a completion depend on the
    completion, on its place in the order, or there are none."""

    def __init__(self, number):
        self.number = number
        self.n = rng.randint(1, 5)
        self.rounds = rng.choice([1, 1, 2, 3])          # how often each is posted
        self.function = rng.choice(["Waitany", "Testany", "Waitsome", "Testsome", "Test"])
        self.style = rng.choice(["completion", "place", "nothing"])
        if self.style == "place" and self.function in ("Waitsome", "Testsome"):
            self.style = "nothing"  # a random number of requests completes at a time
        self.before = (
            rng.random() < 0.3
            and self.function in ("Waitany", "Testany", "Test")
            and self.style != "place"
        )
        self.bodies = [
            [self.send(f"{i}{j}") for j in range(rng.randint(0, 3))] for i in range(self.n)
        ]
        self.places = [
            [self.send(f"9{i}{j}") for j in range(rng.randint(0, 2))]
            for i in range(self.n * self.rounds)
        ]
        self.tail = [self.send(f"8{j}") for j in range(rng.randint(0, 2))]
        self.background = rng.random() < 0.3  # a request in the array that completes at the end

    def send(self, tag):
        return (
            f"MPI_Send count={rng.randint(0, 3)} dest={rng.randint(0, 3)} "
            f"tag={int(tag) + 1000 * self.number}"
        )

    def post(self, i, generation):
        return (
            f"MPI_Irecv buf=heap#{i}+{generation * 8} source={i} tag={self.number} "
            f"request=p{self.number}r{i}"
        )

    def completion(self, done):
        names = [f"p{self.number}r{i}" for i in range(self.n)] + (
            [f"bg{self.number}"] if self.background else []
        )
        array, who = ",".join(names), ",".join(f"p{self.number}r{i}" for i in done)
        if self.function == "Test":
            return f"MPI_Test request={who} done={who} -> flag=1"
        if self.function in ("Waitany", "Testany"):
            return (
                f"MPI_{self.function} count={len(names)} array_of_requests={array} done={who} -> "
                f"index={done[0]} flag=1"
            )
        return (f"MPI_{self.function} incount={len(names)} array_of_requests={array} done={who} -> "
                f"outcount={len(done)} array_of_indices={','.join(map(str, done))}")

    def lines(self, rng):
        out = (
            [f"MPI_Irecv buf=heap#99 source=99 tag={self.number} request=bg{self.number}"]
            if self.background
            else []
        )
        out += [self.post(i, 0) for i in range(self.n)]
        left = {i: self.rounds for i in range(self.n)}
        place = 0
        while any(left.values()):
            ready = [i for i in left if left[i]]
            some = self.function in ("Waitsome", "Testsome")
            done = sorted(rng.sample(ready, rng.randint(1, len(ready)) if some else 1))
            if rng.random() < 0.2 and self.function.startswith("Test"):
                out.append(f"? MPI_Test request=p{self.number}r{ready[0]}")
            if self.before:
                out.append("MPI_Comm_size")
            out.append(self.completion(done))
            for i in done:
                left[i] -= 1
                if self.style == "completion":
                    out += self.bodies[i]
                if self.style == "place":
                    out += self.places[place]
                    place += 1
                if left[i] and self.style != "place":
                    out.append(self.post(i, self.rounds - left[i]))
        out += self.tail
        if self.background:
            out.append(f"MPI_Wait request=bg{self.number} done=bg{self.number}")
        return out


def program(phases, rng):
    lines = ["ranks 1", "MPI_Init"]
    for phase in phases:
        lines += phase.lines(rng)
        lines.append("MPI_Barrier")
    return lines + ["MPI_Finalize"]


def one_completed(lines, i):
    """Whether call I follows one completion alone. Behind several, exchanged calls can be equal by
    rule 5: each may belong to another of the completions."""
    done = [l for l in lines[:i] if not l.startswith("?")]
    while done and " done=" not in done[-1]:
        done.pop()
    return (
        done
        and "," not in done[-1].split(" done=")[1].split()[0]
        and (len(done) < 2 or " done=" not in done[-2])
    )


def mutate(lines):
    """One change to calls that do not complete anything; None if there is nothing to change."""
    lines = list(lines)
    sends = [i for i, l in enumerate(lines) if l.startswith("MPI_Send")]
    if not sends:
        return None, None
    i = rng.choice(sends)
    kind = rng.choice(["tag", "drop", "twice", "exchange"])
    if kind == "tag":
        lines[i] += "7"
    elif kind == "drop":
        del lines[i]
    elif kind == "twice":
        lines.insert(i, lines[i])
    else:
        pairs = [
            j
            for j in sends
            if j + 1 in sends and lines[j] != lines[j + 1] and one_completed(lines, j)
        ]
        if not pairs:
            return None, None
        i = rng.choice(pairs)
        lines[i], lines[i + 1] = lines[i + 1], lines[i]
    return lines, f"{kind} of line {i}"


def record(lines, name):
    subprocess.run(["rm", "-rf", name], check=True)
    subprocess.run([SCRIPT, "-", name], input="\n".join(lines) + "\n", text=True, check=True)


def diff(a, b):
    return subprocess.run([WEND, "diff", a, b], capture_output=True, text=True)


def main():
    for round_number in range(ROUNDS):
        phases = [Phase(n) for n in range(rng.randint(1, 3))]
        for phase in phases:
            if phase.style == "place":
                phase.rounds = 1
        first, second = program(phases, rng), program(phases, rng)
        record(first, "a")
        record(second, "b")
        result = diff("a", "b")
        if result.returncode != 0:
            print(
                f"round {round_number}, seed {SEED}: told "
                f"different:\n{result.stdout}{result.stderr}",
                *first,
                "--",
                *second,
                sep="\n",
            )
            return 1
        mutant, what = mutate(second)
        if mutant is None:
            continue
        record(mutant, "b")
        for pair in (("a", "b"), ("b", "a")):
            result = diff(*pair)
            if result.returncode != 1:
                print(
                    f"round {round_number}, seed {SEED}: {what} not found: exit "
                    f"{result.returncode} {result.stderr}",
                    *first,
                    "--",
                    *mutant,
                    sep="\n",
                )
                return 1
    return 0


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    sys.exit(main())
