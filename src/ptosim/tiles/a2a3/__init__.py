"""Tile operations on the A2/A3 vector unit, which reads and writes UB itself: for their price alone."""
