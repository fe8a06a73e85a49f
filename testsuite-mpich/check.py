#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py: the round trip over MPICH's own test suite. run.bash starts it, and sets the paths.

    run.bash [--folder F]… [--test T]… [--sample FILE] [--jobs N] [--slow X]
             [--again failed|all|none] [--algorithms] [--replay] [--list] [--report]

Each line of the suite's testlists is a test: a program with ranks, arguments and environment. It
goes through seven stages, until one fails:

    plain     as it is; what fails here does not count
    trace     under wend trace: still passes, with the same status and output
    dump      the recording is read completely
    proxygen  a proxy is generated
    compile   with -Wall -Wextra -Werror
    proxy     runs, under wend trace
    diff      the two recordings are equal

With --replay the stages behind "trace" are others:

    replay    runs again in the recorded order, and still passes
    same      the recording of the replay is equal, down to the last unsuccessful poll

Results are kept in the cache, so an interrupted run goes on where it stopped. They hold as long as
Wend's programs are the same; results of the first stage, which runs without Wend, always hold.

    --again failed   runs what failed, the stage "plain" included; passes of any build hold
    --again all      runs everything
    --again none     runs what has no result of any build

Scratch folders of failed tests stay.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

STAGES = ['plain', 'trace', 'dump', 'proxygen', 'compile', 'proxy', 'diff']
REPLAY_STAGES = ['plain', 'trace', 'replay', 'same']
# Left out are "ft" (processes that fail) and "ckpoint": they test MPICH's extensions for fault
# tolerance, and need a launcher that supports them.
FOLDERS = (
    'attr basic coll comm datatype errhan errors group impls info init io mpi_t part perf pt2pt '
    'rma spawn threads topo '
    'cxx f77 f90 f08'
).split()

TESTS = pathlib.Path(os.environ['TESTS'])
SUITE = pathlib.Path(os.environ['SUITE'])
RESULTS = TESTS / 'results'
SCRATCH = TESTS / 'scratch'
MPICC, WEND, PROXYGEN, LAUNCHER = (
    os.environ[name] for name in ('MPICC', 'WEND', 'PROXYGEN', 'LAUNCHER')
)

DEFAULT_LIMIT = 180  # seconds, as in the suite
DEPARTS = re.compile(r'departs from the recording|the recording has|makes no progress')
NO_ERRORS = re.compile(r'\s*No [Ee]rrors\s*$')


# ---- the suite's lists --------------------------------------------------------------------------

class Test:
    def __init__(self, folder, words):
        self.folder, self.program = folder, words[0]
        self.ranks = int(words[1]) if len(words) > 1 else 2
        self.arguments, self.environment, self.launcher = [], {}, []
        self.limit, self.verdict, self.lock, self.memory = DEFAULT_LIMIT, 'no errors', None, 0
        for word in words[2:]:
            key, _, value = word.partition('=')  # words without "=": the suite passes over them too
            if key == 'arg':
                self.arguments.append(value)
            elif key == 'env':
                name, _, content = value.partition('=')
                self.environment[name] = content
            elif key == 'mpiexecarg':
                self.launcher.append(value)
            elif key == 'timeLimit':
                self.limit = int(value)
            elif key == 'resultTest':
                self.verdict = value
            elif key == 'lock':
                self.lock = value
            elif key == 'mem':
                self.memory = float(value)
            # strict, mpix, mpiversion and xfail say which libraries a test is for. A test that this
            # library cannot run fails in the stage "plain" and does not count.
        if '/' in self.program:
            inner, self.program = self.program.rsplit('/', 1)
            self.folder += '/' + inner
        self.is_benchmark = self.top == 'perf' or '/perf' in self.folder
        if self.is_benchmark:
            self.verdict = 'ends'  # its own, 0 or 1 as exit status, is about time
        self.name = ' '.join(
            [f'{self.folder}/{self.program}', str(self.ranks)]
            + self.arguments
            + [f'{name}={value}' for name, value in self.environment.items()]
            + self.launcher
        )
        self.id = f'{self.folder}/{self.program}.{self.ranks}'.replace('/', '.')
        if self.arguments or self.environment or self.launcher:
            self.id += '.' + hashlib.sha1(self.name.encode()).hexdigest()[:6]

    @property
    def top(self):
        return self.folder.split('/')[0]


