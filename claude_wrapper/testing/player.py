"""The child process of the scripted agent. It runs without the package, on built-in modules only, to start fast."""
# pathlib would double the time to start:
# ruff: noqa: PTH102, PTH105, PTH109, PTH110, PTH123

from __future__ import annotations

# The modules of CPython behind `json` and `signal`, without the milliseconds that those take to load.
import _json
import _signal  # type: ignore[import-not-found]  # has no stubs
import marshal
import os
import sys
import time

PIECE = 1 << 20
GATE_POLL = 0.001
WAIT_NAMES = {"init": "initialize"}
FAULT = 70


class _PlainJson:
    """What the scanner of JSON wants to know: nothing special."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


_scan = _json.make_scanner(_PlainJson)  # type: ignore[arg-type]  # the class serves as well as an object


class _Input:
    """Standard input by lines, each byte noted in a file before it is looked at."""

    def __init__(self, record: str) -> None:
        self._record = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._buffer = bytearray()

    def next_line(self) -> bytes | None:
        """The next whole line; None at the end."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            data = os.read(0, PIECE)
            if not data:
                return None
            os.write(self._record, data)
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line


class Player:
    """Plays one list of steps against stdin and stdout; each step is a `do_` method and its arguments."""

    def __init__(self, folder: str, run: str) -> None:
        self._folder = folder
        self._run = run
        self._input = _Input(run + "/stdin")
        self._answers: dict[str, tuple[str, bytes]] = {}
        self._open_requests: dict[str, str] = {}
        self._prompt_uuid = ""

    def play(self, steps: list[tuple]) -> None:  # type: ignore[type-arg]  # the script comes from the builder
        """Play the steps in order."""
        for name, *arguments in steps:
            getattr(self, "do_" + name)(*arguments)

    def do_repeat(self, times: int, steps: list[tuple]) -> None:  # type: ignore[type-arg]  # as above
        for _ in range(times):
            self.play(steps)

    def do_write(self, data: bytes) -> None:
        write_all(1, data)

    def do_fill(self, data: bytes) -> None:
        write_all(1, data.replace(b"$PROMPT_UUID", quoted(self._prompt_uuid)[1:-1]))

    def do_trickle(self, data: bytes, size: int, pause: float) -> None:
        for start in range(0, len(data), size):
            write_all(1, data[start : start + size])
            time.sleep(pause)

    def do_pad(self, before: bytes, fill: bytes, count: int, after: bytes) -> None:
        write_all(1, before)
        piece = fill * PIECE
        for _ in range(count // PIECE):
            write_all(1, piece)
        write_all(1, fill * (count % PIECE) + after)

    def do_file(self, path: str, times: int) -> None:
        source = os.open(path, os.O_RDONLY)
        for _ in range(times):
            pour(source)
        os.close(source)

    def do_err(self, data: bytes) -> None:
        write_all(2, data)

    def do_sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def do_close(self, descriptor: int) -> None:
        os.close(descriptor)

    def do_spawn(self, argv: list[str]) -> None:
        pid = os.spawnvp(os.P_NOWAIT, argv[0], argv)  # noqa: S606  # what the script says
        with open(self._run + "/children", "ab") as file:
            file.write(b"%d %d\n" % (pid, birth(pid)))

    def do_ignore_term(self) -> None:
        _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)

    def do_kill(self, number: int) -> None:
        os.kill(os.getpid(), number)

    def do_exit(self, code: int) -> None:
        os._exit(code)

    def do_stall(self, name: str, limit: float) -> None:
        gate = self._folder + "/gates/" + name
        with open(gate + ".reached", "ab"):
            pass
        end = time.monotonic() + limit
        while not os.path.exists(gate + ".open"):
            if time.monotonic() > end:
                give_up("nobody opened the gate " + name)
            time.sleep(GATE_POLL)

    def do_answer(self, subtype: str, kind: str, body: bytes) -> None:
        self._answers[subtype] = (kind, body)

    def do_reply(self, subtype: str, kind: str, body: bytes) -> None:
        if subtype not in self._open_requests:
            give_up("there is no open request " + subtype)
        self._respond(self._open_requests.pop(subtype), kind, body)

    def do_wait(self, kind: str) -> None:
        """Read frames up to the awaited one, answering control requests on the way."""
        kind = WAIT_NAMES.get(kind, kind)
        while True:
            line = self._input.next_line()
            if line is None:
                if kind != "eof":
                    os._exit(0)
                return
            if self._take(line, kind):
                return

    def _take(self, line: bytes, kind: str) -> bool:
        """Deal with one frame; whether it is the awaited one."""
        frame = decoded(line)
        if not isinstance(frame, dict):
            return False
        if frame.get("type") != "control_request":
            if frame.get("type") == "user":
                self._prompt_uuid = str(frame.get("uuid") or "")
            return bool(frame.get("type") == kind)
        subtype = frame["request"]["subtype"]
        self._open_requests[subtype] = frame["request_id"]
        if kind == "mute:" + subtype:
            return True
        how, body = self._answers.get(subtype, ("success", b"{}"))
        if how != "mute":
            self._respond(self._open_requests.pop(subtype), how, body)
        return kind in {subtype, "control_request"}

    def _respond(self, request_id: str, kind: str, body: bytes) -> None:
        name = b"error" if kind == "error" else b"response"
        parts = (kind.encode(), quoted(request_id), name, body)
        reply = b'{"subtype":"%b","request_id":%b,"%b":%b}' % parts
        write_all(1, b'{"type":"control_response","response":%b}\n' % reply)


