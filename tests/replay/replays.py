#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Records programs whose outcomes are left to chance, and replays each recording many times.

Usage: replays.py [--recordings N] [--replays N] [--ranks N,N…] [--jobs N] BUILD_DIR MPIEXEC
                  [PROGRAM…]

Each recording is made with noise, and so is every other replay. Meanwhile a process for each
processor does nothing but take its time; two replays of four have no real-time priority
(tests/support/yield.c), so that they wait for it. With --jobs, N recordings of a program are made
and replayed at once, each a load for the others. A replay is exact if it prints what the
recorded run printed (a hash of what was received, in order) and `wend diff --outcomes` finds both
recordings equal. A row is printed for each program: how many replays were exact, and the median
time of a replay beside that of a recorded run. The folder of a recording of which a replay was not
exact stays. Exit status 1: there is one.
"""
import argparse
import concurrent.futures
import contextlib
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

# A program and its arguments, as it is called in the build folder.
PROGRAMS = (
    "tests/programs/race receive half_open",
    "tests/programs/race pool any",
    "tests/programs/race master nbx",
    "tests/programs/race out_of_order persistent cancelled",
    "tests/programs/race matched too_long both_ways",
    "tests/programs/race get_status intercommunicator",
    "tests/programs/race freed unfinished",
    "tests/programs/race too_long_any",
    "tests/programs/race both_at_once graph",
    "tests/programs/race_grid one_by_one",
    "tests/programs/race_grid bursts",
    "tests/programs/race_requests copied inactive one_handle looked_at",
    "tests/programs/race_requests generalized completed_sends",
    "tests/programs/race_requests partitioned",
    "tests/programs/race_requests called_back derived half_open",
    "tests/programs/race_requests errors_together nbx_together",
    "tests/programs/turns server",
    "tests/programs/onesided tickets many spin",
    "tests/programs/onesided replacing append nested",
    "tests/programs/onesided phases active large bystander",
    "tests/programs/values",
    "tests/programs/racing-1",  # Fortran: mpif.h, use mpi, use mpi_f08
    "tests/programs/racing-2",
    "tests/programs/racing-3",
    "tests/programs/racing-cxx",
    "examples/particles -s 20",
    "examples/masterworker -t 100",
    "examples/polling -i 20",
)
WITH_VALUES = ("onesided", "values")  # programs whose values are recorded and enforced, too
LACKING = 77  # exit status of a race that has a part that the MPI library lacks
# Open MPI's osc/rdma crashes in programs without Wend, too (tests/helpers.bash).
LAUNCH = {"openmpi": ["--oversubscribe", "--allow-run-as-root", "--mca", "osc", "pt2pt,sm"]}
LIMIT = 120  # seconds for one run, under load


@contextlib.contextmanager
def load():
    """Keeps the processors busy."""
    burn = "while True: pass"
    burners = [
        subprocess.Popen([sys.executable, "-c", burn]) for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for burner in burners:
            burner.terminate()
            burner.wait()


class Run:
    def __init__(self, command, environment):
        began = time.monotonic()
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=LIMIT,
                env=environment,
            )
            self.output, self.errors, self.status = done.stdout, done.stderr, done.returncode
        except subprocess.TimeoutExpired:
            self.output, self.errors, self.status = "", f"still runs after {LIMIT} s", -1
        self.seconds = time.monotonic() - began


class LackingPart(Exception):
    """The MPI library lacks what a part of the program needs."""


class Check:
    def __init__(self, options):
        self.options = options
        self.wend = os.path.join(options.build, "wend")
        kept = {n: v for n, v in os.environ.items() if not n.startswith("WEND_")}
        yielding = os.path.join(options.build, "tests", "support", "yield.so")
        kept["LD_PRELOAD"] = " ".join([kept.get("LD_PRELOAD", ""), yielding]).strip()
        kept["UCX_LOG_LEVEL"] = "error"  # it warns of a receive that is never completed
        self.environment = kept
        version = subprocess.run(
            [options.mpiexec, "--version"], stdout=subprocess.PIPE, text=True
        ).stdout
        family = "openmpi" if "OpenRTE" in version else "mpich"
        self.launch = [options.mpiexec] + LAUNCH.get(family, []) + ["-n"]

    def start(self, ranks, *command, waits=False):
        """Runs Wend's COMMAND; WAITS: without real-time priority."""
        environment = dict(self.environment)
        if waits:
            environment["WEND_YIELD_NO_REALTIME"] = "1"
        return Run([*self.launch, str(ranks), self.wend, *command], environment)

    def recording(self, program, ranks, seed, folder):
        """The times of the recorded run and of its replays, and what was wrong with the first
        replay that was not exact, or None; and how many were not."""
        app, again = os.path.join(folder, "app.dir"), os.path.join(folder, "again.dir")
        values = ["--values"] if os.path.basename(program[0]) in WITH_VALUES else []
        recorded = self.start(
            ranks, "trace", "-q", f"--noise={seed}", *values, "-o", app, *program
        )
        if recorded.status == LACKING:
            raise LackingPart
        if recorded.status != 0:
            return recorded.seconds, [], self.options.replays, f"recording: {recorded.errors}"
        times, wrong, first = [], 0, None
        for i in range(self.options.replays):
            noise = [f"--noise={seed + i}"] if i % 2 else []
            replay = self.start(
                ranks,
                *("replay", "-q", "--force", *noise, *values, "-o", again, app, *program),
                waits=i % 4 >= 2,
            )
            why = None
            if replay.status != 0:
                why = f"status {replay.status}: {replay.errors}"
            elif replay.output != recorded.output:
                why = f"it prints {replay.output!r} and not {recorded.output!r}"
            else:
                diff = Run([self.wend, "diff", "--outcomes", app, again], self.environment)
                why = None if diff.status == 0 else diff.output + diff.errors
            times.append(replay.seconds)
            wrong += why is not None
            first = first or (f"replay {i}: {why}" if why else None)
        return recorded.seconds, times, wrong, first

    def program(self, text, ranks):
        """Prints a row. Returns how many replays were not exact."""
        name, *arguments = shlex.split(text)
        program = [os.path.join(self.options.build, name), *arguments]
        shown = f"{os.path.basename(name)} {' '.join(arguments)}"
        recorded, replayed, wrong, reports = [], [], 0, []
        numbers = range(self.options.recordings)
        folders = [tempfile.mkdtemp(prefix="wend-replays-") for _ in numbers]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            done = [
                pool.submit(self.recording, program, ranks, 1 + 1000 * number, folders[number])
                for number in numbers
            ]
        if any(isinstance(one.exception(), LackingPart) for one in done):
            for folder in folders:
                shutil.rmtree(folder)
            print(f"{shown:50}{ranks:6}  skipped: the MPI library lacks a part")
            return 0
        for folder, one in zip(folders, done):
            seconds, times, bad, why = one.result()
            recorded.append(seconds)
            replayed += times
            wrong += bad
            if why:
                reports.append(f"  {folder}: {why.strip()}")
            else:
                shutil.rmtree(folder)
        all_of_them = self.options.recordings * self.options.replays
        ratio = statistics.median(replayed) / statistics.median(recorded) if replayed else 0
        print(f"{shown:50}{ranks:6}{all_of_them - wrong:7} of {all_of_them:<6}{ratio:6.2f}")
        for line in reports:
            print(line)
        sys.stdout.flush()
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--recordings", type=int, default=5)
    parser.add_argument("--replays", type=int, default=100)
    parser.add_argument("--ranks", default="4,8")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("build")
    parser.add_argument("mpiexec")
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    check = Check(parser.parse_intermixed_args())
    print(f"{'program':50}{'ranks':>6}{'exact':>17}{'time':>6}")
    wrong = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))  # the load ends, too
    with load():
        for text in check.options.programs or PROGRAMS:
            name = shlex.split(text)[0]
            if not os.path.exists(os.path.join(check.options.build, name)):
                print(f"{name:56}  skipped: it is not built")
                continue
            for ranks in check.options.ranks.split(","):
                wrong += check.program(text, int(ranks))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
