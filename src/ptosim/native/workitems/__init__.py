"""Workitems as compiled code: a warp is a function on 32 lanes under a mask, and with barriers a coroutine."""
