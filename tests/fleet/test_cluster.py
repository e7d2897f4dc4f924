"""Batches whose worker goes: their cases are run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

import pytest
from distributed.scheduler import KilledWorker

from ptosim.fleet.case import Case
from ptosim.fleet.cluster import Fleet


@dataclass(eq=False)
class Batch:
    """A future that has finished; its rows may have gone since."""

    rows: list[dict[str, Any]]
    failure: Exception | None = None
    status: str = "finished"

    def add_done_callback(self, called: Callable[[Any], None]) -> None:
        called(self)

    def result(self) -> list[dict[str, Any]]:
        if self.failure is not None:
            raise self.failure
        return self.rows

    def release(self) -> None: ...


class Workers:
    """One worker, whose first answers are lost."""

    def __init__(self, failures: list[Exception]) -> None:
        self.failures, self.submitted = failures, list[tuple[Case, ...]]()

    def scheduler_info(self, n_workers: int) -> Mapping[str, Any]:
        return {"workers": {"one": {}}}

    def subscribe_topic(self, topic: str, handler: Any) -> None: ...

    def unsubscribe_topic(self, topic: str) -> None: ...

    def cancel(self, futures: list[Any]) -> None: ...

    def submit(self, function: Any, batch: tuple[Case, ...], version: str, **_: Any) -> Batch:
        self.submitted.append(batch)
        rows = [{"kernel": case.kernel, "seconds": 0.1} for case in batch]
        return Batch(rows, self.failures.pop() if self.failures else None)


def _killed() -> Exception:
    return KilledWorker("batch", {"address": "one"}, 2)


@pytest.mark.parametrize("failure", [_killed, CancelledError], ids=["worker killed", "future cancelled"])
def test_rows_that_go_with_their_worker_are_made_again(failure: Callable[[], Exception]) -> None:
    workers = Workers([failure()])
    cases = [Case(f"{number}.pto", "") for number in range(3)]
    rows = [row for some in Fleet(workers, "1").rows(cases) for row in some]
    assert sorted(row["kernel"] for row in rows) == ["0.pto", "1.pto", "2.pto"]
    assert len(workers.submitted) == 4 and workers.submitted[0] == workers.submitted[-1]
