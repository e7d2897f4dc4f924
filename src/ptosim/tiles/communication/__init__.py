"""Lowerings of copies, signals and collectives between ranks."""
