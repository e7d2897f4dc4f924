"""Passes over a module that stay in its language: open types, scopes, older names, register operands."""
