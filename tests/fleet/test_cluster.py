"""Batches whose worker goes: their cases are run again."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

import pytest
from distributed.scheduler import KilledWorker

import ptosim
from ptosim.fleet import cluster
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

    def __init__(self, failures: list[Exception], count: int = 1) -> None:
        self.failures, self.submitted, self.count = failures, list[tuple[Case, ...]](), count

    def scheduler_info(self, n_workers: int) -> Mapping[str, Any]:
        return {"workers": {number: {} for number in range(self.count)}}

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


class Unanswered(Batch):
    """A future that no worker takes."""

    def add_done_callback(self, called: Callable[[Any], None]) -> None: ...


def test_a_sweep_without_workers_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a local cluster may have gone for good, and those of a scheduler may never come."""
    monkeypatch.setattr(cluster, "DESERTED", 1.5)
    workers = Workers([], count=0)
    monkeypatch.setattr(workers, "submit", lambda *_, **__: Unanswered([]))
    began = time.monotonic()
    with pytest.raises(ptosim.PTOError, match="no worker for 2 seconds") as said:
        list(Fleet(workers, "1").rows([Case("k.pto", "")]))
    assert said.value.diagnostics[0].hint and 1.5 < time.monotonic() - began < 30


def test_workers_that_come_back_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "DESERTED", 1.5)
    workers = Workers([], count=0)
    asked = itertools.count()
    monkeypatch.setattr(workers, "submit", lambda *_, **__: Unanswered([]))
    monkeypatch.setattr(workers, "scheduler_info", lambda n_workers: {"workers": {} if next(asked) % 2 else {"one": 1}})
    looks = itertools.islice(Fleet(workers, "1").rows([Case("k.pto", "")]), 4)
    assert list(looks) == [[]] * 4


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_local_cluster_whose_workers_end_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "DESERTED", 2.0)
    with cluster.connected(workers=1) as client:
        client.cluster.scale(0)
        with pytest.raises(ptosim.PTOError, match="no worker"):
            list(Fleet(client, cluster.own_version()).rows([Case("k.pto", "func.func @k() { return }")]))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_worker_that_starts_again_slowly_is_not_given_up() -> None:
    """A local cluster closes for good what is gone for longer, and starts nothing in its place."""
    import dask
    from dask.utils import parse_timedelta

    with cluster.connected(workers=1):
        assert parse_timedelta(dask.config.get("distributed.deploy.lost-worker-timeout")) > 10 * cluster.DESERTED
