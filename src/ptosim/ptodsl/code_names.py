"""The names that Python code looks up, and a key that only equal lines of code share."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

_GLOBALS = frozenset(["LOAD_GLOBAL", "LOAD_NAME"])
_ATTRIBUTES = frozenset(["LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "LOAD_SUPER_ATTR"])
_known: dict[int, CodeNames] = {}


@dataclass(frozen=True, eq=False)
class CodeNames:
    """Names in a piece of code, and in the code inside it."""

    code: CodeType
    globals: tuple[str, ...]
    attributes: tuple[str, ...]
    """Attributes, and texts that may name one: getattr(x, "name")."""
    imported: tuple[str, ...]

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Equal for the same code on the same lines and columns of the same file."""
        inner = tuple(code_names(each).key for each in self.code.co_consts if isinstance(each, CodeType))
        return self.code, self.code.co_filename, self.code.co_linetable, inner


def code_names(code: CodeType) -> CodeNames:
    """Each piece of code is looked at once; codes of equal text in two files are two."""
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = _read(code)
    return known


def _read(code: CodeType) -> CodeNames:
    found: dict[str, dict[str, None]] = {"globals": {}, "attributes": {}, "imported": {}}
    for each in dis.get_instructions(code):
        if each.opname in _GLOBALS:
            found["globals"][each.argval] = None
        elif each.opname in _ATTRIBUTES:
            found["attributes"][each.argval] = None
        elif each.opname == "IMPORT_NAME":
            found["imported"][each.argval] = None
    for each in code.co_consts:
        if isinstance(each, CodeType):
            inner = code_names(each)
            found["globals"].update(dict.fromkeys(inner.globals))
            found["attributes"].update(dict.fromkeys(inner.attributes))
            found["imported"].update(dict.fromkeys(inner.imported))
        elif isinstance(each, str) and each.isidentifier():
            found["attributes"][each] = None
    return CodeNames(code, *(tuple(names) for names in found.values()))
