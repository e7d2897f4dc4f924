"""Run, check, time and see Ascend PTO micro-instruction kernels on any computer."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import: starting is part of every command
if TYPE_CHECKING:
    from typing import Any

    from ptosim.api import Kernel, Module, check, load, profile, prove
    from ptosim.arguments import Parameter
    from ptosim.cpp_module import load_cpp
    from ptosim.diagnostics import Diagnostic, Finding, Location, PTOError
    from ptosim.fleet.sweeping import Sweep, sweep
    from ptosim.fleet.tuning import tune
    from ptosim.home.synchronisation import synchronise
    from ptosim.ptodsl import pto, scalar
    from ptosim.ranks.rank_arguments import BLOCK, BLOCKS, RANK, RANKS, context, each, symmetric
    from ptosim.ranks.world import World, launch

__version__ = "0.1.0"

_HOMES = {
    "cpp_module": "load_cpp",
    "api": "Kernel Module check load profile prove",
    "arguments": "Parameter",
    "diagnostics": "Diagnostic Finding Location PTOError",
    "ranks.rank_arguments": "BLOCK BLOCKS RANK RANKS context each symmetric",
    "home.synchronisation": "synchronise",
    "fleet.sweeping": "Sweep sweep",
    "fleet.tuning": "tune",
    "ranks.world": "World launch",
    "ptodsl": "pto scalar",
}
"""The modules of the public names."""

__all__ = [
    "BLOCK",
    "BLOCKS",
    "RANK",
    "RANKS",
    "Diagnostic",
    "Finding",
    "Kernel",
    "Location",
    "Module",
    "PTOError",
    "Parameter",
    "Sweep",
    "World",
    "check",
    "context",
    "each",
    "launch",
    "load",
    "load_cpp",
    "profile",
    "prove",
    "pto",
    "scalar",
    "sweep",
    "symmetric",
    "synchronise",
    "tune",
]


def __getattr__(name: str) -> Any:
    """The public names are imported when they are first used."""
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"ptosim.{home}"), name)
    raise AttributeError(f"module 'ptosim' has no attribute '{name}'")


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted([*__all__, "__version__"])
