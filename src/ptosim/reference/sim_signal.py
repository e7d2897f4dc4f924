"""Signals in global memory: the machine waits, this says where the words are."""

from __future__ import annotations

from ptosim.effects.sim_signal import offsets
from ptosim.language.micro import sim_signal as op
from ptosim.machine.entry import Site
from ptosim.machine.group import group_problems
from ptosim.machine.signal import SignalledWords
from ptosim.reference.core import Core
from ptosim.reference.numeric.integers import signed64
from ptosim.reference.semantics import semantics


@semantics(op.SimNotify)
def notify(core: Core, site: Site, signal: int, value: int, adds: bool) -> None:
    words = core.signal_words(site, "writes", [signal])
    if words is not None:
        core.machine.notify(site, words, value, adds)


def _watched(
    core: Core, site: Site, signal: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> SignalledWords | None:
    return core.signal_words(site, "reads", [signed64(signal + offset) for offset in offsets(shape, strides)])


@semantics(op.SimWaitWords)
def wait_words(
    core: Core, site: Site, signal: int, value: int, strides: tuple[int, ...], cmp: str, shape: tuple[int, ...]
) -> None:
    words = _watched(core, site, signal, shape, strides)
    if words is not None:
        core.machine.watch(site, words, cmp, value)


@semantics(op.SimTestWords)
def test_words(
    core: Core, site: Site, signal: int, value: int, strides: tuple[int, ...], cmp: str, shape: tuple[int, ...]
) -> bool:
    words = _watched(core, site, signal, shape, strides)
    return words is not None and core.machine.test(site, words, cmp, value)


@semantics(op.SimGroup)
def group(core: Core, site: Site, buffer: int, members: tuple[int, ...], root: int, bytes: int) -> None:
    """Only a check has something to say."""
    if not core.wants_lint:
        return
    places = [signed64(member) for member in members]
    for message, severity in group_problems(core.machine, signed64(buffer), places, root, bytes):
        core.complain(site, "wrong-rank", message, severity, fatal=False)
