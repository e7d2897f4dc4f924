"""A small machine for micro programs of flags, buffer ids and barriers: the judge of proofs, repairs and insertion.

It reads the text of a kernel, unfolds it for given arguments and follows clocks of completed prefixes, as the
instruction set describes them. It knows a few dozen operations, raises ValueError at any other, and takes nothing from
ptosim. A scope counts as one access of V; races are by touch.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd
from typing import Any

PIPES = ("S", "MTE2", "V", "MTE3")
SERIAL = {"V", "S"}
IDS = {"flag": 8, "buffer": 32}


@dataclass
class Outcome:
    """What one launch has shown, by lines of the text; a line in a scope goes by the line of the scope."""

    races: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """Lines that touch the same bytes in no order, the lower one first."""
    doubled: set[int] = field(default_factory=set[int])
    """Sets that come before the wait for the last one is known."""
    stuck: dict[int, tuple[str, str] | None] = field(default_factory=dict[int, "tuple[str, str] | None"])
    """Where it stands for ever, and the pipes of the flag that never comes."""
    left: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Pipes of flags that are set at the end."""
    misused: set[int] = field(default_factory=set[int])
    """Buffer ids that are got twice or released unheld, and ids out of range."""
    trips: dict[int, int] = field(default_factory=dict[int, int])
    """How often the loop of each line ran at most."""

    @property
    def kinds(self) -> set[str]:
        found = {"race": self.races, "double-set": self.doubled, "hang": self.stuck}
        found |= {"undrained": self.left, "buffer-misuse": self.misused}
        return {kind for kind, places in found.items() if places}


def outcome(text: str, arguments: Sequence[int]) -> Outcome:
    """Run the kernel of a text; `arguments` are those that are not pointers, in order."""
    return Machine().run(*_compiled(text)(arguments))


def scope_lines(text: str) -> dict[int, int]:
    """The line of the scope for each line in one."""
    found, scope = dict[int, int](), 0
    for number, line in enumerate(text.split("\n"), 1):
        opens = line.strip().startswith("pto.vecscope")
        scope = number if opens else scope
        if scope:
            found[number] = scope
        scope = 0 if scope and line.strip() == "}" else scope
    return found


# --- the machine ------------------------------------------------------------------------------------------------------

Event = tuple[Any, ...]
"""("run", line, pipe, reads, writes), ("set" or "wait", line, source, destination, id), ("get" or "rls", line, pipe,
id), ("barrier", line, pipe)."""
Bytes = tuple[str, int, int]


