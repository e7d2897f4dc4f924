"""Kernels the way people write them, put together from their parts, and what running them gives.

A kernel is a module for one target with one entry function: buffers in UB by absolute address, copies in with the loop
registers set first, one vector scope, copies out, a barrier of all pipes. `%c64`, `%c0_i64` and the like are declared
wherever a text uses them.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ptosim
from both_engines import BothEngines
from ptosim import PTOError
from raw import all_raw

Array = NDArray[np.generic]

BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "f8E4M3FN": 8, "f8E5M2": 8, "!pto.hif8": 8}
CONSTANT = re.compile(r"%c(m?)(\d+)(_i64|_i32|_i16|_i8)?\b")


def bits(element: str) -> int:
    """The width of an element type."""
    found = re.fullmatch(r"[su]?i(\d+)", element)
    return int(found[1]) if found else BITS.get(element, 8)


def lanes(element: str) -> int:
    return 2048 // bits(element)


def vreg(element: str) -> str:
    return f"!pto.vreg<{lanes(element)}x{element}>"


def ub(element: str) -> str:
    return f"!pto.ptr<{element}, ub>"


def gm(element: str) -> str:
    return f"!pto.ptr<{element}, gm>"


def granularity(element: str) -> str:
    return f"b{min(bits(element), 32)}"


def mask(element: str) -> str:
    return f"!pto.mask<{granularity(element)}>"


def constants(text: str) -> str:
    """Declarations for every %cN, %cmN (negative) and %cN_iW that a text uses."""
    lines: dict[str, str] = {}
    for found in CONSTANT.finditer(text):
        sign, digits, suffix = found.groups()
        kind = (suffix or "_index")[1:]
        lines[found[0]] = f"    {found[0]} = arith.constant {'-' if sign else ''}{digits} : {kind}"
    return "\n".join(lines.values())


def module(body: str, parameters: str, target: str = "a5", name: str = "kernel", attributes: str = "") -> str:
    """A module with one entry function and the constants its body names."""
    more = f", {attributes}" if attributes else ""
    return f"""module attributes {{pto.target_arch = "{target}"{more}}} {{
  func.func @{name}({parameters}) attributes {{pto.aicore}} {{
{constants(body)}
{body}
    return
  }}
}}
"""


def copy_in(name: str, element: str, size: int) -> str:
    """One row of `size` bytes from GM to UB, the loop registers written first as older kernels do."""
    return f"""    pto.set_loop2_stride_outtoub %c{size}_i64, %c{size}_i64 : i64, i64
    pto.set_loop1_stride_outtoub %c{size}_i64, %c{size}_i64 : i64, i64
    pto.set_loop_size_outtoub %c1_i64, %c1_i64 : i64, i64
    pto.mte_gm_ub %gm_{name}, %ub_{name}, %c0_i64, %c{size}_i64 nburst(%c1_i64, %c{size}_i64, %c{size}_i64)
      : {gm(element)}, {ub(element)}, i64, i64, i64, i64, i64"""


def copy_out(name: str, element: str, size: int) -> str:
    """One row of `size` bytes from UB to GM."""
    return f"""    pto.set_loop_size_ubtoout %c1_i64, %c1_i64 : i64, i64
    pto.mte_ub_gm %ub_{name}, %gm_{name}, %c{size}_i64 nburst(%c1_i64, %c{size}_i64, %c{size}_i64)
      : {ub(element)}, {gm(element)}, i64, i64, i64, i64"""


def vector_kernel(
    inputs: dict[str, tuple[str, int]],
    outputs: dict[str, tuple[str, int]],
    scope: str,
    *,
    before: str = "",
    extra: str = "",
    target: str = "a5",
    preload: bool = True,
) -> str:
    """Inputs and outputs as name: (element type, elements); %gm_NAME in GM, %ub_NAME at a multiple of 16 KiB in UB.

    `preload` copies the outputs in as well, so that bytes no store reaches come back as they were.
    """
    parameters = ", ".join(f"%gm_{n}: {gm(t)}" for n, (t, _) in (inputs | outputs).items()) + extra
    buffers = "\n".join(
        f"    %ub_{n} = pto.castptr %c{16384 * i}_i64 : i64 -> {ub(t)}"
        for i, (n, (t, _)) in enumerate((inputs | outputs).items())
    )
    loaded = inputs | (outputs if preload else {})
    ins = "\n".join(copy_in(n, t, count * bits(t) // 8) for n, (t, count) in loaded.items())
    outs = "\n".join(copy_out(n, t, count * bits(t) // 8) for n, (t, count) in outputs.items())
    body = f"""{buffers}
{before}
{ins}
    pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    pto.vecscope {{
{scope}
    }}
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
{outs}
    pto.barrier #pto.pipe<PIPE_ALL>"""
    return module(body, parameters, target)


def outcome(
    text: str, *arguments: Any, clean: bool = True, schedules: Sequence[str] = ("random:7",), **options: Any
) -> list[Array]:
    """The array arguments after a run: the same bytes from both engines, and from other schedules when `clean`.

    A clean kernel has no error finding.
    """
    kernel = ptosim.load(text).kernel()

    def left(**more: str) -> list[Array]:
        copies = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        BothEngines(kernel)(*copies, **options, **more)
        return [each for each in copies if isinstance(each, np.ndarray)]

    result = left()
    if clean:
        for schedule in schedules:
            other = left(schedule=schedule)
            assert [each.tobytes() for each in other] == [each.tobytes() for each in result], schedule
        grid = {key: value for key, value in options.items() if key == "grid"}
        report = ptosim.check(kernel, *all_raw(arguments), **grid)
        assert report.ok, str(report)
        assert ptosim.profile(kernel, *all_raw(arguments), **grid).cycles > 0
    return result


def rejection(text: str) -> PTOError:
    """The error that loading a text raises."""
    try:
        ptosim.load(text)
    except PTOError as error:
        return error
    raise AssertionError("the text loads")


def line_of(text: str, fragment: str) -> int:
    """The 1-based line where a fragment stands; it stands there once."""
    found = [number for number, line in enumerate(text.split("\n"), 1) if fragment in line]
    assert len(found) == 1, f"{fragment!r} on lines {found}"
    return found[0]
