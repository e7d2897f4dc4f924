"""Branches and loops that rewritten code calls: they become `scf`, or plain Python where Python knows the condition."""
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Region, SSAValue

from ptosim.author.coerce import INDEX, as_value, condition, index, literal, literal_type, pattern
from ptosim.author.failures import UnsupportedControl, WrongType, WrongValue, failure
from ptosim.author.items import SpreadNames, moving, spread_sides
from ptosim.author.operators import binary
from ptosim.author.place import here
from ptosim.author.trace import current
from ptosim.author.values import ScalarValue, Traced, is_authors_name, wrap
from ptosim.diagnostics import Related
from ptosim.language.structure.control import Condition, For, If, While, Yield
from ptosim.language.structure.scalar import AndI, OrI, XOrI
from ptosim.places import Location

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Unset:
    """A name that has no value here; it complains as soon as it is used."""

    def __init__(self, name: str, why: str, place: Location | None = None, hint: str | None = None) -> None:
        self._said = name, why, place, hint or f"set {name} before, so that it has a value on every way"

    def complain(self) -> NoReturn:
        name, why, place, hint = self._said
        related = (Related(place, "here"),) if place is not None else ()
        raise failure(UnsupportedControl, f"{name} {why}", related=related, hint=hint)

    def __getattr__(self, name: str) -> NoReturn:
        self.complain()

    def _complain(self, *_: Any) -> NoReturn:
        self.complain()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _complain
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __and__ = __rand__ = __or__ = __ror__ = _complain
    __xor__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = __call__ = __getitem__ = __iter__ = _complain
    __bool__ = __index__ = __int__ = __float__ = __len__ = __neg__ = __setitem__ = __enter__ = _complain
    __eq__ = __ne__ = _complain  # type: ignore[assignment]
    __hash__ = object.__hash__


def unset(name: str) -> Unset:
    """The marker of a name that is not yet assigned."""
    return Unset(name, "is not set here")


def item(holder: Any, key: Any, name: str) -> Any:
    """The marker of `v[K]` before a branch or loop sets it."""
    if isinstance(holder, Traced) or isinstance(key, Traced):
        raise moving(name)
    if isinstance(key, Unset):
        key.complain()
    try:
        return holder[key]
    except (KeyError, IndexError):
        return unset(name)


def leave(names: Sequence[str], saved: Sequence[Any]) -> tuple[Any, ...]:
    """Behind a section, names hold what they held before it."""
    place = here()
    why = "is set inside a section or scope, and what is made there stays there"
    hint = "store it to memory inside, or compute it again behind"
    pairs = zip(names, saved, strict=True)
    return tuple(Unset(name, why, place, hint) if isinstance(value, Unset) else value for name, value in pairs)


# --- truth values -----------------------------------------------------------------------------------------------------

Later = Callable[[], Any]


def no() -> Any:
    """False, as a value that a loop may carry."""
    return wrap(pattern(0, i1))


def yes() -> Any:
    return True


def negate(value: Any) -> Any:
    """`not`."""
    if isinstance(value, ScalarValue):
        return wrap(current().make(XOrI, {"lhs": condition(value), "rhs": pattern(1, i1)}, [i1]).results[0])
    return not value


def both(*values: Later) -> Any:
    """`and`."""
    return _joined(values, AndI, ends_at=False)


def either(*values: Later) -> Any:
    """`or`."""
    return _joined(values, OrI, ends_at=True)


def _joined(values: Sequence[Later], kind: Any, ends_at: bool) -> Any:
    found = values[0]()
    for each in values[1:]:
        if not isinstance(found, ScalarValue):
            if bool(found) is ends_at:
                return found
            found = each()
            continue
        other = each()
        if not isinstance(other, ScalarValue):
            if bool(other) is ends_at:
                return wrap(condition(bool(other)))
            found = wrap(condition(found))
            continue
        operands = {"lhs": condition(found), "rhs": condition(other)}
        found = wrap(current().make(kind, operands, [i1]).results[0])
    return found


def chain(signs: Sequence[str], first: Any, *others: Later) -> Any:
    """`a < b < c`, b evaluated once."""
    made: Any = True
    for sign, other in zip(signs, others, strict=True):
        second = other()
        left, found = made, _SIGNS[sign](first, second)
        made = both(lambda left=left: left, lambda found=found: found)
        if not isinstance(made, ScalarValue) and not made:
            return made
        first = second
    return made


def among(value: Any, held: Any) -> Any:
    """`in`."""
    if not isinstance(held, tuple | list) or not any(isinstance(each, ScalarValue) for each in (value, *held)):
        return value in held
    found: Any = False
    for each in cast("Sequence[Any]", held):
        before, equal = found, value == each
        found = either(lambda before=before: before, lambda equal=equal: equal)
    return found


