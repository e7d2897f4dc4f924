"""Kernels in Python: a traced function becomes operations of `language/`, each with its line."""
