"""A profile by compiled code and one by the reference engine, side by side: they must not differ in anything."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import ptosim
from ptosim.api import Launch, timed
from ptosim.arguments import bind
from ptosim.diagnostics import PTOError
from ptosim.report.profile import Profile
from ptosim.target import load_target
from ptosim.timing.recording import Recording


def columns(recording: Recording) -> dict[str, Any]:
    """All that a recording holds, as plain values."""
    found: dict[str, Any] = {}
    for name in ("rows", "signals", "touches"):
        table = getattr(recording, name)
        found |= {f"{name}.{field.name}": list(getattr(table, field.name)) for field in fields(table)}
    for field in fields(recording):
        if field.name not in ("rows", "signals", "touches", "sites", "cores"):
            found[field.name] = getattr(recording, field.name)
    found["pool"] = list(recording.pool)
    found["sites"] = [(site.number, site.name, site.title, site.line) for site in recording.sites]
    found["cores"] = [repr(core) for core in recording.cores]
    return found


def same(kernel: ptosim.Kernel, *arguments: Any, grid: int = 1, target: str | None = None) -> Profile:
    """The profile, after both engines have given the same."""
    engines = ("native", "reference")
    return _compared(
        *(ptosim.profile(kernel, *arguments, grid=grid, target=target, engine=engine) for engine in engines)
    )


def _compared(native: Profile, reference: Profile) -> Profile:
    assert native.to_json() == reference.to_json()
    mine, theirs = columns(native.recording), columns(reference.recording)
    assert mine.keys() == theirs.keys()
    assert [name for name in mine if mine[name] != theirs[name]] == []
    return native


def is_native(kernel: ptosim.Kernel, *arguments: Any, grid: int = 1, target: str | None = None) -> bool:
    """Whether compiled code times this launch by itself."""
    machine = load_target(target or kernel.module.target)
    return timed(kernel.on(machine.architecture), Launch(bind(kernel.signature, arguments), grid), machine) is not None


def same_outcome(kernel: ptosim.Kernel, *arguments: Any, grid: int = 1) -> None:
    """The same profile, or the same error."""
    profiles, failures = list[Profile](), list[str]()
    for engine in ("native", "reference"):
        try:
            profiles.append(ptosim.profile(kernel, *arguments, grid=grid, engine=engine))
        except PTOError as failure:
            failures.append(str(failure))
    if failures:
        assert len(failures) == 2 and failures[0] == failures[1]
    else:
        _compared(*profiles)
