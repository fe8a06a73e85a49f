#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CPU seconds and memory that it takes to compile recordings of random calls.

Usage: proxygen.py BUILD_DIR MPICC
SIZES="calls:different[:waits] ..." in the environment chooses the numbers of calls and of different
calls, and whether every second call is an MPI_Waitany (random.c).

Each row has the seconds and MB of proxygen, then those of the C compiler on proxygen's output.
"""
import os
import shutil
import subprocess
import sys
import tempfile


def run(command):
    """CPU seconds of a command, and the MB of its largest process. Exits if the command fails."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)}: exit status {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    build, mpicc = sys.argv[1:3]
    sizes = [
        size.split(":")
        for size in os.environ.get(
            "SIZES",
            "100000:20000 1000000:20000 10000000:20000 1000000:1000000 "
            "100000:20000:waits 400000:20000:waits",
        ).split()
    ]
    print(
        f"{'calls':>10}{'different':>13}{'archive MB':>12}{'proxygen s':>12}{'MB':>7}"
        f"{'C text MB':>11}{'compiler s':>12}{'MB':>7}"
    )
    for calls, different, *waits in sizes:
        scratch = tempfile.mkdtemp(prefix="wend-proxygen.")
        try:
            random = os.path.join(build, "bench", "random")
            run([random, f"{scratch}/trace", calls, different, *waits])
            seconds, memory = run(
                [os.path.join(build, "proxygen"), f"{scratch}/trace", "-o", f"{scratch}/proxy/"]
            )
            text = sum(entry.stat().st_size for entry in os.scandir(f"{scratch}/proxy"))
            compiled = run(["make", "-s", "-C", f"{scratch}/proxy", f"CC={mpicc}"])
            archive = os.path.getsize(f"{scratch}/trace/trace.tar.zst")
            kind = " ".join([different, *waits])
            print(
                f"{calls:>10}{kind:>13}{archive / 1e6:12.2f}{seconds:12.2f}{memory:7.0f}"
                f"{text / 1e6:11.1f}{compiled[0]:12.1f}{compiled[1]:7.0f}",
                flush=True,
            )
        finally:
            shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
