"""Workitems on the reference engine: warps of 32 lanes in lock step, each value an array with a row for each lane."""
