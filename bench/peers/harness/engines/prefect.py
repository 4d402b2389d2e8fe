"""Prefect: its server over its default SQLite. Flows run in the process that measures, as in a script of its users."""

import contextlib

from harness.engine import Engine, Running
from harness.processes import answers, free_port, started, wait_for


@contextlib.contextmanager
def start(installed, place):
    port, log = free_port(), place / "server.log"
    environment = {
        "PREFECT_HOME": str(place / "home"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "ERROR",
    }
    command = [installed / "python/bin/python", "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", port]
    command += ["--no-ui", "--analytics-off", "--log-level", "ERROR"]
    with started(command, log, environment) as server:
        wait_for(lambda: answers(f"http://127.0.0.1:{port}/api/health"), server, log, "the server")
        yield Running(environment, server.pid)


ENGINE = Engine(
    name="prefect",
    title="Prefect",
    settings="Its server with its default store, SQLite; flows run in the process that calls them, results of tasks are kept as files.",
    durability="SQLite with synchronous=NORMAL: not synced before it is answered; results of tasks are written without a sync.",
    program="with_prefect.py",
    start=start,
)
