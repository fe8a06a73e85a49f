#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""waits.py: what wend says of the times of calls, against what follows from the times themselves.

    waits.py WEND RECORDING percentiles    those of wend show --json
    waits.py WEND RECORDING waits          those of wend show --waits, of tests/programs/waiting.c
    waits.py WEND RECORDING design         the ranks that are late by design are those that it names
"""

import csv
import io
import json
import math
import subprocess
import sys
from collections import defaultdict

WEND, RECORDING, WHAT = sys.argv[1:]


def wend(*arguments):
    return subprocess.run(
        [WEND, *arguments, RECORDING], check=True, capture_output=True, text=True
    ).stdout


def table(*arguments):
    return list(csv.DictReader(io.StringIO(wend(*arguments))))


class Call:
    def __init__(self, row):
        self.rank, self.function, self.index = int(row["rank"]), row["function"], int(row["call"])
        self.start = float(row["start"] or "nan")
        self.duration = float(row["duration"] or "nan")
        self.end = self.start + self.duration

    def wait(self, late):
        """How long the call waited for another one, LATE."""
        return max(0, min(late.start, self.end) - self.start)


# without unsuccessful polls
CALLS = [Call(row) for row in table("dump", "--times", "-F", "csv") if row["poll"] == "0"]


def close(a, b, what, relative=0.0, absolute=0.0):
    if not abs(a - b) <= relative * abs(b) + absolute:
        sys.exit(f"{what}: {a}, not {b}")


def percentiles():
    durations = defaultdict(list)
    for call in CALLS:
        if not math.isnan(call.duration):
            durations[call.function].append(call.duration)
    shown = json.loads(wend("show", "--json"))["functions"]
    found = 0
    for row in shown:
        of = sorted(durations.pop(row["name"], []))
        if not of:
            continue
        for percent, key in ((50, "median"), (90, "percentile_90"), (99, "percentile_99")):
            rank = max(1, math.ceil(percent / 100 * len(of)))
            # 1/256 and the four digits of the JSON; the nanosecond of the dump
            exact = of[rank - 1]
            close(row["duration"][key], exact, f"{row['name']} {key}", 1 / 256 + 5e-4, 6e-10)
            found += 1
    if not found or any(not name.startswith("wend_") for name in durations):
        sys.exit(f"percentiles of {found // 3} functions; none of {sorted(durations)}")


def of_collectives():
    """{(state, function): {rank: [waited, caused]}}"""
    sums = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    by_rank = defaultdict(list)
    for call in CALLS:
        by_rank[call.rank].append(call)

    def add(state, waiting, late):
        wait = waiting.wait(late)
        sums[state, waiting.function][waiting.rank][0] += wait
        sums[state, waiting.function][late.rank][1] += wait

    def rounds(function):
        return zip(*[[c for c in calls if c.function == function] for calls in by_rank.values()])

    for function, state in (("MPI_Barrier", "wait_at_barrier"), ("MPI_Allreduce", "wait_at_nxn")):
        for calls in rounds(function):
            last = max(calls, key=lambda c: c.start)
            for call in calls:
                add(state, call, last)
    for calls in rounds("MPI_Bcast"):
        for call in calls:
            add("late_broadcast", call, calls[1])
    for calls in rounds("MPI_Reduce"):
        add("early_reduce", calls[0], max(calls, key=lambda c: c.start))
    for begins, waits in zip(rounds("MPI_Ibarrier"), rounds("MPI_Wait")):
        last = max(begins, key=lambda c: c.start)
        for call in waits:
            add("wait_at_barrier", call, last)
    return sums


def of_messages():
    """{(state, function): {rank: [waited, caused]}}, {(rank, late rank): waited}"""
    at = {(call.rank, call.index): call for call in CALLS}
    senders = defaultdict(list)
    for row in table("show", "--messages", "--all", "--csv"):
        receive, send = int(row["destination"]), int(row["source"])
        waiting = at[receive, int(row["complete_call"])]
        posted = at[receive, int(row["receive_call"])]
        if posted.function == "MPI_Mprobe":
            waiting = posted
        sent = at[send, int(row["send_call"])]
        senders[waiting].append(sent)
        close(float(row["waited"]), waiting.wait(sent), f"message {row}", absolute=5e-9)
        before = at.get((receive, waiting.index - 1))
        if before and before.function == "MPI_Probe":
            senders[before].append(sent)
    sums = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    pairs = defaultdict(float)
    for waiting, sent in senders.items():
        choose = min if waiting.function in ("MPI_Waitany", "MPI_Waitsome") else max
        late = choose(sent, key=lambda c: c.start)
        wait = waiting.wait(late)
        sums["late_sender", waiting.function][waiting.rank][0] += wait
        sums["late_sender", waiting.function][late.rank][1] += wait
        pairs[waiting.rank, late.rank] += wait
    return sums, pairs


def shown():
    sums = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    pairs = defaultdict(float)
    for row in json.loads(wend("show", "--waits", "--json")):
        of = sums[row["state"], row["function"]]
        for rank in row["ranks"]:
            of[rank["rank"]][0] += rank["seconds"]
            of[rank["rank"]][1] += rank["seconds_caused"]
        close(sum(r["seconds"] for r in row["ranks"]), row["seconds"], "sum", absolute=1e-7)
        close(sum(r["seconds_caused"] for r in row["ranks"]), row["seconds"], "sum", absolute=1e-7)
        for pair in row["pairs"]:
            pairs[pair["rank"], pair["late_rank"]] += pair["seconds"]
    return sums, pairs


def waits():
    expected, expected_pairs = of_messages()
    expected.update(of_collectives())
    got, pairs = shown()
    for key, ranks in expected.items():
        for rank, both in ranks.items():
            for mine, its, what in zip(both, got[key][rank], ("waited", "caused")):
                close(its, mine, f"{key} {what} of rank {rank}", absolute=2e-7)
    for key in got:
        if key not in expected and sum(both[0] for both in got[key].values()) > 0:
            sys.exit(f"wend has {key}")
    for pair in expected_pairs.keys() | pairs.keys():
        close(pairs[pair], expected_pairs[pair], f"pair {pair}", absolute=2e-7)


def design():
    got, pairs = shown()
    late = {
        ("wait_at_barrier", "MPI_Barrier"): 2,
        ("wait_at_barrier", "MPI_Wait"): 2,
        ("late_sender", "MPI_Recv"): 0,
        ("late_sender", "MPI_Waitall"): 3,
        ("late_sender", "MPI_Probe"): 3,
        ("late_sender", "MPI_Mprobe"): 3,
        ("late_broadcast", "MPI_Bcast"): 1,
        ("early_reduce", "MPI_Reduce"): 3,
        ("wait_at_nxn", "MPI_Allreduce"): 1,
    }
    for key, rank in late.items():
        most = max(got[key], key=lambda r: got[key][r][1])
        if most != rank:
            sys.exit(f"{key}: rank {most} is late most, not {rank}: {dict(got[key])}")
    if not pairs[1, 0] > 0 or not pairs[0, 3] > 0:
        sys.exit(f"late senders: {dict(pairs)}")


{"percentiles": percentiles, "waits": waits, "design": design}[WHAT]()
