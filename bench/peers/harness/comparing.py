"""Measures engines one at a time and puts what came of it together. An engine that cannot be had is told, and the rest goes on."""

import contextlib
import json
import os
import subprocess
import tempfile
from pathlib import Path

from harness import noetl, rows, syncs
from harness.engine import PROGRAMS, python_of
from harness.installing import NotInstalled, install, split
from harness.processes import NotStarted, end, environment_with

# One-step executions under way while syncs are counted.
COUNTED = 50


def measure_noetl(options, wanted, tell):
    """The yardsticks, and NoETL's part of the result."""
    load = os.getloadavg()[0]
    tell("NoETL: noetl bench")
    yardsticks, cells = noetl.measure(options.noetl, wanted, options.duration, options.data)
    engine = {
        "title": noetl.TITLE,
        "version": noetl.version(options.noetl),
        "settings": noetl.SETTINGS,
        "durability": noetl.DURABILITY,
        "load": [load],
        "rows": cells,
    }
    tell("NoETL: counting syncs")
    with tempfile.TemporaryDirectory(prefix="noetl-peers-", dir=options.data) as place:
        engine["syncs_per_execution"] = noetl.count_syncs(options.noetl, Path(place))
    return yardsticks, engine


def measure_peer(engine, packages, options, wanted, tell):
    """The engine's part of the result; when it cannot be installed or started, why."""
    part = {"name": engine.name, "title": engine.title, "version": version(packages), "settings": engine.settings}
    part |= {"durability": engine.durability, "syncs_per_execution": None, "load": [], "rows": {}}
    try:
        tell(f"{engine.title}: installing")
        installed = install(options.cache, engine.name, packages)
        part["load"] = [os.getloadavg()[0]]
        _measure_rows(engine, installed, options, wanted, part, tell)
    except (NotInstalled, NotStarted, OSError) as problem:
        part["problem"] = str(problem)
    return part


def version(packages):
    """The packages with their versions, as people write them."""
    from_npm, from_pypi = split(packages)
    return ", ".join([" ".join(package.rsplit("@", 1)) for package in from_npm] + [package.replace("==", " ") for package in from_pypi])


def _measure_rows(engine, installed, options, wanted, part, tell):
    """All rows on one server; after a row that did not end, on a new one with an empty store."""
    left = sorted(wanted, key=lambda row: row.is_long)
    while left:
        with _running(engine, installed, options) as running:
            if part["syncs_per_execution"] is None:
                tell(f"{engine.title}: counting syncs")
                part["syncs_per_execution"] = _count_syncs(engine, installed, running, options)
            while left:
                row = left.pop(0)
                tell(f"{engine.title}: {row.workload}")
                cell = measure_cell(engine, installed, running, row.workload, options)
                part["rows"][row.workload] = cell
                if rows.value(row, cell) is None:
                    break


@contextlib.contextmanager
def _running(engine, installed, options):
    with tempfile.TemporaryDirectory(prefix="noetl-peers-", dir=options.data, ignore_cleanup_errors=True) as place:
        with engine.start(installed, Path(place)) as running:
            yield running


def measure_cell(engine, installed, running, workload, options, more=()):
    command = [python_of(installed), PROGRAMS / engine.program, "measure", workload]
    command += ["--duration", options.duration, "--rounds", options.rounds, "--limit", options.limit, *more]
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment_with(running.environment),
        start_new_session=True,
        text=True,
    )
    try:
        # The program keeps the limit of each execution itself; this is for one that hangs.
        said, _ = process.communicate(timeout=3 * options.limit + options.duration + 30)
    except subprocess.TimeoutExpired:
        return {"over_s": options.limit}
    finally:
        end(process)
    return read_cell(said)


def read_cell(said):
    """The last line, since libraries may write to standard output too."""
    lines = said.strip().splitlines()
    try:
        cell = json.loads(lines[-1]) if lines else None
    except ValueError:
        cell = None
    return cell if isinstance(cell, dict) else {"failed": "the program that measures it ended without a result"}


def _count_syncs(engine, installed, running, options):
    with syncs.counted(running.writer) as found:
        cell = measure_cell(engine, installed, running, "one_step", options, ("--count", COUNTED))
    # The one that warms up is counted too.
    return found() / (COUNTED + 1) if found() is not None and "p50_ms" in cell else None


def merge(parts, wanted):
    """Several measurements of one engine as one: the best of each row, and the load before each."""
    good = [part for part in parts if not part.get("problem")]
    if not good:
        return parts[0]
    merged = {**good[0], "load": [load for part in good for load in part["load"]], "rows": {}}
    for row in wanted:
        for part in good:
            found = part["rows"].get(row.workload)
            merged["rows"][row.workload] = rows.best(row, merged["rows"].get(row.workload), found)
    return merged


def best_yardsticks(measured):
    """What the disk and SQLite did at their best: the least time, the most rows."""
    return {name: (min if name.endswith("_ms") else max)(each[name] for each in measured) for name in measured[0]}
