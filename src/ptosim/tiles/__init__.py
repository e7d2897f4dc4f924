"""Tile operations become micro-instructions: memory planned, one operation one vector scope, one copy or one product."""
