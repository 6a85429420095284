"""Run a command of Karat with a fault at its n-th call that changes a file, as the operating system would answer it.

A filter of the kernel (seccomp) stops the command at every write, fsync, rename, … below a folder, in all its threads
and whether Python, Arrow or SQLite calls. The tracer (ptrace) lets the n-th of these calls fail, or kills the command
there. So nothing in Karat is replaced for the test. Linux on x86-64 only.

The tracer runs in its own process, which imports Karat once and forks for every command. It reads one JSON object per
line and writes one:

    {"command": ["score", …], "root": "/tmp/x", "fault": "ENOSPC", "number": 3, "environment": {}}
    {"code": 2, "output": "…", "errors": "karat: …", "calls": 3, "call": "write out.json", "names": […]}
"""

import ctypes
import errno
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from karat.model.errors import KaratError

SUPPORTED = sys.platform == "linux" and platform.machine() == "x86_64"

ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EINTR": errno.EINTR}
"""Errors that a call may return."""

FAULTS = (*ERRORS, "short", "kill", "torn")
"""Errors; a write of half the bytes; kill -9 before the call; kill -9 after half of the bytes are written."""

_LIMIT = 60  # seconds of a command

# Number of the system call: name, and which registers hold the file (an open one, or paths) that it changes.
_CALLS = {
    1: ("write", "rdi", ()),
    18: ("pwrite", "rdi", ()),
    20: ("writev", "rdi", ()),
    40: ("sendfile", "rdi", ()),
    74: ("fsync", "rdi", ()),
    75: ("fdatasync", "rdi", ()),
    77: ("truncate", "rdi", ()),
    82: ("rename", None, ("rdi", "rsi")),
    83: ("mkdir", None, ("rdi",)),
    86: ("link", None, ("rdi", "rsi")),
    87: ("unlink", None, ("rdi",)),
    84: ("rmdir", None, ("rdi",)),
    257: ("create", None, ("rsi",)),
    258: ("mkdir", None, ("rsi",)),
    263: ("unlink", None, ("rsi",)),
    264: ("rename", None, ("rsi", "r10")),
    265: ("link", None, ("rsi", "r10")),
    316: ("rename", None, ("rsi", "r10")),
}
_WRITES = ("write", "pwrite")
_REMOVALS = ("unlink", "rmdir")  # a file that cannot be removed stays, whatever Karat does: these are only killed
_REGISTERS = [
    "r15",
    "r14",
    "r13",
    "r12",
    "rbp",
    "rbx",
    "r11",
    "r10",
    "r9",
    "r8",
    "rax",
    "rcx",
    "rdx",
    "rsi",
    "rdi",
    "orig_rax",
]
_CREATES = os.O_CREAT | os.O_TRUNC

_TRACEME, _CONT, _GETREGS, _SETREGS, _SYSCALL, _SETOPTIONS = 0, 7, 12, 13, 24, 0x4200
_OPTIONS = 1 | 2 | 4 | 8 | 16 | 0x80 | 0x100000  # marks of calls, children and threads, seccomp, killed with the tracer
_SECCOMP_EVENT = 7
_ALL = 0x40000000  # threads too


class Result(NamedTuple):
    """How a command ended: exit code (negative if killed), output, and the calls that it made until then.

    `call` is the one that failed, None if the command made fewer.
    """

    code: int
    output: str
    errors: str
    calls: int
    call: str | None
    names: list[str]


