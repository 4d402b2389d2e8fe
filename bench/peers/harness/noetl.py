"""NoETL itself, measured by `noetl bench`."""

import json
import re
import subprocess
import urllib.request

from harness import syncs
from harness.processes import end, environment_with, started, wait_for

TITLE = "NoETL"
SETTINGS = "`noetl bench --embedded`: a server with a worker and SQLite, as they come, asked over HTTP."
DURABILITY = "SQLite with synchronous=FULL: each commit is synced before anybody is told."
YARDSTICKS = ("fsync_ms", "sqlite_commits_per_s", "sqlite_rows_per_s")


class Broken(Exception):
    """`noetl` did not do what was asked of it; the text says what it said."""


def version(binary):
    return json.loads(_read([binary, "version", "--json"]))["version"]


def measure(binary, wanted, duration, data):
    """The yardsticks, and a cell per row."""
    command = [binary, "bench", "--embedded", "--json", "--duration", f"{duration:g}s", "--data", data]
    for row in wanted:
        command += ["--workload", row.workload]
    return parse(_read(command), wanted)


def parse(text, wanted):
    said = json.loads(text)
    cells = {row.workload: said["workloads"].get(row.workload) or {"absent": "not measured"} for row in wanted}
    return {name: said[name] for name in YARDSTICKS}, cells


def count_syncs(binary, place):
    """Syncs per one-step execution of a server that does nothing else."""
    log = place / "noetl.log"
    command = [binary, "dev", "--listen", "127.0.0.1:0", "--option", "log.level=error", "--data", place / "state"]
    with started(command, log) as server:
        wait_for(lambda: "listening on " in log.read_text(), server, log, "noetl dev")
        url = re.search(r"listening on (\S+)", log.read_text())[1]
        before = _executions(url)
        with syncs.counted(server.pid) as found:
            _read([binary, "bench", "--server", url, "--workload", "one_step", "--duration", "1s", "--json", "--data", place])
        executions = _executions(url) - before
    return found() / executions if found() is not None and executions else None


def _executions(url):
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found = re.search(r"^noetl_executions_started_total(?:\{[^}]*\})? (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def _read(command):
    """What the command says. It is the head of a group, so that the server of a bench that is broken off ends with it."""
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment_with(None),
        start_new_session=True,
        text=True,
    )
    try:
        said, complaint = process.communicate()
    finally:
        end(process)
    if process.returncode != 0:
        raise Broken(f"{command[0]} {command[1]} ended with {process.returncode}: {complaint.strip()[-300:]}")
    return said
