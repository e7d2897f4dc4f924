"""A plugin of pytest (`-p tools.contexts`): notes which test runs which line, and how long each test takes.

CONTEXTS names the file of the notes; `coverage` makes them.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

_FILE = Path(os.environ["CONTEXTS"])
_SECONDS: dict[str, float] = {}
_MEASURED = coverage.Coverage(data_file=str(_FILE), source=["src/ptosim"], config_file=False)


def pytest_sessionstart() -> None:
    _MEASURED.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _MEASURED.switch_context(item.nodeid)
    start = time.perf_counter()
    result = yield
    _SECONDS[item.nodeid] = time.perf_counter() - start
    _MEASURED.switch_context("")
    return result


def pytest_sessionfinish() -> None:
    _MEASURED.stop()
    _MEASURED.save()
    _FILE.with_suffix(".seconds.json").write_text(json.dumps(_SECONDS))
