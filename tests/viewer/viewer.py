#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Opens a trace in Perfetto's viewer, in a browser without a window, and compares what its trace
processor answers with what wend says of the recording.

    viewer.py WEND RECORDING TRACE VIEWER PICTURE [--times]

VIEWER is the folder of the viewer's package. A picture of the timeline is written to PICTURE.
Compared are the calls and their bytes for each rank, thread and function, and with --times the time
they took. Exits with 1 if something differs, or if the processor reports an error."""
import collections
import csv
import functools
import http.server
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HERE = pathlib.Path(__file__).parent
PATIENCE = 120  # seconds
SLICES = """
select process.name, thread.name, slice.name, count(*), sum(slice.dur),
       sum(coalesce(extract_arg(slice.arg_set_id, 'debug.bytes'), 0))
from slice join thread_track on slice.track_id = thread_track.id
    join thread using (utid) join process using (upid)
group by 1, 2, 3
"""
# what the processor could not make sense of
ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Viewer:
    """The viewer's page. Its scripts leave "globals" and "Actions" in the window."""

    def __init__(self, package, trace, folder):
        site = pathlib.Path(folder) / "site"
        shutil.copytree(package, site)
        shutil.copy(trace, site / "trace")
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Files, directory=site))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{self.server.server_port}/"
        page = (HERE / "viewer.html").read_text().replace("TRACE", here + "trace")
        (site / "index.html").write_text(page)
        options = webdriver.ChromeOptions()
        for option in ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run",
                       "disable-background-networking", "disable-component-update",
                       "disable-sync", "window-size=1600,900", f"user-data-dir={folder}/profile"):
            options.add_argument("--" + option)
        service = Service(shutil.which("chromedriver"))
        self.browser = webdriver.Chrome(service=service, options=options)
        self.browser.get(here + "index.html")

    def close(self):
        self.browser.quit()
        self.server.shutdown()

    def wait(self, what, script):
        """The value of the script, once it is one."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = self.browser.find_element("tag name", "body").text
            if "something went wrong" in text:
                sys.exit(f"viewer: {text[:2000]}")
            value = self.browser.execute_script(script)
            if value:
                return value
            time.sleep(0.2)
        sys.exit(f"viewer: no {what} within {PATIENCE} s")

    def query(self, text):
        """The rows of the answer, as lists of values in the order of the columns."""
        self.browser.execute_script("globals.queryResults.delete('command')")
        self.browser.execute_script("""globals.dispatch(Actions.executeQuery({
            engineId: Object.keys(globals.state.engines)[0], queryId: 'command',
            query: arguments[0]}))""", text)
        answer = self.wait("answer", """
            const answer = globals.queryResults.get('command');
            return answer && {error: answer.error, columns: answer.columns, rows: answer.rows.map(
                row => answer.columns.map(name => String(row[name])))}""")
        if answer["error"]:
            sys.exit(f"viewer: {answer['error']}")
        return answer["rows"]


def rows_of(*command):
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return csv.DictReader(text.splitlines())


def of_wend(wend, recording, times):
    """{(rank, thread, function): [calls, nanoseconds, bytes]}."""
    calls = collections.defaultdict(lambda: [0, 0, 0])
    for row in rows_of(wend, "dump", "--format=csv", *times, recording):
        if row["function"].startswith("MPI_"):
            of = calls["rank " + row["rank"], row["sequence"], row["function"]]
            of[0] += 1
            of[1] += round(float(row.get("duration") or 0) * 1e9)
            of[2] += int(row["bytes"] or 0)
    return calls


def of_viewer(package, trace, picture):
    """The same as the viewer has it."""
    with tempfile.TemporaryDirectory() as folder:
        viewer = Viewer(package, trace, folder)
        try:
            viewer.wait("trace", "return Object.values(globals.state.engines).some(e => e.ready)")
            errors = viewer.query(ERRORS)
            if errors:
                sys.exit(f"viewer: {errors}")
            calls = {tuple(row[:3]): list(map(int, row[3:])) for row in viewer.query(SLICES)}
            time.sleep(1)  # the timeline is drawn
            viewer.browser.save_screenshot(picture)
        finally:
            viewer.close()
    return calls


def main():
    wend, recording, trace, package, picture, *times = sys.argv[1:]
    wanted = of_wend(wend, recording, times)
    found = of_viewer(package, trace, picture)
    wrong = 0
    for key in sorted(set(wanted) | set(found)):
        a, b = wanted.get(key), found.get(key)
        # start and end of a slice are whole nanoseconds
        if a is None or b is None or a[::2] != b[::2] or times and abs(a[1] - b[1]) > a[0]:
            print("differs:", *key, "wend", a, "viewer", b)
            wrong += 1
    print(sum(calls for calls, *_ in found.values()), "slices")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