class Tracer:
    """A process that runs commands with faults."""

    def __init__(self, source=None):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "KARAT_NO_PROGRESS": "1"}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # a fault must not cut off a compiled module of the tree
        if source is not None:
            environment["PYTHONPATH"] = f"{source}{os.pathsep}{Path.cwd()}"
        command = [sys.executable, "-m", "tests.storage.tracer"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def run(self, command, root, fault=None, number=0, **environment):
        """Run a command, whose name and arguments are given, with a fault at the n-th call below `root`."""
        query = {"command": command, "root": str(root), "fault": fault, "number": number, "environment": environment}
        self._process.stdin.write(json.dumps(query).encode() + b"\n")
        self._process.stdin.flush()
        return Result(**json.loads(self._process.stdout.readline()))

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class _Filter(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filters", ctypes.POINTER(_Filter)))


def _load_libc():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    return libc


_LIBC = _load_libc() if SUPPORTED else None


def _ptrace(request, thread, data=None):
    if _LIBC.ptrace(request, thread, None, data) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _stop_at_calls():
    """Let the kernel stop this process for its tracer at the calls of `_CALLS`."""
    numbers = list(_CALLS)
    program = [
        _Filter(0x20, 0, 0, 0),  # load the number of the call
        *(_Filter(0x15, len(numbers) - place, 0, number) for place, number in enumerate(numbers)),  # jump if equal
        _Filter(0x06, 0, 0, 0x7FFF0000),  # allow
        _Filter(0x06, 0, 0, 0x7FF00000),  # stop
    ]
    filters = (_Filter * len(program))(*program)
    for arguments in ((38, 1, 0), (22, 2, ctypes.addressof(_Program(len(program), filters)))):
        if _LIBC.prctl(*arguments, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


class _Execution:
    """One command under the tracer."""

    def __init__(self, query):
        self._query = query
        self._root = Path(query["root"]).resolve()
        self.names, self.call = [], None

    def run(self):
        """Fork, run and wait: the status of the process as `waitpid` returns it."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as names:
            process = os.fork()
            if process == 0:
                self._become_command(output.fileno(), errors.fileno(), names.fileno())
            os.waitpid(process, 0)
            _ptrace(_SETOPTIONS, process, _OPTIONS)
            _ptrace(_CONT, process)
            signal.alarm(_LIMIT)
            try:
                status = self._follow(process)
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                self._follow(process)
                status = 124 << 8
            finally:
                signal.alarm(0)
            texts = []
            for file in (output, errors, names):
                file.seek(0)
                texts.append(file.read().decode())
            _preload(texts.pop().split())
            code = os.waitstatus_to_exitcode(status)
            return Result(code, *texts, len(self.names), self.call, self.names)._asdict()

    def _become_command(self, output, errors, names):
        code = 1
        try:
            _ptrace(_TRACEME, 0)
            os.dup2(output, 1)
            os.dup2(errors, 2)
            sys.stdin, sys.stdout, sys.stderr = (
                open(fd, mode, closefd=False)  # noqa: SIM115  # open until the end
                for fd, mode in ((0, "r"), (1, "w"), (2, "w"))
            )
            os.environ.update(self._query["environment"])
            os.chdir(self._root)
            tempfile.tempdir = None
            os.kill(os.getpid(), signal.SIGSTOP)
            _stop_at_calls()
            code = _run_command(self._query["command"])
        except BaseException:  # noqa: BLE001  # this process may not go on
            traceback.print_exc()
        finally:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os.write(names, "\n".join(sys.modules).encode())
            os._exit(code)

    def _follow(self, process):
        """Wait for all threads and children until the command has ended, and treat each stop."""
        while True:
            thread, status = os.waitpid(-1, _ALL)
            if not os.WIFSTOPPED(status):
                if thread == process:
                    return status
                continue
            with suppress(ProcessLookupError):  # killed meanwhile
                if status >> 16 == _SECCOMP_EVENT:
                    self._treat_call(process, thread)
                    continue
                number = os.WSTOPSIG(status)
                is_own = status >> 16 or number in (signal.SIGSTOP, signal.SIGTRAP, signal.SIGTRAP | 0x80)
                if number == signal.SIGTRAP | 0x80:  # half of the bytes are written
                    os.kill(process, signal.SIGKILL)
                _ptrace(_CONT, thread, None if is_own else number)

    def _treat_call(self, process, thread):
        values = (ctypes.c_ulonglong * 27)()
        _ptrace(_GETREGS, thread, ctypes.addressof(values))
        registers = dict(zip(_REGISTERS, values, strict=False))
        name = self._describe(thread, registers)
        fault = self._query["fault"]
        verb = (name or "").partition(" ")[0]
        if name is None or (verb in _REMOVALS and fault not in (None, "kill")):
            return _ptrace(_CONT, thread)
        if fault in ("short", "torn") and (verb not in _WRITES or registers["rdx"] < 2):
            return _ptrace(_CONT, thread)
        self.names.append(name)
        if fault is None or len(self.names) != self._query["number"]:
            return _ptrace(_CONT, thread)
        self.call = name
        if fault == "kill":
            return os.kill(process, signal.SIGKILL)
        if fault in ERRORS:
            values[_REGISTERS.index("orig_rax")] = 2**64 - 1  # no call
            values[_REGISTERS.index("rax")] = 2**64 - ERRORS[fault]
        else:
            values[_REGISTERS.index("rdx")] //= 2
        _ptrace(_SETREGS, thread, ctypes.addressof(values))
        return _ptrace(_SYSCALL if fault == "torn" else _CONT, thread)

    def _describe(self, thread, registers):
        """Name the call and the file below the root that it changes; None if it changes none there."""
        verb, file, paths = _CALLS[registers["orig_rax"]]
        if verb == "create" and not registers["rdx"] & _CREATES:
            return None
        try:
            targets = [_read_path(thread, registers[path]) for path in paths]
            targets += [] if file is None else [_read_link(thread, f"fd/{registers[file] & 0xFFFFFFFF}")]
        except (FileNotFoundError, ProcessLookupError):
            return None
        base = Path(_read_link(thread, "cwd"))
        inside = [base / path for path in targets if (base / path).is_relative_to(self._root)]
        return f"{verb} {inside[-1].relative_to(self._root)}" if inside else None


def _read_link(thread, name):
    return str(Path("/proc", str(thread), name).readlink())


def _read_path(thread, address):
    with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return os.fsdecode(memory.read(4096).partition(b"\0")[0])


def _preload(modules):
    """Import what a command has imported, so that the next ones find it."""
    for name in modules:
        if name not in sys.modules and not name.startswith(("tests.", "__")):
            with suppress(Exception):
                __import__(name)


def _run_command(command):
    """Run `karat` with arguments, or a function of the tests that is named `python:MODULE:FUNCTION`."""
    name, *arguments = command
    try:
        if name.startswith("python:"):
            _, module, function = name.split(":")
            getattr(__import__(module, fromlist=[function]), function)(*arguments)
        else:
            from karat.cli.main import main

            sys.argv = ["karat", *command]
            main()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KaratError as problem:
        sys.stderr.write(f"karat: {problem}\n")
        return 2
    except BaseException:  # noqa: BLE001  # as the interpreter does
        traceback.print_exc()
        return 1
    return 0


def _end(*_):
    raise TimeoutError


def serve():
    """Answer queries until there are no more."""
    signal.signal(signal.SIGALRM, _end)
    for line in sys.stdin:
        answer = _Execution(json.loads(line)).run()
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
