"""Kernels around a few instructions, run on both engines: an image of UB goes in, the instructions run on it, and the
image comes out.

Instructions use values without defining them; their names say what they are:

    %c5  %cm1  %c5_i32  %c2.5_f32   constants: 5 and -1 as index, 5 : i32, 2.5 : f32
    %ub_f32  %ub512_ui8             pointers to UB, at byte 0 and at byte 512
    %all_b32                        the mask of all lanes

In type lists `V<f32>` is short for `!pto.vreg<64xf32>`, `M<b32>` for `!pto.mask<b32>`, `P<f32>` for
`!pto.ptr<f32, ub>`, `G<f32>` for `!pto.ptr<f32, gm>` and `A` for `!pto.align`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from both_engines import BothEngines, agree, fails
from ptosim.api import Kernel, Launch, load
from ptosim.arguments import bind
from ptosim.diagnostics import Diagnostic, PTOError
from ptosim.effects.element import ELEMENTS
from ptosim.machine.entry import Entry
from ptosim.machine.observer import Observer

Bytes = NDArray[np.uint8]

SIZE = 8192
"""Bytes of UB that go in and come out."""

SCHEDULES = ["program", "delay:MTE2", "delay:V", "delay:MTE3", "random:1", "random:2", "random:3"]

_NUMBER = re.compile(r"%c(m?)(\d+(?:\.\d+)?)(?:_(\w+))?\b")
_POINTER = re.compile(r"%ub(\d*)_(\w+)")
_FULL = re.compile(r"%all_(b\d+)")
_PREFIXED = {"hif8", "hif8x2", "f8E8M0", "f4E1M2x2", "f4E2M1x2", "bf16x2"}


def _element(name: str) -> str:
    return f"!pto.{name}" if name in _PREFIXED else name


def expand(text: str) -> str:
    """Types written out."""
    text = re.sub(r"\bV<(\w+)>", lambda found: f"!pto.vreg<{ELEMENTS[found[1]].lanes}x{_element(found[1])}>", text)
    text = re.sub(r"\bM<(\w+)>", r"!pto.mask<\1>", text)
    text = re.sub(r"\bP<(\w+)>", lambda found: f"!pto.ptr<{_element(found[1])}, ub>", text)
    text = re.sub(r"\bG<(\w+)>", lambda found: f"!pto.ptr<{_element(found[1])}, gm>", text)
    return re.sub(r"(?<=[ (])A(?=[,\s)]|$)", "!pto.align", text)


def _defined(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return iter({found[0]: found for found in pattern.finditer(text)}.values())


def scalars(text: str) -> str:
    """Definitions of the constants and pointers that a text uses."""
    lines = [f"%address{found[1]} = arith.constant {found[1] or 0} : i64" for found in _defined(_POINTER, text)]
    for found in _defined(_NUMBER, text):
        lines.append(f"{found[0]} = arith.constant {'-' if found[1] else ''}{found[2]} : {found[3] or 'index'}")
    for found in _defined(_POINTER, text):
        lines.append(f"{found[0]} = pto.castptr %address{found[1]} : i64 -> P<{found[2]}>")
    return "\n".join(dict.fromkeys(lines))


def masks(text: str) -> str:
    """Definitions of the full masks that a text uses."""
    return "\n".join(f'{found[0]} = pto.pset_{found[1]} "PAT_ALL" : M<{found[1]}>' for found in _defined(_FULL, text))


def module(arguments: str, body: str, target: str = "a5", rest: str = "") -> str:
    """A kernel @k, and whatever else the module holds."""
    text = f"""module attributes {{pto.target_arch = "{target}"}} {{
func.func @k({arguments}) attributes {{pto.kernel}} {{
{scalars(body)}
{body}
return
}}
{rest}
}}
"""
    return expand(text)


def scope(body: str) -> str:
    return f"pto.vecscope {{\n{masks(body)}\n{body}\n}}"


@lru_cache(maxsize=8)
def kernel_of(text: str) -> Kernel:
    """The kernel @k of a module; runs of one text in succession share it."""
    return load(text).kernel("k")


def run(text: str, *arguments: Any, **options: Any) -> None:
    """Run the kernel @k of a module on both engines; an engine or schedule may be named."""
    BothEngines(kernel_of(text))(*arguments, **options)


def filled_and_shown(body: str, size: int = SIZE) -> str:
    """So many bytes of %in come to UB, and those of UB go to %out; the body stands between, apart from both."""
    return f"""pto.mte_gm_ub %in, %ub_ui8, %c0_i64, %c{size}_i64 nburst(%c1_i64, %c{size}_i64, %c{size}_i64)
  : G<ui8>, P<ui8>, i64, i64, i64, i64, i64
