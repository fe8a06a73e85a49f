#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nanoseconds of process CPU time that Wend adds to a call.

Usage: overhead.py [--threads] BUILD_DIR MPIEXEC [REPEATS]

bench/overhead runs plain and recorded in turns; printed are medians. The last column is the limit.
The exit status is 1 if a row is over its limit.

--threads: the same with 1, 2 and 4 threads at once under MPI_THREAD_MULTIPLE. With 4 threads Wend
may add at most twice as much to a call as with 1, unless they share a communicator (its order is
then recorded, and MPI itself takes longer). A thread that sleeps for one of Wend's locks
uses no CPU time. A thread that spins for one of MPI's locks does, with Wend and without.
"""
import os
import statistics
import sys
import tempfile

from measure import clean_environment, fastest_processor, loop_times, tracer

LIMITS = {
    "comm_rank": 100,
    "test_pending": 100,
    "irecv_isend_waitall": 150,
    "sendrecv_random_tags": 300,
    "send_new": 300,
}


def measure(build, mpiexec, repeats, *options):
    launch = [mpiexec, "-n", "1"]
    app = [os.path.join(build, "bench", "overhead"), *options]
    plain, traced, environment = [], [], clean_environment()
    with tempfile.TemporaryDirectory(prefix="wend-overhead.") as scratch:
        for i in range(repeats):  # in turns, so that other load on the machine affects both
            processor = None if "-t" in options else fastest_processor()
            plain.append(loop_times(launch + app, environment, processor))
            command = launch + tracer(build, f"{scratch}/{i}") + app
            traced.append(loop_times(command, environment, processor))
    return {
        name: tuple(statistics.median(run[name] for run in runs) for runs in (plain, traced))
        for name in plain[0]
    }


def threads(build, mpiexec, repeats):
    print(
        f"nanoseconds of CPU time for each call, medians of {repeats} runs, {os.cpu_count()} "
        "processors"
    )
    print(f"{'loop':24}{'threads':>8}{'plain':>9}{'recorded':>10}{'added':>8}{'limit':>8}")
    one, missed = {}, False
    for n in (1, 2, 4):
        for name, (p, t) in measure(build, mpiexec, repeats, "-t", str(n), "-n", "250").items():
            limit = 2 * one.setdefault(name, t - p)
            limited = n == 4 and not name.endswith("_shared")
            missed |= limited and t - p > limit
            text = f"{limit:8.1f}" if limited else ""
            print(f"{name:24}{n:8}{p:9.1f}{t:10.1f}{t - p:8.1f}{text}")
    return 1 if missed else 0


def main():
    arguments = [a for a in sys.argv[1:] if a != "--threads"]
    build, mpiexec = arguments[:2]
    repeats = int(arguments[2]) if len(arguments) > 2 else 7
    if "--threads" in sys.argv:
        return threads(build, mpiexec, repeats)
    results = measure(build, mpiexec, repeats)
    print(f"nanoseconds of CPU time for each call, medians of {repeats} runs")
    print(f"{'loop':24}{'plain':>9}{'recorded':>10}{'added':>8}{'ratio':>8}{'limit':>7}")
    missed = False
    for name, (p, t) in results.items():
        limit = LIMITS.get(name)
        missed |= limit is not None and t - p > limit
        print(f"{name:24}{p:9.1f}{t:10.1f}{t - p:8.1f}{t / p:8.2f}{limit or '-':>7}")
    return 1 if missed else 0


sys.exit(main())
