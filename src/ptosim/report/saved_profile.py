"""A profile that was saved with --json, as far as a comparison asks for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ptosim.diagnostics import PTOError, Source, error
from ptosim.report.envelope import SCHEMA
from ptosim.report.time_accounts import LineTime, PipeTime
from ptosim.target import Target


@dataclass(frozen=True)
class SavedProfile:
    """The saved figures of an earlier run."""

    cycles: int
    bound: str
    pipes: Mapping[str, PipeTime]
    lines: Sequence[LineTime]
    source: Source
    """The lines that took time, where they stood; all others are blank."""
    target: Target
    """The target of the run that it is compared with."""
    rests_on: Sequence[Any] = ()


def saved_profile(path: str, target: Target) -> SavedProfile:
    """Read a file that `ptosim profile --json` has written."""
    try:
        found: Any = json.loads(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as reason:
        raise error("argument", f"cannot read {path}: {getattr(reason, 'strerror', None) or reason}") from None
    except (ValueError, RecursionError):
        raise error("argument", f"{path} is no JSON") from None
    if not isinstance(found, Mapping) or cast("Mapping[str, Any]", found).get("command") != "profile":
        raise error("argument", f"{path} is not what ptosim profile --json prints")
    found = cast("Mapping[str, Any]", found)
    if found.get("schema") != SCHEMA:
        schema = found.get("schema")
        raise error("argument", f"{path} has schema {schema}, and this is schema {SCHEMA}: save it again")
    try:
        return _profile(path, found["result"], found.get("file") or path, target)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _incomplete(path) from None


def _incomplete(path: str) -> PTOError:
    return error("argument", f"{path} has no complete profile: its run may have ended with an error")


def _profile(path: str, result: Mapping[str, Any], file: str, target: Target) -> SavedProfile:
    lines = [
        LineTime(int(each["line"]), int(each["busy"]), int(each["critical"]), int(each["waiting"]), int(each["count"]))
        for each in result["lines"]
    ]
    text = [""] * max((line.line for line in lines), default=0)
    for line, each in zip(lines, result["lines"], strict=True):
        text[line.line - 1] = str(each.get("text", ""))
    pipes = {name: PipeTime(**times) for name, times in result["pipes"].items()}
    name = path if Path(file).name == Path(path).name else f"{path} ({Path(file).name})"
    source = Source(name, "\n".join(text))
    return SavedProfile(int(result["cycles"]), str(result["bound"]), pipes, lines, source, target)
