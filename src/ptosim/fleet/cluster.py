"""Cases on Dask: batches go to workers, rows come back; a case whose worker dies is tried once more elsewhere."""

from __future__ import annotations

import itertools
import queue
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from statistics import median
from typing import Any

from ptosim.diagnostics import error
from ptosim.fleet.case import Case
from ptosim.fleet.execution import Row, run_case

BATCH_SECONDS = 0.5
"""The seconds that a batch is to take."""
MOST_IN_BATCH = 256
BATCHES_PER_WORKER = 3
"""The most batches under way or waiting at a worker."""
TOPIC = "ptosim-gone"
PATIENCE = 0.25
"""Seconds that a worker gives its last words."""
DESERTED = 60.0
"""Seconds that a sweep waits for a worker where there is none: those that have gone come back sooner, if they do."""


def missing_extra() -> str | None:
    """The packages that a sweep lacks."""
    from importlib.util import find_spec

    missing = [name for name in ("dask", "distributed", "pyarrow", "cloudpickle") if find_spec(name) is None]
    return f"a sweep needs {', '.join(missing)}: pip install 'ptosim[sweep]'" if missing else None


@contextmanager
def connected(scheduler: str | None = None, client: Any = None, workers: int | None = None) -> Generator[Any]:
    """A client: the given one, of the scheduler at an address, or of a cluster on this computer."""
    if (missing := missing_extra()) is not None:
        raise error("argument", missing)
    dask, distributed = import_module("dask"), import_module("distributed")
    if client is not None:
        _same_version(client)
        yield client
        return
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.logging.distributed": "critical",
        # a worker that starts again slowly, as on a busy computer, is closed for good behind this
        "distributed.deploy.lost-worker-timeout": "1h",
    }
    if scheduler is not None:
        try:
            made = distributed.Client(scheduler, timeout=5, set_as_default=False)
        except (OSError, ValueError) as reason:
            raise error("argument", f"cannot reach a scheduler at {scheduler}: {reason}") from None
        with made as found:
            _same_version(found)
            yield found
        return
    import logging
    import os

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=workers or os.cpu_count() or 1,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


