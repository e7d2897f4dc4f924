"""Texts that come up again and again in a test are loaded, run and proven once: the repair of a text with one mistake
mostly ends at the text without it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from hashlib import sha256
from typing import Any

import pytest

import ptosim
from ptosim import checking
from ptosim.api import Kernel, Launch
from ptosim.order.prove import Verdict
from ptosim.sanitize.conflict import Enough
from ptosim.sanitize.observation import Observation


class Kept:
    """The values that were asked for last."""

    def __init__(self) -> None:
        self.values: OrderedDict[Hashable, Any] = OrderedDict()

    def __call__(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self.values:
            self.keep(key, make())
        self.values.move_to_end(key)
        return self.values[key]

    def keep(self, key: Hashable, value: Any) -> None:
        self.values[key] = value
        if len(self.values) > 24:
            self.values.popitem(last=False)


_kernels = Kept()


def kernel_of(text: str) -> Kernel:
    """One for all schedules and sizes in which a text is run."""
    return _kernels(text, lambda: ptosim.load(text).kernel())


class Once:
    """What checks and repairs do while the patch lasts, each thing once."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._load, self._run, self._prove = checking.reloaded, checking.observed, checking.verdict_of
        self._loaded, self._seen, self._proofs = Kept(), Kept(), Kept()
        patch.setattr(checking, "reloaded", self.reloaded)
        patch.setattr(checking, "observed", self.observed)
        patch.setattr(checking, "verdict_of", self.verdict_of)

    def reloaded(self, kernel: Kernel, text: str) -> Kernel | None:
        found = self._loaded((text, len(kernel.module.warnings)), lambda: self._load(kernel, text))
        if found is not None:
            _kernels.keep(text, found)
        return found

    def observed(
        self,
        kernel: Kernel,
        launch: Launch,
        mem_bar: Any,
        blocks: Sequence[int],
        most: int | None = None,
        enough: frozenset[str] = frozenset(),
        overwrites: bool = True,
    ) -> Observation:
        """A run that has not found enough to stop is as one that looks for all there is."""
        assert most is None
        subject = kernel.module.source, _identity(launch), mem_bar, tuple(blocks)

        def run() -> Observation | None:
            try:
                return self._run(kernel, launch, mem_bar, blocks, None, enough, overwrites=True)
            except Enough:
                return None

        found = self._seen((*subject, enough), run)
        if found is None:
            raise Enough
        self._seen.keep((*subject, frozenset[str]()), found)
        return found

    def verdict_of(self, kernel: Kernel) -> Verdict:
        return self._proofs(kernel.module.source, lambda: self._prove(kernel))


def _identity(launch: Launch) -> Hashable:
    arguments, content = launch.arguments, sha256()
    for buffer in arguments.buffers:
        content.update(buffer.data)
    options = launch.grid, launch.oob, launch.schedule, launch.max_steps, launch.poison
    return arguments.values, arguments.names, *map(len, arguments.buffers), content.digest(), options
