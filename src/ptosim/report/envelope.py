"""The JSON object that every command prints with --json, and that reports and profiles give: always the same keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.diagnostics import Diagnostic, authored

if TYPE_CHECKING:
    from ptosim.native.host.library import KernelOutline, ModuleOutline

SCHEMA = 1
"""Rises when a key is renamed or removed; docs/schema has the schema."""

Described = Mapping[str, Any]


def _no_arguments() -> Sequence[Described]:
    return ()


@dataclass(frozen=True, eq=False)
class ReportSubject:
    """The subject of a command; parts that it lacks are None."""

    file: str | None = None
    kernel: str | None = None
    target: str | None = None
    grid: int | None = None
    arguments: Callable[[], Sequence[Described]] = _no_arguments
    """Describes the arguments as they are when it is called."""
    warnings: tuple[Diagnostic, ...] = ()
    """The warnings of load."""
    command: str | None = None
    """The command line that gives it again, where one was given."""


def loaded(outline: ModuleOutline) -> ReportSubject:
    """The subject of a command that launches nothing; the kernel is the only one, where there is only one."""
    kernel = outline.kernels[0].name if len(outline.kernels) == 1 else None
    return ReportSubject(outline.source.name, kernel, outline.target, warnings=tuple(map(authored, outline.warnings)))


def launched(outline: ModuleOutline, kernel: KernelOutline, given: Sequence[Any], grid: int) -> ReportSubject:
    """The subject of a command that launches a kernel; nothing given: for all arguments."""

    def told() -> Sequence[Described]:
        pairs = enumerate(zip(kernel.signature, given, strict=bool(given)))
        return [described(index, name, type_, value) for index, ((name, type_), value) in pairs]

    return replace(loaded(outline), kernel=kernel.name, grid=grid, arguments=told)


def envelope(
    command: str,
    subject: ReportSubject,
    ok: bool,
    findings: Iterable[Diagnostic] = (),
    notes: Iterable[Diagnostic] = (),
    result: Any = None,
) -> dict[str, Any]:
    """The object; `findings` are those of the command, in front of them stands what load said."""
    return {
        "ptosim": installed_version(),
        "schema": SCHEMA,
        "command": command,
        "ok": ok,
        "file": subject.file,
        "kernel": subject.kernel,
        "target": subject.target,
        "grid": subject.grid,
        "arguments": list(subject.arguments()),
        "findings": [each.to_json() for each in (*subject.warnings, *findings)],
        "notes": [each.to_json() for each in notes],
        "result": _plain(result),
    }


def installed_version() -> str:
    try:
        return version("ptosim")
    except PackageNotFoundError:  # run from its sources
        return "unknown"


def _plain(value: Any) -> Any:
    """The value with null for what JSON has no number for."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {str(key): _plain(each) for key, each in cast("dict[Any, Any]", value).items()}
        case list() | tuple():
            return [_plain(each) for each in cast("Sequence[Any]", value)]
        case _:
            return value


# --- arguments --------------------------------------------------------------------------------------------------------


def described(index: int, name: str, type_: str, value: Any) -> Described:
    """An argument: an array in figures, a scalar as it is, other values in a word."""
    return {"index": index, "name": name, "type": type_, **_value(value)}


def described_on_ranks(index: int, name: str, type_: str, values: Sequence[Any]) -> Described:
    """An argument that has a value on each rank."""
    return {"index": index, "name": name, "type": type_, "ranks": [_value(value) for value in values]}


def _value(value: Any) -> Described:
    if isinstance(value, np.ndarray):
        return _figures(cast("NDArray[Any]", value))
    if isinstance(value, float | np.floating):
        number = float(cast("float", value))
        return {"value": number if math.isfinite(number) else str(number)}
    return {"value": int(cast("int", value)) if isinstance(value, int | np.integer) else str(value)}


def _figures(array: NDArray[Any]) -> Described:
    """Least and greatest of its finite numbers, how many are not finite, and a digest of its bytes."""
    data: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    digest = sha256(data).hexdigest()
    low = high = None
    strange = 0
    if array.dtype.kind in "biuf" or array.dtype.name.startswith(("bfloat", "float")):
        numbers = array.reshape(-1)
        if array.dtype.kind not in "biu":
            with np.errstate(all="ignore"):
                numbers = numbers.astype(np.float64)
            finite = np.isfinite(numbers)
            strange = int(numbers.size - finite.sum())
            numbers = numbers[finite]
        if numbers.size:
            low, high = numbers.min().item(), numbers.max().item()
    return {
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "min": low,
        "max": high,
        "not_finite": strange,
        "sha256": digest,
    }
