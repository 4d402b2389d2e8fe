"""Counts how often a server makes something durable, with strace where that is there and allowed."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile

CALLS = "fsync,fdatasync,msync,sync_file_range"


@contextlib.contextmanager
def counted(pid):
    """Gives a function that tells, after the block, how many syncs the process made in it; None when they cannot be counted."""
    if not shutil.which("strace"):
        yield lambda: None
        return
    with tempfile.NamedTemporaryFile("r") as summary:
        command = ["strace", "-f", "-c", "-o", summary.name, "-e", f"trace={CALLS}", "-p", str(pid)]
        tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # It says when it has taken hold of the process, or why it may not.
        is_attached = "attached" in tracer.stderr.readline()
        found = []
        try:
            yield lambda: found[0] if found else None
        finally:
            if tracer.poll() is None:
                os.kill(tracer.pid, signal.SIGINT)
            tracer.stderr.read()
            tracer.wait()
            if is_attached:
                found.append(total(summary.read()))


def total(summary):
    """The number of calls in the summary of `strace -c`, whose last line adds them up. Without calls it is empty."""
    line = next((line for line in summary.splitlines() if line.rstrip().endswith(" total")), None)
    return int(re.findall(r"\d+", line.split(None, 3)[3])[0]) if line else 0
