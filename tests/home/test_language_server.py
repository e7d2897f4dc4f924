"""The language server over standard input and output: diagnostics of `verify`, proofs, edits, names, commands."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from pygls.io_ import StdoutWriter

import ptosim
from home.editor_client import PATIENCE, Client
from ptosim.home.editor.requests import server

ROOT = Path(__file__).parents[2]
SOFTMAX = ROOT / "examples" / "softmax.pto"
TILES = ROOT / "examples" / "tiles" / "softmax.pto"
FILES = sorted([*(ROOT / "examples").rglob("*.pto"), *(ROOT / "tests").rglob("*.pto"), *(ROOT / "src").rglob("*.pto")])
WAIT = 'pto.wait_flag_dyn["PIPE_V", "PIPE_MTE3", %parity]'


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    client = Client()
    yield client
    assert client.close() == 0


def place(text: str, words: str, nth: int = 0) -> tuple[int, int]:
    """Line and column of the n-th place where these words stand."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(words, at + 1)
    return text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1


def verified(text: str, name: str) -> list[tuple[Any, ...]]:
    """What `ptosim verify` finds, as an editor places it."""
    try:
        found: Any = ptosim.load(ptosim.diagnostics.Source(name, text)).remarks
    except ptosim.PTOError as problem:
        found = problem.diagnostics
    return [
        (each.message, each.kind, each.severity, *((each.location.in_text.line - 1,) if each.location else (0,)))
        for each in found
    ]


