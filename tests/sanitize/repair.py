"""Applying the hint of a finding to the text of a kernel, as a user would by hand."""

import re

EDIT = re.compile(r"(after|before) line (\d+) add +(pto\..*)")


def repaired(text: str, hint: str) -> str:
    """The text with the lines that the hint names added; all line numbers are those of the text as it was, and
    lines that go to one place go there in the order of the hint."""
    added: dict[int, list[str]] = {}
    for where, number, instruction in EDIT.findall(hint):
        place = int(number) if where == "after" else int(number) - 1
        added.setdefault(place, []).append(instruction)
    assert added, f"not an edit: {hint}"
    lines: list[str] = []
    for number, line in enumerate(["", *text.split("\n")]):
        lines += [line] if number else []
        lines += added.get(number, [])
    return "\n".join(lines)
