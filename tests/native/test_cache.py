"""Compiled kernels on disk: found again, never half, never another's, and never more than the limit."""

import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from ptosim.native.host.cache import (
    SOURCES,
    UNFINISHED,
    Cache,
    Compiled,
    UnusableCache,
    default_directory,
    source_digest,
    why_unusable,
)
from tables import table

SOMETHING = Compiled(b"\x7fELF and so on \x00\xff", {"kernels": {"k": [["x", "ptr"]]}, "lines": [1, 2, 3], "note": "−"})


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "kernels")


def name(number: int) -> str:
    return f"{number:064x}"


def only_file(cache: Cache) -> Path:
    (file,) = cache.files()
    return file.path


def test_what_was_stored_is_found(cache: Cache):
    assert cache.load(name(1)) is None
    cache.store(name(1), SOMETHING)
    assert cache.load(name(1)) == SOMETHING
    assert Cache(cache.directory).load(name(1)) == SOMETHING
    assert cache.load(name(2)) is None


def test_storing_again_replaces(cache: Cache):
    cache.store(name(1), SOMETHING)
    cache.store(name(1), Compiled(b"new", []))
    assert cache.load(name(1)) == Compiled(b"new", [])
    assert len(cache.files()) == 1


def test_every_truncation_is_noticed(cache: Cache):
    cache.store(name(1), SOMETHING)
    path = only_file(cache)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert cache.load(name(1)) is None, length
    path.write_bytes(content + b"\0")
    assert cache.load(name(1)) is None


def test_every_changed_byte_is_noticed(cache: Cache):
    cache.store(name(1), SOMETHING)
    path = only_file(cache)
    content = path.read_bytes()
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1
        path.write_bytes(changed)
        assert cache.load(name(1)) is None, position


@pytest.mark.parametrize("content", [b"", b"hello", b"\x7fELF" * 100, bytes(1000)])
def test_foreign_files_are_not_believed_and_are_overwritten(cache: Cache, content: bytes):
    cache.store(name(1), SOMETHING)
    only_file(cache).write_bytes(content)
    assert cache.load(name(1)) is None
    cache.store(name(1), SOMETHING)
    assert cache.load(name(1)) == SOMETHING


def test_a_file_under_another_name_is_not_believed(cache: Cache):
    cache.store(name(1), SOMETHING)
    only_file(cache).rename(cache.directory / f"{name(2)}.kernel")
    assert cache.load(name(2)) is None


def test_a_directory_that_others_may_write_is_not_used(cache: Cache):
    cache.store(name(1), SOMETHING)
    cache.directory.chmod(0o777)
    assert cache.load(name(1)) is None
    with pytest.warns(UnusableCache, match=r"not kept: .* is not used \(others may write to it\)"):
        cache.store(name(2), SOMETHING)
    cache.store(name(2), SOMETHING)  # which is said once
    assert cache.files() == []
    assert cache.clear() == 0
    cache.directory.chmod(0o700)
    assert len(cache.files()) == 1


def test_a_directory_that_is_a_link_is_not_used(cache: Cache, tmp_path: Path):
    cache.store(name(1), SOMETHING)
    link = tmp_path / "link"
    link.symlink_to(cache.directory)
    linked = Cache(link)
    assert linked.load(name(1)) is None
    with pytest.warns(UnusableCache, match="it is a link"):
        linked.store(name(2), SOMETHING)
    assert linked.files() == []
    assert linked.clear() == 0
    assert cache.load(name(1)) == SOMETHING and cache.load(name(2)) is None


def test_a_directory_of_another_user_is_not_used(cache: Cache, monkeypatch: pytest.MonkeyPatch):
    cache.store(name(1), SOMETHING)
    monkeypatch.setattr(os, "getuid", lambda: cache.directory.stat().st_uid + 1)
    assert cache.load(name(1)) is None
    with pytest.warns(UnusableCache, match="it belongs to another user"):
        cache.store(name(2), SOMETHING)
    assert cache.files() == []
    assert why_unusable(cache.directory) == "it belongs to another user"