def own_version() -> str:
    """The version of ptosim that runs here."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ptosim")
    except PackageNotFoundError:
        return "unknown"


def _same_version(client: Any) -> None:
    """Workers of another version would give other rows."""
    try:
        found: dict[str, str] = client.run(own_version)
    except Exception as reason:
        raise error("argument", f"workers cannot import ptosim: {type(reason).__name__}: {reason}") from None
    for address, version in found.items():
        if version != own_version():
            raise error("argument", f"the worker at {address} has ptosim {version}, and this is {own_version()}")


def run_batch(cases: Sequence[Case], version: str) -> list[Row]:
    """On a worker: the rows of cases, one after the other."""
    if own_version() != version:
        raise RuntimeError(f"this worker has ptosim {own_version()}, and the sweep is of {version}")
    return [run_case(case, version, _last_words) for case in cases]


def _last_words(key: str, row: Row) -> None:
    """Tell the client of a case that does not stop; the process ends behind this."""
    import time

    import_module("distributed").get_client().log_event(TOPIC, row)
    time.sleep(PATIENCE)


class Fleet:
    """Hands cases to workers and takes their rows."""

    def __init__(self, client: Any, version: str) -> None:
        self.client, self.version = client, version
        self._arrived: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._under_way: dict[Any, tuple[Case, ...]] = {}
        self._again: list[tuple[Case, ...]] = []
        self._suspects: list[Case] = []
        """Cases whose worker has gone: perhaps while it ran another one."""
        self._alone: Any = None
        """The future of a suspect that is run when nothing else is."""
        self._numbers = itertools.count()
        self._served = time.monotonic()
        """When there was a worker last."""
        self._seconds: deque[float] = deque(maxlen=64)

    def rows(self, cases: Iterable[Case]) -> Iterator[list[Row]]:
        """The rows as they come, some at a time."""
        rest = iter(cases)
        self.client.subscribe_topic(TOPIC, self._heard)
        try:
            self._fill(rest)
            while self._under_way:
                try:
                    what, content = self._arrived.get(timeout=1.0)
                except queue.Empty:
                    self._look_for_workers()
                    yield []  # for a look at the time
                    continue
                rows = self._gone(content) if what == "gone" else self._ended(content)
                if rows:
                    self._seconds.extend(row["seconds"] for row in rows)
                    yield rows
                self._fill(rest)
        finally:
            self.client.unsubscribe_topic(TOPIC)
            self.client.cancel(list(self._under_way))

    def _finished(self, future: Any) -> None:
        self._arrived.put(("ended", future))

    def _heard(self, event: tuple[Any, Row]) -> None:
        self._arrived.put(("gone", event[1]))

    @property
    def _size(self) -> int:
        """The number of cases in a batch."""
        if not self._seconds:
            return 1
        return max(1, min(MOST_IN_BATCH, int(BATCH_SECONDS / max(median(self._seconds), 1e-6))))

    def _fill(self, rest: Iterator[Case]) -> None:
        workers = self._look_for_workers()
        while len(self._under_way) < max(1, workers) * BATCHES_PER_WORKER:
            batch = self._again.pop() if self._again else tuple(itertools.islice(rest, self._size))
            if not batch:
                break
            self._submit(batch)
        if not self._under_way and self._suspects:
            self._alone = self._submit((self._suspects.pop(),))

    def _look_for_workers(self) -> int:
        """The number of workers; raises PTOError where there has been none for a minute."""
        workers, now = len(self.client.scheduler_info(n_workers=-1)["workers"]), time.monotonic()
        if workers:
            self._served = now
        elif now - self._served > DESERTED:
            message = f"there has been no worker for {DESERTED:.0f} seconds: all have ended, or none has started"
            raise error("limit", message, hint="start workers, then sweep again: what has a row is not run again")
        return workers

    def _submit(self, batch: tuple[Case, ...]) -> Any:
        key = f"ptosim-{next(self._numbers)}-{batch[0].key(self.version)}"
        future = self.client.submit(run_batch, batch, self.version, key=key, pure=False)
        self._under_way[future] = batch
        future.add_done_callback(self._finished)
        return future

    def _gone(self, row: Row) -> list[Row]:
        """A case has used up its time and its process: the others of its batch go elsewhere, one by one."""
        for future, batch in list(self._under_way.items()):
            keys = [case.key(self.version) for case in batch]
            if row["case"] in keys:
                del self._under_way[future]
                future.cancel(force=True)
                self._again += [(case,) for case, key in zip(batch, keys, strict=True) if key != row["case"]]
                return [row]
        return []

    def _ended(self, future: Any) -> list[Row]:
        killed_worker = import_module("distributed").KilledWorker
        batch = self._under_way.pop(future, None)
        if batch is None:
            return []
        reason: BaseException | None = None
        if future.status in ("finished", "error"):
            try:
                return future.result()
            except CancelledError:
                pass
            except Exception as failure:  # rows may go with the worker that holds them, after the future has finished
                reason = failure
            finally:
                future.release()
        has_gone = isinstance(reason, killed_worker) or reason is None
        if has_gone and len(batch) > 1:
            self._again += [(case,) for case in batch]
            return []
        if has_gone and future is not self._alone:
            self._suspects += batch
            return []
        if isinstance(reason, killed_worker):
            return [
                self._row(case, "killed", "the worker process ended twice while it ran this case") for case in batch
            ]
        message = "it was cancelled" if reason is None else f"{type(reason).__name__}: {reason}"
        return [self._row(case, "error", message[:2000]) for case in batch]

    def _row(self, case: Case, status: str, message: str) -> Row:
        return {
            "case": case.key(self.version),
            "kernel": case.kernel,
            "what": case.what,
            **case.varied,
            "ok": False,
            "status": status,
            "kinds": [],
            "lines": [],
            "cycles": None,
            "seconds": 0.0,
            "worker": "",
            "digest": None,
            "message": message,
            "repeat": case.repeat(),
        }
