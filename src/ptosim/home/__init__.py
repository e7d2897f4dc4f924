"""Interfaces above api: editors and terminals that stay open while a kernel is written, and `ptosim.synchronise`."""
