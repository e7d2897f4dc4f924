"""Tile operations become micro-instructions: memory is planned, one operation is one scope, one copy or one product."""
