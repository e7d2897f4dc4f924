"""Applying the hint of a finding to the text of a kernel, as a user would by hand."""

import re

ADD = re.compile(r"(after|before) line (\d+) add +(pto\..*)")
REPLACE = re.compile(r"replace line (\d+) by (pto\..*)")
DELETE = re.compile(r"delete line (\d+)")
MOVE = re.compile(r"move line (\d+) (after|before) line (\d+)")
EDIT = re.compile("|".join(f"(?:{each.pattern})" for each in (ADD, REPLACE, DELETE, MOVE)))


def repaired(text: str, hint: str) -> str:
    """The text with the edits that the hint names; all line numbers are those of the text as it was, and lines that go
    to one place go there in the order of the hint. What is written is indented like the line that the hint names."""
    lines = dict(enumerate(text.split("\n"), 1))
    added: dict[int, list[str]] = {}
    gone: dict[int, list[str]] = {}

    def indented(number: str, instruction: str) -> str:
        line = lines[int(number)]
        return line[: len(line) - len(line.lstrip())] + instruction.strip()

    def put(where: str, number: str, instruction: str) -> None:
        place = int(number) if where == "after" else int(number) - 1
        added.setdefault(place, []).append(indented(number, instruction))

    said = hint.split("\n")
    assert any(map(EDIT.search, said)), f"not an edit: {hint}"
    for line in said:
        if edit := ADD.search(line):
            put(*edit.groups())
        elif edit := REPLACE.search(line):
            comment = re.findall(r"\s*//.*", lines[int(edit[1])])
            gone[int(edit[1])] = ["".join((indented(edit[1], edit[2]), *comment))]
        elif edit := DELETE.search(line):
            gone[int(edit[1])] = []
        elif edit := MOVE.search(line):
            gone[int(edit[1])] = []
            put(edit[2], edit[3], lines[int(edit[1])])
    result = added.get(0, [])
    for number, line in lines.items():
        result = [*result, *gone.get(number, [line]), *added.get(number, [])]
    return "\n".join(result)
