"""Tiny kernels around tile operations, for the tests of the rooms that move and multiply tiles.

Values that a body uses and does not define become arguments; their types are taken from the type lists of the body. A
text may use the short names of `TYPES` for tile types. As elsewhere `~` marks where a diagnostic points and
`«wrong|right»` a text and its twin (twins.py).
"""

import re
from collections.abc import Iterator

_GROUP = re.compile(r"(?P<values>%\w+(?:\s*,\s*%\w+)*)\s*(?:\{[^{}]*\}\s*)?:\s*(?P<types>)")
_INDICES = re.compile(r"[\[(](?P<values>%\w+(?:\s*,\s*%\w+)*)[\])]")


def _types(text: str, start: int) -> Iterator[str]:
    """The types of a list that starts here, at its commas outside brackets."""
    depth, begin = 0, start
    for position in range(start, len(text) + 1):
        letter = text[position] if position < len(text) else "\n"
        if letter == "<":
            depth += 1
        elif letter == ">" and text[position - 1] != "-":
            depth -= 1
        elif depth == 0 and (letter in ",)\n" or text.startswith(("->", " fp ", " pre_quant ", " outs"), position)):
            yield text[begin:position].strip()
            begin = position + 1
            if letter != "," or re.match(r",\s*%", text[position:]):
                return


def arguments(body: str) -> dict[str, str]:
    """The values that a body uses without defining them, with their types; indices are of type index."""
    plain = re.sub(r"[~]", "", body)
    plain = re.sub(r"\n\s+(?=:|!|outs|ins)", " ", plain)
    found: dict[str, str] = {}
    for match in _GROUP.finditer(plain):
        values = re.findall(r"%\w+", match["values"])
        for name, type_ in zip(values, _types(plain, match.start("types")), strict=False):
            found.setdefault(name, type_)
    for name in re.findall(r"%\w+", plain):
        found.setdefault(name, "index")
    defined = {
        name for names in re.findall(r"^\s*(%.*?) = ", plain, re.MULTILINE) for name in re.findall(r"%\w+", names)
    }
    return {name: type_ for name, type_ in found.items() if name not in defined}


def module(body: str, kind: str | None = None) -> str:
    """The module around a body."""
    if "func.func" in body:
        return body
    listed = ", ".join(f"{name}: {type_}" for name, type_ in arguments(body).items())
    attribute = f" attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}" if kind else ""
    return f"module {{\nfunc.func @kernel({listed}){attribute} {{\n{body}\nreturn\n}}\n}}\n"
