"""Regions that are written with `with`: sections, vector scopes, loops and branches in their explicit form."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from xdsl.ir import Block, Operation, Region, SSAValue

from ptosim.author.coerce import INDEX, as_value, condition, literal, whole
from ptosim.author.control_flow import loop_bounds
from ptosim.author.failures import WrongPlace, WrongType, WrongValue, failure
from ptosim.author.trace import Trace, current, explicit_only
from ptosim.author.values import Traced, wrap
from ptosim.author.words import choice
from ptosim.language.catalogue import operation
from ptosim.language.structure.control import Condition, For, If, While, Yield


def static_range(*arguments: Any) -> range:
    """A range whose turns are unrolled while tracing."""
    for value in arguments:
        if isinstance(value, Traced):
            message = "pto.static_range counts while tracing; this bound is a value that only the run knows"
            raise failure(WrongType, message, hint="write for i in range(...)")
    if not 1 <= len(arguments) <= 3:
        raise failure(WrongType, f"pto.static_range takes 1 to 3 arguments, not {len(arguments)}")
    bounds = [whole(each, "a bound of pto.static_range") for each in arguments]
    if len(bounds) == 3 and bounds[2] == 0:
        raise failure(WrongValue, "the step of pto.static_range cannot be 0")
    return range(*bounds)


@contextmanager
def section(kind: Any = "") -> Generator[None]:
    """Code for one kind of core."""
    trace = explicit_only("pto.section")
    word = choice(kind, ("cube", "vector"), "section")
    body = trace.body
    if body.sections:
        raise failure(WrongPlace, f'pto.section("{word}") inside {body.sections[-1]}: sections do not nest')
    if body.kernel_kind is not None:
        message = f'a kernel with kernel_kind="{body.kernel_kind}" has no sections: all of it is for that core'
        raise failure(WrongPlace, message)
    if word in body.sections_done:
        raise failure(WrongPlace, f'a kernel has one pto.section("{word}"), and this is the second')
    body.sections_done.add(word)
    with _region(trace, f"pto.section.{word}", f'pto.section("{word}")'):
        yield


@contextmanager
def vecscope() -> Generator[None]:
    """One interval of the vector unit."""
    trace = current("pto.vecscope")
    if trace.body.kind != "tileop":
        explicit_only("pto.vecscope")
    scopes = trace.body.scopes
    with _region(trace, "pto.vecscope", "pto.vecscope()"):
        scopes.append(trace.place(3))
        try:
            yield
        finally:
            scopes.pop()


@contextmanager
def _region(trace: Trace, name: str, shown: str, properties: dict[str, Any] | None = None) -> Generator[None]:
    kind, place = operation(name), trace.place(4)
    assert kind is not None
    block = Block()
    trace.body.sections.append(shown)
    try:
        with trace.into(block):
            yield
            end = kind.implicit_end
            if end is not None and not (isinstance(block.last_op, end)):
                trace.add(end.make({}), place)
    finally:
        trace.body.sections.pop()
    made = trace.add(kind.make({}, (), properties, regions=[Region(block)]))
    if place is not None:
        trace.places[made] = place


region = _region

# --- loops ------------------------------------------------------------------------------------------------------------


def for_(start: Any, stop: Any = None, *, step: Any = 1) -> ExplicitLoop:
    """`with pto.for_(a, b, step=s) as i:`; values that go around are given to .carry()."""
    if stop is None:
        start, stop = 0, start
    return ExplicitLoop(start, stop, step)


class ExplicitLoop:
    """A loop in its explicit form."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self._trace = current("pto.for_")
        self._bounds = loop_bounds(start, stop, step)
        self._initial: dict[str, Any] = {}
        self._following: dict[str, Any] | None = None
        self._inside: dict[str, Any] = {}
        self._final: dict[str, Any] | None = None
        self._block = Block(arg_types=[INDEX])
        self._entered: Any = None
        self.iv: Any = None

    def carry(self, **values: Any) -> ExplicitLoop:
        """Values that go from one turn to the next, by name."""
        if self._entered is not None:
            raise failure(WrongPlace, "carry belongs in front of the loop: loop = pto.for_(…).carry(x=v)")
        self._initial = {name: as_value(value) for name, value in values.items()}
        return self

    def __enter__(self) -> Any:
        types = [each.ssa.type for each in self._initial.values()]
        self._block = Block(arg_types=[INDEX, *types])
        self._block.args[0].name_hint = "i"
        self.iv = wrap(self._block.args[0])
        for (name, value), arg in zip(self._initial.items(), self._block.args[1:], strict=True):
            arg.name_hint = name if SSAValue.is_valid_name(name) else None
            self._inside[name] = value.like(arg)
        self._entered = self._trace.into(self._block)
        self._entered.__enter__()
        return self if self._initial else self.iv

    def update(self, **values: Any) -> None:
        """Gives the values of the next turn: once, with all names."""
        if self._following is not None:
            raise failure(WrongPlace, "update is called once in a loop")
        if set(values) != set(self._initial):
            raise failure(
                WrongType, f"update takes all that is carried: {', '.join(self._initial)}; not {', '.join(values)}"
            )
        self._following = {name: values[name] for name in self._initial}

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._entered.__exit__(kind, problem, trace)
            return
        following: list[SSAValue] = []
        if self._initial and self._following is None:
            self._entered.__exit__(None, None, None)
            raise failure(WrongType, f"this loop carries {', '.join(self._initial)}, but update was not called in it")
        for name, value in (self._following or {}).items():
            following.append(_settled(name, value, self._initial[name].ssa.type))
        self._trace.make(Yield, {"arguments": following})
        self._entered.__exit__(None, None, None)
        starts = [each.ssa for each in self._initial.values()]
        operands = dict(zip(("lb", "ub", "step"), self._bounds, strict=True))
        made = self._trace.make(
            For, {**operands, "iter_args": starts}, [each.type for each in starts], regions=[Region(self._block)]
        )
        pairs = zip(self._initial.items(), made.results, strict=True)
        self._final = {name: _renamed(value, result, name) for (name, value), result in pairs}

    def final(self, name: str) -> Any:
        """The values that the last turn has left."""
        if self._final is None:
            raise failure(WrongPlace, f'final("{name}") belongs behind the loop')
        if name not in self._final:
            raise failure(
                WrongValue, f"this loop does not carry {name!r}; it carries {', '.join(self._final) or 'nothing'}"
            )
        return self._final[name]

    def __getattr__(self, name: str) -> Any:
        inside: dict[str, Any] = self.__dict__.get("_inside", {})
        if name.startswith("_") or name not in inside:
            raise AttributeError(f"this loop does not carry {name!r}; it carries {', '.join(inside) or 'nothing'}")
        return inside[name]


