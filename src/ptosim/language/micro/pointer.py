"""Pointers and the memory accesses of the scalar unit."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IndexType, IntegerType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from ptosim.effects.names import Space
from ptosim.language.operation import Operand, Problem, PTOOperation, Result
from ptosim.language.text.assembly_format import write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import PtrType, element_name

# --- pointers ---------------------------------------------------------------------------------------------------------


class CastPtr(PTOOperation, name="pto.castptr"):
    """Integer to pointer, pointer to integer, or a pointer to other elements of the same space.

    As an integer a pointer is its byte address in the space, absolute for the memories on the chip.

        %p = pto.castptr %address : i64 -> !pto.ptr<f32, ub>
    """

    is_pure = True
    simt = "any"
    form = "$input"
    input = Operand()
    result = Result()

    @classmethod
    def parse_signature(cls, parser: LocatedParser, operands: list[tuple[str, SSAValue]]) -> list[Attribute]:
        from_memref = parser.text_follows(r":\s*memref\b")
        types = super().parse_signature(parser, operands)
        if from_memref and not isinstance(types[0], PtrType):
            parser.report(f"a memref can only be cast to a pointer, not to {types[0]}", parser.place_of("input"))
        return types

    def rules(self, target: str) -> Iterator[Problem]:
        source, result = self.input.type, self.result.type
        if isinstance(source, PtrType) and isinstance(result, PtrType):
            if source.space != result.space:
                yield Problem(
                    f"ptr-to-ptr cast must stay within the same PTO memory space, but {source} becomes {result}",
                    at="input",
                )
        elif not isinstance(source, PtrType) and not isinstance(result, PtrType):
            yield Problem(f"pto.castptr needs a pointer on one side; {source} becomes {result}", at="input")
        else:
            other = source if isinstance(result, PtrType) else result
            if not isinstance(other, IntegerType | IndexType):
                yield Problem(f"a pointer is cast from and to integers, not {other}", at="input")


class AddPtr(PTOOperation, name="pto.addptr"):
    """Pointer arithmetic.

    A pointer some elements further; the offset is signed.

        %q = pto.addptr %p, %offset : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>
    """

    is_pure = True
    simt = "any"
    form = "$pointer, $offset:index"
    listed = ("pointer",)
    pointer = Operand()
    result = Result()

    @classmethod
    def default_results(cls, parser: LocatedParser, operands: list[tuple[str, SSAValue]]) -> list[Attribute]:
        return [operands[0][1].type]

    def rules(self, target: str) -> Iterator[Problem]:
        if not isinstance(self.pointer.type, PtrType):
            yield Problem(f"pointer must be a pointer, not {self.pointer.type}", at="pointer")
        elif self.result.type != self.pointer.type:
            message = f"pto.addptr gives {self.pointer.type}, the type of its pointer, not {self.result.type}"
            yield Problem(message, at="result")


class PtrToInt(PTOOperation, name="pto.ptrtoint"):
    """Address of a GM pointer.

    As an integer, a GM pointer holds its argument in the high bits and the byte offset below.

        %address = pto.ptrtoint %p : !pto.ptr<f32, gm> -> i64
    """

    is_pure = True
    form = "$pointer:gm"
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        if self.result.type != i64:
            yield Problem(f"an address has type i64, not {self.result.type}", at="result")


class IntToPtr(PTOOperation, name="pto.inttoptr"):
    """GM pointer from an address.

    For scalar loads and stores only.

        %p = pto.inttoptr %address : i64 -> !pto.ptr<f32, gm>
    """

    is_pure = True
    form = "$address:i64 -> $result:gm"
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        for use in self.result.uses:
            if use.operation.name not in ("pto.load_scalar", "pto.store_scalar"):
                yield Problem(
                    f"a pointer made by pto.inttoptr may only be loaded from and stored to by the scalar unit, "
                    f"not used by {use.operation.name}",
                    at=use.index,
                    on=use.operation,
                )


# --- scalar memory ----------------------------------------------------------------------------------------------------


class ElementLoad(PTOOperation):
    """One element behind a pointer."""

    form = "$pointer[$offset:index]"
    listed = ("pointer",)
    pointer = Operand()
    offset = Operand()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        pointer = self.pointer.type
        if isinstance(pointer, PtrType) and self.result.type != pointer.element:
            yield Problem(f"{self.name} from {pointer} gives {pointer.element}, not {self.result.type}", at="result")


class ElementStore(PTOOperation):
    """One element behind a pointer."""

    form = "$value, $pointer[$offset:index]"
    value = Operand()
    pointer = Operand()
    offset = Operand()

    @classmethod
    def parse_signature(cls, parser: LocatedParser, operands: list[tuple[str, SSAValue]]) -> list[Attribute]:
        value, pointer, offset = operands
        return super().parse_signature(parser, [pointer, offset, value])

    def print_rest(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", [self.pointer.type, self.value.type])

    def rules(self, target: str) -> Iterator[Problem]:
        pointer = self.pointer.type
        if isinstance(pointer, PtrType) and self.value.type != pointer.element:
            yield Problem(f"{self.name} to {pointer} takes {pointer.element}, not {self.value.type}", at="value")


class LoadScalar(ElementLoad, name="pto.load_scalar"):
    """Load one element.

    The offset counts elements. Also allowed in a vector scope.

        %v = pto.load_scalar %p[%i] : !pto.ptr<f32, ub> -> f32
    """

    simt = "any"
    spaces = {"pointer": (Space.GM, Space.UB)}


class StoreScalar(ElementStore, name="pto.store_scalar"):
    """Store one element.

    The offset counts elements. Also allowed in a vector scope.

        pto.store_scalar %v, %p[%i] : !pto.ptr<f32, ub>, f32
    """

    simt = "any"
    spaces = {"pointer": (Space.GM, Space.UB)}


_DEVICE_ELEMENTS = ("i8", "i16", "i32", "i64")


class _Device(PTOOperation):
    """An access that passes the cache by."""

    spaces = {"pointer": (Space.GM,)}
    targets = ("a5",)
    placement = "outside"
    only_in_entries = True

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        pointer = self.segment("pointer")[0].type
        if isinstance(pointer, PtrType) and element_name(pointer.element) not in _DEVICE_ELEMENTS:
            yield Problem(f"{self.name} accesses {', '.join(_DEVICE_ELEMENTS)}, not {pointer.element}", at="pointer")
        for name in self.attributes:
            if "cache" in name:
                yield Problem(f"{self.name} passes the cache by and has no cache policy", at=name)


class LdDev(_Device, ElementLoad, name="pto.ld_dev"):
    """Uncached load.

    Load one integer from GM past the cache.

        %v = pto.ld_dev %p[%i] : !pto.ptr<i32, gm> -> i32
    """


class StDev(_Device, ElementStore, name="pto.st_dev"):
    """Uncached store.

    Store one integer to GM past the cache.

        pto.st_dev %v, %p[%i] : !pto.ptr<i32, gm>, i32
    """


def looks_at_memory(op: Operation) -> bool:
    """Whether there is a scalar load from GM in an operation: a loop with one may wait for what others write."""
    return any(
        (isinstance(inner, LoadScalar | LdDev) or inner.name.startswith("pto.atomic_"))
        and isinstance(pointer := inner.operands[0].type, PtrType)
        and pointer.space is Space.GM
        for inner in op.walk()
    )
