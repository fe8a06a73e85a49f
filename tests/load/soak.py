#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""soak.py CALLS WEND SOAK LAUNCHER…: records CALLS calls of the program SOAK, with a checkpoint
each second. After the first quarter of the run neither memory nor the parts on disk may grow.

RANKS and THREADS of the run come from the environment (default 1). The memory is that of the
process, less the growth of a run without Wend ("plain"), which is MPI's own."""
import os
import shutil
import subprocess
import sys
import time

# Kilobytes that memory may grow: pages of malloc and of MPI that are touched late. One byte for
# each of 100 million calls would be 100,000, and for each of 5 million 5,000.
SLACK = 512
# A checkpoint takes so many for each thread, for a moment. A fast machine has its first one after
# the first quarter of the run.
CHECKPOINT = 320


def bytes_in(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(path, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def run(command, folder):
    """(calls, kilobytes, bytes in FOLDER) at each line that the program prints."""
    environment = dict(os.environ, WEND_CHECKPOINT="1")
    rows = []
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as job:
        for line in job.stdout:
            fields = line.split()
            if len(fields) == 2 and all(f.isdigit() for f in fields):
                rows.append((int(fields[0]), int(fields[1]), bytes_in(folder)))
    if job.returncode != 0 or not rows:
        sys.exit(f"status {job.returncode}: {' '.join(command)}")
    return rows


def growth(rows, column):
    """The growth from the maximum in the second eighth of the run to the maximum after it."""
    eighth = len(rows) // 8
    return max(r[column] for r in rows[2 * eighth :]) - max(
        r[column] for r in rows[eighth : 2 * eighth + 1]
    )


def soak(calls, ranks, threads, wend, program, launcher):
    app = [program, str(calls // ranks), str(threads)]
    plain = run([*launcher, "-n", str(ranks), *app], ".")
    shutil.rmtree("soak.dir", ignore_errors=True)
    began = time.monotonic()
    rows = run(
        [*launcher, "-n", str(ranks), wend, "trace", "-q", "-o", "soak.dir", *app], "soak.dir"
    )
    took = time.monotonic() - began
    memory, disk = growth(rows, 1) - max(0, growth(plain, 1)), growth(rows, 2)
    print(
        f"{calls} calls of {ranks} ranks with {threads} threads in {took:.0f} s: {rows[-1][1]} KB "
        f"({plain[-1][1]} without Wend), {memory:+} KB after the first quarter; "
        f"{max(r[2] for r in rows) // 1024} KB on disk while it ran, {disk // 1024:+} KB; archive "
        f"{bytes_in('soak.dir') // 1024} KB"
    )
    if memory > SLACK + CHECKPOINT * threads or disk > SLACK * 1024:
        for row in rows:
            print(*row)
        sys.exit("it grows")


def main():
    calls, wend, program, launcher = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    for variable in [v for v in os.environ if v.startswith("WEND_")]:
        del os.environ[variable]
    soak(
        calls,
        int(os.environ.get("RANKS", 1)),
        int(os.environ.get("THREADS", 1)),
        wend,
        program,
        launcher,
    )


main()