def shown(diagnostics: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    severities = {1: "error", 2: "warning", 3: "note"}
    return [
        (each["message"], each["code"], severities[each["severity"]], each["range"]["start"]["line"])
        for each in diagnostics
        if each["source"] == "ptosim"
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_diagnostics_are_those_of_verify(client: Client, path: Path):
    text, uri = path.read_text(), path.as_uri()
    client.open(uri, text)
    assert shown(client.published(uri, 1)) == verified(text, str(path))
    client.shut(uri)


EDITS = [
    "",
    " ",
    "\n",
    "%",
    "}",
    "{",
    '"',
    "\U0001f600",
    "é",
    "pto.vadd ",
    "%x = ",
    "(",
    "//",
    "0x",
    "\ud83d",
    "\r\n",
    "^bb",
]


def edited(client: Client, count: int, seed: int) -> None:
    """Random edits over open files: each version is answered, with what `verify` says of that very text."""
    rng = random.Random(seed)
    texts: dict[str, list[str]] = {}
    versions: dict[str, int] = {}
    for number in range(count):
        path = rng.choice(FILES)
        uri = path.as_uri()
        if uri not in versions:
            client.open(uri, path.read_text())
            client.published(uri, 1)
            texts[uri], versions[uri] = path.read_text().split("\n"), 1
        lines = texts[uri]
        line = rng.randrange(len(lines))
        units = lines[line].encode("utf-16-le", "surrogatepass")
        start = rng.randint(0, len(units) // 2)
        end = min(len(units) // 2, start + rng.choice((0, 0, 1, 3, 8)))
        words = rng.choice(EDITS)
        change: dict[str, Any] = {"text": words}
        if rng.random() < 0.02:
            content = rng.choice(["", words, path.read_text()])
            change = {"text": content}
        else:
            places = [{"line": line, "character": column} for column in (start, end)]
            change["range"] = {"start": places[0], "end": places[1]}
            whole = [each.encode("utf-16-le", "surrogatepass") for each in lines]
            low, high = _whole(units, start, down=True), _whole(units, end, down=True)
            whole[line] = units[: 2 * low] + words.encode("utf-16-le", "surrogatepass") + units[2 * high :]
            content = "\n".join(each.decode("utf-16-le", "replace") for each in whole)
        content = content.replace("\r\n", "\n").replace("\ud83d", "\ufffd")
        texts[uri] = content.split("\n")
        versions[uri] += 1
        client.change(uri, versions[uri], change)
        found = client.published(uri, versions[uri])
        if number % 7 == 0:
            assert shown(found) == verified(content, str(path)), content
        if number % 11 == 0:
            at = {"line": line, "character": start}
            for method in ("hover", "completion", "definition", "signatureHelp"):
                client.at(method, uri, **at)
            for method in ("documentSymbol", "foldingRange", "semanticTokens/full"):
                client.of(method, uri)
    for uri in versions:
        client.shut(uri)


def _whole(units: bytes, at: int, down: bool) -> int:
    """A place within a pair of surrogates is the one before it."""
    inside = 0 < at < len(units) // 2 and 0xDC <= units[2 * at + 1] <= 0xDF and 0xD8 <= units[2 * at - 1] <= 0xDB
    return at - down if inside else at


def test_random_edits_are_answered(client: Client):
    edited(client, 40, 1)


def test_messages_that_were_answered_are_forgotten():
    kept: list[int] = []

    async def converse() -> None:
        uri = "file:///open/forgotten.pto"
        server.protocol.set_writer(StdoutWriter(io.BytesIO()))
        tell("initialize", id=1, processId=None, rootUri=None, capabilities={})
        tell("textDocument/didOpen", textDocument={"uri": uri, "languageId": "pto", "version": 1, "text": ""})
        for version in range(2, 60):
            changes = [{"text": "%" * version}]
            tell("textDocument/didChange", textDocument={"uri": uri, "version": version}, contentChanges=changes)
            await asyncio.sleep(0)
            if version in (9, 59):
                gc.collect()
                kept.append(sum(isinstance(each, asyncio.Future | Future) for each in gc.get_objects()))
        tell("textDocument/didClose", textDocument={"uri": uri})

    def tell(method: str, id: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if id is None else {"id": id})}
        protocol: Any = server.protocol
        protocol.handle_message(json.loads(json.dumps(message), object_hook=protocol.structure_message))

    asyncio.run(converse())
    assert kept[1] <= kept[0]


@pytest.mark.full
def test_ten_thousand_edits_leave_memory_flat():
    client = Client()
    sizes: list[int] = []
    for seed in range(10):
        edited(client, 1000, seed + 2)
        status = Path(f"/proc/{client.process.pid}/status").read_text()
        sizes.append(int(status.split("VmRSS:")[1].split()[0]))
    assert client.close() == 0
    assert sizes[-1] < 1.25 * sizes[2]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks Linux how long a process has worked")
@pytest.mark.parametrize("path", [SOFTMAX, TILES], ids=["micro", "tiles"])
@pytest.mark.parametrize("lines, seconds", [(500, 0.120), pytest.param(5000, 1.0, marks=pytest.mark.full)])
def test_an_edit_is_answered_soon(client: Client, path: Path, lines: int, seconds: float):
    many = repeated(path.read_text(), lines)
    uri = f"file:///long/{path.parent.name}/{lines}.pto"
    client.open(uri, many)
    client.published(uri, 1)
    spent: list[float] = []
    for version in range(2, 7):
        before = working_seconds(client)
        at = {"line": 30, "character": 0}
        client.change(uri, version, {"range": {"start": at, "end": at}, "text": " "})
        client.published(uri, version)
        spent.append(working_seconds(client) - before)
    client.shut(uri)
    assert min(spent) <= seconds


def repeated(text: str, lines: int) -> str:
    """A module with the function of another one, as often as it takes to be so long."""
    start, end = text.index("  func.func"), text.rindex("}")
    functions = -(-lines // text[start:end].count("\n"))
    named = (text[start:end].replace("@softmax", f"@softmax{number}") for number in range(functions))
    return text[:start] + "".join(named) + text[end:]


REFUSED = """module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<cube>} {
  func.func @k() {
    %c8 = arith.constant 8 : index
    %c0 = arith.constant 0 : index
    %s = pto.alloc_tile : !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>
    %d = pto.alloc_tile : !pto.tile_buf<left, 16x32xf16, blayout=col_major, slayout=row_major>
    pto.textract ins(%s, %c8, %c0 : !pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>, index, index)
      outs(%d : !pto.tile_buf<left, 16x32xf16, blayout=col_major, slayout=row_major>)
    return
  }
}
"""


def test_what_a_run_refuses_follows_the_first_answer_of_a_long_text(client: Client):
    uri = "file:///long/refused.pto"
    client.open(uri, REFUSED + 500 * "\n")
    assert client.published(uri, 1) == []
    (found,) = client.published(uri, 1)
    assert found["code"] == "misaligned" and found["range"]["start"]["line"] == 6
    client.change(uri, 2, {"text": REFUSED})
    assert [each["code"] for each in client.published(uri, 2)] == ["misaligned"]
    client.shut(uri)


def working_seconds(client: Client) -> float:
    """What the server has had of the processor: an answer comes as soon where nothing else wants it."""
    user, system = Path(f"/proc/{client.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


# --- what an editor asks ----------------------------------------------------------------------------------------------


@pytest.fixture
def softmax(client: Client) -> Iterator[str]:
    """The URI of the example, opened."""
    uri = "file:///open/softmax.pto"
    client.open(uri, SOFTMAX.read_text())
    client.published(uri, 1)
    yield uri
    client.shut(uri)


def test_hover_shows_the_page_of_an_instruction_and_what_is_known_of_a_value(client: Client, softmax: str):
    text = SOFTMAX.read_text()
    page = client.at("hover", softmax, *place(text, "pto.vcmax"))["contents"]["value"]
    assert "pto.vcmax  (reduction)" in page and "cycles on a5" in page
    value = client.at(
        "hover", softmax, *place(text, "%c32768_i64,") if "%c32768_i64," in text else place(text, "%c512")
    )
    assert "`i64`" in value["contents"]["value"] or "is 512" in value["contents"]["value"]
    assert client.at("hover", softmax, *place(text, "Row-wise")) is None


def test_definition_references_and_rename(client: Client, softmax: str):
    text = SOFTMAX.read_text()
    used = place(text, "%parity]")
    (definition,) = client.at("definition", softmax, *used)
    line, column = place(text, "%parity =")
    assert definition["range"]["start"] == {"line": line, "character": column}
    found = client.at("references", softmax, *used, context={"includeDeclaration": True})
    assert len(found) == text.count("%parity")
    changes = client.at("rename", softmax, *used, newName="phase")["changes"][softmax]
    assert len(changes) == text.count("%parity") and {change["newText"] for change in changes} == {"%phase"}
    assert client.at("rename", softmax, *used, newName="c0")["message"] == "%c0 is defined already, in line 7"
    assert "is no name" in client.at("rename", softmax, *used, newName="a b")["message"]


def test_symbols_folds_and_colours(client: Client, softmax: str):
    (function,) = client.of("documentSymbol", softmax)
    assert function["name"] == "@softmax"
    assert [child["name"] for child in function["children"]] == ["scf.for %tile"]
    assert len(client.of("foldingRange", softmax)) > 5
    assert len(client.of("semanticTokens/full", softmax)["data"]) % 5 == 0


def test_inlay_hints_say_where_tiles_lie_and_what_order_is_inserted(client: Client):
    path = ROOT / "examples" / "tiles" / "softmax.pto"
    uri, text = "file:///open/tiles.pto", path.read_text()
    client.open(uri, text)
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    hints = {(hint["position"]["line"], hint["label"]) for hint in client.of("inlayHint", uri, range=whole)}
    assert (place(text, "%largest =")[0], "ub 0x4000") in hints
    assert (place(text, "pto.trowmax")[0] + 1, "wait MTE2 → V 0") not in hints
    assert (place(text, "pto.trowmax")[0], "wait MTE2 → V 0") in hints


@pytest.fixture
def patient() -> Iterator[Client]:
    """A server that gives a proof as long as a busy computer may take."""
    longer = f"from ptosim.home.editor import server; server.PROOF_SECONDS = {PATIENCE}"
    client = Client(("-c", f"{longer}; from ptosim.cli.commands import main; main(['lsp'])"))
    yield client
    assert client.close() == 0


def test_a_proof_comes_after_a_pause_and_a_check_offers_its_hint(patient: Client):
    client, uri = patient, "file:///open/broken.pto"
    broken = "".join(line for line in SOFTMAX.read_text().splitlines(keepends=True) if WAIT not in line)
    client.open(uri, broken)
    assert client.published(uri, 1) == []
    proof = client.published(uri, 1)
    assert {each["source"] for each in proof} == {"ptosim prove"} and proof[0]["code"] == "race"
    words = [uri, "rand:24x128", "zeros:24x128", "24"]
    answer = client.ask("workspace/executeCommand", {"command": "ptosim.check", "arguments": words})
    assert not answer["ok"]
    (race,) = [each for each in client.published(uri, 1) if each["source"] == "ptosim check"]
    (fix, *_) = client.of("codeAction", uri, range=race["range"], context={"diagnostics": [race]})
    assert fix["kind"] == "quickfix" and fix["diagnostics"] == [race]
    (edit,) = fix["edit"]["changes"][uri]
    client.change(uri, 2, {"range": edit["range"], "text": edit["newText"]})
    assert client.published(uri, 2) == []
    answer = client.ask("workspace/executeCommand", {"command": "ptosim.check", "arguments": words})
    assert answer["ok"]


def test_a_profile_gives_a_page_and_cycles_of_lines(client: Client, softmax: str):
    words = [softmax, "rand:24x128", "zeros:24x128", "24"]
    answer = client.ask("workspace/executeCommand", {"command": "ptosim.profile", "arguments": words})
    assert answer["ok"] and "<html" in answer["html"]
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}
    assert any("cycles" in hint["label"] for hint in client.of("inlayHint", softmax, range=whole))


def test_the_current_form_keeps_comments(client: Client):
    uri, text = (
        "file:///open/old.pto",
        'module {\n  func.func @k() {\n    // drain\n    pto.pipe_barrier "PIPE_ALL"\n    return\n  }\n}\n',
    )
    client.open(uri, text)
    client.published(uri, 1)
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    wanted = {"diagnostics": [], "only": ["refactor"]}
    (action,) = client.of("codeAction", uri, range=whole, context=wanted)
    (edit,) = action["edit"]["changes"][uri]
    assert "// drain\n    pto.barrier" in edit["newText"]


def test_a_program_is_run_by_the_command_alone_and_only_where_it_is_trusted(tmp_path: Path):
    script = tmp_path / "kernel.py"
    script.write_text("from pathlib import Path\nPath(__file__).with_name('ran').touch()\n")
    run = {"command": "ptosim.check", "arguments": [script.as_uri()]}
    client = Client()
    client.open(script.as_uri(), script.read_text(), "python")
    assert client.published(script.as_uri(), 1) == []
    client.change(script.as_uri(), 2, {"text": script.read_text() + "\n"})
    assert client.published(script.as_uri(), 2) == []
    assert client.ask("workspace/executeCommand", run) is None
    told = client.wait(lambda message: message.get("method") == "window/showMessage")
    assert "trusted workspace" in told["params"]["message"]
    assert client.close() == 0
    assert not (tmp_path / "ran").exists()


def test_the_server_goes_on(client: Client, softmax: str):
    assert client.ask("ptosim/nothing", {})["code"] == -32601
    client.raw(b"{not json")
    client.raw(b'{"jsonrpc": "2.0", "id": 4711, "method": "textDocument/hover", "params": {"textDocument": 3}}')
    client.tell(
        "textDocument/didChange", {"textDocument": {"uri": "file:///gone.pto", "version": 2}, "contentChanges": []}
    )
    assert client.at("hover", "file:///gone.pto", 0, 0) is None
    assert client.of("documentSymbol", "file:///gone.pto") == []
    assert client.at("hover", softmax, *place(SOFTMAX.read_text(), "pto.vcmax")) is not None


def test_without_the_extra_one_sentence_says_what_to_install():
    hide = "import sys; sys.modules['pygls'] = None; sys.argv = ['ptosim', 'lsp']; from ptosim.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: argument: pygls is not installed: pip install 'ptosim[lsp]'\n"