def static_test(value: Any, word: str) -> Any:
    """The condition of an `if` that holds break, continue or return: Python has to know it."""
    if isinstance(value, Traced):
        message = f"{word} under a condition that only the run knows"
        hint = {
            "return": "put the rest of the function under the opposite condition",
            "break": "break ends loops over range and while loops at run time; pto.static_range is unrolled",
        }.get(word, "continue skips turns of loops over range at run time; pto.static_range is unrolled")
        raise failure(UnsupportedControl, message, hint=hint)
    return value


# --- branches ---------------------------------------------------------------------------------------------------------


def branch(
    test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], names: Sequence[str], values: Sequence[Any]
) -> tuple[Any, ...]:
    """An `if`: one of its sides where Python knows which, both where only the run does."""
    if not isinstance(test, Traced):
        return tuple((then if test else otherwise)(*values))
    trace, decided = current(), condition(test)
    blocks, found = (Block(), Block()), list[Sequence[Any]]()
    for block, side in zip(blocks, (then, otherwise), strict=True):
        with trace.into(block):
            found.append(side(*values))
    one_way = _one_way(here())
    spread, sides, gathered = spread_sides(names, found, one_way)
    return gathered(_merged(decided, blocks, spread, sides, one_way))


def _one_way(place: Location | None) -> Callable[[str], Unset]:
    return lambda name: Unset(name, "is set on one way only", place)


def _merged(
    decided: SSAValue,
    blocks: tuple[Block, Block],
    names: Sequence[str],
    found: Sequence[Sequence[Any]],
    one_way: Callable[[str], Unset],
) -> tuple[Any, ...]:
    trace = current()
    results: list[Any] = [None] * len(names)
    joined: list[tuple[int, Any, Any, Attribute]] = []
    for number, (name, a, b) in enumerate(zip(names, *found, strict=True)):
        if _is_same(a, b):
            results[number] = a
        elif isinstance(a, Unset) or isinstance(b, Unset):
            results[number] = one_way(name)
        else:
            joined.append((number, a, b, _common_type(name, a, b)))
    for block, side in zip(blocks, (0, 1), strict=True):
        with trace.into(block):
            values = [_as_type(pair[1 + side], pair[3]) for pair in joined]
            trace.make(Yield, {"arguments": values})
    regions = [Region(block) for block in blocks]
    made = trace.make(If, {"cond": decided}, [type_ for *_, type_ in joined], regions=regions)
    for (number, a, b, _), result in zip(joined, made.results, strict=True):
        model = a if isinstance(a, Traced) and a.ssa.type == result.type else b
        results[number] = _like(model, result, names[number])
    return tuple(results)


def _is_same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, Traced) and isinstance(b, Traced):
        return a.ssa is b.ssa
    if isinstance(a, Traced) or isinstance(b, Traced) or isinstance(a, Unset) or isinstance(b, Unset):
        return False
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False


def _common_type(name: str, a: Any, b: Any) -> Attribute:
    """The type of a name that two sides set."""
    if not isinstance(a, Traced) and not isinstance(b, Traced):
        if literal(a) is None or literal(b) is None:
            message = f"{name} is {a!r} on one way and {b!r} on the other, which are no values of a kernel"
            raise failure(WrongType, message)
        message = f"{name} is {a!r} on one way and {b!r} on the other: two literals have no type"
        kind = "f32" if isinstance(a, float) or isinstance(b, float) else "i32"
        set_to = "" if " " in name else f"{name} = "
        raise failure(WrongType, message, hint=f"give one of them a type: {set_to}pto.{kind}({a!r})")
    if not isinstance(a, Traced) or not isinstance(b, Traced):
        return a.ssa.type if isinstance(a, Traced) else b.ssa.type
    first, second = a.ssa.type, b.ssa.type
    if first == second:
        return first
    if i1 in (first, second) and isinstance(a, ScalarValue) and isinstance(b, ScalarValue):
        return i1
    hint = "convert one of them, so that both ways leave the same type"
    raise failure(WrongType, f"{name} has type {first} on one way and {second} on the other", hint=hint)


def _as_type(value: Any, type_: Attribute) -> SSAValue:
    if isinstance(value, Traced):
        return value.ssa if value.ssa.type == type_ else condition(value)
    return as_value(value, type_).ssa


def _like(model: Any, ssa: SSAValue, name: str) -> Any:
    ssa.name_hint = name if is_authors_name(name) else None if "[" in name else "flag"
    current().named.add(ssa)
    return model.like(ssa) if isinstance(model, Traced) and type(model) is not ScalarValue else wrap(ssa)


