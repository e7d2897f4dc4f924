"""A real browser for tests: headless Chromium, spoken to in the DevTools protocol through a pair of pipes."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Browser:
    """One page of a running browser."""

    def __init__(self, write: int, read: int) -> None:
        self.write, self.read = write, read
        self.received = b""
        self.number = 0
        self.session: str | None = None
        self.complaints: list[str] = []
        """What the page wrote to the console as an error, and what it threw."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.send(f"{domain}.enable")
        self.requests: list[str] = []

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.received:
            piece = os.read(self.read, 1 << 16)
            assert piece, "the browser has gone"
            self.received += piece
        line, self.received = self.received.split(b"\0", 1)
        message = json.loads(line)
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(str(message["params"]["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if message["params"]["type"] == "error":
                self.complaints.append(str(message["params"]["args"]))
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case _:
                pass
        return message

    def size(self, width: int, height: int) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a page and wait until it says that it is ready."""
        self.send("Page.navigate", url="about:blank")  # another fragment of the same page would not load it again
        self.requests.clear()
        self.send("Page.navigate", url=f"file://{path}{fragment}")
        self.wait("document.body && document.body.dataset.ready")

    def wait(self, condition: str) -> Any:
        script = f"""new Promise((done, fail) => {{
            const begin = performance.now();
            const look = () => {{
                const value = {condition};
                if (value) done(value);
                else if (performance.now() - begin > 10000) fail(new Error({json.dumps("never: " + condition)}));
                else setTimeout(look, 10);
            }};
            look();
        }})"""
        return self.run(script)

    def run(self, script: str) -> Any:
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **options: Any) -> None:
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **options)

    def key(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self) -> bytes:
        """A screenshot as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it."""
    assert CHROMIUM is not None
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        # The protocol wants to be spoken to on descriptors 3 and 4.
        command = f'exec 3<&{to_read} 4>&{from_write}; exec "$0" "$@"'
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars"]
        process = subprocess.Popen(
            ["/bin/bash", "-c", command, CHROMIUM, *options, f"--user-data-dir={home}"],
            pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        try:
            yield Browser(to_write, from_read)
        finally:
            process.terminate()
            process.wait(10)
            os.close(to_write)
            os.close(from_read)


def colours(png: bytes) -> set[tuple[int, int, int]]:
    """The colours of an unfiltered or filtered 8-bit RGB(A) PNG."""
    place, data, width, channels = 8, b"", 0, 0
    while place < len(png):
        length = int.from_bytes(png[place : place + 4], "big")
        kind, body = png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            width, channels = int.from_bytes(body[:4], "big"), {2: 3, 6: 4}[body[9]]
        elif kind == b"IDAT":
            data += body
        place += length + 12
    return _pixels(zlib.decompress(data), width * channels, channels)


def _pixels(raw: bytes, stride: int, channels: int) -> set[tuple[int, int, int]]:
    found: set[tuple[int, int, int]] = set()
    before = bytearray(stride)
    for row in range(0, len(raw), stride + 1):
        line = bytearray(raw[row + 1 : row + 1 + stride])
        _unfilter(raw[row], line, before, channels)
        found |= set(zip(line[0::channels], line[1::channels], line[2::channels], strict=True))
        before = line
    return found


def _unfilter(kind: int, line: bytearray, above: bytearray, step: int) -> None:
    for place in range(len(line) if kind else 0):
        left = line[place - step] if place >= step else 0
        corner = above[place - step] if place >= step else 0
        if kind == 4:
            guess = left + above[place] - corner
            near = min(
                (abs(guess - left), 0, left),
                (abs(guess - above[place]), 1, above[place]),
                (abs(guess - corner), 2, corner),
            )
            predicted = near[2]
        else:
            predicted = (0, left, above[place], (left + above[place]) // 2)[kind]
        line[place] = (line[place] + predicted) & 255
