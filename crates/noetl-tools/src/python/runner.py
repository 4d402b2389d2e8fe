"""Runs the Python code of playbook steps in processes that know nothing of each other's work.

A worker starts one such interpreter per Python installation and keeps it. For every job it sends a record with three file
descriptors: the job's channel, its standard output and its standard error. They go to a child that was forked ahead, or
to a new one; it takes the request from the channel, runs the code and answers on the channel. Then it ends, and whatever
the code did to it is gone. Only where the text of the code shows that it can't have left anything behind, the child says
that it is done and waits for the next job: what a fresh process costs is ten times what such code does. Code and data
never touch the command line or the environment, and what the code prints never mixes with its result.

Records are 16 bytes: an operation, a number and the job. From the worker: J job, T ask to end, K kill. To the worker: R ready,
S started (process id), E ended (wait status), F could not fork (errno). Frames on a channel are a length of 8 bytes and
that many bytes of JSON.
"""
import array
import ast
import asyncio
import atexit
import base64
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import gc
import importlib
import inspect
import io
import json
import keyword
import linecache
import math
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import types
import uuid

try:
    import resource
except ImportError:
    resource = None

RECORD = struct.Struct("!c3xiQ")
LENGTH = struct.Struct("!Q")
FORKED_AHEAD = 2  # processes that wait for a job
KEPT_READY = 4  # processes that are kept for further jobs
IDLE_MS = 10  # time without a job after which such a process warms up
JOBS_EACH = 1000  # jobs that one process runs at most
GROWTH_KIB = 32 * 1024  # memory that a process may have gained when it takes another job
DEEPEST = 100  # levels of nesting in a result
RUNNER_FILE = "<noetl runner>"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


# --- The interpreter that forks -----------------------------------------------------------------------------------

