"""Temporal: its development server over a file of SQLite, and a worker of its Python SDK."""

import contextlib

from harness.engine import PROGRAMS, Engine, Running, python_of
from harness.processes import free_port, listens, started, wait_for


@contextlib.contextmanager
def start(installed, place):
    port = free_port()
    environment = {"TEMPORAL_ADDRESS": f"127.0.0.1:{port}", "TEMPORAL_VERSION_CHECK_DISABLED": "1"}
    command = [installed / "python/bin/temporal", "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port]
    command += ["--log-level", "error", "--db-filename", place / "temporal.db"]
    for pragma in ("journal_mode=wal", "synchronous=2"):
        command += ["--sqlite-pragma", pragma]
    with contextlib.ExitStack() as stack:
        log, log_of_worker = place / "server.log", place / "worker.log"
        server = stack.enter_context(started(command, log, environment))
        wait_for(lambda: listens(port), server, log, "the development server")
        worker = stack.enter_context(
            started([python_of(installed), PROGRAMS / "with_temporal.py", "serve"], log_of_worker, environment)
        )
        wait_for(lambda: b"ready" in log_of_worker.read_bytes(), worker, log_of_worker, "the worker")
        yield Running(environment, server.pid)


ENGINE = Engine(
    name="temporal",
    title="Temporal",
    settings="Development server with a file of SQLite (journal_mode=wal, synchronous=2), one worker of the Python SDK as it comes.",
    durability="each transaction is synced before it is answered, by these settings; without --db-filename nothing would be kept.",
    program="with_temporal.py",
    start=start,
)
