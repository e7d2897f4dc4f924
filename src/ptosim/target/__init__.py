"""The machines as data."""

from ptosim.target.classes import COPY_CLASSES, OPERATION_CLASSES, SYNC_CLASS, TIMING_CLASSES
from ptosim.target.profile import Target, load_target

__all__ = ["COPY_CLASSES", "OPERATION_CLASSES", "SYNC_CLASS", "TIMING_CLASSES", "Target", "load_target"]
