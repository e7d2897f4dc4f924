"""SIMT: scalar code that a launch runs once for each of up to 2,048 workitems (isa of the vector core of A5)."""
