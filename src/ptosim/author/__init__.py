"""Kernels that are written in Python: a traced function becomes operations of `language/`, each with its Python line."""
