#!/usr/bin/env python3
"""Runs the conformance cases against a NoETL-compatible server. Standard library only; see README.md."""
import argparse
import base64
import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

sys.dont_write_bytecode = True
import mock_server  # noqa: E402

HERE = Path(__file__).resolve().parent
TERMINAL = {"COMPLETED", "FAILED", "CANCELLED"}
NEEDS = {"python", "shell", "http", "postgres", "duckdb", "nats", "rhai"}
CASE_KEYS = {"about", "needs", "register", "credentials", "payload", "execute", "times", "cancel_when", "cancel_after_end",
             "rerun_with", "timeout_s", "expect"}
EXPECT_KEYS = {"status", "result", "steps", "not_run", "order", "mock", "quiet", "children", "error_contains", "diagnostics",
               "absent", "max_event_bytes", "same_execution"}


class Failed(Exception):
    """An expectation that was not met; the text says which."""


# --------------------------------------------------------------------------- matching

OPERATORS = {
    "$any": lambda want, got: (got is not None) == want,
    "$regex": lambda want, got: isinstance(got, str) and re.search(want, got) is not None,
    "$len": lambda want, got: hasattr(got, "__len__") and len(got) == want,
    "$in": lambda want, got: any(same_scalar(item, got) for item in want),
    "$type": lambda want, got: type_name(got) == want,
    "$gte": lambda want, got: is_number(got) and got >= want,
    "$lte": lambda want, got: is_number(got) and got <= want,
    "$gt": lambda want, got: is_number(got) and got > want,
    "$lt": lambda want, got: is_number(got) and got < want,
}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def type_name(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if is_number(value):
        return "number"
    return {str: "string", list: "list", dict: "map"}.get(type(value), "unknown")


def same_scalar(want, got):
    return type_name(want) == type_name(got) and want == got


def brief(value, limit=160):
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else text[:limit] + "..."


def mismatch(want, got, where=""):
    """None when `got` satisfies `want`, else a sentence. Rules in README.md, "Matching"."""
    where = where or "value"
    if isinstance(want, dict) and want and all(key.startswith("$") for key in want):
        for name, argument in want.items():
            if name == "$absent":
                if got is not None:
                    return f"{where}: expected nothing, got {brief(got)}"
            elif name == "$contains":
                found = argument in got if isinstance(got, str) and isinstance(argument, str) else \
                    isinstance(got, list) and any(mismatch(argument, item) is None for item in got)
                if not found:
                    return f"{where}: expected to contain {brief(argument)}, got {brief(got)}"
            elif name not in OPERATORS:
                return f"{where}: unknown operator {name}"
            elif not OPERATORS[name](argument, got):
                return f"{where}: expected {name} {brief(argument)}, got {brief(got)}"
        return None
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return f"{where}: expected a map with {brief(sorted(want))}, got {brief(got)}"
        for key, inner in want.items():
            absent_ok = isinstance(inner, dict) and ("$absent" in inner or inner.get("$any") is False)
            if key not in got and not absent_ok:
                return f"{where}.{key}: missing; present: {brief(sorted(map(str, got)))}"
            problem = mismatch(inner, got.get(key), f"{where}.{key}")
            if problem:
                return problem
        return None
    if isinstance(want, list):
        if not isinstance(got, list):
            return f"{where}: expected a list, got {brief(got)}"
        if len(want) != len(got):
            return f"{where}: expected {len(want)} entries, got {len(got)}: {brief(got)}"
        for index, (inner, item) in enumerate(zip(want, got)):
            problem = mismatch(inner, item, f"{where}[{index}]")
            if problem:
                return problem
        return None
    return None if same_scalar(want, got) else f"{where}: expected {brief(want)}, got {brief(got)}"


def substitute(text, names):
    """Replaces ${name} for the known names; everything else stays, `${HOME}` of a shell command included."""
    return re.sub(r"\$\{(\w+)\}", lambda found: str(names.get(found.group(1), found.group(0))), text)


def substitute_tree(value, names):
    if isinstance(value, str):
        return substitute(value, names)
    if isinstance(value, list):
        return [substitute_tree(item, names) for item in value]
    if isinstance(value, dict):
        return {substitute(key, names): substitute_tree(item, names) for key, item in value.items()}
    return value


# --------------------------------------------------------------------------- the server under test

class Server:
    def __init__(self, base):
        self.base = base.rstrip("/")

    def call(self, method, path, body=None, timeout=60):
        """Returns (HTTP status, decoded JSON or text)."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                code, raw = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            code, raw = error.code, error.read()
        try:
            return code, json.loads(raw)
        except ValueError:
            return code, raw.decode("utf-8", "replace")

    def register(self, content):
        return self.call("POST", "/api/catalog/register", {"content": content, "resource_type": "Playbook"})

    def execute(self, body):
        code, answer = self.call("POST", "/api/execute", body)
        execution_id = first(answer, "execution_id", "id") if isinstance(answer, dict) else None
        if code >= 300 or execution_id is None:
            raise Failed(f"POST /api/execute answered {code}: {brief(answer, 400)}")
        return str(execution_id)

    def status(self, execution_id):
        code, answer = self.call("GET", f"/api/executions/{execution_id}/status")
        if code == 404:
            code, answer = self.call("GET", f"/api/executions/{execution_id}")
        if code >= 300:
            raise Failed(f"the status of execution {execution_id} answered {code}: {brief(answer)}")
        return read_status(answer)

    def detail(self, execution_id):
        code, answer = self.call("GET", f"/api/executions/{execution_id}")
        if code >= 300 or not isinstance(answer, dict):
            raise Failed(f"GET /api/executions/{execution_id} answered {code}: {brief(answer)}")
        return answer

    def events(self, execution_id):
        """All events, oldest first."""
        found, page = {}, 1
        while True:
            code, answer = self.call("GET", f"/api/executions/{execution_id}?page={page}&page_size=500")
            if code >= 300 or not isinstance(answer, dict):
                raise Failed(f"page {page} of the events answered {code}: {brief(answer)}")
            for event in answer.get("events") or []:
                found[str(event.get("event_id", len(found)))] = event
            if not (answer.get("pagination") or {}).get("has_next"):
                return sorted(found.values(), key=lambda event: (str(first(event, "created_at", "timestamp") or ""), as_int(event.get("event_id"))))
            page += 1

    def children(self, execution_id, path):
        query = urllib.parse.urlencode({"path": path, "limit": 100, "page": 1, "page_size": 100})
        code, answer = self.call("GET", f"/api/executions?{query}")
        rows = answer if isinstance(answer, list) else first(answer, "items", "executions", "entries") or []
        if code >= 300:
            raise Failed(f"GET /api/executions answered {code}: {brief(answer)}")
        found = []
        for row in rows:
            child = str(first(row, "execution_id", "id"))
            if row.get("path") != path or child == execution_id:
                continue
            parent = row["parent_execution_id"] if "parent_execution_id" in row else self.detail(child).get("parent_execution_id")
            if str(parent) == execution_id:
                found.append(child)
        return found


class Binary:
    """The same face as Server, over `noetl run`: no server, each execution in a data folder of its own."""

    def __init__(self, program, tmp):
        self.program, self.tmp, self.lock = program, tmp, threading.Lock()
        self.playbooks, self.credentials, self.runs = {}, {}, {}

    def noetl(self, *arguments, text=None, timeout=300):
        return subprocess.run([self.program, *arguments], input=text, capture_output=True, text=True, timeout=timeout)

    def call(self, method, path, body=None, timeout=60):
        if path == "/api/credentials":
            with self.lock:
                self.credentials[body["name"]] = body
            return 200, {}
        if path == "/health":
            done = self.noetl("version")
            return (200 if done.returncode == 0 else 500), done.stdout
        raise Failed(f"{method} {path} needs a server")

    def register(self, content):
        done = self.noetl("check", "--json", "-", text=content)
        try:
            diagnostics = json.loads(done.stdout)["files"][0]["diagnostics"]
        except (ValueError, KeyError, IndexError):
            return 500, done.stderr
        if done.returncode == 3:
            return 422, {"diagnostics": diagnostics}
        path = re.search(r"^\s*path:\s*(\S+)\s*$", content, re.M).group(1)
        with self.lock:
            self.playbooks[path] = content
        return 200, {"diagnostics": diagnostics}

    def execute(self, body):
        path = body["path"]
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self.tmp))
        with self.lock:
            files = {name: text for name, text in self.playbooks.items() if name.rsplit("/", 1)[0] == path.rsplit("/", 1)[0]}
            (folder / "credentials.json").write_text(json.dumps(list(self.credentials.values())), encoding="utf-8")
        for name, text in files.items():
            (folder / f"{name.rsplit('/', 1)[1]}.yaml").write_text(text, encoding="utf-8")
        (folder / "payload.json").write_text(json.dumps(body.get("payload") or {}), encoding="utf-8")
        done = self.noetl("run", str(folder / "main.yaml"), "--json", "--data", str(folder / "data"), "--payload", f"@{folder / 'payload.json'}",
                          "--credentials", str(folder / "credentials.json"))
        try:
            detail = json.loads(done.stdout)
        except ValueError:
            raise Failed(f"noetl run ended with {done.returncode}: {brief(done.stderr, 400)}")
        expected = 0 if detail["status"] == "COMPLETED" else 1
        if done.returncode != expected:
            raise Failed(f"noetl run ended with {done.returncode} for a run that is {detail['status']}")
        self.runs[str(detail["execution_id"])] = (detail, folder)
        return str(detail["execution_id"])

    def status(self, execution_id):
        if execution_id in self.runs:
            return read_status(self.detail(execution_id))
        for _, folder in list(self.runs.values()):
            for row in self.query(folder, "SELECT status FROM execution_record WHERE execution_id = ?", int(execution_id)):
                return row["status"]
        raise Failed(f"there is no execution {execution_id}")

    def detail(self, execution_id):
        return self.runs[execution_id][0]

    def query(self, folder, sql, *values):
        with contextlib.closing(sqlite3.connect(folder / "data" / "noetl.db")) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(sql, values)]

    def events(self, execution_id):
        folder = self.runs[execution_id][1]
        rows = self.query(folder, "SELECT * FROM event_record WHERE execution_id = ? ORDER BY seq", int(execution_id))
        return [{key: value.decode("utf-8", "replace") if isinstance(value, bytes) else value for key, value in row.items()} for row in rows]

    def children(self, execution_id, path):
        folder = self.runs[execution_id][1]
        rows = self.query(folder, "SELECT execution_id FROM execution_record WHERE parent_execution_id = ? AND path = ?", int(execution_id), path)
        return [str(row["execution_id"]) for row in rows]

    def refuses(self, case):
        """Why a case needs a server, if it does."""
        asked = {"cancel_when", "cancel_after_end", "rerun_with", "execute", "times"} & set(case.spec)
        if asked:
            return f"needs a server for {', '.join(sorted(asked))}"
        if case.name in ("control/newest_version_runs", "subplaybook/async_call"):
            return "needs a server that goes on after the run"
        return None


def first(mapping, *names):
    for name in names:
        if isinstance(mapping, dict) and mapping.get(name) is not None:
            return mapping[name]
    return None


def as_int(value):
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0


def read_status(answer):
    text = str(first(answer, "status", "execution_status", "state") or "").upper()
    text = {"SUCCESS": "COMPLETED", "SUCCEEDED": "COMPLETED", "DONE": "COMPLETED", "ERROR": "FAILED", "CANCELED": "CANCELLED"}.get(text, text)
    if text:
        return text
    if answer.get("is_cancelled"):
        return "CANCELLED"
    if answer.get("failed"):
        return "FAILED"
    return "COMPLETED" if answer.get("completed") else "RUNNING"


def read_time(value):
    if not isinstance(value, str):
        return float(value) if is_number(value) else None
    text = re.sub(r"\.(\d+)", lambda found: "." + found.group(1)[:6].ljust(6, "0"), value.replace("Z", "+00:00"))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def unwrap(result):
    """The user's data inside a stored result envelope; what is no envelope is returned as it is."""
    if isinstance(result, dict) and "context" in result and set(result) <= {"status", "context", "reference"}:
        inner = result["context"]
        return unwrap(inner["result"] if isinstance(inner, dict) and isinstance(inner.get("result"), dict) else inner)
    envelope = {"status", "data", "error", "stdout", "stderr", "exit_code", "duration_ms", "pending_callback", "child_execution_id"}
    if isinstance(result, dict) and "data" in result and set(result) <= envelope:
        return result["data"]
    return result


def steps_of(detail, fetch_events):
    """Step records by name: from `steps` of the execution, else rebuilt from its events."""
    listed = detail.get("steps")
    if isinstance(listed, dict):
        listed = [{"name": name, **record} for name, record in listed.items()]
    if isinstance(listed, list) and all(isinstance(record, dict) for record in listed):
        return {first(record, "name", "step", "node_name"): {**record, "status": str(record.get("status")).lower()} for record in listed}
    return steps_from_events(fetch_events())


def steps_from_events(events):
    steps = {}
    for event in events:
        name, kind = first(event, "node_name", "step", "node_id"), str(event.get("event_type") or "").replace("_", ".")
        if not name or kind.startswith(("playbook", "workflow", "execution", "subscription", "ctx")) or name.startswith("__"):
            continue
        step = steps.setdefault(name, {"name": name, "status": "pending", "runs": 0, "visits": 0, "results": [], "error": None,
                                       "started_at": None, "ended_at": None})
        moment = first(event, "created_at", "timestamp")
        if kind == "step.enter":
            step.update(visits=step["visits"] + 1, status="running", results=[], started_at=moment)
        elif kind in ("command.issued", "command.started", "step.started"):
            step.update(status="running", started_at=step["started_at"] or moment)
        elif kind == "call.done":
            step["results"].append(unwrap(event.get("result") or event.get("context")))
            step.update(status="completed", ended_at=moment)
        elif kind in ("command.completed", "step.exit", "step.completed", "step.done", "action.completed"):
            bad = step["status"] == "failed" or str(event.get("status")).lower() in ("error", "failed", "timeout")
            step.update(status="failed" if bad else "completed", ended_at=moment)
        elif kind in ("command.failed", "call.error", "step.failed", "action.failed"):
            step.update(status="failed", error=event.get("error") or event.get("result"), ended_at=moment)
        elif kind == "step.skipped":
            step["status"] = "skipped"
    for step in steps.values():
        results = step.pop("results")
        step["runs"] = step.pop("visits") or (0 if step["status"] in ("skipped", "pending") else 1)
        step["result"] = results[0] if len(results) == 1 else {"results": results, "data": results} if results else None
    return steps


# --------------------------------------------------------------------------- one case

class Case:
    def __init__(self, folder):
        self.folder = folder
        self.name = f"{folder.parent.name}/{folder.name}"
        self.spec = json.loads((folder / "case.json").read_text(encoding="utf-8"))

    @property
    def needs(self):
        return set(self.spec.get("needs", []))


class Run:
    """One case against one server."""

    def __init__(self, case, suite):
        self.case, self.suite, self.server = case, suite, suite.server
        self.uid = "u" + secrets.token_hex(4)
        self.tmp = suite.tmp / self.uid
        self.names = {"mock": suite.mock_url, "uid": self.uid, "prefix": f"conformance/{suite.run_id}/{case.name}",
                      "files": str(case.folder), "tmp": str(self.tmp)}
        self.spec = substitute_tree(case.spec, self.names)
        self.expect = self.spec["expect"]
        self.deadline = time.monotonic() + float(self.spec.get("timeout_s", 30)) * suite.patience
        self._events = None

    def go(self):
        self.tmp.mkdir(parents=True)
        os.chmod(self.tmp, 0o777)
        for credential in self.spec.get("credentials", []):
            self.suite.add_credential(credential)
        for name in self.spec.get("register", []):
            code, answer = self.server.register(self.text(name))
            if code >= 300:
                raise Failed(f"registering {name} answered {code}: {brief(answer, 400)}")
        code, answer = self.server.register(self.text("playbook.yaml"))
        if self.expect["status"] == "register_error":
            if code < 400 or code >= 500:
                raise Failed(f"registration should have been refused, but answered {code}")
            self.check_error_text([answer])
            self.check_diagnostics(answer)
            return
        if code >= 300:
            raise Failed(f"registering playbook.yaml answered {code}: {brief(answer, 400)}")
        self.check_diagnostics(answer)
        self.execute()
        self.check()

    def text(self, name):
        return substitute((self.case.folder / name).read_text(encoding="utf-8"), self.names)

    def execute(self):
        body = {"path": self.names["prefix"] + "/main", "payload": self.spec.get("payload", {}), **self.spec.get("execute", {})}
        ids = [self.server.execute(body) for _ in range(self.spec.get("times", 1))]
        self.id = ids[0]
        if self.expect.get("same_execution") and len(set(ids)) != 1:
            raise Failed(f"expected one execution, got {ids}")
        if "cancel_when" in self.spec:
            wanted = self.spec["cancel_when"]
            self.wait(lambda: self.suite.mock_stats(wanted["key"])["calls"] >= wanted["calls"], f"{wanted['calls']} calls at the mock server")
            code, answer = self.cancel()
            if code >= 300:
                raise Failed(f"cancel answered {code}: {brief(answer)}")
        self.status = self.wait_terminal(self.id)
        if self.spec.get("cancel_after_end"):
            code, answer = self.cancel()
            if not 400 <= code < 500:
                raise Failed(f"cancelling a finished execution answered {code}: {brief(answer)}")
            self.status = self.server.status(self.id)
        if "rerun_with" in self.spec:
            code, answer = self.server.call("POST", f"/api/executions/{self.id}/rerun", {"workload": self.spec["rerun_with"]})
            new = str(first(answer, "execution_id", "id")) if code < 300 and isinstance(answer, dict) else None
            if new is None or new == self.id:
                raise Failed(f"rerun answered {code}: {brief(answer)}")
            self.id, self.status = new, self.wait_terminal(new)

    def cancel(self):
        return self.server.call("POST", f"/api/executions/{self.id}/cancel", {"reason": "conformance", "cascade": True})

    def wait(self, ready, what):
        pause = 0.02
        while True:
            value = ready()
            if value:
                return value
            if time.monotonic() > self.deadline:
                raise Failed(f"waited too long for {what}")
            time.sleep(pause)
            pause = min(pause * 1.3, 0.4)

    def wait_terminal(self, execution_id):
        seen = {}

        def ready():
            seen["status"] = self.server.status(execution_id)
            return seen["status"] if seen["status"] in TERMINAL else None
        try:
            return self.wait(ready, f"execution {execution_id} to end")
        except Failed as failure:
            raise Failed(f"{failure}; it is {seen.get('status')}")

    def events(self):
        if self._events is None:
            self._events = self.server.events(self.id)
        return self._events

    # ---- expectations

    def check(self):
        expect = substitute_tree(self.expect, {"execution_id": self.id})
        detail = self.server.detail(self.id)
        steps = steps_of(detail, self.events)
        if self.status != expect["status"]:
            reason = first(detail, "error") or [step["error"] for step in steps.values() if step.get("error")]
            raise Failed(f"status is {self.status}, expected {expect['status']}" + (f"; error: {brief(reason, 400)}" if reason else ""))
        for name, want in expect.get("steps", {}).items():
            if name not in steps:
                raise Failed(f"step {name} is not reported; reported: {sorted(steps)}")
            self.require(mismatch(want, steps[name], f"step {name}"))
        for name in expect.get("not_run", []):
            step = steps.get(name)
            if step and (step.get("runs") or step["status"] in ("completed", "failed", "running")):
                raise Failed(f"step {name} should not have run: {step.get('runs')} runs, {step['status']}")
        for earlier, later in expect.get("order", []):
            self.check_order(steps, earlier, later)
        if "result" in expect:
            self.require(mismatch(expect["result"], self.final_result(detail, steps), "result"))
        if "error_contains" in expect:
            self.check_error_text([detail.get("error"), [step.get("error") for step in steps.values()]], expect["error_contains"])
        self.check_mock(expect)
        for path, want in expect.get("children", {}).items():
            self.check_children(path, want)
        if "absent" in expect:
            everything = json.dumps([detail, self.events()], ensure_ascii=False, default=str)
            for secret in expect["absent"]:
                forms = {secret, base64.b64encode(secret.encode()).decode(), urllib.parse.quote(secret, safe="")}
                if any(form in everything for form in forms):
                    raise Failed("a secret value appears in the execution or its events")
        if "max_event_bytes" in expect:
            for event in self.events():
                size = len(json.dumps(event, default=str))
                if size > expect["max_event_bytes"]:
                    raise Failed(f"event {event.get('event_type')} of {event.get('node_name')} has {size} bytes")

    @staticmethod
    def require(problem):
        if problem:
            raise Failed(problem)

    def final_result(self, detail, steps):
        if "result" in detail:
            return detail["result"]
        done = [step for step in steps.values() if step["status"] == "completed"]
        last = steps["end"] if steps.get("end", {}).get("runs") else max(done, key=lambda step: str(step.get("ended_at")), default={})
        return last.get("result")

    def check_order(self, steps, earlier, later):
        end = read_time(steps.get(earlier, {}).get("ended_at"))
        start = read_time(steps.get(later, {}).get("started_at"))
        if end is None or start is None:
            raise Failed(f"no times to see that {earlier} ended before {later} started")
        if end > start:
            raise Failed(f"{later} started {end - start:.3f} s before {earlier} ended")

    def check_error_text(self, places, wanted=None):
        wanted = self.expect.get("error_contains", []) if wanted is None else wanted
        text = json.dumps(places, ensure_ascii=False, default=str)
        for part in [wanted] if isinstance(wanted, str) else wanted:
            if part.lower() in text.lower():
                continue
            if self.expect["status"] != "register_error":
                events = json.dumps([event for event in self.events() if re.search("error|fail", str(event.get("event_type")))], ensure_ascii=False, default=str)
                if part.lower() in events.lower():
                    continue
            raise Failed(f"no error says {part!r}; errors: {brief(places, 400)}")

    def check_diagnostics(self, answer):
        """Each wanted diagnostic must be listed by the registration answer, on the right line."""
        if "diagnostics" not in self.expect:
            return
        lines = self.text("playbook.yaml").splitlines()
        body = answer if isinstance(answer, dict) else {}
        listed = body.get("diagnostics") or (body.get("detail") or {} if isinstance(body.get("detail"), dict) else {}).get("diagnostics")
        for want in self.expect["diagnostics"]:
            line = next((number for number, text in enumerate(lines, 1) if want["at"] in text), None) if "at" in want else None
            if listed is None:  # no structured list: look for the line number and the words in the text
                text = brief(answer, 10 ** 6)
                on_line = line is None or re.search(rf"line:? {line}\b|:{line}:", text)
                if not on_line or want.get("contains", "").lower() not in text.lower():
                    raise Failed(f"nothing is said about line {line} ({want}): {brief(answer, 400)}")
                continue
            for item in listed:
                severity_ok = want.get("severity", "any") in ("any", str(item.get("severity")).lower())
                line_ok = line is None or abs(as_int(item.get("line")) - line) <= want.get("within", 0)
                if severity_ok and line_ok and want.get("contains", "").lower() in str(item.get("message")).lower():
                    break
            else:
                raise Failed(f"no {want.get('severity', 'any')} diagnostic on line {line} says {want.get('contains', '')!r}: {brief(listed, 400)}")

    def check_mock(self, expect):
        for key in expect.get("quiet", []):
            self.wait(lambda: self.suite.mock_stats(key)["in_flight"] == 0, f"calls of {key} to end")
            before = self.suite.mock_stats(key)["calls"]
            time.sleep(1.5)
            after = self.suite.mock_stats(key)["calls"]
            if after != before:
                raise Failed(f"{after - before} more calls of {key} after the end")
        for key, want in expect.get("mock", {}).items():
            self.require(mismatch(want, self.suite.mock_stats(key), f"mock {key.replace(self.uid, 'uid')}"))

    def check_children(self, path, want):
        children = self.server.children(self.id, path)
        self.require(mismatch(want.get("count", {"$gte": 1}), len(children), f"children at {path.rsplit('/', 1)[1]}"))
        for child in children:
            status = self.wait_terminal(child)
            if status != want.get("status", status):
                raise Failed(f"child {child} is {status}, expected {want['status']}")


# --------------------------------------------------------------------------- the whole suite

class Suite:
    def __init__(self, options):
        self.run_id = time.strftime("%Y%m%d%H%M%S") + "-" + secrets.token_hex(2)
        self.patience = options.patience
        self.tmp = Path(tempfile.mkdtemp(prefix="conformance-", dir=options.tmp))
        os.chmod(self.tmp, 0o777)
        self.server = Binary(options.binary, self.tmp) if options.binary else Server(options.server)
        if options.mock:
            self.mock_url, self.book = options.mock.rstrip("/"), None
        else:
            server = mock_server.start(options.mock_host)
            self.mock_url, self.book = f"http://{options.mock_host}:{server.server_port}", server.book
        self.keep_tmp = options.keep_tmp

    def mock_stats(self, key):
        if self.book:
            return self.book.stats(key)
        with urllib.request.urlopen(f"{self.mock_url}/_stats?{urllib.parse.urlencode({'k': key})}", timeout=10) as answer:
            return json.load(answer)

    def add_credential(self, credential):
        code, answer = self.server.call("POST", "/api/credentials", credential)
        if code >= 300:
            raise Failed(f"POST /api/credentials answered {code}: {brief(answer)}")

    def add_postgres(self, url):
        parts = urllib.parse.urlsplit(url)
        data = {"db_host": parts.hostname or "127.0.0.1", "db_port": parts.port or 5432, "db_user": urllib.parse.unquote(parts.username or "postgres"),
                "db_password": urllib.parse.unquote(parts.password or ""), "db_name": parts.path.lstrip("/") or "postgres"}
        self.add_credential({"name": "pg_conformance", "type": "postgres", "data": data})

    def add_nats(self, url):
        parts = urllib.parse.urlsplit(url)
        user, password = urllib.parse.unquote(parts.username or ""), urllib.parse.unquote(parts.password or "")
        host, port = parts.hostname or "127.0.0.1", parts.port or 4222
        create_bucket(host, port, user, password, "conformance")
        data = {"nats_url": f"nats://{host}:{port}"}
        if user:
            data.update(nats_user=user, nats_password=password)
        self.add_credential({"name": "nats_conformance", "type": "nats", "data": data})

    def close(self):
        if not self.keep_tmp:
            shutil.rmtree(self.tmp, ignore_errors=True)


def create_bucket(host, port, user, password, bucket):
    """Makes a JetStream key-value bucket with the plain NATS protocol; one that exists already is fine."""
    options = {"verbose": False, "pedantic": False, "name": "conformance", "lang": "python", "version": "0"}
    if user:
        options.update(user=user, **{"pass": password})
    config = json.dumps({"name": f"KV_{bucket}", "subjects": [f"$KV.{bucket}.>"], "max_msgs_per_subject": 1, "storage": "memory", "allow_rollup_hdrs": True,
                         "deny_delete": True, "allow_direct": True, "discard": "new", "num_replicas": 1}).encode()
    with socket.create_connection((host, port), timeout=5) as link:
        reader = link.makefile("rb")
        reader.readline()
        link.sendall(b"CONNECT " + json.dumps(options).encode() + b"\r\nSUB _INBOX.conformance 1\r\n"
                     + f"PUB $JS.API.STREAM.CREATE.KV_{bucket} _INBOX.conformance {len(config)}\r\n".encode() + config + b"\r\nPING\r\n")
        while True:
            line = reader.readline()
            if line.startswith(b"MSG"):
                answer = json.loads(reader.read(int(line.split()[-1])))
                error = answer.get("error")
                if error and error.get("err_code") != 10058:  # 10058: name in use with another configuration
                    raise Failed(f"NATS would not make bucket {bucket}: {error.get('description')}")
                return
            if line.startswith(b"-ERR") or not line:
                raise Failed(f"NATS answered {line.decode().strip()!r}")


def load_cases(patterns):
    cases = [Case(path.parent) for path in sorted((HERE / "cases").glob("*/*/case.json"))]
    if patterns:
        cases = [case for case in cases if any(case.name == pattern or case.name.startswith(pattern.rstrip("/") + "/") for pattern in patterns)]
    return cases


def run_one(case, suite):
    started = time.monotonic()
    try:
        Run(case, suite).go()
        problem = None
    except Failed as failure:
        problem = str(failure)
    except Exception as error:  # a harness or connection fault is a failure of the case, never of the run
        problem = f"{type(error).__name__}: {error} ({traceback.extract_tb(error.__traceback__)[-1].lineno})"
    return problem, time.monotonic() - started


def run_all(options):
    cases = load_cases(options.only)
    missing = set(options.skip_needs)
    missing |= set() if options.postgres else {"postgres"}
    missing |= set() if options.nats else {"nats"}
    skipped = [case for case in cases if case.needs & missing]
    cases = [case for case in cases if not case.needs & missing]
    suite, lock, results = Suite(options), threading.Lock(), []
    try:
        suite.server.call("GET", "/health", timeout=10)
        if any("postgres" in case.needs for case in cases):
            suite.add_postgres(options.postgres)
        if any("nats" in case.needs for case in cases):
            suite.add_nats(options.nats)
        if options.binary:
            reasons = {case.name: suite.server.refuses(case) for case in cases}
            for name, reason in reasons.items():
                if reason:
                    print(f"SKIP {name}: {reason}")
            skipped += [case for case in cases if reasons[case.name]]
            cases = [case for case in cases if not reasons[case.name]]
        for case in [case for case in skipped if case.needs & missing]:
            print(f"SKIP {case.name}: needs {', '.join(sorted(case.needs & missing))}")

        def work(case):
            problem, seconds = run_one(case, suite)
            with lock:
                results.append((case, problem, seconds))
                print(f"FAIL {case.name} ({seconds:.1f} s): {problem}" if problem else f"PASS {case.name} ({seconds:.1f} s)", flush=True)

        with ThreadPoolExecutor(max_workers=options.jobs) as pool:
            list(pool.map(work, cases))
    except (Failed, OSError) as failure:
        print(f"cannot run against {options.binary or options.server}: {failure}", file=sys.stderr)
        return 2
    finally:
        suite.close()
    if options.junit:
        write_junit(options.junit, results, skipped)
    failed = sum(1 for _, problem, _ in results if problem)
    print(f"{len(results) - failed} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed else 0


def write_junit(path, results, skipped):
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="conformance" tests="{len(results) + len(skipped)}" '
             f'failures="{sum(1 for _, problem, _ in results if problem)}" skipped="{len(skipped)}">']
    for case, problem, seconds in sorted(results, key=lambda item: item[0].name):
        area, name = case.name.split("/")
        body = f"<failure>{escape(problem)}</failure>" if problem else ""
        lines.append(f"  <testcase classname={quoteattr(area)} name={quoteattr(name)} time=\"{seconds:.3f}\">{body}</testcase>")
    for case in skipped:
        area, name = case.name.split("/")
        lines.append(f"  <testcase classname={quoteattr(area)} name={quoteattr(name)}><skipped/></testcase>")
    Path(path).write_text("\n".join(lines + ["</testsuite>", ""]), encoding="utf-8")


# --------------------------------------------------------------------------- checks without a server

def check_files():
    """Checks the case files themselves; YAML too when PyYAML is installed."""
    try:
        import yaml
    except ImportError:
        yaml = None
    problems = []
    cases = load_cases([])
    for case in cases:
        def report(text, case=case):
            problems.append(f"{case.name}: {text}")
        spec, expect = case.spec, case.spec.get("expect", {})
        if next(iter(spec), None) != "about":
            report("case.json must begin with about")
        for key in set(spec) - CASE_KEYS:
            report(f"unknown key {key}")
        for key in set(expect) - EXPECT_KEYS:
            report(f"unknown expectation {key}")
        for need in case.needs - NEEDS:
            report(f"unknown need {need}")
        if expect.get("status") not in TERMINAL | {"register_error"}:
            report("expect.status is missing or unknown")
        files = ["playbook.yaml", *spec.get("register", [])]
        for name in files:
            if not (case.folder / name).is_file():
                report(f"{name} is missing")
                continue
            text = (case.folder / name).read_text(encoding="utf-8")
            if "path: ${prefix}/" not in text and "path: \"${prefix}/" not in text and expect["status"] != "register_error":
                report(f"{name} must register under ${{prefix}}")
            for found in re.findall(r"\$\{(mock|uid|prefix|files|tmp|execution_id)\b[^}]", text):
                report(f"{name}: broken placeholder ${{{found}")
            used = {kind for kind in re.findall(r"kind: (\w+)", text)} & NEEDS
            if "${mock}" in text:
                used.add("http")
            if "kind: transfer" in text and "postgres" in text:
                used.add("postgres")
            if used - case.needs and expect["status"] != "register_error":
                report(f"needs lacks {', '.join(sorted(used - case.needs))}")
            if yaml:
                try:
                    document = yaml.safe_load(substitute(text, {"prefix": "p", "mock": "http://m", "uid": "u", "files": "/f", "tmp": "/t"}))
                except yaml.YAMLError as error:
                    if case.name != "lint/bad_yaml":
                        report(f"{name} is not YAML: {error}")
                    continue
                if expect["status"] != "register_error":
                    names = [step.get("step") for step in document["workflow"]]
                    for known in [*expect.get("steps", {}), *expect.get("not_run", []), *[n for pair in expect.get("order", []) for n in pair]]:
                        if name == "playbook.yaml" and known not in names:
                            report(f"expects step {known}, which the playbook lacks")
        for want in expect.get("diagnostics", []):
            if "at" in want and (case.folder / "playbook.yaml").read_text(encoding="utf-8").count(want["at"]) != 1:
                report(f"diagnostic mark {want['at']!r} must occur once")
    for problem in problems:
        print(problem)
    print(f"{len(cases)} cases, {len(problems)} problems" + ("" if yaml else " (YAML not checked: PyYAML is not installed)"))
    return 1 if problems else 0


def self_test():
    good = [
        (1, 1), (1, 1.0), ("a", "a"), (None, None), (True, True), ({}, {"x": 1}), ({"a": 1}, {"a": 1, "b": 2}), ([1, {"a": 2}], [1, {"a": 2, "z": 0}]),
        ({"$any": True}, 0), ({"$any": False}, None), ({"$regex": "^a.c$"}, "abc"), ({"$contains": 2}, [1, 2]), ({"$contains": {"a": 1}}, [{"a": 1, "b": 2}]),
        ({"$contains": "ell"}, "hello"), ({"$len": 2}, [1, 2]), ({"$len": 1}, {"k": 1}), ({"$in": ["1", 1]}, 1), ({"$gte": 1, "$lte": 3}, 2),
        ({"$type": "null"}, None), ({"$type": "list"}, []), ({"a": {"$absent": True}}, {}), ({"a": {"$absent": True}}, {"a": None}), ({"a": {"$any": False}}, {}),
        (9007199254740993, 9007199254740993),
    ]
    bad = [
        (1, 2), (1, "1"), (1, True), (False, 0), (None, 0), ("", None), ({"a": None}, {}), ({"a": 1}, {"a": 2}), ({"a": 1}, [1]), ([1], [1, 2]), ([1, 2], [2, 1]),
        ({"$any": True}, None), ({"a": {"$any": True}}, {}), ({"$regex": "a"}, 5), ({"$contains": 3}, [1, 2]), ({"$contains": "z"}, "hello"), ({"$len": 1}, 5),
        ({"$in": [1]}, True), ({"$lt": 3}, 3), ({"$gte": 1}, "2"), ({"$type": "number"}, True), ({"a": {"$absent": True}}, {"a": 0}), ({"$typo": 1}, 1),
        (9007199254740993, 9007199254740992),
    ]
    wrong = [f"should match: {want} {got}: {mismatch(want, got)}" for want, got in good if mismatch(want, got)]
    wrong += [f"should not match: {want} {got}" for want, got in bad if not mismatch(want, got)]

    def same(label, got, want):
        if got != want:
            wrong.append(f"{label}: {got!r}, expected {want!r}")

    same("substitute", substitute("${mock}/x ${HOME} $1 ${uid}", {"mock": "M", "uid": "U"}), "M/x ${HOME} $1 U")
    same("status 1", read_status({"status": "completed"}), "COMPLETED")
    same("status 2", read_status({"completed": True, "failed": True}), "FAILED")
    same("status 3", read_status({"status": None, "is_cancelled": True, "completed": True}), "CANCELLED")
    same("status 4", read_status({"state": "SUCCEEDED"}), "COMPLETED")
    same("time", round(read_time("2024-01-01T01:00:01.123456789+01:00") - read_time("2024-01-01T00:00:00.1"), 3), 1.023)
    same("unwrap 1", unwrap({"status": "COMPLETED", "context": {"command_id": "c", "result": {"status": "ok", "context": {"status": "ok", "data": {"n": 1}}}}}), {"n": 1})
    same("unwrap 2", unwrap({"status_code": 200, "data": {"n": 1}}), {"status_code": 200, "data": {"n": 1}})
    events = [
        {"event_type": "playbook_started", "node_name": "p"},
        {"event_type": "command.issued", "node_name": "start", "created_at": "1"},
        {"event_type": "call.done", "node_name": "start", "created_at": "2", "result": {"status": "COMPLETED", "context": {"result": {"status": "success", "context": {"data": {"n": 1}}}}}},
        {"event_type": "command.completed", "node_name": "start", "status": "success", "created_at": "3"},
        {"event_type": "step.enter", "node_name": "tick"}, {"event_type": "command.completed", "node_name": "tick"},
        {"event_type": "step.enter", "node_name": "tick"}, {"event_type": "command.failed", "node_name": "tick", "error": "no"},
        {"event_type": "step.skipped", "node_name": "other"},
    ]
    rebuilt = steps_from_events(events)
    same("events", {name: (step["runs"], step["status"], step["result"]) for name, step in rebuilt.items()},
         {"start": (1, "completed", {"n": 1}), "tick": (2, "failed", None), "other": (0, "skipped", None)})
    for line in wrong:
        print(line)
    print(f"self-test: {len(good) + len(bad) + 9} checks, {len(wrong)} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description="Conformance cases for NoETL-compatible servers")
    parser.add_argument("--server", default="http://127.0.0.1:8082")
    parser.add_argument("--binary", metavar="PROGRAM", help="run the cases with `PROGRAM run` instead of a server")
    parser.add_argument("--only", action="append", default=[], metavar="AREA[/CASE]", help="may be repeated")
    parser.add_argument("--skip-needs", action="append", default=[], metavar="NEED", choices=sorted(NEEDS), help="may be repeated")
    parser.add_argument("--postgres", metavar="URL", help="postgresql://user:password@host:port/database, as the worker reaches it")
    parser.add_argument("--nats", metavar="URL", help="nats://host:port with JetStream, as the worker reaches it")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--junit", metavar="FILE")
    parser.add_argument("--mock", metavar="URL", help="a mock server that already runs (default: start one)")
    parser.add_argument("--mock-host", default="127.0.0.1", help="address the started mock server listens on")
    parser.add_argument("--tmp", metavar="DIR", help="where ${tmp} folders are made; the worker must see the same path")
    parser.add_argument("--keep-tmp", action="store_true")
    parser.add_argument("--patience", type=float, default=1.0, help="factor on every timeout_s")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("--check", action="store_true", help="check the case files and stop")
    parser.add_argument("--self-test", action="store_true", help="test the matcher and the readers and stop")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.check:
        return check_files()
    if options.list:
        for case in load_cases(options.only):
            print(f"{case.name} [{' '.join(sorted(case.needs))}] {case.spec['about']}")
        return 0
    return run_all(options)


if __name__ == "__main__":
    sys.exit(main())
