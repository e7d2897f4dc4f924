"""Host threads that outlive the runs they serve: waking one takes microseconds, starting one up to milliseconds."""

import os
import threading
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue

Task = Callable[[], None]
Inbox = SimpleQueue[tuple[Task, threading.Event]]


class Crew:
    """Parked threads, as many as ever worked at the same time."""

    def __init__(self) -> None:
        self._idle: list[Inbox] = []

    def begin(self, task: Task) -> threading.Event:
        """Run the task on a thread of the crew; the event is set when it has ended."""
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = Inbox()
            threading.Thread(target=self._serve, args=(inbox,), name="ptosim", daemon=True).start()
        end = threading.Event()
        inbox.put((task, end))
        return end

    def _serve(self, inbox: Inbox) -> None:
        while True:
            task, end = inbox.get()
            try:
                task()
            finally:
                del task  # what it refers to must not live until the next one
                self._idle.append(inbox)
                end.set()


@cache
def crew() -> Crew:
    """The crew of this process."""
    return Crew()


if hasattr(os, "register_at_fork"):  # where processes fork, threads do not survive it
    os.register_at_fork(after_in_child=crew.cache_clear)
