"""The machines as data."""

from ptosim.target.profile import Target, load_target

__all__ = ["Target", "load_target"]
