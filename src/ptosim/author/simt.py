"""Workitems: helpers and sections that many of them run, what they ask about themselves, and reductions over them."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, SymbolRefAttr, i32, i64
from xdsl.ir import Attribute, SSAValue

from ptosim.author.call import build, default_type
from ptosim.author.coerce import (
    INDEX,
    address,
    as_value,
    index,
    integer_attribute,
    literal,
    refuse_unset,
    scalar_value,
    whole,
)
from ptosim.author.definition import AuthoredFunction, AuthoredParameter
from ptosim.author.dtypes import TILE, Described, DType, StructDescription, type_of, vec_type
from ptosim.author.dtypes import dtype as named
from ptosim.author.failures import WrongPlace, WrongType, WrongValue, failure
from ptosim.author.functions import UNIT, add_function, argument, call, named_block, returned
from ptosim.author.operators import binary, largest
from ptosim.author.scopes import region
from ptosim.author.tiles import TileValue
from ptosim.author.trace import Trace, TracedFunction, current
from ptosim.author.values import PointerOffset, ScalarValue, Traced, wrap
from ptosim.diagnostics import Related
from ptosim.language.catalogue import operation
from ptosim.language.simt.simt import SimtLaunch, StoreVfsimtInfo
from ptosim.language.tile.tile_buf import TileBuf
from ptosim.language.types import PtrType

WARP = 32


class TileOfWorkitems(TileValue):
    """A tile inside of code of workitems, which are given its address."""

    def __init__(self, ssa: SSAValue, outside: TileValue) -> None:
        super().__init__(ssa)
        self.outside = outside
        self.rank = outside.rank

    def like(self, ssa: SSAValue) -> TileOfWorkitems:
        return TileOfWorkitems(ssa, self.outside)

    @property
    def tile(self) -> TileBuf:
        return self.outside.tile

    def as_ptr(self) -> Any:
        return wrap(self.ssa)


class WorkitemHelper:
    """`@pto.simt`: a function that workitems run, one for each caller and kind of arguments."""

    def __init__(self, definition: AuthoredFunction, name: str | None, max_threads: Any) -> None:
        self.definition = definition
        self.name = name or definition.name
        self.__name__ = self.name
        self.__doc__ = definition.function.__doc__
        self.max_threads = None if max_threads is None else whole(max_threads, "max_threads")
        if self.max_threads is not None and self.max_threads <= 0:
            definition.refuse(f"max_threads is a positive integer, not {max_threads}")
        self.parameters = definition.parameters(keywords=True)
        for each in self.parameters:
            if isinstance(each.annotation, StructDescription):
                definition.refuse(f"{each.name}: workitems take no structures")

    def __getitem__(self, dims: Any) -> Any:
        if not isinstance(dims, tuple) or len(dims) != 3:
            raise failure(WrongType, f"{self.name}[x, y, z](…): a launch has three dimensions, not {dims!r}")
        sizes: tuple[Any, ...] = dims

        def launched(*args: Any, **static: Any) -> None:
            self.launch(args, sizes, static)

        return launched

    def __call__(self, *args: Any, **static: Any) -> None:
        """One workitem: the dimensions are stored, then the function is called."""
        trace = self._caller()
        symbol, values = self._function(trace, args, static)
        one = {role: scalar_value(1, i32) for role in ("dim_z", "dim_y", "dim_x")}
        trace.make(StoreVfsimtInfo, one)
        call(trace, symbol, values)

    def launch(self, args: Sequence[Any], dims: Sequence[Any], static: Mapping[str, Any]) -> None:
        """Starts the workitems that the dimensions name."""
        if len(dims) != 3:
            raise failure(WrongType, f"a launch of {self.name} has three dimensions, not {len(dims)}")
        trace = self._caller()
        sizes = {
            role: scalar_value(size, i32, role) for role, size in zip(("dim_x", "dim_y", "dim_z"), dims, strict=True)
        }
        symbol, values = self._function(trace, args, static)
        trace.make(SimtLaunch, {**sizes, "arguments": values}, (), {"callee": SymbolRefAttr(symbol)})

    def _caller(self) -> Trace:
        trace = current(self.name)
        if trace.body.kind == "simt":
            related = (Related(self.definition.place, "defined here"),)
            raise failure(WrongPlace, f"workitems cannot launch {self.name}: launches do not nest", related=related)
        return trace

    def _function(self, trace: Trace, args: Sequence[Any], static: Mapping[str, Any]) -> tuple[str, list[SSAValue]]:
        rest = [each for each in self.parameters if each.name not in static]
        plain = [each for each in rest if not each.is_keyword]
        left_out = [*plain[len(args) :], *(each for each in rest if each.is_keyword)]
        unknown = [name for name in static if name not in {each.name for each in self.parameters}]
        if all(each.default is not AuthoredFunction.unannotated for each in left_out):
            static = {**static, **{each.name: each.default for each in left_out}}
            plain = plain[: len(args)]
        if unknown or len(args) != len(plain):
            listed = ", ".join(each.name for each in self.parameters)
            what = f"has no parameter '{unknown[0]}'" if unknown else f"takes ({listed}); {len(args)} values are given"
            related = (Related(self.definition.place, "defined here"),)
            raise failure(WrongType, f"{self.name} {what}", related=related)
        for name, value in static.items():
            if isinstance(value, Traced):
                message = f"{name} of {self.name} is given by keyword, and only the run knows it"
                raise failure(WrongType, message, hint="give it by its place, as a parameter in front of the *")
        values = [self._argument(each, value) for each, value in zip(plain, args, strict=True)]
        types = tuple(value.ssa.type for value in values)
        tiles = tuple(value.tile if isinstance(value, TileOfWorkitems) else None for value in values)
        try:
            key = (trace.body.name, id(trace.module), self, types, tiles, tuple(sorted(static.items())))
            hash(key)
        except TypeError:
            raise failure(WrongType, f"keyword arguments of {self.name} are static, so they are hashable") from None
        if key not in trace.helpers:
            trace.helpers[key] = self._make(trace, plain, values, static)
        return trace.helpers[key], [value.ssa for value in values]

    def _argument(self, parameter: AuthoredParameter, value: Any) -> Any:
        if isinstance(value, TileValue) and parameter.annotation in (TILE, AuthoredFunction.unannotated):
            return TileOfWorkitems(value.as_ptr().ssa, value)
        if isinstance(parameter.annotation, Described):
            return argument(self.name, parameter, value)
        refuse_unset(value)
        if isinstance(value, PointerOffset):
            return wrap(address(value))
        return value if isinstance(value, Traced) else as_value(value, default_type(value))

    def _make(
        self, trace: Trace, plain: Sequence[AuthoredParameter], values: Sequence[Any], static: Mapping[str, Any]
    ) -> str:
        symbol = f"{self.name}__simt_{trace.numbered(f'simt {self.name}')}"
        types = [value.ssa.type for value in values]
        block = named_block(types, [each.name for each in plain])
        attributes: dict[str, Attribute] = {"pto.simt_entry": UNIT}
        if self.max_threads is not None:
            attributes["pto.simt_max_threads"] = integer_attribute(self.max_threads, i32, "max_threads")
        place, outer = self.definition.place, trace.definition
        add_function(trace, symbol, types, attributes=attributes, body=block, place=place)
        trace.definition = place
        try:
            with trace.function(TracedFunction("simt", self.name, True, [block])):
                pairs = zip(plain, values, block.args, strict=True)
                inside = {each.name: value.like(arg) for each, value, arg in pairs}
                positional = [{**inside, **static}[each.name] for each in self.parameters if not each.is_keyword]
                keywords = {each.name: {**inside, **static}[each.name] for each in self.parameters if each.is_keyword}
                result = self.definition.trace(*positional, **keywords)
                if result is not None:
                    raise failure(WrongType, f"{self.name} returns {result!r}, but workitems return nothing", place)
                returned(trace)
        finally:
            trace.definition = outer
        return symbol


class WorkitemSection:
    """`pto.simt(...)`: a decorator with options, or `with pto.simt(x, y, z):`."""

    def __init__(self, dims: tuple[Any, ...], name: str | None, ast_rewrite: bool | None, max_threads: Any) -> None:
        if len(dims) > 3:
            raise failure(WrongType, f"with pto.simt(x, y, z): three dimensions at most, not {len(dims)}")
        self._dims = dims
        self._options = name, ast_rewrite, max_threads
        self._regions: list[Any] = []

    def __call__(self, function: Any) -> WorkitemHelper:
        name, ast_rewrite, max_threads = self._options
        return WorkitemHelper(AuthoredFunction(function, ast_rewrite is not False), name, max_threads)

    def __enter__(self) -> None:
        trace = current("pto.simt")
        if trace.body.kind == "simt" or "pto.simt(…)" in trace.body.sections:
            raise failure(WrongPlace, "with pto.simt(…) inside of another: launches do not nest")
        sizes = [*self._dims, 1, 1, 1][:3]
        made = (integer_attribute(size, i32, "a dimension of pto.simt") for size in sizes)
        properties: dict[str, Any] = dict(zip(("dim_x", "dim_y", "dim_z"), made, strict=True))
        entered = region(trace, "pto.section.simt", "pto.simt(…)", properties)
        self._regions.append(entered)
        entered.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._regions.pop().__exit__(kind, problem, trace)


def simt(
    *dims: Any,
    name: str | None = None,
    target: str | None = None,
    ast_rewrite: bool | None = None,
    max_threads: Any = None,
) -> Any:
    """Code of workitems: `@pto.simt`, `@pto.simt(max_threads=…)`, `with pto.simt(x, y, z):`."""
    del target
    if len(dims) == 1 and callable(dims[0]) and not isinstance(dims[0], Traced):
        return WorkitemSection((), name, ast_rewrite, max_threads)(dims[0])
    return WorkitemSection(dims, name, ast_rewrite, max_threads)


def simt_launch(helper: Any, *args: Any, dims: Sequence[Any] = (1, 1, 1), **static: Any) -> None:
    """Launch a helper on as many workitems as the dimensions say."""
    if not isinstance(helper, WorkitemHelper):
        raise failure(WrongType, f"pto.simt_launch takes a function with @pto.simt, not {helper!r}")
    helper.launch(args, tuple(dims), static)


# --- queries, memory, conversions -------------------------------------------------------------------------------------


def _made(name: str, operands: dict[str, Any], results: Sequence[Attribute] = (), properties: Any = None) -> Any:
    kind = operation(name)
    assert kind is not None
    made = current(name).make(kind, operands, results, properties)
    return wrap(made.results[0]) if made.results else None


def _three(name: str) -> tuple[ScalarValue, ScalarValue, ScalarValue]:
    x, y, z = (_made(f"pto.{name}_{side}", {}, [i32]) for side in "xyz")
    return x, y, z


def get_tid() -> tuple[ScalarValue, ScalarValue, ScalarValue]:
    """The number of this workitem: x, y, z."""
    return _three("get_tid")


def get_block_dim() -> tuple[ScalarValue, ScalarValue, ScalarValue]:
    """The dimensions of the launch."""
    return _three("get_block_dim")


def get_grid_dim() -> tuple[ScalarValue, ScalarValue, ScalarValue]:
    """The dimensions of the grid."""
    return _three("get_grid_dim")


def _cached(kind: Any, name: str, l1cache: Any, l2cache: Any) -> dict[str, Attribute]:
    from ptosim.author.call import property_of

    return {
        "l1cache": property_of(kind, name, "l1cache", l1cache),
        "l2cache": property_of(kind, name, "l2cache", l2cache),
    }


def _element(ptr: Any, off: Any) -> tuple[SSAValue, SSAValue, Attribute]:
    from ptosim.author.memory import element_reference

    base, offset = element_reference(ptr, off)
    assert isinstance(base.type, PtrType)
    return base, index(offset, "the offset"), base.type.element


def ldg(ptr: Any, off: Any = None, *, l1cache: Any = "cache", l2cache: Any = "nmfv") -> Any:
    """Load an element of global memory, and say how it is cached."""
    kind = operation("pto.ldg")
    base, offset, element = _element(ptr, off)
    return _made("pto.ldg", {"pointer": base, "offset": offset}, [element], _cached(kind, "pto.ldg", l1cache, l2cache))


def stg(value: Any, ptr: Any, off: Any = None, *, l1cache: Any = "cache", l2cache: Any = "nmfv") -> None:
    """Set an element of global memory, and say how it is cached."""
    kind = operation("pto.stg")
    base, offset, element = _element(ptr, off)
    given = value.ssa if isinstance(value, Traced) and value.ssa.type == element else scalar_value(value, element)
    operands = {"pointer": base, "offset": offset, "value": given}
    _made("pto.stg", operands, (), _cached(kind, "pto.stg", l1cache, l2cache))


def convert(value: Any, type: Any, *, rounding: Any, saturation: Any, signedness: Any = None) -> Any:
    """A scalar of another kind, rounded and saturated as it is said."""
    kind = operation("pto.convert")
    assert kind is not None
    wanted = type_of(type)
    source = value if isinstance(value, Traced) else as_value(value, default_type(value))
    if isinstance(source.ssa.type, _Integer) and isinstance(wanted, _Integer):
        raise failure(WrongType, "pto.convert is for floats; integers change their width by scalar.cast")
    given = {"source": source, "rounding": rounding, "saturation": saturation}
    if signedness is not None:
        given["signedness"] = signedness
    return build(kind, "pto.convert", given, [wanted])


def mul_i32toi64(a: Any, b: Any, *, signedness: Any) -> Any:
    """The whole product of two i32."""
    kind = operation("pto.mul_i32toi64")
    assert kind is not None
    return build(kind, "pto.mul_i32toi64", {"lhs": a, "rhs": b, "signedness": signedness}, [i64])


def keep(value: Any, *, slot: Any) -> None:
    """Keep a value for the next launch."""
    given = value if isinstance(value, Traced) else as_value(value, default_type(value))
    _made("pto.keep", {"value": given.ssa}, (), {"slot": integer_attribute(slot, i64, "slot")})


def resume(type: Any, *, slot: Any) -> Any:
    """The value that the last launch has kept in a slot."""
    return _made("pto.resume", {}, [type_of(type)], {"slot": integer_attribute(slot, i64, "slot")})


# --- several scalars as one value -------------------------------------------------------------------------------------


def Vec(element_type: Any, count: int, init: Any = None) -> Any:
    """Several scalars of a workitem as one: a type, or with init a value."""
    made = vec_type(element_type, whole(count, "the length of a Vec"))
    if init is None:
        return made
    if isinstance(init, Traced) and init.ssa.type == made.type:
        return init
    parts: list[Any] = list(init) if isinstance(init, tuple | list) else [init] * count
    if len(parts) != count:
        raise failure(WrongValue, f"a Vec of {count} is made of {count} scalars, not {len(parts)}")
    return _assembled(made, named(element_type), parts)


def _assembled(type_: DType, element: DType, parts: Sequence[Any]) -> Any:
    value = _made("llvm.mlir.undef", {}, [type_.type])
    for number, part in enumerate(parts):
        operands = {
            "value": scalar_value(part, element.type, "an element of a Vec"),
            "vector": value.ssa,
            "index": scalar_value(number, i32),
        }
        value = _made("llvm.insertelement", operands, [type_.type])
    return value


# --- reductions over workitems ----------------------------------------------------------------------------------------


def _reduced(combine: Any, value: Any, threads: Any, scale: Any, thread_offset: Any, scratch: Any) -> Any:
    """A butterfly: partners exchange by shuffles in a warp, over memory beyond it."""
    count, step = whole(threads, "threads"), whole(scale, "scale")
    if count <= 0 or count & (count - 1):
        raise failure(WrongValue, f"threads is a power of two, not {count}")
    found = value if isinstance(value, Traced) else as_value(value, default_type(value))
    distance = count // 2
    while distance >= step:
        if distance >= WARP:
            found = combine(found, _over_memory(found, distance, thread_offset, scratch))
        else:
            kind = operation("pto.shuffle_bfly")
            assert kind is not None
            given = {"value": found, "control": distance, "width": IntegerAttr(WARP, i32)}
            found = combine(found, build(kind, "pto.shuffle_bfly", given))
        distance //= 2
    return found


def _over_memory(value: Any, distance: int, thread_offset: Any, scratch: Any) -> Any:
    if scratch is None:
        raise failure(WrongType, f"a reduction over more than {WARP} workitems takes scratch, a pointer to UB")
    from ptosim.author.memory import load, store

    thread = get_tid()[0]
    own = thread if literal(thread_offset) == 0 else binary("-", thread, thread_offset)
    _made("pto.syncthreads", {})
    store(value, scratch, own)
    _made("pto.syncthreads", {})
    return load(scratch, binary("^", own, distance))


def simt_allreduce_sum(value: Any, *, threads: Any, scale: Any = 1, thread_offset: Any = 0, scratch: Any = None) -> Any:
    """The sum over workitems, in all of them."""
    return _reduced(partial(binary, "+"), value, threads, scale, thread_offset, scratch)


def simt_allreduce_max(value: Any, *, threads: Any, scale: Any = 1, thread_offset: Any = 0, scratch: Any = None) -> Any:
    """The largest over workitems, in all of them."""
    return _reduced(largest, value, threads, scale, thread_offset, scratch)


def simt_allreduce_min(value: Any, *, threads: Any, scale: Any = 1, thread_offset: Any = 0, scratch: Any = None) -> Any:
    """The smallest over workitems, in all of them."""
    return _reduced(partial(largest, least=True), value, threads, scale, thread_offset, scratch)


_Integer = (type(i32), type(INDEX))

NAMES = (
    "get_tid get_block_dim get_grid_dim ldg stg convert mul_i32toi64 keep resume simt_allreduce_sum "
    "simt_allreduce_max simt_allreduce_min"
)
