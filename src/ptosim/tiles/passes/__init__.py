"""Passes over whole functions: inlining, splitting by core, memory planning, checks of overlap."""