def decoded(line: bytes) -> object:
    """The JSON value of a line; None when it is none."""
    text = line.decode("utf-8", "replace").strip()
    try:
        return _scan(text, 0)[0]
    except (ValueError, StopIteration):
        return None


def quoted(text: str) -> bytes:
    """The text as a JSON string."""
    return _json.encode_basestring_ascii(text).encode()


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything; a reader that has gone ends the process, as it ends a real agent."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view[:PIECE]) :]
    except BrokenPipeError:
        os._exit(1)


def pour(source: int) -> None:
    """Copy a file to stdout, inside the kernel where that can be."""
    offset, size = 0, os.fstat(source).st_size
    try:
        while offset < size:
            offset += os.sendfile(1, source, offset, size - offset)
    except BrokenPipeError:
        os._exit(1)
    except (AttributeError, OSError):  # no such call, or not to this kind of stdout
        os.lseek(source, offset, os.SEEK_SET)
        while data := os.read(source, PIECE):
            write_all(1, data)


def give_up(reason: str) -> None:
    """End because the script cannot go on."""
    write_all(2, b"scripted agent: " + reason.encode() + b"\n")
    os._exit(FAULT)


def birth(pid: int) -> int:
    """When a process started, in the kernel's ticks; tells a process from a later one of the same number."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except OSError:
        return 0


def claim(folder: str) -> tuple[str, int]:
    """A folder for this start, and the start's number from 0."""
    number = 0
    while True:
        run = f"{folder}/runs/{number}"
        try:
            os.mkdir(run, 0o700)
        except FileExistsError:
            number += 1
        else:
            return run, number


def main(folder: str) -> None:
    """Play the script in this folder, as the next start of it."""
    with open(folder + "/script", "rb") as file:
        script = marshal.load(file)  # noqa: S302  # written by the builder for this very process
    run, number = claim(folder)
    if hasattr(_signal, "alarm"):
        _signal.alarm(script["life"])
    pid = os.getpid()
    facts = {"argv": sys.argv, "env": dict(os.environ), "cwd": os.getcwd(), "pid": pid, "birth": birth(pid)}
    with open(run + "/start.new", "wb") as file:
        marshal.dump(facts, file)
    os.replace(run + "/start.new", run + "/start")
    starts = script["starts"]
    Player(folder, run).play(starts[min(number, len(starts) - 1)])
