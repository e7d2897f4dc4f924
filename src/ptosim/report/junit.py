"""Findings for other programs: a JUnit testsuite, and the commands that GitHub shows beside the lines of a change."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby

from ptosim.diagnostics import Diagnostic, headline

MOST_OF_A_LEVEL = 10
"""GitHub shows no more of a step."""
_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def junit(suite: str, file: str, findings: Sequence[Diagnostic], strict: bool = False) -> str:
    """A testsuite for a kernel with a testcase for each kind that was found, and one that is called clean if none was.
    Kinds of which all findings are warnings pass, unless warnings count."""
    kinds = dict.fromkeys(finding.kind for finding in findings)
    cases: list[str] = []
    failures = 0
    for kind in kinds or ("clean",):
        found = [finding for finding in findings if finding.kind == kind]
        name = f"    <testcase classname={_attribute(file)} name={_attribute(kind)}"
        text = _text("\n\n".join(map(str, found)))
        if any(finding.severity == "error" or strict for finding in found):
            failures += 1
            says = _attribute(headline(found[0]))
            cases.append(f'{name}>\n      <failure type="{kind}" message={says}>{text}</failure>\n    </testcase>')
        elif found:
            cases.append(f"{name}>\n      <system-out>{text}</system-out>\n    </testcase>")
        else:
            cases.append(f"{name}/>")
    head = f'name={_attribute(suite)} tests="{len(cases)}" failures="{failures}" errors="0" skipped="0"'
    begin, end = ('<?xml version="1.0" encoding="utf-8"?>', "<testsuites>"), ("  </testsuite>", "</testsuites>", "")
    return "\n".join((*begin, f"  <testsuite {head}>", *cases, *end))


def _attribute(text: str) -> str:
    return '"' + escape(_printable(text)).replace("\n", "&#10;") + '"'


def _text(text: str) -> str:
    return _printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _printable(text: str) -> str:
    """Without what XML cannot say."""
    return "".join(each if each >= " " or each in "\n\t" else "\N{REPLACEMENT CHARACTER}" for each in text)


def github(findings: Sequence[Diagnostic]) -> list[str]:
    """A workflow command for each finding, the first ten of a level."""
    lines: list[str] = []
    for level, group in groupby(sorted(findings, key=_level), key=_level):
        lines += [_command(level, finding) for finding in list(group)[:MOST_OF_A_LEVEL]]
    return lines


def _level(finding: Diagnostic) -> str:
    return _LEVELS[finding.severity]


def _command(level: str, finding: Diagnostic) -> str:
    properties: list[str] = []
    if (place := finding.location) is not None:
        properties += [f"file={_property(place.file)}", f"line={place.line}", f"col={place.column}"]
    properties.append(f"title={_property(f'ptosim {finding.kind}')}")
    hint = f"\nhint: {finding.hint}" if finding.hint else ""
    return f"::{level} {','.join(properties)}::{_data(finding.message + hint)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
