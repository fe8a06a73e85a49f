#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kills.py ROUNDS WEND DYING LAUNCHER…: kills one of 8 ranks at a random moment, ROUNDS times, and
merges what is left.

Each recording must be readable and have all ranks. Each rank must have at least the calls that it
had made one checkpoint before the kill, less SLACK seconds for writing it on a busy machine. The
moments follow from a seed, which a failure prints."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

RANKS, PERIOD, SLACK = 8, 1.0, 1.5


def progress(rank, until):
    calls = 0
    with open(f"progress-{rank}") as lines:
        for line in lines:
            fields = line.split()
            if len(fields) == 2 and line.endswith("\n") and float(fields[0]) < until:
                calls = int(fields[1])
    return calls


def members(text):
    for part in text.split(","):
        span, _, step = part.strip().partition(":")
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1, int(step or 1))


def one_round(number, wend, dying, launcher, moment):
    shutil.rmtree("killed.dir", ignore_errors=True)
    env = dict(os.environ, WEND_CHECKPOINT=str(int(PERIOD)))
    job = subprocess.Popen(
        [*launcher, "-n", str(RANKS), wend, "trace", "-q", "-o", "killed.dir", dying, "ever"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        pids = {}
        while len(pids) < RANKS:
            line = job.stdout.readline()
            if not line:
                return "the job ended before it was killed"
            if found := re.match(r"rank (\d+) is (\d+)$", line):
                pids[int(found[1])] = int(found[2])
        time.sleep(moment)
        at = time.time()
        os.kill(pids[number % RANKS], signal.SIGKILL)
        job.communicate(timeout=60)
    finally:
        if job.poll() is None:
            job.terminate()
    merged = subprocess.run(
        [wend, "merge", "killed.dir"], capture_output=True, text=True, timeout=60
    )
    if merged.returncode != 0:
        return f"wend merge: status {merged.returncode}: {merged.stderr}"
    shown = subprocess.run(
        [wend, "show", "--json", "killed.dir"], capture_output=True, text=True, timeout=60
    )
    dumped = subprocess.run(
        [wend, "dump", "--rank", str(number % RANKS), "killed.dir"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    if shown.returncode != 0 or dumped.returncode != 0:
        return f"not readable: {shown.stderr}{dumped.stderr}"
    calls = {
        rank: row["calls"]
        for row in json.loads(shown.stdout)["classes"]
        for rank in members(row["ranks"])
    }
    for rank in range(RANKS):
        least = progress(rank, at - PERIOD - SLACK)
        if calls.get(rank, 0) < least:
            return (
                f"rank {rank}: {calls.get(rank, 0)} calls are recorded, it had made {least} a "
                "checkpoint before the end"
            )
    return None


def main():
    rounds, wend, dying, launcher = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    seed = int(os.environ.get("SEED", time.time_ns() % 1000000))
    moments = random.Random(seed)
    for number in range(rounds):
        problem = one_round(
            number, wend, dying, launcher, moments.uniform(PERIOD + SLACK, PERIOD + SLACK + 1.5)
        )
        if problem:
            sys.exit(f"round {number} (SEED={seed}): {problem}")
    print(
        f"{rounds} times one of {RANKS} ranks was killed: nothing from before the checkpoint was "
        f"lost (SEED={seed})"
    )


main()
