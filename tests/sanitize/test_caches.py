"""The caches of scalar units: lines that cores keep, and what a look at them costs."""

from types import SimpleNamespace
from typing import Any, cast

from cost import costs_at_most
from ptosim.language.micro.pointer import StoreScalar
from ptosim.sanitize.caches import Caches
from ptosim.sanitize.notices import LINE


class _Said:
    """Findings that are only counted."""

    def __init__(self) -> None:
        self.count = 0

    def diagnostic(self, found: object) -> None:
        self.count += 1


def entry(core: int) -> Any:
    owner = SimpleNamespace(index=core, name=f"b{core}", block=core, rank=None)
    return SimpleNamespace(core=owner, loops=(), kind=None, pipe="S", n=0, clock={})


def stored(cores: int) -> tuple[Caches, _Said]:
    """Every core has stored to a line of its own."""
    said = _Said()
    caches = Caches(cast(Any, said))
    site = cast(Any, SimpleNamespace(name=StoreScalar.name, location=None))
    for core in range(cores):
        caches.store(entry(core), site, core * LINE, 4)
    return caches, said


def test_a_read_costs_the_same_however_many_cores_keep_lines() -> None:
    (few, _), (many, said) = stored(2), stored(400)
    reader, site = entry(1), cast(Any, None)

    def read(caches: Caches) -> None:
        for _ in range(500):
            caches.read_by(reader, site, LINE, 4, {})

    assert costs_at_most(3, lambda: read(few), lambda: read(many))
    assert not said.count
