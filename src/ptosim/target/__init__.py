"""The machines as data."""

from ptosim.target.classes import OPERATION_CLASSES, TIMING_CLASSES
from ptosim.target.profile import Target, load_target

__all__ = ["OPERATION_CLASSES", "TIMING_CLASSES", "Target", "load_target"]