def choose(test: Any, then: Later, otherwise: Later) -> Any:
    """`a if c else b`."""
    return branch(test, lambda: (then(),), lambda: (otherwise(),), ("the value",), ())[0]


# --- loops ------------------------------------------------------------------------------------------------------------

Types = dict[str, Attribute]


def _carried(names: Sequence[str], values: Sequence[Any], kept: Sequence[str]) -> list[str]:
    """The names that go around: those that are needed again and have a value before."""
    return [name for name, value in zip(names, values, strict=True) if name in kept and not isinstance(value, Unset)]


def _guesses(names: Sequence[str], values: dict[str, Any]) -> Types:
    """The types that literals begin with; the first turn may show that they are others."""
    return {name: literal_type(literal(values[name])) for name in names if literal(values[name]) is not None}


def _retyped(types: Types, outcome: dict[str, Any], settled: set[str]) -> bool:
    """Takes the type that a loop gives to what began as a literal; says whether there is another one to try."""
    changed = False
    for name in types:
        found = outcome[name]
        if isinstance(found, Traced) and found.ssa.type != types[name] and name not in settled:
            types[name] = found.ssa.type
            settled.add(name)
            changed = True
    return changed


def _next(name: str, value: Any, type_: Attribute) -> SSAValue:
    """The value that a turn leaves for the next, in the type of the loop."""
    if isinstance(value, Traced) and value.ssa.type != type_:
        if type_ == i1 and isinstance(value, ScalarValue):
            return condition(value)
        message = f"{name} goes into a turn of the loop with type {type_} and leaves it with {value.ssa.type}"
        raise failure(WrongType, message, hint="convert it, so that every turn leaves the type that it found")
    return as_value(value, type_).ssa


def turns(name: str, iterated: Iterable[Any]) -> Generator[Any]:
    """The turns of a loop that is unrolled; places name them."""
    trace = current()
    for value in iterated:
        entry = (name, value) if type(value) is int else None
        if entry is not None:
            trace.turns.append(entry)
        try:
            yield value
        finally:
            if entry is not None and entry in trace.turns:
                trace.turns.remove(entry)


