"""Findings in SARIF 2.1.0, the format in which editors and code hosts take the results of analysis tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ptosim.diagnostics import Finding, Location, headline
from ptosim.sanitize.explain import explanation

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """A log with one run: the kinds that occur as rules, the findings as results."""
    kinds = list(dict.fromkeys(finding.kind for finding in findings))
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "ptosim", "rules": [_rule(kind) for kind in kinds]}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, kinds.index(finding.kind)) for finding in findings],
            }
        ],
    }


def _rule(kind: str) -> dict[str, Any]:
    """A kind with what `ptosim explain` says about it; `unmatched-wait` is named UnmatchedWait."""
    name = "".join(word.capitalize() for word in kind.split("-"))
    about = explanation(kind)
    return {"id": kind, "name": name, "fullDescription": {"text": about.says}, "help": {"text": about.repair}}


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    hint = [f"hint: {finding.hint}"] if finding.hint else []
    follows = [f"follows: {headline(each)}" for each in finding.consequences]
    text = "\n".join((finding.message, *finding.notes, *hint, *follows))
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": text},
        "occurrenceCount": finding.count,
    }
    if finding.location:
        result["locations"] = [_location(finding.location, finding.label)]
    others = [_location(other.location, other.role) for other in finding.related]
    others += [
        _location(each.location, f"follows: {each.kind}: {each.message}")
        for each in finding.consequences
        if each.location
    ]
    if others:  # which the format wants to be different from each other
        result["relatedLocations"] = [each for number, each in enumerate(others) if each not in others[:number]]
    if finding.edits and finding.location:
        result["fixes"] = [_fix(finding, finding.location.in_text)]
    properties = {
        "core": finding.core,
        "pipe": finding.pipe,
        "bytes": list(finding.bytes) if finding.bytes else None,
        "block": finding.block,
        "rank": finding.rank,
        "loops": list(finding.loops),
        "consequences": [each.to_json() for each in finding.consequences] or None,
    }
    result["properties"] = {name: value for name, value in properties.items() if value is not None}
    return result


def _fix(finding: Finding, place: Location) -> dict[str, Any]:
    """The text of the hint; whole lines, from the beginning of one to the beginning of another."""
    replacements: list[dict[str, Any]] = []
    for edit in finding.edits:
        region = {"startLine": edit.line, "startColumn": 1, "endLine": edit.line + edit.count, "endColumn": 1}
        written = {"insertedContent": {"text": edit.text}} if edit.text else {}
        replacements.append({"deletedRegion": region, **written})
    change = {"artifactLocation": {"uri": _uri(place.file)}, "replacements": replacements}
    return {"description": {"text": finding.hint or ""}, "artifactChanges": [change]}


def _location(place: Location, message: str | None) -> dict[str, Any]:
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.line,
        "endColumn": place.column + place.length,
    }
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": region},
    }
    if message:
        location["message"] = {"text": message}
    return location


def _uri(file: str) -> str:
    """A path as a URI reference; a text that came from no file keeps its name, escaped."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
