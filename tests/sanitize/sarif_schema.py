"""The part of SARIF 2.1.0 that the program emits, as a schema, and what a schema cannot say.

Written from the standard: an object holds the listed properties and no others (the published schema forbids more,
except in property bags); those marked with an asterisk are required.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

Test = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _whole(low: int) -> Test:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= low


def _one_of(*words: str) -> Test:
    return lambda value: value in words


def _uri(value: Any) -> bool:
    """A URI reference (RFC 3986): no blanks, no backslashes, every other character percent-encoded."""
    return (
        isinstance(value, str)
        and re.fullmatch(r"(?:[\w.~:/?#@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+", value, re.A) is not None
    )


MESSAGE = {"text*": _text}
REGION = {"startLine*": _whole(1), "startColumn": _whole(1), "endLine": _whole(1), "endColumn": _whole(1)}
LOCATION = {
    "physicalLocation": {"artifactLocation*": {"uri*": _uri}, "region": REGION},
    "message": MESSAGE,
}
REPLACEMENT = {"deletedRegion*": REGION, "insertedContent": {"text": _text}}
CHANGE = {"artifactLocation*": {"uri*": _uri}, "replacements*": [REPLACEMENT]}
RESULT = {
    "ruleId": _text,
    "ruleIndex": _whole(-1),
    "level": _one_of("none", "note", "warning", "error"),
    "message*": MESSAGE,
    "occurrenceCount": _whole(1),
    "locations": [LOCATION],
    "relatedLocations": [LOCATION],
    "fixes": [{"description": MESSAGE, "artifactChanges*": [CHANGE]}],
    "properties": lambda value: isinstance(value, dict),
}
RULE = {"id*": _text, "name": _text, "fullDescription": MESSAGE, "help": MESSAGE}
RUN = {
    "tool*": {"driver*": {"name*": _text, "rules": [RULE]}},
    "columnKind": _one_of("utf16CodeUnits", "unicodeCodePoints"),
    "results": [RESULT],
}
LOG = {"$schema": _uri, "version*": _one_of("2.1.0"), "runs*": [RUN]}


def violations(log: Any) -> list[str]:
    """What is wrong with a log: nothing, if it is valid."""
    wrong = list(_shape(log, LOG, "log"))
    return wrong or [problem for run in log["runs"] for problem in _references(run)]


def _shape(value: Any, schema: Any, path: str) -> Iterator[str]:
    if isinstance(schema, list):
        if not isinstance(value, list):
            yield f"{path} is no array"
            return
        for index, item in enumerate(value):
            yield from _shape(item, schema[0], f"{path}[{index}]")
    elif isinstance(schema, dict):
        if not isinstance(value, dict):
            yield f"{path} is no object"
            return
        known = {name.removesuffix("*"): part for name, part in schema.items()}
        yield from (f"{path} lacks {name[:-1]}" for name in schema if name.endswith("*") and name[:-1] not in value)
        yield from (f"{path} has an unknown property {name}" for name in value if name not in known)
        for name in value.keys() & known.keys():
            yield from _shape(value[name], known[name], f"{path}.{name}")
    elif not schema(value):
        yield f"{path} cannot be {value!r}"


def _references(run: Any) -> Iterator[str]:
    """Rules and related places are unique and results refer to them; regions end behind their start."""
    rules = [rule["id"] for rule in run["tool"]["driver"].get("rules", [])]
    if len(rules) != len(set(rules)):
        yield "a rule is listed twice"
    for result in run.get("results", []):
        index = result.get("ruleIndex", -1)
        if index >= len(rules) or (index >= 0 and rules[index] != result["ruleId"]):
            yield f"rule {index} is not {result['ruleId']}"
        others = result.get("relatedLocations", [])
        if any(other in others[:number] for number, other in enumerate(others)):
            yield "a related place is listed twice"
        for place in (*result.get("locations", []), *result.get("relatedLocations", [])):
            region = place["physicalLocation"]["region"]
            start, end = (tuple(region[f"{which}{part}"] for part in ("Line", "Column")) for which in ("start", "end"))
            if end <= start:
                yield f"a region from {start} to {end}"
