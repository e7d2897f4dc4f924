"""The output of `ptosim run --show LINE`: one execution of an instruction, its values and the bytes it touched."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.arguments import FLOAT_ARRAYS, dtype_of
from ptosim.effects.element import Element
from ptosim.effects.names import Space
from ptosim.machine.memory import decode
from ptosim.reference.memory.stream import LoadAlign, StoreAlign
from ptosim.reference.numeric.mask import Mask
from ptosim.reference.observed.watch import Execution, WatchedAccess, WatchedValue

WIDTH = 110  # characters of a line of lanes
MOST_NUMBERS = 32  # of the contents of memory
MOST_RANGES = 4


def describe(execution: Execution) -> str:
    """An execution as text: a head line, then operands, results (after an arrow) and accesses."""
    site = execution.site
    loops = f", loop indices {', '.join(map(str, execution.loops))}" if execution.loops else ""
    as_ = f", as {site.name}," if site.served else ""
    lines = [f"{site.location.shown if site.location else ''}: {site.title}{as_} on {execution.core}{loops}"]
    values = [(f"{value.role} {value.name}", value) for value in execution.operands]
    values += [(f"-> {value.name}", value) for value in execution.results]
    width = max((len(label) for label, _ in values), default=0)
    for label, value in values:
        first, *rest = value_lines(value, execution.arguments)
        lines += [f"    {label:<{width}}  {first}", *(f"    {line}" for line in rest)]
    places = dict.fromkeys((access.verb, access.space, access.core) for access in execution.accesses)
    lines += [f"    {line}" for place in places for line in _touched(*place, execution)]
    return "\n".join(lines)


# --- values -----------------------------------------------------------------------------------------------------------


def value_lines(value: WatchedValue, arguments: Mapping[int, str]) -> list[str]:
    content, kind = value.value, value.type.removeprefix("!pto.")
    if isinstance(content, Mask):
        return [f"{kind}  {_lanes_of(content, kind)}"]
    if isinstance(content, LoadAlign):
        return [f"{kind}  a load stream that has read ahead the granule at ub {content.granule}"]
    if isinstance(content, StoreAlign):
        pending = len(content.pending)
        return [
            f"{kind}  a store stream, "
            + (f"{pending} bytes pending up to ub {content.stream.end}" if pending else "nothing pending")
        ]
    if isinstance(content, list):
        return [kind, *wrapped_numbers(_scalars(cast("list[int]", content), value.element))]
    assert value.element is not None
    if isinstance(content, np.ndarray):
        return [kind, *wrapped_numbers(_numbers(cast("NDArray[Any]", content), value.element))]
    if kind.startswith("ptr"):
        return [f"{kind}  {_place(content, arguments) if kind.endswith('gm>') else f'address {content}'}"]
    return [f"{kind}  {_scalar(int(content), value.element)}"]


def _scalars(contents: Sequence[int], element: Element | None) -> list[str]:
    """The elements of an array; the fields of a structure as their bits."""
    return [hex(content) if element is None else _scalar(content, element) for content in contents]


def _scalar(content: int, element: Element) -> str:
    if not element.is_float:
        return str(content)
    pattern = struct.pack("<Q", content & (1 << element.bits) - 1)[: element.bytes]
    return str(np.frombuffer(pattern, dtype_of(element))[0])


def _lanes_of(mask: Mask, kind: str) -> str:
    """The active lanes as runs; what the bits between the lanes hold matters only to a few instructions."""
    lanes = mask.lanes(int(kind.removeprefix("mask<b").removesuffix(">")) // 8)
    shown = f"lanes {_runs(np.flatnonzero(lanes))} of {len(lanes)}" if lanes.any() else f"no lane of {len(lanes)}"
    between = int(mask.bits.sum()) - int(lanes.sum())
    return shown + (f", and {between} bits between the lanes" if between else "")


def _runs(numbers: NDArray[Any]) -> str:
    """Ascending numbers as `0-12, 20`."""
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 2) != 1)
    ends = np.append(starts[1:], len(numbers)) - 1
    pairs = zip(numbers[starts], numbers[ends], strict=True)
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in pairs)


def _numbers(lanes: NDArray[Any], element: Element) -> list[str]:
    if element.name in FLOAT_ARRAYS:
        lanes = lanes.view(FLOAT_ARRAYS[element.name])
    elif element.kind == "lowprecision":
        return [f"0x{int(number):0{2 * element.bytes}x}" for number in lanes]
    return [str(number) for number in lanes]


def wrapped_numbers(numbers: Sequence[str]) -> Iterator[str]:
    """Lines of numbers, each beginning with the number of its first lane; equal neighbours are counted."""
    line, lane = "", 0
    for number, group in groupby(numbers):
        count = len(list(group))
        token = number if count == 1 else f"{number} ×{count}"
        if line and len(line) + len(token) + 2 > WIDTH:
            yield line
            line = ""
        line = f"{line}  {token}" if line else f"{lane:>5}:  {token}"
        lane += count
    yield line


# --- memory -----------------------------------------------------------------------------------------------------------


def _touched(verb: str, space: Space, core: str, execution: Execution) -> Iterator[str]:
    """The bytes of one memory that an instruction has read, or written, in the order of their addresses."""
    same = [access for access in execution.accesses if (access.verb, access.space, access.core) == (verb, space, core)]
    held = {
        address: byte for access in same for address, byte in zip(_addresses(access), access.data.flat, strict=True)
    }
    if not held:
        return
    addresses = np.array(sorted(held))
    spans = np.split(addresses, np.flatnonzero(np.diff(addresses) != 1) + 1)
    shown = ", ".join(_range(space, int(span[0]), len(span), execution.arguments) for span in spans[:MOST_RANGES])
    more = f" and {len(spans) - MOST_RANGES} more" if len(spans) > MOST_RANGES else ""
    where = "" if space is Space.GM or core == execution.core else f" of {core}"
    yield f"{verb} {shown}{more}{where}"
    yield from wrapped_numbers(
        _contents(np.array([held[address] for address in addresses], np.uint8), space, execution)
    )


def _addresses(access: WatchedAccess) -> list[int]:
    width = access.data.shape[1]
    return [start + byte for start in access.starts.tolist() for byte in range(width)]


def _range(space: Space, start: int, size: int, arguments: Mapping[int, str]) -> str:
    if space is not Space.GM:
        return f"{space}[{start}:{start + size}]"
    argument, offset = decode(start)
    return f"{_argument(argument, arguments)}[{offset}:{offset + size}]"


def _place(address: int, arguments: Mapping[int, str]) -> str:
    argument, offset = decode(address)
    return f"{_argument(argument, arguments)} + {offset} bytes"


def _argument(index: int, arguments: Mapping[int, str]) -> str:
    return arguments.get(index, "no argument")


def _contents(data: NDArray[np.uint8], space: Space, execution: Execution) -> list[str]:
    """Bytes as elements of the pointer that led to them."""
    element = next((value.element for value in execution.operands if _leads_to(value, space)), None)
    if element is None or len(data) % element.bytes:
        numbers = [f"0x{byte:02x}" for byte in data[:MOST_NUMBERS]]
        return numbers + (["..."] if len(data) > MOST_NUMBERS else [])
    typed = data.view(dtype_of(element))
    return _numbers(typed[:MOST_NUMBERS], element) + (["..."] if len(typed) > MOST_NUMBERS else [])


def _leads_to(value: WatchedValue, space: Space) -> bool:
    return value.type.startswith("!pto.ptr") and value.type.endswith(f", {space.value}>")
