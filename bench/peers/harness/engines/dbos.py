"""DBOS: a library, so that the engine is the application itself, over the SQLite that it takes by default."""

import contextlib

from harness.engine import PROGRAMS, Engine, Running, python_of
from harness.processes import free_port, listens, started, wait_for


@contextlib.contextmanager
def start(installed, place):
    port, log = free_port(), place / "application.log"
    with started([python_of(installed), PROGRAMS / "with_dbos.py", "serve", port, place], log) as application:
        wait_for(lambda: listens(port), application, log, "the application")
        yield Running({"DBOS_APPLICATION_URL": f"http://127.0.0.1:{port}"}, application.pid)


ENGINE = Engine(
    name="dbos",
    title="DBOS",
    settings="Its default store, SQLite with a rollback journal; an application with FastAPI, asked over HTTP.",
    durability="SQLite's default, synchronous=FULL: each transaction is synced before the next step begins.",
    program="with_dbos.py",
    start=start,
)
