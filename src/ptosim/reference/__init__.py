"""The executable definition: NumPy, one small function per instruction, asynchronous pipes for real."""