pto.barrier #pto.pipe<PIPE_ALL>
{body}
pto.barrier #pto.pipe<PIPE_ALL>
pto.mte_ub_gm %ub_ui8, %out, %c{size}_i64 nburst(%c1_i64, %c{size}_i64, %c{size}_i64)
  : P<ui8>, G<ui8>, i64, i64, i64, i64
pto.barrier #pto.pipe<PIPE_ALL>"""


def ub_after(body: str, before: Any = b"", target: str = "a5", schedule: str = "program", outside: str = "") -> Bytes:
    """The first bytes of UB after a vector scope with this body (and after what follows `outside` of it)."""
    text = module("%in: G<ui8>, %out: G<ui8>", filled_and_shown(f"{scope(body)}\n{outside}"), target)
    source, result = np.zeros(SIZE, np.uint8), np.zeros(SIZE, np.uint8)
    given = np.frombuffer(np.ascontiguousarray(before).tobytes(), np.uint8)
    source[: len(given)] = given
    run(text, source, result, schedule=schedule)
    return result


def loaded(instruction: str, before: Any, result: str = "ui8", target: str = "a5") -> Bytes:
    """The 256 bytes of the register %v that an instruction loads from UB."""
    store = f"pto.vsts %v, %ub{SIZE - 256}_{result}[%c0] : V<{result}>, P<{result}>"
    return ub_after(f"{instruction}\n{store}", before, target)[SIZE - 256 :]


def failure(text: str, *arguments: Any, **options: Any) -> Diagnostic:
    """The one error that running a kernel gives."""
    with pytest.raises(PTOError) as raised:
        run(text, *arguments, **options)
    (found,) = raised.value.diagnostics
    return found


def scope_failure(body: str, target: str = "a5", schedule: str = "program") -> Diagnostic:
    """The one error that a vector scope with this body gives."""
    with pytest.raises(PTOError) as raised:
        ub_after(body, target=target, schedule=schedule)
    (found,) = raised.value.diagnostics
    return found


class Reports(Observer):
    """Collects what a check would hear."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def report(self, diagnostic: Diagnostic, entry: Entry) -> None:
        self.found.append(diagnostic)


def reports(text: str, *arguments: Any) -> list[Diagnostic]:
    """What the core reports of itself in an observed run."""
    kernel = kernel_of(text)
    observer = Reports()
    kernel.reference(Launch(bind(kernel.signature, arguments)), observer)()
    return observer.found


def lints(text: str, *arguments: Any, kind: str = "lint") -> list[str]:
    """The warnings of an observed run, all of one kind."""
    found = reports(text, *arguments)
    assert all((one.kind, one.severity) == (kind, "warning") for one in found)
    return [one.message for one in found]


def misuses(text: str, *arguments: Any) -> list[str]:
    """What is wrong with the streams of an observed run, and nothing else is."""
    found = reports(text, *arguments)
    assert {(one.kind, one.severity) for one in found} <= {("stream-misuse", "error")}
    return [one.message for one in found]


def line_of(text: str, instruction: str) -> int:
    """The line of the only occurrence of an instruction."""
    (line,) = [number for number, line in enumerate(text.splitlines(), 1) if instruction in line]
    return line


def some_bytes(count: int, seed: int = 1) -> Bytes:
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


# --- random bytes in UB -----------------------------------------------------------------------------------------------


def image_kernel(body: str, rest: str = "", arguments: str = "", target: str = "a5") -> Kernel:
    """A kernel that brings an image of UB in and takes it out; `body` stands between."""
    return load(module("%in: G<ui8>, %out: G<ui8>" + arguments, filled_and_shown(body), target, rest)).kernel("k")


def same(body: str, *scalars: Any, rest: str = "", arguments: str = "", target: str = "a5", **options: Any) -> Bytes:
    """UB after the body, the same on both engines."""
    made = image_kernel(body, rest, arguments, target)
    found = agree(made, some_bytes(SIZE), np.zeros(SIZE, np.uint8), *scalars, **options)
    assert isinstance(found, list), found
    return np.frombuffer(found[1], np.uint8)


def wrong(
    body: str, *scalars: Any, rest: str = "", arguments: str = "", target: str = "a5", **options: Any
) -> Diagnostic:
    """The error of a body, the same on both engines."""
    made = image_kernel(body, rest, arguments, target)
    return fails(made, some_bytes(SIZE), np.zeros(SIZE, np.uint8), *scalars, **options)


def either(body: str, *scalars: Any, arguments: str = "") -> str | None:
    """The kind of error that a body ends with, if any; the engines agree in any case."""
    given = some_bytes(SIZE), np.zeros(SIZE, np.uint8)
    found = agree(image_kernel(body, arguments=arguments), *given, *scalars)
    return found.kind if isinstance(found, Diagnostic) else None
