"""Editors and terminals that stay open while a kernel is written. Nothing here knows a rule of the machine."""