class Machine:
    """`known[p][q]`: entries of q that have ended when the next entry of p starts."""

    def __init__(self) -> None:
        self.known = {pipe: dict.fromkeys(PIPES, 0) for pipe in PIPES}
        self.issued = dict.fromkeys(PIPES, 0)
        self.queues: dict[str, deque[tuple[Event, int, dict[str, int], Any]]] = {p: deque() for p in PIPES}
        self.by_issue = dict(self.known["S"])
        self.tokens: dict[Any, deque[dict[str, int]]] = defaultdict(deque)
        self.sets: dict[Any, int] = defaultdict(int)
        self.waits: dict[Any, list[int]] = defaultdict(list)
        self.released: dict[Any, list[dict[str, int]]] = defaultdict(list)
        self.releases: dict[Any, int] = defaultdict(int)
        self.open: dict[int, dict[str, int]] = defaultdict(dict)
        self.touched: dict[Any, dict[tuple[int, str, bool], int]] = defaultdict(dict)
        self.grain = 1
        self.seen = Outcome()

    def run(self, events: list[Event], trips: dict[int, int]) -> Outcome:
        self.seen.trips = trips
        bounds = [bound for event in events if event[0] == "run" for span in event[3] + event[4] for bound in span[1:]]
        self.grain = gcd(*bounds) or 1
        for event in events:
            if not self._issue(event):
                break
        for queue in self.queues.values():
            if queue:
                self._stand(queue[0][0])
        if not self.seen.stuck:
            self.seen.left = {key[:2] for key, tokens in self.tokens.items() if tokens}
            self.seen.misused |= {line for held in self.open.values() for line in held.values()}
        return self.seen

    def _stand(self, event: Event) -> None:
        self.seen.stuck[event[1]] = event[2:4] if event[0] == "wait" else None

    def _issue(self, event: Event) -> bool:
        """The scalar unit comes to an entry; False where it stops there for ever."""
        kind, line, *rest = event
        if kind == "barrier" and rest[0] == "ALL":
            if any(self.queues.values()):
                self._stand(event)
                return False
            self.issued = {pipe: number + 1 for pipe, number in self.issued.items()}
            self.known = {pipe: dict(self.issued) for pipe in PIPES}
            self.by_issue = dict(self.issued)
            return True
        pipe = rest[1] if kind == "wait" else rest[0]
        if kind in ("set", "wait", "get", "rls") and not 0 <= rest[-1] < IDS["flag" if len(rest) == 3 else "buffer"]:
            self.seen.misused.add(line)
            return True
        held = self._bracket(kind, line, *rest) if kind in ("get", "rls") else None
        self.issued[pipe] += 1
        self.queues[pipe].append((event, self.issued[pipe], self.by_issue, held))
        self._drain(pipe)
        if pipe == "S":
            if self.queues[pipe]:
                return False
            self.by_issue = dict(self.known[pipe])
        return True

    def _bracket(self, kind: str, line: int, pipe: str, id_: int) -> dict[str, int] | None:
        """The releases that a get waits for, by pipe."""
        held = self.open[id_]
        if kind == "rls":
            if held.pop(pipe, None) is None:
                self.seen.misused.add(line)
            self.releases[id_, pipe] += 1
            return None
        if held:
            self.seen.misused.add(line)
        held[pipe] = line
        return {other: self.releases[id_, other] for other in PIPES if other != pipe}

    def _drain(self, pipe: str) -> None:
        """Let a pipe go on as far as it can, and those that it sets free."""
        waiting = [pipe]
        while waiting:
            pipe = waiting.pop()
            queue = self.queues[pipe]
            while queue and self._is_ready(queue[0]):
                event, number, by_issue, held = queue.popleft()
                self._execute(pipe, event, number, by_issue, held)
                if event[0] == "set":
                    waiting.append(event[3])
                elif event[0] == "rls":
                    waiting += PIPES

    def _is_ready(self, entry: tuple[Event, int, dict[str, int], Any]) -> bool:
        event, _, _, held = entry
        if event[0] == "wait":
            return bool(self.tokens[event[2:]])
        if event[0] == "get":
            return all(len(self.released[event[3], other]) >= count for other, count in held.items())
        return True

    def _execute(self, pipe: str, event: Event, number: int, by_issue: dict[str, int], held: Any) -> None:
        known = self.known[pipe]
        _join(known, by_issue)
        match event:
            case ("run", line, _, reads, writes):
                for span in reads:
                    self._touch(pipe, number, line, span, False)
                for span in writes:
                    self._touch(pipe, number, line, span, True)
            case ("set", line, _, destination, _):
                self._set(event[2:], line, known | {pipe: number}, destination)
            case ("wait", *_):
                _join(known, self.tokens[event[2:]].popleft())
                self.waits[event[2:]].append(number)
            case ("get", _, _, id_):
                for other, count in held.items():
                    if count:
                        _join(known, self.released[id_, other][count - 1])
            case ("rls", _, _, id_):
                self.released[id_, pipe].append(known | {pipe: number})
            case _:  # a barrier of the pipe
                known[pipe] = number
        if pipe in SERIAL:
            known[pipe] = number

    def _set(self, key: Any, line: int, token: dict[str, int], destination: str) -> None:
        """Of the sets of a key each but the first comes after the wait for the last one, or is double."""
        before = self.sets[key] - 1
        if before >= 0 and not (before < len(self.waits[key]) and token[destination] >= self.waits[key][before]):
            self.seen.doubled.add(line)
        self.sets[key] += 1
        self.tokens[key].append(token)

    def _touch(self, pipe: str, number: int, line: int, span: Bytes, writes: bool) -> None:
        memory, low, high = span
        known = self.known[pipe]
        for place in range(low // self.grain, high // self.grain):
            touched = self.touched[memory, place]
            for (other_line, other, wrote), ended in touched.items():
                if (writes or wrote) and known[other] < ended and (other, ended) != (pipe, number):
                    self.seen.races.add((min(line, other_line), max(line, other_line)))
            touched[line, pipe, writes] = number


def _join(known: dict[str, int], token: dict[str, int]) -> None:
    for pipe, ended in token.items():
        if known[pipe] < ended:
            known[pipe] = ended


# --- the text, as a function that gives the events of a launch --------------------------------------------------------

BINARY = {"addi": "+", "subi": "-", "muli": "*", "divui": "//", "remui": "%", "remsi": "%", "divsi": "//"}
BINARY |= {"andi": "&", "ori": "|", "xori": "^", "shli": "<<", "shrui": ">>"}
PREDICATES = {
    f"{sign}{name}": how for name, how in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items() for sign in "su"
} | {"eq": "==", "ne": "!="}
SIZES = {"f32": 4, "i32": 4, "ui32": 4, "f16": 2, "bf16": 2, "i8": 1, "ui8": 1, "i64": 8}
_VALUE = r"%([\w$.]+)"
_PIPE = r'(?:"PIPE_|<PIPE_|#pto\.pipe<PIPE_)(\w+?)[">]'


def _py(name: str) -> str:
    return "v_" + re.sub(r"\W", "_", name)


def _touched(memory: Any, rows: int, length: int, stride: int) -> list[Bytes]:
    base, start = memory[:2]
    return [(base, start + row * stride, start + row * stride + length) for row in range(rows) if length]


@lru_cache(maxsize=64)
def _compiled(text: str) -> Any:
    namespace: dict[str, Any] = {"touched": _touched}
    exec(_Compiler(text).source(), namespace)
    return namespace["unfold"]


class _Compiler:
    """Each line of the kernel becomes a line or two of Python."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.made: list[str] = []
        self.depth = 1
        self.blocks: list[tuple[str, Any]] = []

    def source(self) -> str:
        signature = re.search(r"func\.func @\w+\((.*?)\) attributes \{pto\.kernel", self.text, re.S)
        if signature is None:
            raise ValueError("no kernel")
        numbers = list[str]()
        for name, kind in re.findall(rf"{_VALUE}: (!pto\.ptr<[^>]*>|\w+)", signature[1]):
            if kind.startswith("!"):
                self._say(f"{_py(name)} = ({name!r}, 0)")
            else:
                numbers.append(_py(name))
        head = ["def unfold(arguments):", "  events = []; add = events.append; trips = {}"]
        if numbers:
            head.append(f"  ({', '.join(numbers)},) = arguments")
        inside = False
        for number, whole in enumerate(self.text.split("\n"), 1):
            line = whole.split("//")[0].strip()
            if inside and re.match(r"(func\.)?return\b", line):
                break
            if inside and line:
                self._line(number, line)
            inside = inside or line.startswith("func.func")
        return "\n".join([*head, *self.made, "  return events, trips"])

    def _say(self, *lines: str) -> None:
        self.made += ["  " * self.depth + line for line in lines]

    def _line(self, number: int, line: str) -> None:
        if line.startswith("}"):
            self._close(line)
        elif line.endswith("{"):
            self._open(number, line)
        elif not (self._scalar(line) or self._pointer(line) or self._sync(number, line) or self._move(number, line)):
            raise ValueError(f"line {number} is not known to the machine: {line}")

    def _open(self, number: int, line: str) -> None:
        if line.startswith("pto.vecscope"):
            self._say("reads = []; writes = []")
            self.blocks.append(("scope", number))
            return
        result = re.match(rf"(?:{_VALUE} = )?scf\.(for|if)", line)
        if result is None:
            raise ValueError(f"line {number} is not known to the machine: {line}")
        target = _py(result[1]) if result[1] else None
        if result[2] == "if":
            condition = re.search(rf"scf\.if {_VALUE}", line)
            assert condition is not None
            self._say(f"if {_py(condition[1])}:", "  pass")
            self.blocks.append(("if", [target] if target else []))
            self.depth += 1
            return
        head = re.search(rf"scf\.for {_VALUE} = {_VALUE} to {_VALUE} step {_VALUE}", line)
        assert head is not None
        carried = re.search(rf"iter_args\({_VALUE} = {_VALUE}\)", line)
        if carried is not None:
            self._say(f"{_py(carried[1])} = {_py(carried[2])}")
        index, low, high, step = map(_py, head.groups())
        self._say(
            f"trips[{number}] = max(trips.get({number}, 0), len(range({low}, {high}, {step})))",
            f"for {index} in range({low}, {high}, {step}):",
            "  pass",
        )
        self.blocks.append(("for", ([_py(carried[1])] if carried else [], target)))
        self.depth += 1

    def _close(self, line: str) -> None:
        kind, data = self.blocks[-1]
        if line.replace(" ", "").startswith("}else{"):
            self.depth -= 1
            self._say("else:", "  pass")
            self.depth += 1
            return
        self.blocks.pop()
        if kind == "scope":
            self._say(f"add(('run', {data}, 'V', reads, writes))")
            return
        self.depth -= 1
        if kind == "for" and data[0] and data[1]:
            self._say(f"{data[1]} = {data[0][0]}")

    def _scalar(self, line: str) -> bool:
        if found := re.match(r"scf\.yield(.*)", line):
            kind, data = self.blocks[-1]
            names = [_py(each) for each in re.findall(_VALUE, found[1].split(":")[0])]
            for target, name in zip(data[0] if kind == "for" else data, names, strict=True):
                self._say(f"{target} = {name}")
        elif found := re.match(rf"{_VALUE} = arith\.constant (-?[\d.e+-]+|true|false)", line):
            number = {"true": "1", "false": "0"}.get(found[2], found[2])
            self._say(f"{_py(found[1])} = {number}")
        elif found := re.match(rf"{_VALUE} = arith\.(\w+) {_VALUE}, {_VALUE} :", line):
            if found[2] in BINARY:
                value = f"{_py(found[3])} {BINARY[found[2]]} {_py(found[4])}"
            elif found[2] in ("minsi", "maxsi", "minui", "maxui"):
                value = f"{found[2][:3]}({_py(found[3])}, {_py(found[4])})"
            else:
                return False
            self._say(f"{_py(found[1])} = {value}")
        elif found := re.match(rf"{_VALUE} = arith\.cmpi (\w+), {_VALUE}, {_VALUE} :", line):
            self._say(f"{_py(found[1])} = int({_py(found[3])} {PREDICATES[found[2]]} {_py(found[4])})")
        elif found := re.match(rf"{_VALUE} = arith\.select {_VALUE}, {_VALUE}, {_VALUE} :", line):
            self._say(f"{_py(found[1])} = {_py(found[3])} if {_py(found[2])} else {_py(found[4])}")
        elif found := re.match(rf"{_VALUE} = arith\.(?:index_cast|extsi|extui|trunci|index_castui) {_VALUE} :", line):
            self._say(f"{_py(found[1])} = {_py(found[2])}")
        else:
            return self._array(line)
        return True

    def _array(self, line: str) -> bool:
        if found := re.match(rf"{_VALUE} = pto\.declare_(?:local|eventid)_array ->", line):
            self._say(f"{_py(found[1])} = {{}}")
        elif found := re.match(rf"{_VALUE} = pto\.(?:local|eventid)_array_get {_VALUE}\[{_VALUE}\]", line):
            self._say(f"{_py(found[1])} = {_py(found[2])}.get({_py(found[3])}, 0)")
        elif found := re.match(rf"pto\.(?:local|eventid)_array_set {_VALUE}\[{_VALUE}\], {_VALUE}", line):
            self._say(f"{_py(found[1])}[{_py(found[2])}] = {_py(found[3])}")
        else:
            return False
        return True

    def _pointer(self, line: str) -> bool:
        if found := re.match(rf"{_VALUE} = pto\.castptr {_VALUE} : \w+ -> !pto\.ptr<\w+, (\w+)>", line):
            self._say(f"{_py(found[1])} = ({found[3]!r}, {_py(found[2])})")
        elif found := re.match(rf"{_VALUE} = pto\.addptr {_VALUE}, {_VALUE} : !pto\.ptr<(\w+),", line):
            base = _py(found[2])
            self._say(f"{_py(found[1])} = ({base}[0], {base}[1] + {SIZES[found[4]]} * {_py(found[3])})")
        else:
            return False
        return True

    def _sync(self, number: int, line: str) -> bool:
        if found := re.match(rf"pto\.(set|wait)_flag(?:_dyn)?\s*\[\s*{_PIPE}, {_PIPE}, (.*)\]", line):
            id_ = re.search(r"EVENT_ID(\d+)", found[4])
            name = id_[1] if id_ else _py(found[4].strip().lstrip("%"))
            self._say(f"add(({found[1]!r}, {number}, {found[2]!r}, {found[3]!r}, {name}))")
        elif found := re.match(rf"pto\.(get|rls)_buf {_PIPE}, (?:{_VALUE}|(\d+)), (?:{_VALUE}|(\d+))", line):
            id_ = _py(found[3]) if found[3] else found[4]
            self._say(f"add(({found[1]!r}, {number}, {found[2]!r}, {id_}))")
        elif found := re.match(rf"pto\.barrier {_PIPE}", line):
            self._say(f"add(('barrier', {number}, {found[1]!r}))")
        else:
            return False
        return True

    def _move(self, number: int, line: str) -> bool:
        burst = rf"nburst\({_VALUE}, {_VALUE}, {_VALUE}\)"
        if found := re.match(rf"pto\.mte_gm_ub {_VALUE}, {_VALUE}, {_VALUE}, {_VALUE} {burst} :", line):
            source, target, _, length, rows, far, near = map(_py, found.groups())
            self._copy(number, "MTE2", (source, far), (target, near), rows, length)
        elif found := re.match(rf"pto\.mte_ub_gm {_VALUE}, {_VALUE}, {_VALUE} {burst} :", line):
            source, target, length, rows, near, far = map(_py, found.groups())
            self._copy(number, "MTE3", (source, near), (target, far), rows, length)
        elif found := re.match(rf"{_VALUE} = pto\.vlds {_VALUE}\[{_VALUE}\] : !pto\.ptr<(\w+),", line):
            self._lanes("reads", found[2], found[3], SIZES[found[4]])
        elif found := re.match(rf"pto\.vsts {_VALUE}, {_VALUE}\[{_VALUE}\], {_VALUE} : .*!pto\.ptr<(\w+),", line):
            self._lanes("writes", found[2], found[3], SIZES[found[5]])
        else:
            return bool(re.match(rf"{_VALUE} = pto\.(pset_b\d+|vadds?|vdup|vmuls?) ", line))
        return True

    def _copy(self, number: int, pipe: str, source: Any, target: Any, rows: str, length: str) -> None:
        reads, writes = (f"touched({name}, {rows}, {length}, {stride})" for name, stride in (source, target))
        self._say(f"add(('run', {number}, {pipe!r}, {reads}, {writes}))")

    def _lanes(self, which: str, pointer: str, index: str, size: int) -> None:
        start = f"{_py(pointer)}[1] + {size} * {_py(index)}"
        self._say(f"{which}.append(({_py(pointer)}[0], {start}, {start} + 256))")


def kinds_of(text: str, launches: Iterable[Sequence[int]]) -> set[str]:
    """All kinds of faults that some launches show."""
    return {kind for launch in launches for kind in outcome(text, launch).kinds}