def test_what_dead_processes_left_unfinished_goes(cache: Cache):
    cache.store(name(1), SOMETHING)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, alive = cache.directory / f"{dead.pid}-0123.part", cache.directory / f"{os.getpid()}-0123.part"
    for part in (left, alive):
        part.write_bytes(b"half")
    cache.store(name(2), SOMETHING)
    assert not left.exists() and alive.exists()


@pytest.mark.parametrize("directory", [None, Path("/dev/null/kernels")])
def test_without_a_usable_directory_nothing_is_kept_and_nothing_fails(directory: Path | None):
    cache = Cache(directory)
    with pytest.warns(UnusableCache, match="Not a directory") if directory else nullcontext():
        cache.store(name(1), SOMETHING)
    assert cache.load(name(1)) is None
    assert cache.files() == []
    assert cache.clear() == 0
    assert len(cache.key(source="x")) == 64


def test_the_least_recently_used_go_first(tmp_path: Path):
    cache = Cache(tmp_path / "kernels", limit=3500)
    for number in range(3):
        cache.store(name(number), Compiled(bytes(1000), None))
        os.utime(cache.directory / f"{name(number)}.kernel", (number + 100, number + 100))
    assert cache.load(name(0)) is not None  # now it is the most recently used
    cache.store(name(3), Compiled(bytes(1000), None))
    assert [cache.load(name(number)) is not None for number in range(4)] == [True, False, True, True]


def test_a_kernel_larger_than_the_limit_still_serves_its_next_run(tmp_path: Path):
    cache = Cache(tmp_path / "kernels", limit=100)
    cache.store(name(1), Compiled(bytes(1000), None))
    time.sleep(0.01)
    cache.store(name(2), Compiled(bytes(2000), None))
    assert cache.load(name(2)) is not None
    assert len(cache.files()) == 1


def test_clearing_removes_what_the_program_put_there_and_nothing_else(cache: Cache):
    for number in range(3):
        cache.store(name(number), SOMETHING)
    cache.key(source="x")
    (cache.directory / "abandoned.part").write_bytes(b"half")
    (cache.directory / "notes.txt").write_text("mine")
    assert cache.clear() == 3
    assert [path.name for path in cache.directory.iterdir()] == ["notes.txt"]
    assert cache.clear() == 0


def test_listing_shows_sizes(cache: Cache):
    cache.store(name(1), SOMETHING)
    (file,) = cache.files()
    assert file.size == file.path.stat().st_size > len(SOMETHING.image)


# --- keys -------------------------------------------------------------------------------------------------------------


def test_a_key_depends_on_every_part(cache: Cache):
    parts = {"source": "module {}", "options": "oob=error", "target": "[a5]", "host": "llvm 22 znver4"}
    keys = {cache.key(**parts)} | {cache.key(**{**parts, part: parts[part] + "x"}) for part in parts}
    assert len(keys) == 5
    assert cache.key(**parts) == cache.key(**dict(reversed(parts.items())))
    assert cache.key(a="1", b="23") != cache.key(a="12", b="3")


def test_the_digest_follows_the_contents_of_the_sources(tmp_path: Path):
    package, kept = tmp_path / "package", tmp_path / "kept"
    (package / "room").mkdir(parents=True)
    kept.mkdir(mode=0o700)
    (package / "a.py").write_text("one")
    (package / "room" / "b.toml").write_text("two")
    first = source_digest(kept, package)
    assert source_digest(None, package) == first
    (package / "notes.md").write_text("no source")
    assert source_digest(kept, package) == first

    (package / "a.py").write_text("One")
    os.utime(package / "a.py", (1, 1))
    changed = source_digest(kept, package)
    assert changed != first
    (package / "room" / "b.toml").rename(package / "room" / "c.toml")
    assert source_digest(kept, package) not in (first, changed)

    (package / "a.py").write_text("one")
    (package / "room" / "c.toml").rename(package / "room" / "b.toml")
    assert source_digest(kept, package) == first


