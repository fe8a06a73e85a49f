#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Wend adds to irregular programs: those that have thousands of live objects.

Usage: live.py BUILD_DIR MPIEXEC [RANKS PROGRAM ARGUMENT...]
REPEATS=5 in the environment sets the number of runs.

bench/live-objects runs plain and recorded in turns, with a quarter of its objects and with all. So
a cost that grows with the number of live objects shows. Printed are nanoseconds of process CPU time
for each call, medians.

A PROGRAM runs on RANKS ranks, also in turns. Printed are medians of seconds: of the whole command,
and recorded also from MPI_Init to MPI_Finalize. The time of MPI_Finalize is not in the latter.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from measure import clean_environment, launcher, loop_times, tracer, yielding_environment

OBJECTS = (3000, 12000)


def objects(build, mpiexec, repeats, scratch):
    app, environment = os.path.join(build, "bench", "live-objects"), clean_environment()
    columns = {}
    for n in OBJECTS:
        runs = {"plain": [], "recorded": []}
        for i in range(repeats):
            for how, runs_so_far in runs.items():
                trace = tracer(build, f"{scratch}/{n}.{i}") if how == "recorded" else []
                command = [*launcher(mpiexec, 1), *trace, app, str(n)]
                runs_so_far.append(loop_times(command, environment))
        for loop in runs["plain"][0]:
            median = {how: statistics.median(run[loop] for run in runs[how]) for how in runs}
            columns.setdefault(loop, []).extend([median["plain"], median["recorded"]])
    print(f"nanoseconds of CPU time for each call, medians of {repeats} runs")
    print(f"{'':24}" + "".join(f"{f'{n:,} objects: plain':>24}{'added':>8}" for n in OBJECTS))
    for loop, (p, t, more_p, more_t) in columns.items():
        print(f"{loop:24}{p:24.0f}{t - p:8.0f}{more_p:24.0f}{more_t - more_p:8.0f}")


def seconds(command, environment):
    start = time.monotonic()
    subprocess.run(
        command, stdout=subprocess.DEVNULL, check=True, timeout=600, env=environment
    )
    return time.monotonic() - start


def recorded_seconds(build, directory):
    show = [os.path.join(build, "wend"), "show", directory]
    text = subprocess.run(show, stdout=subprocess.PIPE, check=True, text=True).stdout
    number, unit = re.search(r"([0-9.]+) (ms|s) from MPI_Init", text).groups()
    return float(number) / (1000 if unit == "ms" else 1)


def program(build, mpiexec, repeats, scratch, ranks, app):
    environment, launch = yielding_environment(build), launcher(mpiexec, ranks)
    plain, recorded, inside = [], [], []
    for i in range(repeats):
        plain.append(seconds([*launch, *app], environment))
        directory = f"{scratch}/program.{i}"
        recorded.append(seconds([*launch, *tracer(build, directory), *app], environment))
        inside.append(recorded_seconds(build, directory))
    p, t, r = (statistics.median(runs) for runs in (plain, recorded, inside))
    print(
        f"{app[0]}, {ranks} ranks: plain {p:.2f} s, recorded {t:.2f} s ({t / p:.2f}), "
        f"{r:.2f} s from MPI_Init to MPI_Finalize"
    )


def main():
    build, mpiexec = sys.argv[1:3]
    repeats = int(os.environ.get("REPEATS", "5"))
    with tempfile.TemporaryDirectory(prefix="wend-live.") as scratch:
        if sys.argv[3:]:
            program(build, mpiexec, repeats, scratch, int(sys.argv[3]), sys.argv[4:])
        else:
            objects(build, mpiexec, repeats, scratch)


main()
