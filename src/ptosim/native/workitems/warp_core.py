"""The core, for one operation of a warp: failures and suspicions are of its active lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptosim.native.build.core import Core
from ptosim.native.ir.context import WORD_BYTES, ContextWord
from ptosim.native.ir.flow import Reported
from ptosim.native.ir.values import I64, Value
from ptosim.native.vector.registers import first_lane
from ptosim.native.workitems.values import as_bits, some_lane, spread

if TYPE_CHECKING:
    from ptosim.native.workitems.warp_body import WarpBody


@dataclass(frozen=True, eq=False)
class WarpCore(Core):
    """A core for one operation of a warp: what fails names the workitem."""

    warp: WarpBody | None = None

    def fail(self, wrong: Value, kind: str, message: str, value: Reported = 0, detail: Reported = 0) -> None:
        assert self.warp is not None
        self.fail_in(wrong, kind, message, value, detail, is_single=True)

    def suspect(self, doubtful: Callable[[], Value]) -> None:
        assert self.warp is not None
        if self.is_observed:
            lanes = self.warp.mask & spread(self.f, doubtful())
            self.observer.suspect(self.f, some_lane(self.f, lanes))

    def fail_in(
        self,
        wrong: Value,
        kind: str,
        message: Any,
        value: Reported = 0,
        detail: Reported = 0,
        is_single: bool = False,
    ) -> None:
        """End the run where the condition holds in an active lane; the report is of the lowest such lane."""
        assert self.warp is not None
        if wrong.literal == 0:
            return
        f, lanes = self.f, self.warp.mask & spread(self.f, wrong)

        def told() -> Value:
            f.word(ContextWord.FAULT_LANES).store(as_bits(lanes).zext(I64), WORD_BYTES)
            f.word(ContextWord.FAULT_WARP).store(self.warp.number if self.warp else f.constant(I64, 0), WORD_BYTES)
            if isinstance(value, Value) and value.kind.lanes:
                return first_lane(f, value, lanes)
            return value() if callable(value) else f.as_i64(value)

        f.settle()
        f.check(some_lane(f, lanes), self.site("workitem", [kind, message, is_single]), told, detail)
        f.settle()