def test_a_kept_digest_is_believed_while_sizes_and_times_stay(tmp_path: Path):
    package, kept = tmp_path / "package", tmp_path / "kept"
    package.mkdir()
    kept.mkdir(mode=0o700)
    (package / "a.py").write_text("one")
    source_digest(kept, package)
    stamp, _digest = (kept / SOURCES).read_text().split()
    (kept / SOURCES).write_text(f"{stamp} believed")
    assert source_digest(kept, package) == "believed"
    (kept / SOURCES).write_bytes(b"\xff garbage")
    assert source_digest(kept, package) == source_digest(None, package)


# --- where ------------------------------------------------------------------------------------------------------------


@table(
    "environment, expected",
    ({"HOME": "/home/u"}, Path("/home/u/.cache/ptosim")),
    ({"HOME": "/home/u", "XDG_CACHE_HOME": "/var/c"}, Path("/var/c/ptosim")),
    ({"HOME": "/home/u", "XDG_CACHE_HOME": "relative"}, Path("/home/u/.cache/ptosim")),
    ({"HOME": "/home/u", "XDG_CACHE_HOME": ""}, Path("/home/u/.cache/ptosim")),
    ({"HOME": "/home/u", "PTOSIM_CACHE": "off"}, None),
    ({"HOME": "/home/u", "XDG_CACHE_HOME": "/var/c", "PTOSIM_CACHE": "/srv/kernels"}, Path("/srv/kernels")),
    ({"PTOSIM_CACHE": "/srv/kernels"}, Path("/srv/kernels")),
    ({"HOME": "/home/u", "PTOSIM_CACHE": "on"}, Path("/home/u/.cache/ptosim")),
    ({}, None),
)
def test_the_directory_follows_the_environment(environment: dict[str, str], expected: Path | None):
    assert default_directory(environment, "linux") == expected


@table(
    "system, environment, expected",
    ("darwin", {"HOME": "/Users/u"}, Path("/Users/u/Library/Caches/ptosim")),
    ("darwin", {"HOME": "/Users/u", "XDG_CACHE_HOME": "/var/c"}, Path("/var/c/ptosim")),
    ("darwin", {"HOME": "/Users/u", "PTOSIM_CACHE": "off"}, None),
    ("win32", {"LOCALAPPDATA": "/u/AppData/Local", "HOME": "/u"}, Path("/u/AppData/Local/ptosim/Cache")),
    ("win32", {"LOCALAPPDATA": "/u/AppData/Local", "PTOSIM_CACHE": "/srv/kernels"}, Path("/srv/kernels")),
    ("win32", {"LOCALAPPDATA": "/u/AppData/Local", "PTOSIM_CACHE": "off"}, None),
    ("win32", {"HOME": "/u"}, None),
)
def test_other_systems_have_folders_of_their_own(system: str, environment: dict[str, str], expected: Path | None):
    assert default_directory(environment, system) == expected


def test_where_no_process_can_be_asked_an_old_unfinished_file_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tmp_path.chmod(0o700)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("on Windows this is Ctrl-C"))
    old, new = (tmp_path / f"{os.getpid()}-{letter}{UNFINISHED}" for letter in "ab")
    for part in (old, new):
        part.write_bytes(b"half")
    os.utime(old, (1, 1))
    Cache(tmp_path).store(name(1), SOMETHING)
    assert (old.exists(), new.exists()) == (False, True)


# --- processes --------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from ptosim.native.host.cache import Cache, Compiled
cache = Cache(Path(sys.argv[1]))
mine = Compiled(sys.argv[2].encode() * 50_000, sys.argv[2])
for _ in range(60):
    cache.store("ab" * 32, mine)
    found = cache.load("ab" * 32)
    assert found is not None and found.image == found.data.encode() * 50_000, "torn"
    cache.key(source=sys.argv[2])
"""


def test_processes_that_write_the_same_key_never_see_a_part(tmp_path: Path):
    (tmp_path / "kernels").mkdir(mode=0o700)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "kernels"), letter], stderr=subprocess.PIPE)
        for letter in "xyz"
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors.decode()
    assert not list((tmp_path / "kernels").glob("*.part"))


def test_importing_the_cache_imports_nothing_heavy():
    code = "import sys, ptosim.native.host.cache; print([m for m in ('xdsl', 'llvmlite', 'numpy') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"
