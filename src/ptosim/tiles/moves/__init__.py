"""Lowerings of copies between memories, and of matrix products."""
