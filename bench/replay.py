#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long a replayed run takes beside the plain and the recorded one.

Usage: replay.py BUILD_DIR MPIEXEC [REPEATS]

Examples run on four ranks: plain, recorded, and replayed from that recording, in turns. Printed are
medians of the time of the whole command, in milliseconds, and the ratio of the replayed run to the
recorded one. At most 1.1 is aimed at.

Then bench/overhead runs in the same way on one rank. Printed are medians of the nanoseconds of
process CPU time for each call. The last column is what a replayed call takes beside a recorded one;
the exit status is 1 if that is more than 150 ns.

Last, bench/ranks makes archives of simulated ranks. Printed is what `wend replay` takes to make the
order file of rank 0 and of a rank in the middle, and the bytes of that file, which is all that the
rank reads. The memory is that of Debian's package "time"; without it that column is empty.
"""
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import measure

RANKS = 4
# Exchanges along a grid; particles that change their owners; a master that takes any answer; loops
# of Test, Testsome, Waitany and Iprobe; persistent requests.
PROGRAMS = {
    "stencil2d": ["-n", "200", "-i", "3000"],
    "particles": ["-s", "2000"],
    "masterworker": ["-t", "20000"],
    "polling": ["-i", "2000"],
    "persistent": ["-i", "20000"],
}
ADDED_MOST = 150  # ns to a call
STRUCTURES = ("stencil-3d", "transpose", "gather", "master", "random-graph", "irregular")
SIMULATED = (64, 1024)  # ranks


def seconds(command, environment):
    began = time.monotonic()
    subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=300,
        env=environment,
    )
    return time.monotonic() - began


def calls(build, launch, repeats, environment):
    """Prints the table of loops. Returns whether all are within the limit."""
    wend, program = os.path.join(build, "wend"), [os.path.join(build, "bench", "overhead")]
    runs = {"plain": [], "recorded": [], "replayed": []}
    for _ in range(repeats):
        scratch = tempfile.mkdtemp(prefix="wend-replay.")
        recording = os.path.join(scratch, "app.dir")
        try:
            processor = measure.fastest_processor()
            commands = {
                "plain": [],
                "recorded": [wend, "trace", "--quiet", "-o", recording],
                "replayed": [wend, "replay", recording],
            }
            for kind, words in commands.items():
                command = launch + words + program
                runs[kind].append(measure.loop_times(command, environment, processor))
        finally:
            shutil.rmtree(scratch)
    print(f"\nnanoseconds of CPU time for each call, medians of {repeats} runs, one rank")
    print(f"{'loop':24}{'plain':>8}{'recorded':>10}{'replayed':>10}{'added':>8}")
    within = True
    for name in runs["plain"][0]:
        medians = [statistics.median(run[name] for run in kind) for kind in runs.values()]
        added = medians[2] - medians[1]
        within = within and added <= ADDED_MOST
        print(f"{name:24}{medians[0]:8.1f}{medians[1]:10.1f}{medians[2]:10.1f}{added:8.1f}")
    return within


def order(wend, archive, rank, ranks):
    """Milliseconds, MB of memory, and bytes of the order file of RANK."""
    environment = dict(os.environ, PMI_RANK=str(rank), PMI_SIZE=str(ranks))
    program = ["sh", "-c", 'stat -Lc %s "$WEND_ORDER"']
    # Linux counts for a process what it was before exec, too, so this one would count as well.
    measure = ["/usr/bin/time", "-f", "%M"] if os.path.exists("/usr/bin/time") else []
    began = time.monotonic()
    done = subprocess.run(
        [*measure, wend, "replay", archive, *program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    took = time.monotonic() - began
    return 1e3 * took, int(done.stderr) / 1024 if measure else math.nan, int(done.stdout)


def memory(build):
    print(f"\n{'structure':14}{'ranks':>7}{'rank':>6}{'ms':>7}{'MB':>7}{'order, bytes':>14}")
    folder = tempfile.mkdtemp(prefix="wend-replay.")
    try:
        subprocess.run(
            [os.path.join(build, "bench", "ranks"), "-m", str(max(SIMULATED)), "-k", folder]
            + list(STRUCTURES),
            stdout=subprocess.DEVNULL,
            check=True,
        )
        for name in STRUCTURES:
            for ranks in SIMULATED:
                archive = os.path.join(folder, f"{name}.{ranks}.tar.zst")
                for rank in (0, ranks // 2 + 1):
                    ms, mb, size = order(os.path.join(build, "wend"), archive, rank, ranks)
                    print(f"{name:14}{ranks:7}{rank:6}{ms:7.0f}{mb:7.1f}{size:14}")
    finally:
        shutil.rmtree(folder)


def main():
    build, mpiexec = sys.argv[1:3]
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    environment = measure.yielding_environment(build)
    launch = measure.launcher(mpiexec, RANKS)
    wend = os.path.join(build, "wend")
    print(f"milliseconds, medians of {repeats} runs, {RANKS} ranks, {os.cpu_count()} processors")
    print(f"{'program':14}{'plain':>8}{'recorded':>10}{'replayed':>10}{'ratio':>8}")
    for name, arguments in PROGRAMS.items():
        program = [os.path.join(build, "examples", name), *arguments]
        plain, recorded, replayed = [], [], []
        for _ in range(repeats):
            scratch = tempfile.mkdtemp(prefix="wend-replay.")
            recording = os.path.join(scratch, "app.dir")
            try:
                plain.append(seconds(launch + program, environment))
                trace = [wend, "trace", "--quiet", "-o", recording]
                recorded.append(seconds(launch + trace + program, environment))
                replay = [wend, "replay", recording]
                replayed.append(seconds(launch + replay + program, environment))
            finally:
                shutil.rmtree(scratch)
        medians = [statistics.median(times) * 1e3 for times in (plain, recorded, replayed)]
        print(
            f"{name:14}{medians[0]:8.0f}{medians[1]:10.0f}{medians[2]:10.0f}"
            f"{medians[2] / medians[1]:8.2f}",
            flush=True,
        )
    # One rank waits for none, and would yield its processor in vain.
    within = calls(build, measure.launcher(mpiexec, 1), repeats, measure.clean_environment())
    memory(build)
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