def read_lists(folder, list_names):
    """The tests of a folder, those of the folders that its lists name included."""
    found = [
        TESTS / folder / name if (TESTS / folder / name).exists() else SUITE / folder / name
        for name in list_names
    ]
    found = [path for path in found if path.exists()]
    if not found:  # no list: the suite runs whatever is built there
        for line in subprocess.run(
            ['make', '-s', '-C', TESTS / folder, '-f', 'Makefile', '-f', '-', 'wend-programs'],
            text=True,
            check=True,
            input='wend-programs: ; @echo $(noinst_PROGRAMS)\n',
            stdout=subprocess.PIPE,
        ).stdout.split():
            test = Test(folder, [line])
            test.verdict = 'ends'
            yield test
    for path in found:
        for line in path.read_text().splitlines():
            words = line.split('#')[0].split()
            # "!folder:target" asks for a library to be built, which build() does anyway
            if not words or words[0].startswith('!'):
                continue
            if (TESTS / folder / words[0]).is_dir():
                yield from read_lists(f'{folder}/{words[0]}', list_names)
            else:
                yield Test(folder, words)


class Builder:
    """Makes the programs of a folder when a test first needs one of them. If all tests of the
    folder are to run, also makes its other targets: programs that tests spawn, and libraries."""

    def __init__(self, tests, jobs, whole):
        self.whole = whole
        self.programs = collections.defaultdict(set)
        self.folders = collections.defaultdict(threading.Lock)
        self.made = set()
        self.jobs = jobs
        for test in tests:
            self.programs[test.folder].add(test.program)
        for test in tests:
            self.folders[test.folder]  # made here, where there is one thread

    def make(self, folder, targets):
        with open(TESTS / 'build.log', 'a') as log:
            subprocess.run(
                ['make', '-k', f'-j{self.jobs}', '-C', TESTS / folder] + targets,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    def libraries(self):
        for folder in 'dtpools', 'util':
            self.make(folder, ['all'])

    def folder(self, name):
        with self.folders[name]:
            if name not in self.made and not all(
                (TESTS / name / program).exists() for program in self.programs[name]
            ):
                if self.whole:
                    self.make(name, ['all'])
                self.make(name, sorted(self.programs[name]))
            self.made.add(name)


# ---- running ------------------------------------------------------------------------------------

class Failure(Exception):
    """Raised by a stage that fails, with the reason in one line."""


def first_line(text, *preferred):
    """The first line of an output that has one of the PREFERRED words, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for word in preferred:
        for line in lines:
            if word in line:
                return line[:200]
    return lines[0][:200] if lines else 'no output'


RUNNING = set()


def stop(number, _):
    """Whoever ends the check, as timeout does, ends what it has started, too."""
    for process in list(RUNNING):
        process.terminate()  # the launcher ends its ranks
    os._exit(128 + number)


def run(command, folder, limit, environment=None, file=None, discard=False):
    """Status and output of a command; standard error is part of the output. DISCARD: only standard
    error is. A hang is a Failure."""
    began = time.monotonic()
    path = folder / (file or 'out')
    with open(path, 'w+b') as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if discard else output,
            stderr=output,
            start_new_session=True,
            env={**os.environ, **(environment or {})},
        )
        RUNNING.add(process)
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            process.terminate()  # the launcher ends its ranks
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            raise Failure(f'hang: still running after {time.monotonic() - began:.0f} s') from None
        finally:
            RUNNING.discard(process)
        output.seek(0)
        return status, output.read().decode(errors='replace')


def mpi(test, command, folder, limit, file):
    environment = {'LD_PRELOAD': os.environ['YIELD'], **test.environment}
    return run(
        [LAUNCHER] + test.launcher + ['-n', str(test.ranks)] + command,
        folder,
        limit,
        environment,
        file,
    )


def judge(test, status, output):
    """The suite's own rules (its runtests)."""
    lines = [line for line in output.splitlines() if 'FORTRAN STOP' not in line]
    if test.verdict == 'ends':
        if status not in (0, 1):
            raise Failure(f'exit status {status}: {first_line(output)}')
        return
    if test.verdict in ('TestStatus', 'TestErrFatal', 'TestStatusNoErrors'):
        if status == 0:
            raise Failure('exit status 0 where another was expected')
    elif status != 0:
        raise Failure(
            f'exit status {status}: '
            f'{first_line(output, "Fatal error", "rror", "BAD TERMINATION", "EXIT STRING")}'
        )
    if test.verdict in ('no errors', 'TestStatusNoErrors'):
        for line in lines:
            if (
                not NO_ERRORS.match(line)
                and line.strip() != 'Test Passed'
                and (line or test.verdict == 'no errors')
            ):
                raise Failure(f'unexpected output: {line[:160]}')
        if not any(NO_ERRORS.match(line) for line in lines):
            raise Failure('no "No Errors"')


# Text that differs from run to run: addresses, process numbers, hosts' names with ports.
VARYING = re.compile(r'0x[0-9a-f]+|\b[0-9]{3,}\b|@[^ ]*')


def comparable(output):
    """The lines of an output that must be equal, sorted, as ranks write in any order. Left out are
    a launcher's report of a failed rank and Wend's line that there is no recording."""
    lines = output.split('=' * 40)[0].splitlines()
    return sorted(VARYING.sub('…', line) for line in lines if not line.startswith('wend: '))


class Trip:
    """One test on its way through the stages."""

    def __init__(self, test, slow):
        self.test, self.slow = test, slow
        self.folder = SCRATCH / test.id
        self.recording, self.again = 'app.dir', 'proxy.dir'
        self.before = set()

    def go(self):
        """(stage that failed or None, reason, seconds by stage)"""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        source = TESTS / self.test.folder
        # programs start others, and read files, in their own folder
        for path in source.iterdir():
            if (
                path.is_file()
                and path.suffix not in ('.o', '.lo', '.la', '.mod')
                and path.name not in ('Makefile', 'testlist')
            ):
                (self.folder / path.name).symlink_to(path)
        self.before = set(self.folder.iterdir())
        took = {}
        for stage in STAGES:
            began = time.monotonic()
            try:
                getattr(self, stage)()
            except Failure as reason:
                return stage, str(reason), took
            finally:
                took[stage] = round(time.monotonic() - began, 2)
        shutil.rmtree(self.folder)
        return None, '', took

    def plain(self):
        if not (self.folder / self.test.program).exists():
            raise Failure('does not build')
        known = RESULTS / f'{self.test.id}.plain'
        if known.exists():
            self.status, self.output, self.seconds = json.loads(known.read_text())
            if self.seconds is None:
                raise Failure(self.output)
            return
        began = time.monotonic()
        try:
            self.status, self.output = mpi(
                self.test,
                ['./' + self.test.program] + self.test.arguments,
                self.folder,
                self.test.limit * self.slow,
                'plain.out',
            )
            judge(self.test, self.status, self.output)
        except Failure as reason:
            known.write_text(json.dumps([None, str(reason), None]))
            raise
        self.seconds = time.monotonic() - began
        known.write_text(json.dumps([self.status, self.output, self.seconds]))

    def at_least(self, seconds):
        """A time limit of SECONDS, or several times the program's own time if it runs for minutes:
        it may make nothing but calls of a few nanoseconds, and recording or dumping one costs
        fifty."""
        return max(seconds, 60 + 5 * self.seconds)

    @property
    def limit(self):
        """The time limit with Wend: longer than the program's own time, but shorter than the
        suite's limit, so that a hang does not take too long."""
        return self.at_least(min(self.test.limit, 60 + 20 * self.seconds)) * self.slow

    def trace(self):
        values = []
        if 'replay' in STAGES:
            self.clean()
            values = ['--values']  # what a program decides by the time, or reads from a window
        program = ['./' + self.test.program] + self.test.arguments
        status, output = mpi(
            self.test,
            [WEND, 'trace', '--quiet', *values, '-o', self.recording] + program,
            self.folder,
            self.limit,
            'trace.out',
        )
        judge(self.test, status, output)
        if status != self.status and not self.test.is_benchmark:
            raise Failure(f'exit status {self.status} alone, {status} recorded')
        if self.test.verdict != 'ends' and comparable(output) != comparable(self.output):
            new = [line for line in comparable(output) if line not in comparable(self.output)]
            raise Failure('output changed: ' + (new[0] if new else 'lines are missing')[:160])
        self.merge(self.recording)

    def merge(self, recording):
        """Merges the parts that a run leaves if it ends early, as tests of errors do."""
        if (self.folder / recording / 'trace.parts').exists():
            self.tool([WEND, 'merge', '--remove', recording], 'merge.out', 'wend: ')

    def tool(self, command, file, *preferred, limit=300, discard=False):
        status, output = run(command, self.folder, limit * self.slow, file=file, discard=discard)
        if status:
            raise Failure(
                f'{first_line(output, *preferred)}' + (f' (status {status})' if status != 1 else '')
            )

    def dump(self):
        # a dump may be many GB, so its output is discarded
        self.tool(
            [WEND, 'dump', self.recording],
            'dump.out',
            'wend: ',
            limit=self.at_least(300),
            discard=True,
        )

    def proxygen(self):
        try:
            self.tool([PROXYGEN, self.recording, '-o', 'proxy.c'], 'proxygen.out', 'proxygen: ')
        except Failure as reason:
            if 'too large for one file' not in str(reason):
                raise
            self.tool([PROXYGEN, self.recording, '-o', 'parts/'], 'proxygen.out', 'proxygen: ')

    def compile(self):
        flags = ['-std=c11', '-Wall', '-Wextra', '-Werror']
        if (self.folder / 'parts').is_dir():
            self.tool(
                ['make', '-s', '-C', 'parts', f'CC={MPICC}', f'CFLAGS={" ".join(flags)}'],
                'compile.out',
                'error',
                limit=900,
            )
            (self.folder / 'proxy').symlink_to('parts/proxy')
        else:
            self.tool([MPICC, *flags, '-O1', 'proxy.c', '-o', 'proxy'], 'compile.out', 'error')

    def proxy(self):
        status, output = mpi(
            self.test,
            [WEND, 'trace', '--quiet', '-o', self.again, './proxy'],
            self.folder,
            self.limit,
            'proxy.out',
        )
        if status not in (0, self.status):
            raise Failure(
                f'exit status {status}: '
                f'{first_line(output, "Fatal error", "rror", "BAD TERMINATION", "EXIT STRING")}'
            )
        if not (self.folder / self.again).exists():
            raise Failure(f'leaves no recording: {first_line(output)}')
        self.merge(self.again)

    def diff(self):
        self.tool([WEND, 'diff', self.recording, self.again], 'diff.out')

    def clean(self):
        """Removes what runs have left, except recordings and outputs: a replay needs the files that
        the recorded run found, and no others."""
        for path in set(self.folder.iterdir()) - self.before:
            if path.suffix == '.out' or path.name == self.recording:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def replay(self):
        self.clean()
        program = ['./' + self.test.program] + self.test.arguments
        command = [WEND, 'replay', '--quiet', '-o', 'replay.dir', self.recording] + program
        status, output = mpi(self.test, command, self.folder, self.limit, 'replay.out')
        said = [line for line in output.splitlines() if line.startswith('wend: ')]
        if any(DEPARTS.search(line) for line in said):
            raise Failure(said[0][:200])
        judge(self.test, status, output)
        self.merge('replay.dir')

    def same(self):
        self.tool([WEND, 'diff', '--outcomes', self.recording, 'replay.dir'], 'same.out')


# ---- results ------------------------------------------------------------------------------------

def build_id():
    digest = hashlib.sha1()
    folder = pathlib.Path(os.environ['LIBWEND']).parent
    for path in [folder / 'wend', folder / 'proxygen', *sorted(folder.glob('libwend*.so'))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def result_path(test):
    return RESULTS / (f'{test.id}.replay.json' if 'replay' in STAGES else f'{test.id}.json')


def result_of(test):
    try:
        return json.loads(result_path(test).read_text())
    except (OSError, ValueError):
        return None


def report(tests):
    """The table folder × stage; returns passed, failed."""
    rows = {}
    reasons, untraced = [], []
    passed = failed = 0
    for test in tests:
        result = result_of(test)
        if not result:
            continue
        row = rows.setdefault(test.top, [0] * (len(STAGES) + 1))
        row[0] += 1
        reached = STAGES.index(result['stage']) if result['stage'] else len(STAGES)
        for i in range(reached):
            row[i + 1] += 1
        if result['stage'] == 'plain':
            untraced.append(f'{test.name}: {result["reason"]}')
        elif result['stage']:
            failed += 1
            reasons.append(f'{result["stage"]:9}{test.name}: {result["reason"]}')
        else:
            passed += 1
    print(f'\n{"":10}{"tests":>6}' + ''.join(f'{stage:>10}' for stage in STAGES))
    total = [sum(column) for column in zip(*rows.values())]
    for folder, row in list(rows.items()) + ([('all', total)] if len(rows) > 1 else []):
        print(f'{folder:10}{row[0]:>6}' + ''.join(f'{count:>10}' for count in row[1:]))
    if untraced:
        print(f'\nfail without Wend, and do not count ({len(untraced)}):')
        print('\n'.join('  ' + line for line in untraced))
    if reasons:
        print(f'\nfail with Wend ({len(reasons)}):')
        print('\n'.join('  ' + line for line in reasons))
    print()
    return passed, failed


def main():
    parser = argparse.ArgumentParser(
        prog='run.bash', description='The round trip over MPICH\'s own test suite.'
    )
    parser.add_argument(
        '--folder',
        action='append',
        default=[],
        help='only this folder of the suite ("coll", "f77/attr")',
    )
    parser.add_argument(
        '--test',
        action='append',
        default=[],
        help='only programs of this name, or a whole line as reports print it',
    )
    parser.add_argument('--sample', type=pathlib.Path, help='only the lines of this file')
    parser.add_argument(
        '--jobs',
        type=int,
        default=max(1, (os.cpu_count() or 1) // 2),
        help='tests at once (ranks wait busily; default half the cores)',
    )
    parser.add_argument(
        '--slow', type=float, default=1, help='factor for time limits, for machines with other work'
    )
    parser.add_argument(
        '--again',
        choices=['failed', 'all', 'none'],
        help='run again what failed, everything, or nothing that has a result',
    )
    parser.add_argument(
        '--algorithms',
        action='store_true',
        help='also the lists that repeat collectives with each of MPICH\'s algorithms',
    )
    parser.add_argument(
        '--replay', action='store_true', help='replays of the recordings, in place of proxies'
    )
    parser.add_argument('--list', action='store_true', help='only print the tests')
    parser.add_argument(
        '--report',
        action='store_true',
        help='only print the results that are there, of whatever build',
    )
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    if options.replay:
        STAGES[:] = REPLAY_STAGES

    lists = ['testlist', 'testlist.dtp'] + ['testlist.cvar'] * options.algorithms
    wanted = options.folder or FOLDERS
    tests = [
        test
        for folder in dict.fromkeys(folder.split('/')[0] for folder in wanted)
        for test in read_lists(folder, lists)
    ]
    tests = [
        test
        for test in tests
        if any((test.folder + '/').startswith(folder.rstrip('/') + '/') for folder in wanted)
    ]
    if options.test:
        tests = [
            test
            for test in tests
            if any(
                name in (test.program, f'{test.folder}/{test.program}', test.name)
                for name in options.test
            )
        ]
    if options.sample:
        lines = {
            line.strip()
            for line in options.sample.read_text().splitlines()
            if line.strip() and not line.startswith('#')
        }
        tests = [test for test in tests if test.name in lines]
        for line in sorted(lines - {test.name for test in tests}):
            print(f'{options.sample}: no such test: {line}', file=sys.stderr)
    tests = list({test.id: test for test in tests}.values())  # some lines are there twice
    if options.list:
        print('\n'.join(test.name for test in tests))
        return 0
    if not tests:
        print('no such test')
        return 1

    if options.report:
        print('{} passed, {} failed'.format(*report(tests)))
        return 0

    RESULTS.mkdir(exist_ok=True)
    SCRATCH.mkdir(exist_ok=True)
    this_build = build_id()
    locks = collections.defaultdict(threading.Lock)

    def is_done(test):
        result = result_of(test)
        if not result or options.again == 'all':
            return False
        if options.again == 'none':
            return True
        return (
            result['stage'] is None if options.again == 'failed' else result['build'] == this_build
        )

    todo = [test for test in tests if not is_done(test)]
    builder = Builder(todo, os.cpu_count() or 1, not options.sample)
    builder.libraries()
    print(f'{len(tests)} tests, {len(tests) - len(todo)} of them done before')

    def trip(test):
        builder.folder(test.folder)
        with locks[test.lock] if test.lock not in (None, 'shared') else threading.Lock():
            if options.again == 'all' or (
                options.again == 'failed' and (result_of(test) or {}).get('stage') == 'plain'
            ):
                (RESULTS / f'{test.id}.plain').unlink(missing_ok=True)
            stage, reason, took = Trip(test, options.slow).go()
        result_path(test).write_text(
            json.dumps(dict(stage=stage, reason=reason, build=this_build, seconds=took))
        )
        if stage:
            print(f'{stage:9}{test.name}: {reason}', flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            for future in [pool.submit(trip, test) for test in todo]:
                future.result()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            print('interrupted: the same command goes on from here', file=sys.stderr)
    passed, failed = report(tests)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0



if __name__ == '__main__':
    sys.exit(main())
