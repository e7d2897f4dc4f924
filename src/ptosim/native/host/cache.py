"""Compiled kernels on disk: one file per key, written whole or not at all, checked before it is believed.

A file holds the object code and the plain data that a load of the kernel returns. Several processes may use one
directory. Nothing here compiles or parses, and nothing heavy is imported: a cached run starts through this module.
"""

import contextlib
import hashlib
import json
import os
import stat
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2]
MAGIC = b"ptosim kernel 1\n"
SUFFIX = ".kernel"
UNFINISHED = ".part"
SOURCES = "sources"
LIMIT = 256 << 20  # bytes; the files longest unused go first
_DIGEST_BYTES = 32


@dataclass(frozen=True)
class Compiled:
    """The cached parts of a kernel: its object code, and data that JSON can hold."""

    image: bytes
    data: Any


@dataclass(frozen=True)
class File:
    """A cached kernel as `ptosim cache` lists it."""

    path: Path
    size: int
    used: float  # seconds since the epoch

    def to_json(self) -> dict[str, object]:
        return {"path": str(self.path), "size": self.size, "used": self.used}


def default_directory(environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> Path | None:
    """The directory of kept kernels on this system, or None where the user wants none kept."""
    chosen = environment.get("PTOSIM_CACHE", "")
    if chosen == "off":
        return None
    if os.path.isabs(chosen):
        return Path(chosen)
    root = environment.get("XDG_CACHE_HOME", "")
    if os.path.isabs(root):  # the XDG specification says to ignore a relative one
        return Path(root) / "ptosim"
    if system == "win32":
        local = environment.get("LOCALAPPDATA", "")
        return Path(local) / "ptosim" / "Cache" if local else None
    home = environment.get("HOME", "")
    caches = "Library/Caches" if system == "darwin" else ".cache"
    return Path(home) / caches / "ptosim" if home else None


class UnusableCache(UserWarning):
    """The directory of the cache cannot be written, or must not be believed."""


class Cache:
    """The kernels in one directory. Without a directory it is always empty and keeps nothing."""

    def __init__(self, directory: Path | None, limit: int = LIMIT) -> None:
        self.directory = directory
        self._limit = limit
        self._told = False

    def key(self, **parts: str) -> str:
        """The name of the object that these parts and this version of the program determine."""
        words = json.dumps([self._version, sorted(parts.items())])
        return hashlib.blake2b(words.encode(), digest_size=_DIGEST_BYTES).hexdigest()

    @cached_property
    def _version(self) -> str:
        return source_digest(self.directory)

    def load(self, key: str) -> Compiled | None:
        """The entry under the key; None if there is none or the file was changed."""
        if self.directory is None or why_unusable(self.directory):
            return None
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        compiled = _unpack(key, content)
        if compiled is not None:
            with contextlib.suppress(OSError):  # gone meanwhile, or a read-only disk: then it is not marked as used
                os.utime(path)
        return compiled

    def store(self, key: str, compiled: Compiled) -> None:
        """Keep it if the disk lets us; a cache that cannot be written is a slow one, which is said once."""
        if self.directory is None:
            return
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            reason = why_unusable(self.directory)
            if reason is None:
                _write_whole(self._path(key), _pack(key, compiled))
                self._evict()
        except OSError as problem:
            reason = problem.strerror or str(problem)
        if reason is not None and not self._told:
            self._told = True
            message = f"compiled kernels are not kept: {self.directory} is not used ({reason})"
            warnings.warn(message, UnusableCache, stacklevel=2)

    def files(self) -> list[File]:
        """The kernels kept, the least recently used first."""
        return sorted(self._scan(), key=lambda file: (file.used, file.path))

    def clear(self) -> int:
        """Remove everything that this program has put there; how many kernels that were."""
        removed = sum(_remove(file.path) for file in self._scan())
        if self.directory is not None and not why_unusable(self.directory):
            _remove(self.directory / SOURCES)
            for left_over in self.directory.glob(f"*{UNFINISHED}"):
                _remove(left_over)
        return removed

    def _path(self, key: str) -> Path:
        assert self.directory is not None
        return self.directory / f"{key}{SUFFIX}"

    def _scan(self) -> Iterator[File]:
        if self.directory is None or why_unusable(self.directory):
            return
        try:
            entries = list(os.scandir(self.directory))
        except OSError:
            return
        for entry in entries:
            if entry.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):  # another process may be faster
                    status = entry.stat()
                    yield File(Path(entry.path), status.st_size, status.st_mtime)

    def _evict(self) -> None:
        assert self.directory is not None
        for part in self.directory.glob(f"*{UNFINISHED}"):
            if not _is_being_written(part):
                _remove(part)
        files = self.files()
        excess = sum(file.size for file in files) - self._limit
        for file in files[:-1]:  # the newest stays, however large
            if excess <= 0:
                return
            _remove(file.path)
            excess -= file.size


