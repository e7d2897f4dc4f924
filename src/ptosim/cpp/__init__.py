"""The C++ door: kernels against the tile library, recorded by the user's own compiler and folded into a module."""
