"""Lowerings of tile operations that compute in the vector unit."""
