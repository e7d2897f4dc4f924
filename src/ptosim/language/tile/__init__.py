"""Tiles: their types, views and operations, and the communication between ranks."""
