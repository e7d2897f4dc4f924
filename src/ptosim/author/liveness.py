"""Names that a piece of a Python function stores, reads before it stores them, and needs afterwards."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


ANY_ITEM = "[*]"
"""Behind the name of a list or dictionary: any of its items, and of those inside it."""


def item_key(node: ast.Subscript) -> str | None:
    """`v[K]` as a name, where v is a plain name; `v[*]` for an item of an item; None where there is no such name."""
    inside: ast.expr = node.value
    if isinstance(inside, ast.Name) and not isinstance(node.slice, ast.Slice | ast.Tuple):
        return ast.unparse(node)
    while isinstance(inside, ast.Subscript):
        inside = inside.value
    return f"{inside.id}{ANY_ITEM}" if isinstance(inside, ast.Name) else None


class NameUse:
    """Reads and writes of names by the statements of one function; each statement is looked at once."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, tuple[frozenset[str], frozenset[str], frozenset[str]]] = {}

    def stores(self, statements: Iterable[ast.stmt]) -> frozenset[str]:
        """Names, and items such as `v[0]`, that may be set."""
        return frozenset().union(*(self._of(each)[0] for each in statements))

    def reads(self, statements: Sequence[ast.stmt]) -> frozenset[str]:
        """Names that may be read before the statements set them."""
        found, done = frozenset[str](), frozenset[str]()
        for each in statements:
            _, read, sure = self._of(each)
            found |= read - done
            done |= sure
        return found

    def surely(self, statements: Sequence[ast.stmt]) -> frozenset[str]:
        """Names that are set on every way through."""
        return frozenset().union(*(self._of(each)[2] for each in statements))

    def live(self, statements: Sequence[ast.stmt], after: frozenset[str]) -> list[frozenset[str]]:
        """For each statement the names that are needed behind it."""
        found: list[frozenset[str]] = []
        for each in reversed(statements):
            found.append(after)
            _, read, sure = self._of(each)
            after = read | (after - sure)
        return found[::-1]

    def read_by(self, expression: ast.AST) -> frozenset[str]:
        """Names that an expression reads."""
        return frozenset(
            node.id
            for node in ast.walk(expression)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)
        )

    def _of(self, statement: ast.stmt) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        known = self._known.get(statement)
        if known is None:
            known = self._known[statement] = self._facts(statement)
        return known

    def _facts(self, node: ast.stmt) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        match node:
            case ast.If():
                read = self.read_by(node.test) | self.reads(node.body) | self.reads(node.orelse)
                stored = self.stores(node.body) | self.stores(node.orelse) | _walrus(node.test)
                return stored, read, self.surely(node.body) & self.surely(node.orelse)
            case ast.For():
                own, target_reads = _targets(node.target)
                inner = self.reads(node.body) - own
                read = self.read_by(node.iter) | target_reads | inner | self.reads(node.orelse)
                own |= _walrus(node.iter)
                return self.stores(node.body) | self.stores(node.orelse) | own, read, frozenset()
            case ast.While():
                read = self.read_by(node.test) | self.reads(node.body) | self.reads(node.orelse)
                return self.stores(node.body) | self.stores(node.orelse) | _walrus(node.test), read, frozenset()
            case ast.With():
                own = frozenset[str]().union(*(_targets(i.optional_vars)[0] for i in node.items if i.optional_vars))
                read = frozenset[str]().union(*(self.read_by(item.context_expr) for item in node.items))
                return self.stores(node.body) | own, read | (self.reads(node.body) - own), self.surely(node.body) | own
            case ast.Try():
                parts = [*node.body, *(each for h in node.handlers for each in h.body), *node.orelse, *node.finalbody]
                names = frozenset(handler.name for handler in node.handlers if handler.name)
                read = frozenset[str]().union(*(self._of(each)[1] for each in parts))
                return self.stores(parts) | names, read, frozenset()
            case ast.FunctionDef() | ast.ClassDef():
                own = frozenset([node.name])
                return own, self.read_by(node) - own, own
            case ast.Assign() | ast.AnnAssign():
                return self._assigned(node)
            case ast.AugAssign():
                own, reads = _targets(node.target)
                base = frozenset(name.partition("[")[0] for name in own)
                return own, reads | base | self.read_by(node.value) | _walrus(node.value), own
            case ast.Import() | ast.ImportFrom():
                own = frozenset((alias.asname or alias.name).partition(".")[0] for alias in node.names)
                return own, frozenset(), own
            case _:
                own = _walrus(node)
                return own, self.read_by(node), own

    def _assigned(self, node: ast.Assign | ast.AnnAssign) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        if node.value is None:
            return frozenset(), frozenset(), frozenset()
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        found = [_targets(each) for each in targets]
        own = frozenset[str]().union(*(names for names, _ in found))
        reads = frozenset[str]().union(*(read for _, read in found))
        sure = frozenset(name for name in own if "[" not in name)
        return own | _walrus(node.value), reads | self.read_by(node.value), sure


def _targets(target: ast.expr) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a target of an assignment sets, and those that it reads."""
    match target:
        case ast.Name():
            return frozenset([target.id]), frozenset()
        case ast.Tuple() | ast.List():
            found = [_targets(each) for each in target.elts]
            return frozenset[str]().union(*(a for a, _ in found)), frozenset[str]().union(*(b for _, b in found))
        case ast.Starred():
            return _targets(target.value)
        case ast.Subscript() if (key := item_key(target)) is not None:
            names = frozenset(node.id for node in ast.walk(target) if isinstance(node, ast.Name))
            return frozenset([key]), names if key.endswith(ANY_ITEM) else names - {key.partition("[")[0]}
        case _:
            names = (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
            return frozenset(), frozenset(names)


def _walrus(node: ast.AST) -> frozenset[str]:
    return frozenset(each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr))


def own_transfers(statements: Iterable[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> list[ast.stmt]:
    """The break and continue statements of the loop around these statements; returns wherever they stand."""
    found: list[ast.stmt] = []
    for node in statements:
        if isinstance(node, kinds):
            found.append(node)
        elif isinstance(node, ast.For | ast.While):
            outward = tuple(kind for kind in kinds if kind is ast.Return)
            found += own_transfers(node.body, outward) + own_transfers(node.orelse, kinds)
        elif not isinstance(node, _SCOPES):
            for part in ("body", "orelse", "finalbody"):
                found += own_transfers(getattr(node, part, ()), kinds)
            for handler in getattr(node, "handlers", ()):
                found += own_transfers(handler.body, kinds)
    return found