def range_bounds(arguments: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Start, end and step of a range."""
    if not 1 <= len(arguments) <= 3:
        raise failure(WrongType, f"range takes 1 to 3 arguments, not {len(arguments)}")
    lower, upper = (0, arguments[0]) if len(arguments) == 1 else arguments[:2]
    return lower, upper, arguments[2] if len(arguments) == 3 else 1


def for_range(
    arguments: Sequence[Any],
    body: Callable[..., Any],
    counter: str,
    names: Sequence[str],
    values: Sequence[Any],
    kept: Sequence[str],
) -> tuple[Any, ...]:
    """`for i in range(…)`."""
    place, spread = here(), SpreadNames(names, values)
    each_name, each_kept = spread.names(names), spread.names(kept)
    each_value = spread.values(names, values)
    given = dict(zip(each_name, each_value, strict=True))
    carried = _carried(each_name, each_value, each_kept)
    lower, upper, step = range_bounds(arguments)
    bounds = loop_bounds(lower, upper, step)

    def turn(iv: Any, state: dict[str, Any]) -> dict[str, Any]:
        inside = [state.get(name, _between_turns(name, given[name], place)) for name in each_name]
        return dict(zip(each_kept, spread.turn(kept, body(iv, *spread.gathered(names, inside))), strict=True))

    outcome = loop(bounds, counter, carried, {name: given[name] for name in carried}, turn)
    hint = f"keep it under another name, which is set before the loop and inside: last = {counter}"
    behind = Unset(counter, "counts the turns of a loop and has no value behind it", place, hint)
    return behind, *_behind(spread, kept, each_kept, outcome, place)


def _between_turns(name: str, value: Any, place: Location | None) -> Any:
    """The value at the start of a turn of a name that the loop does not carry."""
    return value if not isinstance(value, Unset) else Unset(name, "is not set at the start of a turn", place)


def _behind(
    spread: SpreadNames,
    kept: Sequence[str],
    each_kept: Sequence[str],
    outcome: dict[str, Any],
    place: Location | None,
) -> tuple[Any, ...]:
    """The values of names behind a loop."""

    def gone(name: str) -> Unset:
        return Unset(name, "is what the last turn of a loop has set, if there was one", place)

    return spread.gathered(kept, [outcome[name] if name in outcome else gone(name) for name in each_kept], gone)


def loop_bounds(lower: Any, upper: Any, step: Any) -> tuple[SSAValue, SSAValue, SSAValue]:
    known = literal(step)
    if known is not None and not isinstance(known, float) and known <= 0:
        hint = "count up and compute the index from the turn, or use a loop with break, which may count down"
        raise failure(WrongValue, f"the step of a loop must be positive, not {known}", hint=hint)
    return (
        index(lower, "the start of the range"),
        index(upper, "the end of the range"),
        index(step, "the step of the range"),
    )


def loop(
    bounds: tuple[SSAValue, SSAValue, SSAValue],
    counter: str,
    carried: Sequence[str],
    given: dict[str, Any],
    turn: Callable[[Any, dict[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    """An `scf.for`; `turn` traces its body from index and carried values to the next ones."""
    trace, types, settled = current(), _guesses(carried, given), set[str]()
    while True:
        initial = {name: as_value(given[name], types.get(name)) for name in carried}
        block = Block(arg_types=[INDEX, *(initial[name].ssa.type for name in carried)])
        block.args[0].name_hint = counter if SSAValue.is_valid_name(counter) else "i"
        state = {name: _like(initial[name], arg, name) for name, arg in zip(carried, block.args[1:], strict=True)}
        with trace.into(block):
            outcome = turn(wrap(block.args[0]), state)
            if not _retyped(types, outcome, settled):
                following = [_next(name, outcome[name], initial[name].ssa.type) for name in carried]
                trace.make(Yield, {"arguments": following})
                break
    operands = dict(zip(("lb", "ub", "step"), bounds, strict=True))
    starts = [initial[name].ssa for name in carried]
    made = trace.make(For, {**operands, "iter_args": starts}, [each.type for each in starts], regions=[Region(block)])
    return {name: _like(initial[name], result, name) for name, result in zip(carried, made.results, strict=True)}


def while_loop(
    test: Callable[..., Any],
    body: Callable[..., Any],
    names: Sequence[str],
    values: Sequence[Any],
    kept: Sequence[str],
) -> tuple[Any, ...]:
    """`while`."""
    place, spread = here(), SpreadNames(names, values)
    each_name, each_kept = spread.names(names), spread.names(kept)
    each_value = spread.values(names, values)
    given = dict(zip(each_name, each_value, strict=True))
    carried = _carried(each_name, each_value, each_kept)
    if not carried:
        message = "this loop never ends: nothing that its condition reads is set inside it, and no break leaves it"
        raise failure(UnsupportedControl, message)
    trace, types, settled = current(), _guesses(carried, given), set[str]()
    while True:
        initial = {name: as_value(given[name], types.get(name)) for name in carried}
        inner_types = [initial[name].ssa.type for name in carried]
        before, after = Block(arg_types=inner_types), Block(arg_types=inner_types)
        states = [
            {name: _like(initial[name], arg, name) for name, arg in zip(carried, block.args, strict=True)}
            for block in (before, after)
        ]
        inside = [spread.gathered(names, [state.get(name, given[name]) for name in each_name]) for state in states]
        with trace.into(before):
            goes_on = condition(test(*inside[0]))
            trace.make(Condition, {"condition": goes_on, "arguments": list(before.args)})
        with trace.into(after):
            outcome = dict(zip(each_kept, spread.turn(kept, body(*inside[1])), strict=True))
            if not _retyped(types, outcome, settled):
                following = [_next(name, outcome[name], initial[name].ssa.type) for name in carried]
                trace.make(Yield, {"arguments": following})
                break
    starts = [initial[name].ssa for name in carried]
    made = trace.make(While, {"arguments": starts}, inner_types, regions=[Region(before), Region(after)])
    found = {name: _like(initial[name], result, name) for name, result in zip(carried, made.results, strict=True)}
    return _behind(spread, kept, each_kept, found, place)


# --- loops over a range that may be left ------------------------------------------------------------------------------


def bounds(*arguments: Any) -> tuple[Any, Any, Any]:
    """Start, end and step as values."""
    lower, upper, step = range_bounds(arguments)
    known = literal(step)
    if known == 0:
        raise failure(WrongValue, "the step of a range cannot be 0")
    stepping = step if known is not None else wrap(index(step, "the step of the range"))
    return wrap(index(lower, "the start of the range")), wrap(index(upper, "the end of the range")), stepping


def within(at: Any, stop: Any, step: Any) -> Any:
    """Whether a range goes on."""
    if literal(step) is not None:
        return at < stop if step > 0 else at > stop
    forward, backward = both(lambda: step > 0, lambda: at < stop), both(lambda: step < 0, lambda: at > stop)
    return either(lambda: forward, lambda: backward)


def advance(at: Any, step: Any) -> Any:
    return binary("+", at, step)
