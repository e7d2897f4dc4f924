"""The order of a kernel, written into its text: what it lacks stands between its operations, and all else as it was."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.ir import Block, Operation

from ptosim.diagnostics import PTOError, Source
from ptosim.language.load import VerifiedModule
from ptosim.language.structure.control import Yield
from ptosim.language.structure.function import Function
from ptosim.language.text.module_edits import rewritten
from ptosim.language.text.printing import text
from ptosim.loading import load_module, prepared_text
from ptosim.order.emit import EmitTarget
from ptosim.order.ordering import Order, orders
from ptosim.order.strip import stripped


@dataclass(frozen=True)
class Prepared:
    """A text that is about to get its order, and the operations of the kernel that its own serve."""

    text: str
    origins: list[Operation]


def prepared_without(module: VerifiedModule, numbers: Collection[int]) -> Prepared:
    """The text of a module without some operations, named by their number."""
    return Prepared(*prepared_text(stripped(module, numbers)))


class OrderDraft:
    """A text with an address for every tile, what it lacks, and the module that it was made from."""

    def __init__(self, source: Prepared, module: VerifiedModule, order: str) -> None:
        self.target = module.target
        self.loaded = load_module(Source("<text>", source.text, is_own=True), self.target, "written")
        self.written = self.loaded.written
        operations = (op for op in self.written.parsed.module.walk() if not isinstance(op, Yield))
        self.before = module.parsed
        self.serves = dict(zip(operations, source.origins, strict=True))
        self.orders = list(orders(self.loaded.executable, order))

    def text(self) -> str:
        """The text with what it lacks written between its operations."""
        copy, images = copied(self.written)
        for order in self.orders:
            order.write(target_in(order, copy, lambda op: images[self.origin(op)]))
        kept = {images[op]: old for op, old in self._kept.items()}
        return rewritten(self.before, copy.parsed, kept, self._canonical)

    def text_without_addresses(self, rest: VerifiedModule) -> str | None:
        """The kernel as it was, with its missing order between its operations; None where there is no place for that.
        `rest`: a copy that may be changed, without what was taken out."""
        kept = dict(rest.parsed.origins)
        images = {old: op for op, old in kept.items()}
        try:
            for order in self.orders:
                order.write(target_in(order, rest, lambda op: images[self.serves[self.origin(op)]]))
        except KeyError:
            return None
        return rewritten(self.before, rest.parsed, kept, self._canonical)

    @cached_property
    def _kept(self) -> dict[Operation, Operation]:
        """Operations that the kernel has as well."""
        found, taken = dict[Operation, Operation](), set[Operation]()
        for op, old in self.serves.items():
            if old.name == op.name and old not in taken and old.get_toplevel_object() is self.before.module:
                taken.add(old)
                found[op] = old
        ends = [
            (one, other) for op, old in found.items() for one, other in zip(_blocks(op), _blocks(old), strict=False)
        ]
        return found | {
            one.last_op: other.last_op
            for one, other in ends
            if isinstance(one.last_op, Yield) and isinstance(other.last_op, Yield)
        }

    def _canonical(self, found: str) -> str | None:
        with suppress(PTOError):
            return text(load_module(Source("<text>", found, is_own=True), self.target, "written").written.parsed)
        return None

    def origin(self, op: Operation) -> Operation:
        """The operation of the text that one which runs serves."""
        return self.loaded.executable.parsed.origin(op)


def copied(module: VerifiedModule) -> tuple[VerifiedModule, dict[Operation, Operation]]:
    """A copy that may be changed, and what each operation is there."""
    copy = module.parsed.cloned()
    return replace(module, parsed=copy), dict(zip(module.parsed.module.walk(), copy.module.walk(), strict=True))


def target_in(order: Order, module: VerifiedModule, image: Callable[[Operation], Operation]) -> EmitTarget:
    """A module into which an order is written; `image`: what an operation that was ordered is there."""
    function = image(order.function)
    assert isinstance(function, Function)
    return EmitTarget(module, function, image)


def _blocks(op: Operation) -> list[Block]:
    return [block for region in op.regions for block in region.blocks]