def _settled(name: str, value: Any, type_: Any) -> SSAValue:
    given = as_value(value, type_)
    if given.ssa.type != type_:
        raise failure(WrongType, f"{name} goes into a turn with type {type_} and leaves it with {given.ssa.type}")
    return given.ssa


def _renamed(model: Any, ssa: SSAValue, name: str) -> Any:
    if SSAValue.is_valid_name(name):
        ssa.name_hint = name
    return model.like(ssa)


# --- branches ---------------------------------------------------------------------------------------------------------


def if_(test: Any) -> ExplicitBranch:
    """`with pto.if_(c) as br:` with `br.then_` and `br.else_`."""
    return ExplicitBranch(test)


class ExplicitBranch:
    """A branch in its explicit form."""

    def __init__(self, test: Any) -> None:
        self._trace = current("pto.if_")
        self._test = condition(test)
        self._blocks = {"then": Block(), "else": Block()}
        self._assigned: dict[str, dict[str, Any]] = {"then": {}, "else": {}}
        self._side: str | None = None
        self._results: dict[str, Any] | None = None
        self._place = self._trace.place(3)
        self._last: Operation | None = None

    def __enter__(self) -> ExplicitBranch:
        self._last = self._trace.block.last_op
        return self

    def _refuse_strays(self) -> None:
        """Nothing stands beside the two sides."""
        stray = self._last.next_op if self._last is not None else self._trace.block.first_op
        if stray is not None:
            message = "with pto.if_(…) as br holds with br.then_ and with br.else_, and nothing else"
            hint = "put the statement inside one of them, or in front of the branch"
            raise failure(WrongPlace, message, self._trace.places.get(stray), hint=hint)

    @property
    def then_(self) -> Any:
        return self._within("then")

    @property
    def else_(self) -> Any:
        return self._within("else")

    @contextmanager
    def _within(self, side: str) -> Generator[None]:
        if self._side is not None or self._results is not None:
            raise failure(WrongPlace, f"br.{side}_ stands directly inside with pto.if_(…) as br")
        self._side = side
        try:
            with self._trace.into(self._blocks[side]):
                yield
        finally:
            self._side = None

    def assign(self, **values: Any) -> None:
        """The values that this side leaves, by name; both sides leave the same names."""
        if self._side is None:
            raise failure(WrongPlace, "assign belongs inside with br.then_ or with br.else_")
        if self._assigned[self._side]:
            raise failure(WrongPlace, "assign is called once on each side")
        self._assigned[self._side] = dict(values)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        self._refuse_strays()
        then, otherwise = self._assigned["then"], self._assigned["else"]
        if set(then) != set(otherwise):
            shown = f"{', '.join(then) or 'nothing'} and {', '.join(otherwise) or 'nothing'}"
            raise failure(WrongType, f"both sides of a branch assign the same names, not {shown}", self._place)
        types = {name: self._type(name, then[name], otherwise[name]) for name in then}
        models: dict[str, Any] = {}
        for side, block in self._blocks.items():
            with self._trace.into(block):
                values: list[SSAValue] = []
                for name, type_ in types.items():
                    given = as_value(self._assigned[side][name], type_)
                    models[name] = given
                    values.append(_settled(name, given, type_))
                self._trace.make(Yield, {"arguments": values})
        regions = [Region(block) for block in self._blocks.values()]
        made = self._trace.make(If, {"cond": self._test}, list(types.values()), regions=regions)
        if self._place is not None:
            self._trace.places[made] = self._place
        pairs = zip(types, made.results, strict=True)
        self._results = {name: _renamed(models[name], result, name) for name, result in pairs}

    def _type(self, name: str, a: Any, b: Any) -> Any:
        for value in (a, b):
            if isinstance(value, Traced):
                return value.ssa.type
        if literal(a) is None or literal(b) is None:
            raise failure(WrongType, f"{name} is no value of a kernel")
        raise failure(WrongType, f"{name} is a literal on both sides, which has no type", hint="write pto.i32(…)")

    def get(self, name: str) -> Any:
        """The value that the branch has left under a name."""
        if self._results is None:
            raise failure(WrongPlace, f"{name} is known behind the branch")
        if name not in self._results:
            raise failure(
                WrongValue, f"this branch assigns no {name!r}; it assigns {', '.join(self._results) or 'nothing'}"
            )
        return self._results[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.get(name)


def while_(test: Callable[..., Any], **state: Any) -> ExplicitWhile:
    """`with pto.while_(lambda x: x < n, x=v) as loop:`; the body ends with pto.yield_(x=…)."""
    return ExplicitWhile(test, state)


class ExplicitWhile:
    """A loop with a condition in its explicit form."""

    def __init__(self, test: Callable[..., Any], state: dict[str, Any]) -> None:
        self._trace = current("pto.while_")
        self._test = test
        self._initial = {name: as_value(value) for name, value in state.items()}
        self._following: list[SSAValue] | None = None
        self._final: dict[str, Any] = {}
        self._inside: dict[str, Any] = {}
        self._entered: Any = None

    def __enter__(self) -> ExplicitWhile:
        types = [each.ssa.type for each in self._initial.values()]
        self._before, self._after = Block(arg_types=types), Block(arg_types=types)
        pairs = zip(self._initial.items(), self._before.args, strict=True)
        asked = {name: value.like(arg) for (name, value), arg in pairs}
        with self._trace.into(self._before):
            goes_on = condition(self._test(**asked))
            self._trace.make(Condition, {"condition": goes_on, "arguments": list(self._before.args)})
        pairs = zip(self._initial.items(), self._after.args, strict=True)
        self._inside = {name: value.like(arg) for (name, value), arg in pairs}
        self._trace.whiles.append(self)
        self._entered = self._trace.into(self._after)
        self._entered.__enter__()
        return self

    def proceed(self, values: dict[str, Any]) -> None:
        if set(values) != set(self._initial):
            raise failure(WrongType, f"pto.yield_ takes {', '.join(self._initial)}, not {', '.join(values)}")
        self._following = [_settled(name, values[name], each.ssa.type) for name, each in self._initial.items()]

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._trace.whiles.pop()
        if kind is None and self._following is not None:
            self._trace.make(Yield, {"arguments": self._following})
        self._entered.__exit__(kind, problem, trace)
        if kind is not None:
            return
        if self._following is None:
            raise failure(WrongType, "the body of pto.while_ ends with pto.yield_(…)")
        starts = [each.ssa for each in self._initial.values()]
        regions = [Region(self._before), Region(self._after)]
        made = self._trace.make(While, {"arguments": starts}, [each.type for each in starts], regions=regions)
        pairs = zip(self._initial.items(), made.results, strict=True)
        self._final = {name: _renamed(value, result, name) for (name, value), result in pairs}

    def final(self, name: str) -> Any:
        return self._final[name]

    def __getattr__(self, name: str) -> Any:
        inside: dict[str, Any] = self.__dict__.get("_inside", {})
        if name.startswith("_") or name not in inside:
            raise AttributeError(name)
        return self._final.get(name, inside[name])


def yield_(**values: Any) -> None:
    """Gives the values of the next turn of pto.while_."""
    trace = current("pto.yield_")
    if not trace.whiles:
        raise failure(WrongPlace, "pto.yield_ belongs in the body of pto.while_")
    trace.whiles[-1].proceed(values)
