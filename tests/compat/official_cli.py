#!/usr/bin/env python3
"""Drives a `noetl dev` of ours with the command line that the NoETL project publishes, as its users would.

usage: official_cli.py --client PATH --noetl PATH

`--client` is the published command line (PyPI `noetl`), used as a program and nothing else; `--noetl` is our binary. Each
check is a command, what it must print, and how it must end. The first one that fails ends the script with 1 and shows
everything that was said.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HELLO = """\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: hello, path: compat/hello}
workload: {name: world}
workflow:
  - step: greet
    tool: {kind: noop, result: {greeting: "Hello, {{ workload.name }}!"}}
"""
FAILING = """\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: failing, path: compat/failing}
workflow:
  - step: break
    tool: {kind: shell, command: "exit 3"}
"""
WAITING = """\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: waiting, path: compat/waiting}
workflow:
  - step: ask
    tool: {kind: wait, signal: go}
"""
CREDENTIAL = {"name": "compat_pg", "type": "postgres", "data": {"db_host": "db.example", "db_password": "hush"}}


class Failure(Exception):
    """A check that does not hold."""


class Client:
    """The published command line, against one server, in a home of its own."""

    def __init__(self, program, ours, port, folder):
        self.program = program
        self.ours = ours
        self.folder = folder
        self.server = ["--host", "127.0.0.1", "--port", str(port)]
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1"}

    def run(self, *words, code=0, says=()):
        """Runs a command and gives what it printed on both streams."""
        done = subprocess.run(
            [self.program, *self.server, *words],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60,
        )
        said = done.stdout + done.stderr
        if done.returncode != code:
            raise Failure(f"{' '.join(words)}: ended with {done.returncode}, not {code}:\n{said}")
        for word in says:
            if word not in said:
                raise Failure(f"{' '.join(words)}: does not say {word!r}:\n{said}")
        return done.stdout

    def json(self, *words):
        out = self.run(*words, "--json")
        try:
            return json.loads(out)
        except ValueError as error:
            raise Failure(f"{' '.join(words)}: no JSON ({error}):\n{out}") from None

    def start(self, path, *words):
        return str(self.json("execute", "playbook", path, *words)["execution_id"])

    def ended(self, execution, status):
        """Waits with our binary until it is over, and gives what the client says of it then."""
        wait = [self.ours, *self.server, "status", execution, "--wait", "--quiet"]
        subprocess.run(wait, cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, timeout=60)
        self.run("status", execution, says=[status])
        return self.run("status", execution)


def registering(client, folder):
    (folder / "hello.yaml").write_text(HELLO)
    more = folder / "more"
    more.mkdir()
    (more / "failing.yaml").write_text(FAILING)
    (more / "waiting.yaml").write_text(WAITING)
    (more / "notes.yaml").write_text("just: notes\n")
    client.run("register", "playbook", "--file", "hello.yaml", says=["compat/hello"])
    client.run("register", "playbook", "--directory", "more")
    client.run("catalog", "register", "hello.yaml")
    # Loading sends every file there is.
    (more / "notes.yaml").unlink()
    client.run("catalog", "load", "more", says=["registered 2, failed 0"])


def catalog(client, _):
    listed = client.run("catalog", "list", "Playbook")
    for path in ("compat/hello", "compat/failing", "compat/waiting"):
        if path not in listed:
            raise Failure(f"catalog list lacks {path}:\n{listed}")
    client.run("list", "Playbook", says=["compat/hello"])
    entries = client.json("catalog", "list", "Playbook")["entries"]
    if len({entry["path"] for entry in entries}) != 3:
        raise Failure(f"catalog list --json: {entries}")
    client.run("catalog", "get", "compat/hello", says=["compat/hello", "greet"])


def completed(client, folder):
    (folder / "input.json").write_text(json.dumps({"name": "Ada"}))
    execution = client.start("compat/hello", "--input", "input.json")
    client.ended(execution, "COMPLETED")
    status = client.json("execute", "status", execution)
    if not (status["completed"] and not status["failed"]):
        raise Failure(f"status --json of a completed execution: {status}")
    run = client.run("run", "compat/hello", "--runtime", "distributed", "--set", "name=Bo")
    again = client.json("execute", "rerun", execution)
    if str(again["execution_id"]) == execution:
        raise Failure(f"rerun gave the earlier execution: {again}")
    client.ended(str(again["execution_id"]), "COMPLETED")
    started = re.search(r'noetl status "?(\d+)', run)
    if not started:
        raise Failure(f"run names no execution:\n{run}")
    client.ended(started.group(1), "COMPLETED")


def failed(client, _):
    said = client.ended(client.start("compat/failing"), "FAILED")
    if "COMPLETED" in said:
        raise Failure(f"a failed execution is shown as completed:\n{said}")


def cancelled(client, _):
    execution = client.start("compat/waiting")
    client.run("status", execution, says=["RUNNING"])
    client.run("cancel", execution, "--reason", "enough", "--cascade")
    status = client.json("status", execution)
    if status["status"] != "CANCELLED":
        raise Failure(f"status of a cancelled execution: {status}")
    # The client has three words: an execution that was cancelled has FAILED, and its error says that it was cancelled.
    client.run("status", execution, says=["FAILED", "cancelled: enough"])
    # It is over, which the client tells without an error.
    client.run("cancel", execution)


def cleanup(client, _):
    execution = client.start("compat/waiting")
    client.run("cleanup", "--older-than-minutes", "0", "--dry-run", says=[execution])
    client.run("cleanup", "--older-than-minutes", "0", says=[execution])
    if client.json("status", execution)["status"] != "CANCELLED":
        raise Failure("cleanup did not cancel")


def query(client, _):
    client.run("query", "SELECT path, status FROM noetl.execution", says=["compat/hello", "COMPLETED"])
    client.run("query", "SELECT 41 + 1 AS answer", "--format", "json", says=["42"])


def credentials(client, folder):
    (folder / "credential.json").write_text(json.dumps(CREDENTIAL))
    client.run("register", "credential", "--file", "credential.json", says=["compat_pg"])
    client.run("get", "credential", "compat_pg", says=["db.example", "hush"])


CHECKS = [registering, catalog, completed, failed, cancelled, cleanup, query, credentials]


def serve(noetl, folder):
    """Our server on a free port. Gives the process and the port."""
    server = subprocess.Popen(
        [noetl, "dev", "--listen", "127.0.0.1:0", "--data", "data", "--no-examples"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    line = server.stdout.readline()
    found = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line)
    if not found:
        server.kill()
        raise Failure(f"our server does not listen: {line!r}")
    return server, int(found.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", required=True, help="the published command line")
    parser.add_argument("--noetl", required=True, help="our binary")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="noetl-compat-") as folder:
        folder = Path(folder)
        server, port = serve(os.path.abspath(given.noetl), folder)
        try:
            client = Client(os.path.abspath(given.client), os.path.abspath(given.noetl), port, folder)
            for check in CHECKS:
                check(client, folder)
                print(f"ok  {check.__name__}")
        finally:
            server.kill()
            server.wait()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"not ok  {failure}", file=sys.stderr)
        sys.exit(1)
