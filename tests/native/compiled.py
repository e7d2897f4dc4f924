"""A few lines of IR built, compiled and run: what tests of the native floor ask about."""

import ctypes
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ptosim.native.host.toolchain import Host, LoadedObject, compile_object, this_host
from ptosim.native.ir.context import WORDS, ContextWord, Status
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I64, PTR, Value

ROOM = 1024  # bytes for each result


@dataclass
class Outcome:
    """What a function left behind: its status, its results as raw bytes, the memory it was given, the context."""

    status: Status
    results: list[bytes]
    memory: bytes
    words: array

    def number(self, result: int = 0) -> int:
        """A result as a signed 64-bit integer."""
        return int.from_bytes(self.results[result][:8], "little", signed=True)

    @property
    def fault(self) -> tuple[int, int, list[int]]:
        """Site, value and loop indices of a failure."""
        depth = self.words[ContextWord.FAULT_DEPTH]
        loops = self.words[ContextWord.FAULT_LOOPS : ContextWord.FAULT_LOOPS + depth]
        return self.words[ContextWord.FAULT], self.words[ContextWord.FAULT_VALUE], loops.tolist()


@dataclass
class Bench:
    """A module with one exported function that takes memory and integers, and gives some values back."""

    build: Callable[..., Sequence[Value]]
    parameters: int = 0
    module: ObjectModule = field(default_factory=ObjectModule)
    host: Host | None = None

    def __post_init__(self) -> None:
        function = self.module.function("run", [PTR, PTR] + [I64] * self.parameters)
        out, memory, *values = function.parameters
        results = self.build(function, memory, *values)
        for number, result in enumerate(results):
            out.at(number * ROOM).store(result)
        function.finish()
        self.count = len(results)
        self.image = compile_object(self.module.text(), self.host or this_host())
        self.program = LoadedObject(self.image, ["run"])

    def run(self, *numbers: int, memory: bytes = b"", steps: int = 10**9, stop: int = 0) -> Outcome:
        stop_word = array("q", [stop])
        words = array("q", bytes(8 * WORDS))
        words[ContextWord.STOP] = stop_word.buffer_info()[0]
        words[ContextWord.STEPS] = steps
        out = ctypes.create_string_buffer(max(1, self.count) * ROOM)
        room = ctypes.create_string_buffer(memory, max(1, len(memory)))
        kinds = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * self.parameters
        call = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(self.program.address("run"))
        status = Status(call(words.buffer_info()[0], ctypes.addressof(out), ctypes.addressof(room), *numbers))
        results = [out.raw[number * ROOM : (number + 1) * ROOM] for number in range(self.count)]
        return Outcome(status, results, room.raw[: len(memory)], words)


def evaluate(build: Callable[..., Value], *numbers: int) -> int:
    """The integer that an expression of these integers has when compiled code computes it."""

    def widened(function: FunctionBuilder, _memory: Value, *values: Value) -> list[Value]:
        result = build(*values)
        return [result.zext(I64) if isinstance(result, Value) else function.constant(I64, int(result))]

    outcome = Bench(widened, len(numbers)).run(*numbers)
    assert outcome.status is Status.DONE
    return outcome.number()
