"""Cached modules and kernels: the outline that a load returns, and code by kernel and options.

Both are found by the source text and the target. Nothing here parses or compiles, and nothing imports xDSL: a module
whose kernel was compiled before is loaded from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from ptosim.diagnostics import Diagnostic, Related, Source
from ptosim.native.host.cache import Cache, Compiled, default_directory
from ptosim.native.observe import Observe
from ptosim.places import AuthoredPlaces, location_from_json
from ptosim.target.profile import OwnMachine, is_target_file


class KernelOutline(Protocol):
    """A kernel without its operations."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def signature(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def cross_block(self) -> bool: ...
    @property
    def workitems(self) -> bool: ...


@dataclass(frozen=True)
class KeptKernel:
    """The outline of a kernel, from the cache."""

    name: str
    kind: str
    signature: tuple[tuple[str, str], ...]
    cross_block: bool
    workitems: bool


@dataclass(frozen=True)
class Request:
    """The options of a load: the target, if any, and whether synchronisation is inserted."""

    target: str | None = None
    sync: str = "auto"


@dataclass(frozen=True)
class ModuleOutline:
    """The result of a load, without the operations."""

    source: Source
    requested: Request
    target: str
    warnings: tuple[Diagnostic, ...]
    kernels: tuple[KernelOutline, ...]


@cache
def _cache(directory: Path | None) -> Cache:
    return Cache(directory)


def kernel_cache() -> Cache:
    """The cache of this process, as the environment says at the moment."""
    return _cache(default_directory())


# --- modules ----------------------------------------------------------------------------------------------------------


def find_module(source: Source, requested: Request) -> ModuleOutline | None:
    """The outline of a module that was verified before."""
    cache = kernel_cache()
    if cache.directory is None or _has_figures(requested):
        return None
    kept = cache.load(_module_key(cache, source, requested))
    if kept is None:
        return None
    data = kept.data
    source = replace(source, places=AuthoredPlaces.from_json(data["places"], source.name) or source.places)
    warnings = tuple(_diagnostic(record, source) for record in data["warnings"])
    return ModuleOutline(source, requested, data["target"], warnings, tuple(map(_kernel, data["kernels"])))


def _has_figures(requested: Request) -> bool:
    """Whether it names a file, which may be another one next time."""
    target = requested.target
    return target is not None and (isinstance(target, OwnMachine) or is_target_file(target))


def keep_module(outline: ModuleOutline) -> None:
    if _has_figures(outline.requested):
        return
    data = {
        "target": outline.target,
        "places": outline.source.places.to_json() if outline.source.places else [],
        "warnings": [warning.to_json() for warning in outline.warnings],
        "kernels": [
            [each.name, each.kind, each.signature, each.cross_block, each.workitems] for each in outline.kernels
        ],
    }
    cache = kernel_cache()
    cache.store(_module_key(cache, outline.source, outline.requested), Compiled(b"", data))


def _module_key(cache: Cache, source: Source, requested: Request) -> str:
    return cache.key(what="module", source=source.text, target=requested.target or "", sync=requested.sync)


def _kernel(record: Sequence[Any]) -> KeptKernel:
    name, kind, signature, cross_block, workitems = record
    parameters = tuple((parameter, type_) for parameter, type_ in signature)
    return KeptKernel(name, kind, parameters, cross_block, workitems)


def _diagnostic(record: Mapping[str, Any], source: Source) -> Diagnostic:
    """A diagnostic again, its places in a source that has the same text."""
    related = tuple(
        Related(location_from_json(other["location"], source), other["role"]) for other in record["related"]
    )
    return Diagnostic(
        record["kind"],
        record["severity"],
        record["message"],
        location_from_json(record["location"], source) if record["location"] else None,
        record["label"],
        related,
        tuple(record["notes"]),
        record["hint"],
    )


# --- kernels ----------------------------------------------------------------------------------------------------------


def find_kernel(outline: ModuleOutline, name: str, drop: bool, observe: Observe = "none") -> Compiled | None:
    cache = kernel_cache()
    return cache.load(_kernel_key(cache, outline, name, drop, observe)) if cache.directory is not None else None


def keep_kernel(outline: ModuleOutline, name: str, drop: bool, compiled: Compiled, observe: Observe = "none") -> None:
    cache = kernel_cache()
    if cache.directory is not None:
        cache.store(_kernel_key(cache, outline, name, drop, observe), compiled)
        keep_module(outline)


def find_resident() -> Compiled | None:
    """The code that all kernels share (resident.py)."""
    cache = kernel_cache()
    return cache.load(_resident_key(cache)) if cache.directory is not None else None


def keep_resident(compiled: Compiled) -> None:
    cache = kernel_cache()
    if cache.directory is not None:
        cache.store(_resident_key(cache), compiled)


def _resident_key(cache: Cache) -> str:
    from ptosim.native.host.toolchain import this_host

    return cache.key(what="resident", host=this_host().identity)


def _kernel_key(cache: Cache, outline: ModuleOutline, name: str, drop: bool, observe: Observe) -> str:
    from ptosim.native.host.toolchain import this_host

    return cache.key(
        what="kernel",
        source=outline.source.text,
        target=getattr(outline.target, "identity", outline.target),
        sync=outline.requested.sync,
        kernel=name,
        oob="drop" if drop else "error",
        observe=observe,
        host=this_host().identity,
    )
