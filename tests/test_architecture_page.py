"""The pages of docs/ show the code in the tree, name files that exist, and link to pages and headings that exist."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptosim.cli.commands import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ARCHITECTURE = DOCS / "explanation" / "architecture.md"
INSTRUCTION, TILE_OPERATION = (DOCS / "howto" / f"add-{what}.md" for what in ("an-instruction", "a-tile-operation"))
WALKED = (ARCHITECTURE, INSTRUCTION, TILE_OPERATION)
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of the blocks of code."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def shown(page: Path) -> list[tuple[str, str]]:
    """The blocks that name their file in a first line, and the code below it."""
    found = [text.split("\n", 1) for language, text in blocks(page) if language in ("python", "toml", "text")]
    return [(first.removeprefix("# "), code) for first, code in found if re.match(r"# [\w/]+\.\w+$", first)]


SHOWN = [(page, file, code) for page in WALKED for file, code in shown(page)]


def test_every_part_of_an_instruction_is_shown() -> None:
    files = [file for file, _ in shown(INSTRUCTION)]
    assert {file.split("/")[2] for file in files if file.startswith("src/")} == {
        *("language", "effects", "reference", "native")
    }
    assert {file.split("/")[1] for file in files if file.startswith("tests/")} == {"language", "reference"}


def test_every_part_of_a_tile_operation_is_shown() -> None:
    parts = {file.split("/")[-3 if file.startswith("src/") else 1] for file, _ in shown(TILE_OPERATION)}
    assert parts == {"language", "tiles"} and len(shown(TILE_OPERATION)) == 4


@pytest.mark.parametrize(("page", "file", "code"), SHOWN, ids=[file for _, file, _ in SHOWN])
def test_the_code_is_that_of_the_tree(page: Path, file: str, code: str) -> None:
    """In order, with something left out at each `...`."""
    rest = (ROOT / file).read_text()
    for piece in re.split(r"^\.\.\.\n", code, flags=re.MULTILINE):
        before, found, rest = rest.partition(piece)
        assert found, f"{page.relative_to(ROOT)} shows this in {file}, which has it no more:\n{piece}"
        assert before == "" or before.endswith("\n")


@pytest.mark.parametrize("page", [INSTRUCTION, TILE_OPERATION], ids=["instruction", "tile operation"])
def test_the_page_of_the_operation(page: Path) -> None:
    (text,) = [text for _, text in blocks(page) if text.startswith("$ ptosim isa")]
    command, _, wanted = text.partition("\n")
    result = CliRunner().invoke(main, command.split()[2:])
    assert result.output.startswith(wanted) and len(wanted) > 100


def test_files_and_folders_that_they_name_exist() -> None:
    text = "\n".join(page.read_text() for page in WALKED)
    named = re.findall(r"\b(?:tests|docs|src)/[\w/]+(?:\.\w+)?", text)
    floors = "|".join(path.name for path in (ROOT / "src" / "ptosim").iterdir() if path.is_dir())
    named += [f"src/ptosim/{name}" for name in re.findall(rf'(?<![\w/"])(?:{floors})/[\w/]+\.\w+', text)]
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


def anchors(page: Path) -> set[str]:
    """The headings, as links write them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    broken: list[str] = []
    for target in {*re.findall(r"\]\(([^)\s]+)\)", text)} - {""}:
        name, _, heading = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        if "://" not in target and (not there.exists() or (heading and heading not in anchors(there))):
            broken.append(target)
    assert broken == []


def test_every_page_has_its_place_and_the_readme_leads_there() -> None:
    """Learnt by doing, done, looked up, explained."""
    assert {page.parent.name for page in DOCS.rglob("*.md")} <= {"tutorial", "howto", "reference", "explanation"}
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in DOCS.rglob("*.md") if str(page.relative_to(ROOT)) not in readme] == []
