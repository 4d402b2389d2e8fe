"""Processes that are started here and ended here: each is the head of a process group of its own, which ends by its id."""

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.request


class NotStarted(Exception):
    """A process did not come up; the text says why."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def started(command, log, environment=None, folder=None):
    """A process and what it starts, as long as the block lasts. What it says goes to the file `log`."""
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment_with(environment),
            cwd=folder,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        end(process)


def environment_with(more):
    """The environment, without what would lead a Python or a Node of the engine elsewhere, and with `more`."""
    misleading = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NODE_PATH", "NODE_OPTIONS", "RUST_LOG"}
    kept = {name: text for name, text in os.environ.items() if name not in misleading}
    return {**kept, "DO_NOT_TRACK": "1", "PYTHONDONTWRITEBYTECODE": "1", **(more or {})}


def end(process):
    """Asks the group of the process to end, and insists after a while."""
    for sent, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sent)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            break
    # The head is gone, but something that it started may have stayed.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def wait_for(is_ready, process, log, what, seconds=180):
    """Until `is_ready` says so. The end of the process, or of the patience, is told with its last words."""
    begun = time.monotonic()
    while not is_ready():
        if process.poll() is not None:
            raise NotStarted(f"{what} ended at once: {last_words(log)}")
        if time.monotonic() - begun > seconds:
            raise NotStarted(f"{what} did not come up within {seconds} s: {last_words(log)}")
        time.sleep(0.05)


def last_words(log):
    with open(log, errors="replace") as lines:
        said = [line.strip() for line in lines if line.strip()]
    return said[-1][:200] if said else "it said nothing"


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False