class Interpreter:
    """Forks a process per job, ends jobs on request, and leaves nothing behind of a job that ended."""

    def __init__(self, control):
        self.control = control
        self.pid = os.getpid()
        self.pids = {}  # job -> process id, also the id of the job's process group
        self.jobs = {}  # process id -> job
        self.ready = {}  # process id -> socket of a child that waits for a job
        self.busy = {}  # file descriptor -> process id and socket of a child that may come back

    def serve(self):
        self.wake_reader, self.wake_writer = os.pipe()
        for end in (self.wake_reader, self.wake_writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self.wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.poll = poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(self.wake_reader, select.POLLIN)
        self.tell(b"R", sys.version_info[0] * 100 + sys.version_info[1], 0)
        while True:
            # Forking ahead comes after everything that waits, and runs beside the job that was handed over last.
            events = {descriptor for descriptor, _ in poll.poll(0 if len(self.ready) < FORKED_AHEAD else None)}
            if not events:
                self.fork_ahead()
            if self.wake_reader in events:
                self.drain_wake_ups()
                self.reap()
            for descriptor in events & self.busy.keys():
                self.take_back(descriptor)
            if self.control.fileno() in events and not self.receive():
                return self.leave()

    def drain_wake_ups(self):
        try:
            while os.read(self.wake_reader, 4096):
                pass
        except BlockingIOError:
            pass

    def receive(self):
        """Takes one record; false when the worker is gone."""
        data, descriptors = receive_with_rights(self.control, RECORD.size)
        while data and len(data) < RECORD.size:
            more = self.control.recv(RECORD.size - len(data))
            data = data + more if more else b""
        if not data:
            return False
        operation, _, job = RECORD.unpack(data)
        if operation == b"J":
            self.start(job, descriptors)
        elif job in self.pids:
            self.signal_group(self.pids[job], signal.SIGTERM if operation == b"T" else signal.SIGKILL)
        return True

    def start(self, job, descriptors):
        pid = self.hand_over(descriptors) or self.fork_now(job, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        if pid:
            self.pids[job], self.jobs[pid] = pid, job
            self.tell(b"S", pid, job)

    def hand_over(self, descriptors):
        """Gives the job to a child that waits for one; nothing if there is none."""
        while self.ready:
            pid, connection = self.ready.popitem()
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)]
            try:
                connection.sendmsg([b"J"], rights)
            except OSError:
                connection.close()  # it died while it waited
                continue
            self.busy[connection.fileno()] = pid, connection
            self.poll.register(connection, select.POLLIN)
            return pid
        return None

    def take_back(self, descriptor):
        """Hears from a child at work: that it is done and can take another job, or by its silence that it will end."""
        pid, connection = self.busy.pop(descriptor)
        self.poll.unregister(descriptor)
        try:
            done = connection.recv(1) == b"D"
        except OSError:
            done = False
        job = self.jobs.pop(pid, None) if done else None
        if job is None:
            connection.close()
            return
        del self.pids[job]
        self.tell(b"E", 0, job)
        self.ready[pid] = connection
        if len(self.ready) > KEPT_READY:
            self.ready.pop(next(iter(self.ready))).close()  # it ends by itself

    def fork_now(self, job, descriptors):
        try:
            return self.fork(lambda: run_job(*descriptors, ReturnWay(None)))
        except OSError as error:
            self.tell(b"F", error.errno or 0, job)
            return None

    def fork_ahead(self):
        ours, theirs = socket.socketpair()
        try:
            pid = self.fork(lambda: wait_for_jobs(ours, theirs))
        except OSError:
            ours.close()
            return
        finally:
            theirs.close()
        self.ready[pid] = ours

    def fork(self, work):
        """Runs `work` in a new process, which leads a group of its own; its value is the exit status."""
        pid = os.fork()
        if pid == 0:
            status = 70
            try:
                os.setpgid(0, 0)
                self.become_job()
                status = work()
            finally:
                os._exit(status)
        try:
            os.setpgid(pid, pid)
        except OSError:
            pass  # the child did it already, and may even have ended
        return pid

    def become_job(self):
        """Forgets, in the child, what makes this process an interpreter."""
        tell_kernel(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self.pid:
            os._exit(0)  # the interpreter died before the kernel was told
        tell_kernel(PR_SET_CHILD_SUBREAPER, 1)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for connection in (self.control, *self.ready.values(), *(connection for _, connection in self.busy.values())):
            connection.close()
        os.close(self.wake_reader)
        os.close(self.wake_writer)

    def reap(self):
        """Tells of jobs that ended. Their groups are killed while their leaders still hold the group's number."""
        ended = []
        while True:
            try:
                gone = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                break
            if gone is None:
                break
            pid = gone.si_pid
            job = self.jobs.pop(pid, None)
            if job is not None:
                self.signal_group(pid, signal.SIGKILL)
            elif pid in self.ready:
                self.ready.pop(pid).close()
            _, status = os.waitpid(pid, 0)
            self.kill_strays()
            if job is not None:
                del self.pids[job]
                ended.append((job, status))
        for job, status in ended:
            self.tell(b"E", status, job)

    def kill_strays(self):
        """Kills processes that left their job's group and outlived it: they are handed to this process when orphaned."""
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as children:
                pids = [int(pid) for pid in children.read().split()]
        except OSError:
            return
        for pid in pids:
            if pid not in self.jobs and pid not in self.ready:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def leave(self):
        for pid in (*self.jobs, *self.ready):
            self.signal_group(pid, signal.SIGKILL)
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            self.kill_strays()
            try:
                pid, _ = os.waitpid(-1, 0)
            except ChildProcessError:
                return
            self.jobs.pop(pid, None)
            self.ready.pop(pid, None)

    def tell(self, operation, number, job):
        try:
            self.control.sendall(RECORD.pack(operation, number, job))
        except OSError:
            pass  # the worker is gone; the next receive notices

    @staticmethod
    def signal_group(pid, number):
        try:
            os.killpg(pid, number)
        except (ProcessLookupError, PermissionError):
            pass


def receive_with_rights(connection, length):
    """Up to `length` bytes and the file descriptors that came with them."""
    descriptors = array.array("i")
    data, ancillary, _, _ = connection.recvmsg(length, socket.CMSG_LEN(3 * descriptors.itemsize))
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(payload[:len(payload) - len(payload) % descriptors.itemsize])
    return data, descriptors


def tell_kernel(option, value):
    if LIBC is not None:
        LIBC.prctl(option, value, 0, 0, 0)


# --- One job ------------------------------------------------------------------------------------------------------

def wait_for_jobs(others, connection):
    """Runs in a process that was forked ahead; returns its exit status."""
    others.close()  # the other end belongs to the interpreter alone, so that its death shows
    # Where jobs follow each other closely, warming up would take the processor from them.
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    if not poll.poll(IDLE_MS):
        warm_up()
    fresh, return_way = Fresh(), ReturnWay(connection)
    for left in reversed(range(JOBS_EACH)):
        data, descriptors = receive_with_rights(connection, 1)
        if not data:
            return 0
        if not left:
            return_way.close()
        status = run_job(*descriptors, return_way)
        if not return_way.is_open():
            return status
        fresh.restore()


class ReturnWay:
    """Leads from a job to the next one in the same process. Closed before code runs that may leave something behind."""

    def __init__(self, connection):
        self.connection, self.memory = connection, memory_peak()

    def is_open(self):
        return self.connection is not None

    def take(self):
        """Says that the next job may come. It waits until this one is over."""
        if self.connection is not None:
            if memory_peak() - self.memory > GROWTH_KIB:
                return self.close()
            try:
                self.connection.send(b"D")
            except OSError:
                self.close()

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class Fresh:
    """A process before its first job: what every job changes is put back to it."""

    def __init__(self):
        self.modules, self.path, self.arguments = dict(sys.modules), list(sys.path), sys.argv

    def restore(self):
        for name in set(sys.modules) - set(self.modules):
            del sys.modules[name]
        sys.modules["__main__"] = self.modules["__main__"]
        sys.path[:], sys.argv = self.path, self.arguments
        os.chdir("/")
        linecache.cache.clear()
        gc.collect()


def memory_peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if resource is not None else 0


WARM_UP = json.dumps({"code": "def main(n):\n    return {'n': n}", "file": "<warm up>", "line": 1, "script": False, "input": {"n": 1},
                      "names": {}, "libs": [], "env": {}, "cwd": "", "sys_path": []})


def warm_up():
    """Walks the usual path once: a fresh process pays for every page of memory that it touches first."""
    fresh = Fresh()
    text_output(1).detach()
    request = json.loads(WARM_UP)
    prepare_process(request)
    encode(run_code(request, ReturnWay(None)))
    fresh.restore()


def run_job(channel, stdout, stderr, return_way):
    """Runs in the forked process; returns its exit status."""
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    os.set_inheritable(channel, False)
    sys.stdin = open(os.devnull)
    sys.stdout = text_output(1)
    sys.stderr = text_output(2)
    connection = socket.socket(fileno=channel)
    request = json.loads(read_frame(connection))
    answer = answer_to(request, return_way)
    close_outputs()
    # Before the answer, so that it is known when the worker sends its next job.
    return_way.take()
    try:
        with connection:
            write_frame(connection, answer)
    except OSError:
        return 74  # nobody waits for the answer any more
    return 0


def text_output(descriptor):
    raw = open(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def close_outputs():
    """Lets the worker see the end of the outputs before the end of the process."""
    for output in (sys.stdout, sys.stderr):
        try:
            output.flush()
        except Exception:
            pass  # user code may have closed or replaced it
    for descriptor in (1, 2):
        os.dup2(0, descriptor)


def read_frame(connection):
    (length,) = LENGTH.unpack(read_exactly(connection, LENGTH.size))
    return read_exactly(connection, length)


def read_exactly(connection, length):
    data = bytearray(length)
    view, filled = memoryview(data), 0
    while filled < length:
        received = connection.recv_into(view[filled:])
        if not received:
            os._exit(74)
        filled += received
    return data


def write_frame(connection, payload):
    connection.sendall(LENGTH.pack(len(payload)))
    connection.sendall(payload)


def answer_to(request, return_way):
    """The answer as JSON bytes: a value, nothing, or an error. After an error the process is of no further use."""
    answer = value_or_error(request, return_way)
    if answer.startswith(b'{"error"'):
        return_way.close()
    return answer


def value_or_error(request, return_way):
    user_file = request["file"]
    try:
        prepare_process(request)
        value = run_code(request, return_way)
        end_threads()
        if value is NOTHING:
            return b'{"nothing":{}}'
        encoded = encode(value)
        if len(encoded) > request["result_limit"]:
            raise Refusal("too_large", f"the result has {len(encoded)} bytes, more than the {request['result_limit']} allowed; "
                          "store it and return a reference")
        return b'{"value":' + encoded + b"}"
    except Refusal as refusal:
        return error_answer(kind=refusal.kind, message=str(refusal))
    except SystemExit as leaving:
        return exit_answer(leaving.code)
    except BaseException as exception:
        return exception_answer(exception, user_file)


class Refusal(Exception):
    """A failure that the runner, not the user's code, found."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def error_answer(**facts):
    return json.dumps({"error": facts}, ensure_ascii=False).encode("utf-8", "replace")


def exit_answer(code):
    if isinstance(code, int):
        return error_answer(kind="exit", exit_code=code & 255, message=f"the code called sys.exit({code})")
    print(code, file=sys.stderr)
    return error_answer(kind="exit", exit_code=1, message=f"the code called sys.exit: {code}")


def exception_answer(exception, user_file):
    name = type(exception).__name__
    try:
        text = str(exception)
    except Exception:
        text = ""
    frames = strip_runner_frames(exception.__traceback__, user_file)
    trace = "".join(traceback.format_exception(type(exception), exception, frames))
    try:
        sys.stderr.write(trace)
    except Exception:
        pass
    return error_answer(kind="exception", exception=name, message=f"{name}: {text}" if text else name, traceback=trace,
                        line=line_of(exception, user_file))


def strip_runner_frames(frames, user_file):
    """Begins at the user's first frame; without one, after the runner's last."""
    at = frames
    while at is not None:
        if at.tb_frame.f_code.co_filename == user_file:
            return at
        at = at.tb_next
    while frames is not None and frames.tb_frame.f_code.co_filename == RUNNER_FILE:
        frames = frames.tb_next
    return frames


def line_of(exception, user_file):
    if isinstance(exception, SyntaxError) and exception.filename == user_file:
        return exception.lineno
    line, at = None, exception.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == user_file:
            line = at.tb_lineno
        at = at.tb_next
    return line


def prepare_process(request):
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if request.get("memory_limit"):
            resource.setrlimit(resource.RLIMIT_AS, (request["memory_limit"], request["memory_limit"]))
    os.environ.update(request["env"])
    if "TZ" in request["env"] and hasattr(time, "tzset"):
        time.tzset()
    if request["cwd"]:
        try:
            os.chdir(request["cwd"])
        except OSError as error:
            raise Refusal("config", f"`cwd` {request['cwd']} cannot be used: {error.strerror}") from None
    extra = [path for path in request["env"].get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:0] = request["sys_path"] + [os.getcwd()] + extra
    sys.argv = [request["file"]]


def end_threads():
    """What an interpreter does before it leaves: waits for threads and runs exit handlers."""
    if threading.active_count() > 1:
        threading._shutdown()
    atexit._run_exitfuncs()


# --- The user's code ----------------------------------------------------------------------------------------------

NOTHING = object()


class Context(dict):
    """The `context` of user code: a dict whose entries can be read as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"context has no {name!r}; it has {', '.join(self)}") from None


class Unfinished:
    """Stands for a wrapped body that came to its end without a return; holds its variables."""

    def __init__(self, variables):
        self.variables = variables


def run_code(request, return_way):
    user_file, source = request["file"], "\n" * (request["line"] - 1) + request["code"]
    linecache.cache[user_file] = (len(source), None, source.splitlines(True), user_file)
    names = injected_names(request)
    inputs = request["input"]
    tree = ast.parse(source, user_file)
    if return_way.is_open() and not leaves_nothing_behind(tree, request):
        return_way.close()
    defines_main = any(isinstance(node, FUNCTIONS) and node.name == "main" for node in own_nodes(tree))
    # A guarded block runs in plain scripts, but not beside a `main` that is going to be called anyway.
    module = types.ModuleType("__playbook__" if defines_main else "__main__")
    if request["script"]:
        module.__file__ = user_file
    sys.modules[module.__name__] = module
    scope = module.__dict__
    scope.update(names)
    try:
        if any(isinstance(node, ast.Return) for node in own_nodes(tree)):
            value = run_wrapped(tree, user_file, scope, names)
            if not isinstance(value, Unfinished):
                return value
            scope = {**scope, **value.variables}
        else:
            run_module(tree, user_file, scope)
        return value_of(scope, names, inputs)
    except SystemExit as leaving:
        if leaving.code not in (None, 0):
            raise
        return assigned_result(scope, inputs)


def injected_names(request):
    """Everything that code finds as a variable. Inputs win over the standard names."""
    inputs, caller = request["input"], request["names"]
    variables = caller.get("variables") or {}
    context = Context(caller, args=inputs, input_data=inputs, variables=variables)
    names = {"input_data": inputs, "args": inputs, "context": context, "variables": variables,
             "execution_id": caller.get("execution_id"), "step": caller.get("step")}
    names.update(import_libs(request["libs"]))
    names.update((key, value) for key, value in inputs.items() if key.isidentifier())
    return names


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def own_nodes(tree):
    """The nodes that run as part of the module itself, not inside its functions and classes."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, FUNCTIONS + (ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def run_module(tree, user_file, scope):
    code = compile(tree, user_file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    finish(eval(code, scope))


def run_wrapped(tree, user_file, scope, names):
    """Runs a module that returns: its body becomes a function, and all injected names are parameters that may be reassigned."""
    shared = {name for node in own_nodes(tree) if isinstance(node, ast.Global) for name in node.names}
    parameters = [name for name in names if name not in shared and not keyword.iskeyword(name)]
    awaits = any(isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) for node in own_nodes(tree))
    frame = ast.parse(("async " if awaits else "") + "def step_code(): return __unfinished__(locals())", user_file)
    function = frame.body[0]
    function.args.args = [ast.arg(arg=name) for name in parameters]
    hoisted = [node for node in tree.body if stays_outside(node)]
    function.body = [node for node in tree.body if not stays_outside(node)] + function.body
    frame.body = hoisted + [function]
    ast.fix_missing_locations(frame)
    scope["__unfinished__"] = Unfinished
    exec(compile(frame, user_file, "exec", dont_inherit=True), scope)
    return finish(scope.pop("step_code")(**{name: names[name] for name in parameters}))


def stays_outside(node):
    """Imports that Python allows only at the top of a module."""
    return isinstance(node, ast.ImportFrom) and (node.module == "__future__" or any(name.name == "*" for name in node.names))


def value_of(scope, names, inputs):
    """The value of code that did not return one: `result`, else what `main` gives, else nothing."""
    result = assigned_result(scope, inputs)
    if result is not NOTHING and result is not None:
        return result
    main = scope.get("main")
    if callable(main) and "main" not in inputs:
        return finish(call_main(main, names, inputs))
    return result


def assigned_result(scope, inputs):
    """The global `result`, unless it is just the input of that name."""
    result = scope.get("result", NOTHING)
    return NOTHING if "result" in inputs and result is inputs["result"] else result


def call_main(main, names, inputs):
    try:
        parameters = inspect.signature(main).parameters.values()
    except (TypeError, ValueError):
        return main()
    positional, keywords, missing, used = [], {}, [], set()
    for parameter in parameters:
        name = parameter.name
        if parameter.kind is parameter.VAR_KEYWORD:
            keywords.update((key, value) for key, value in inputs.items() if key not in used)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif name in names:
            used.add(name)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(names[name])
            else:
                keywords[name] = names[name]
        elif parameter.default is parameter.empty:
            missing.append(name)
    if missing:
        given = ", ".join(inputs) or "none"
        raise Refusal("config", f"main needs {', '.join(missing)}, but the step's inputs are: {given}")
    return main(*positional, **keywords)


def finish(value):
    """Runs what is asynchronous to its end."""
    if inspect.iscoroutine(value):
        return asyncio.run(value)
    if inspect.isawaitable(value):
        async def wait():
            return await value
        return asyncio.run(wait())
    return value


def import_libs(libs):
    """`{alias: module}`, `{alias: {from, import}}`, or a list of module names and such maps."""
    found = {}
    for entry in libs if isinstance(libs, list) else [libs]:
        if isinstance(entry, str):
            module, _, alias = entry.partition(" as ")
            loaded = load_module(module.strip())
            name = alias.strip() or module.strip().partition(".")[0]
            found[name] = loaded if alias.strip() else sys.modules[name]
        elif isinstance(entry, dict) and isinstance(entry.get("import"), (str, list)):
            found.update(import_from(entry.get("as"), entry))
        elif isinstance(entry, dict):
            for alias, source in entry.items():
                if isinstance(source, dict):
                    found.update(import_from(alias, source))
                else:
                    found[alias] = load_module(source or alias)
        elif entry is not None:
            raise Refusal("config", "`libs` must be a map of names to modules, or a list of modules")
    return found


def import_from(alias, source):
    wanted = source.get("import")
    if not source.get("from"):
        return {alias or wanted: load_module(wanted or source.get("module") or alias)}
    module = load_module(source["from"])
    names = wanted if isinstance(wanted, list) else [wanted or alias]
    found = {}
    for name in names:
        try:
            value = getattr(module, name)
        except AttributeError:
            raise Refusal("libs", f"`libs`: module {source['from']} has no {name}") from None
        found[alias if alias and not isinstance(wanted, list) else name] = value
    return found


def load_module(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Refusal("libs", f"`libs`: cannot import {name}: {error}") from None


# --- What code leaves behind --------------------------------------------------------------------------------------

# Modules without a state that their users would change.
STATELESS = frozenset(("base64", "collections", "copy", "dataclasses", "datetime", "enum", "functools", "itertools", "json",
                       "math", "re", "string", "textwrap", "time", "typing", "uuid"))
# Ways to what can't be seen in the text.
INDIRECT = frozenset(("attrgetter", "breakpoint", "compile", "delattr", "eval", "exec", "exit", "getattr", "get_type_hints",
                      "globals", "help", "input", "locals", "make_dataclass", "memoryview", "open", "quit", "setattr", "vars"))
# Attributes that lead from an object to the interpreter around it: frames, code, and everything private.
INNER = ("_", "ag_", "co_", "cr_", "f_", "gi_", "tb_")
ASYNCHRONOUS = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
LONGEST_READ = 4096  # characters of code; to read more takes longer than a fresh process
VERDICTS = {}  # code that was read in this process, and whether it leaves nothing behind


def leaves_nothing_behind(tree, request):
    """Whether no later job in this process could tell that this code has run: it has values of its own, calls functions
    that keep nothing, and changes no object that it did not make. In doubt it could."""
    if request["script"] or request["libs"] or request["env"] or request["sys_path"]:
        return False
    code = request["code"]
    if len(code) > LONGEST_READ:
        return False
    if code not in VERDICTS:
        VERDICTS[code] = is_harmless(tree)
    return VERDICTS[code]


def is_harmless(tree):
    modules, parts, read = {}, [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            changes = not isinstance(node.ctx, ast.Load)
            if node.attr in INDIRECT or node.attr.startswith(INNER) or changes and not is_name(node.value, "self"):
                return False
            if isinstance(node.value, ast.Name):
                read.append((node.value.id, node.attr))
        elif isinstance(node, ast.Name):
            if node.id in INDIRECT or node.id.startswith("__") and node.id != "__name__":
                return False
        elif isinstance(node, ast.Import):
            for name in node.names:
                # One that is not loaded could be another one of that name, beside the playbook.
                if name.name not in STATELESS or name.name not in sys.modules:
                    return False
                modules[name.asname or name.name] = sys.modules[name.name]
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module not in STATELESS or node.module not in sys.modules:
                return False
            parts.extend((sys.modules[node.module], name.name) for name in node.names)
        elif isinstance(node, ASYNCHRONOUS) or isinstance(node, ast.comprehension) and node.is_async:
            return False
    parts.extend((modules[name], part) for name, part in read if name in modules)
    return all(is_plain_part(module, name) for module, name in parts)


def is_name(node, name):
    return isinstance(node, ast.Name) and node.id == name


def is_plain_part(module, name):
    """Whether a module offers this itself, as something else than a further module."""
    if name.startswith(INNER) or name in INDIRECT:
        return False
    return not isinstance(getattr(module, name, module), types.ModuleType)


# --- Results as JSON ----------------------------------------------------------------------------------------------

def encode(value):
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=plain, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        # Something needs care: NaN, keys that are not text, a cycle, or a value without a JSON form.
        text = json.dumps(simplified(value, "result", ()), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def simplified(value, path, above):
    """Only dicts with text keys, lists and scalars. The path names what cannot be converted."""
    if value is None or isinstance(value, (bool, str)):
        return str.__str__(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if id(value) in above:
        raise Refusal("result", f"{path} contains itself, which JSON cannot express")
    if len(above) > DEEPEST:
        raise Refusal("result", f"{path} is nested too deeply")
    above = above + (id(value),)
    if isinstance(value, dict):
        return {key_text(key): simplified(item, f"{path}.{key_text(key)}", above) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [simplified(item, f"{path}[{index}]", above) for index, item in enumerate(value)]
    try:
        converted = plain(value)
    except TypeError:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise Refusal("result", f"{path} is a {kind}, which has no JSON form; convert it to a dict, a list or text") from None
    return simplified(converted, path, above)


def key_text(key):
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(key)
    if isinstance(key, enum.Enum):
        return key_text(key.value)
    if isinstance(key, (datetime.date, datetime.time)):
        return key.isoformat()
    return str(key)


def plain(value):
    """A value that JSON does not know, as one that it knows."""
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat() if value == value else None
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, decimal.Decimal):
        return plain_decimal(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return ordered(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (uuid.UUID, os.PathLike)) or isinstance(value, BaseException):
        return str(value)
    if isinstance(value, type):
        raise TypeError
    for method, arguments in (("to_pylist", {}), ("model_dump", {}), ("_asdict", {})):
        if callable(getattr(value, method, None)):
            return getattr(value, method)(**arguments)
    if hasattr(value, "columns") and callable(getattr(value, "to_dict", None)):
        return value.to_dict(orient="records")
    for method in ("to_dict", "tolist", "isoformat"):
        if callable(getattr(value, method, None)):
            return getattr(value, method)()
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    if isinstance(value, (collections.abc.Sequence, collections.abc.KeysView, collections.abc.ValuesView,
                          collections.abc.ItemsView, collections.abc.Iterator, collections.deque)):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def plain_decimal(value):
    """A number where that loses nothing, else text."""
    if not value.is_finite():
        return None
    if value == value.to_integral_value() and abs(value) < 2 ** 63:
        return int(value)
    number = float(value)
    return number if math.isfinite(number) and decimal.Decimal(repr(number)) == value else str(value)


def ordered(items):
    try:
        return sorted(items)
    except TypeError:
        return list(items)


# --- Start --------------------------------------------------------------------------------------------------------

def load_libc():
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes
        return ctypes.CDLL(None, use_errno=True)
    except (ImportError, OSError):
        return None


LIBC = load_libc()


def serve_forever():
    control = socket.socket(fileno=os.dup(0))
    control.setblocking(True)
    os.set_inheritable(control.fileno(), False)
    settings = json.loads(read_frame(control))
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    try:
        os.setsid()
    except OSError:
        pass  # it leads a session already
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tell_kernel(PR_SET_CHILD_SUBREAPER, 1)
    sys.path[:] = [path for path in sys.path if path]
    for name in settings["preload"]:
        try:
            importlib.import_module(name)
        except Exception as error:
            print(f"preload of {name} failed: {error!r}", file=sys.stderr, flush=True)
    gc.collect()
    gc.freeze()
    Interpreter(control).serve()


serve_forever()