# --- one file ---------------------------------------------------------------------------------------------------------


def _pack(key: str, compiled: Compiled) -> bytes:
    data = json.dumps(compiled.data, separators=(",", ":")).encode()
    body = b"".join([len(data).to_bytes(8, "little"), data, compiled.image])
    return MAGIC + _checksum(key, body) + body


def _unpack(key: str, content: bytes) -> Compiled | None:
    start = len(MAGIC) + _DIGEST_BYTES
    body = content[start:]
    if not content.startswith(MAGIC) or content[len(MAGIC) : start] != _checksum(key, body):
        return None
    end = 8 + int.from_bytes(body[:8], "little")
    return Compiled(body[end:], json.loads(body[8:end]))


def _checksum(key: str, body: bytes) -> bytes:
    """Over the key too: a file under another's name is not that other."""
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES, key=bytes.fromhex(key)).digest()


def _write_whole(path: Path, content: bytes) -> None:
    """Readers see the old file or the new one, never a part."""
    part = path.with_name(f"{os.getpid()}-{os.urandom(8).hex()}{UNFINISHED}")
    try:
        with open(part, "xb") as file:
            file.write(content)
        os.replace(part, path)
    except BaseException:
        _remove(part)
        raise


def _is_being_written(part: Path) -> bool:
    """Whether the process that an unfinished file names is alive.

    On a disk that several computers share it may be that of another; a writer whose file goes does without it.
    """
    process = part.name.partition("-")[0]
    if not process.isdecimal():
        return False
    if sys.platform == "win32":  # signal 0 is Ctrl-C there: a file of the last minute counts as being written
        with contextlib.suppress(OSError):
            return time.time() - part.stat().st_mtime < 60
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def why_unusable(directory: Path) -> str | None:
    """Object code is run without being looked at, so it must be in a directory of the user's own, and in no other."""
    try:
        status = directory.lstat()
    except FileNotFoundError:
        return "it does not exist"
    except OSError as reason:
        return reason.strerror
    if not stat.S_ISDIR(status.st_mode):
        return "it is a link" if stat.S_ISLNK(status.st_mode) else "it is not a directory"
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return "it belongs to another user"
    return "others may write to it" if hasattr(os, "getuid") and status.st_mode & 0o022 else None


# --- this program's own version ---------------------------------------------------------------------------------------


def source_digest(directory: Path | None = None, package: Path = PACKAGE) -> str:
    """A digest of all that the package consists of.

    Reading every file would take most of a cached load's time: a digest found once is kept together with the sizes and
    times of the files, and believed while these stay the same.
    """
    paths = sorted(path for pattern in ("*.py", "*.toml") for path in package.rglob(pattern))
    stamp = _digest(_stamp(path) for path in paths)
    kept = directory / SOURCES if directory is not None and not why_unusable(directory) else None
    if kept is not None and (known := _read_kept(kept))[0] == stamp:
        return known[1]
    digest = _digest(f"{path.relative_to(package)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in paths)
    if kept is not None:
        with contextlib.suppress(OSError):
            _write_whole(kept, f"{stamp} {digest}".encode())
    return digest


def _stamp(path: Path) -> str:
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _read_kept(path: Path) -> tuple[str, str]:
    """The stamp and the digest that were kept last."""
    try:
        stamp, digest = path.read_text().split()
    except (OSError, ValueError):
        return "", ""
    return stamp, digest


def _digest(words: Iterator[str]) -> str:
    return hashlib.blake2b("\n".join(words).encode(), digest_size=_DIGEST_BYTES).hexdigest()
