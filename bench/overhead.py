#!/usr/bin/env python3
"""Nanoseconds of process CPU time that Wend adds to a call: bench/overhead plain and recorded, in turns; medians.

Usage: overhead.py BUILD_DIR MPIEXEC [REPEATS]
The last column is the number to stay below; the exit status is 1 when one is not.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

LIMITS = {"comm_rank": 250, "test_pending": 250, "irecv_isend_waitall": 250, "allreduce": 250}


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=300, text=True, stdin=subprocess.DEVNULL)
    return {name: float(ns) for name, ns in (line.split() for line in result.stdout.splitlines())}


def main():
    build, mpiexec = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    for variable in [v for v in os.environ if v.startswith("WEND_")]:
        del os.environ[variable]
    scratch = tempfile.mkdtemp(prefix="wend-overhead.")
    app = [os.path.join(build, "bench", "overhead")]
    plain, traced = [], []
    try:
        for i in range(repeats):  # in turns, so that a change of the machine's mood meets both
            plain.append(run([mpiexec, "-n", "1"] + app))
            traced.append(run([mpiexec, "-n", "1", os.path.join(build, "wend"), "trace", "--quiet", "-o", f"{scratch}/{i}"] + app))
    finally:
        shutil.rmtree(scratch)
    print(f"nanoseconds of CPU time for each call, medians of {repeats} runs")
    print(f"{'loop':24}{'plain':>9}{'recorded':>10}{'added':>8}{'ratio':>8}{'limit':>7}")
    missed = False
    for name in plain[0]:
        p = statistics.median(run[name] for run in plain)
        t = statistics.median(run[name] for run in traced)
        limit = LIMITS.get(name)
        missed |= limit is not None and t - p > limit
        print(f"{name:24}{p:9.1f}{t:10.1f}{t - p:8.1f}{t / p:8.2f}{limit or '-':>7}")
    return 1 if missed else 0


sys.exit(main())
