"""Target files of a user: inheritance, and what is said about a file that is wrong."""

from pathlib import Path

import pytest

from ptosim.diagnostics import PTOError
from ptosim.target import load_target
from ptosim.target.tables import IssueUnit
from tables import table


def write(directory: Path, text: str, name: str = "my.toml") -> Path:
    path = directory / name
    path.write_text(text)
    return path


def test_a_file_that_inherits(tmp_path: Path):
    path = write(
        tmp_path,
        """
        inherits = "a5"
        [memory]
        ub = 131072
        [vector]
        startup = [30, "DEV"]
        [class]
        exp = { latency = 20 }
        [forward]
        exp = { log = 9 }
        """,
    )
    target = load_target(path)
    assert (target.name, target.architecture) == ("my", "a5")
    assert target.memory["ub"] == 131072 and target.origin("memory.ub") == "user"
    assert target.memory["l1"] == 512 * 1024 and target.origin("memory.l1") == "DOC"
    assert target.origin("vector.startup") == "DEV"
    assert isinstance(target.vector, IssueUnit)
    assert target.vector.classes["exp"].latency == (20, 20) and target.vector.classes["exp"].interval == (4, 8)
    assert target.vector.forward["exp"]["log"] == (9, 9)


def test_a_latency_of_ones_own_moves_the_forwarding_distances_that_the_file_does_not_state(tmp_path: Path):
    text = 'inherits = "a5"\n[class]\nexp = { latency = 10, origin = "DEV" }\n[forward]\nexp = { alu = 4 }'
    target = load_target(write(tmp_path, text))
    assert isinstance(target.vector, IssueUnit)
    # 16 / 21 before; a store of the result may start two cycles before it is complete
    assert target.vector.forward["exp"]["store"] == (8, 8) and target.origin("forward.exp.store") == "DEV"
    assert target.vector.forward["exp"]["alu"] == (4, 4) and target.origin("forward.exp.alu") == "user"
    assert target.vector.forward["divide"]["store"] == (15, 20)
    asked = load_target("a5").with_overrides({"exp.latency": 10})
    assert isinstance(asked.vector, IssueUnit)
    assert asked.vector.forward["exp"]["store"] == target.vector.forward["exp"]["store"]


def test_names_of_machines_in_any_case():
    assert load_target("A5") == load_target("a5")
    assert load_target("A3").name == "a2a3"


def test_a_rate_replaces_an_inherited_one(tmp_path: Path):
    path = write(tmp_path, 'inherits = "a2a3-flat"\n[dma]\ngm_ub = { bytes_per_cycle = 64, origin = "DEV" }')
    assert load_target(path).dma["gm_ub"].cycles(4096) == 64


def test_inheritance_between_files(tmp_path: Path):
    write(tmp_path, 'inherits = "a2a3-board"\n[memory]\nub = 65536', "base.toml")
    child = write(tmp_path, 'name = "lab"\ninherits = "base.toml"\n[memory]\nl1 = 4096')
    target = load_target(str(child))
    assert target.name == "lab"
    assert (target.memory["ub"], target.memory["l1"], target.memory["l0c"]) == (65536, 4096, 128 * 1024)
    assert target.origin("class.add.slope") == "DEV"


@table(
    "text, message",
    ('inherits = "a6"', "no target 'a6'"),
    ('inherits = "other.toml"', "no target 'other.toml'"),
    ('inherits = "my.toml"', "cannot inherit from itself"),
    ("inherits = 5", "'inherits' must be text"),
    ("", "neither 'architecture' nor 'inherits'"),
    ('architecture = "a6"', "'architecture' must be"),
    ('architecture = "a5"', "figures are missing"),
    ('architecture = "a5"\ninherits = "a2a3"', "inherits from a target that is a2a3"),
    ('inherits = "a5"\n[vectr]\nstartup = 1', "did you mean vector?"),
    ('inherits = "a5"\nvector = 5', "'vector' must be a table"),
    ('inherits = "a5"\n[vector]\nstart_up = 1', "did you mean vector.startup"),
    ('inherits = "a5"\n[vector]\nstartup = "soon"', "must be a whole number"),
    ('inherits = "a5"\n[vector]\nstartup = true', "must be a whole number"),
    ('inherits = "a5"\n[vector]\nstartup = [1, 2, 3]', "[value, origin]"),
    ('inherits = "a5"\n[vector]\nstartup = [1, "XX"]', "must be one of CA"),
    ('inherits = "a5"\n[vector]\nissue = 0', "above 0"),
    ('inherits = "a5"\n[class]\nexpo = { latency = 1 }', "did you mean class.exp.latency"),
    ('inherits = "a5"\n[class]\nexp = 3', "must be a table of figures"),
    ('inherits = "a5"\n[class]\nexp = { latency = 1, origin = ["CA"] }', "must be one of CA"),
    ('inherits = "a5"\n[class]\nexp = { latency = 1, origin = { port = "CA" } }', "which the row does not hold"),
    ('inherits = "a5"\n[forward]\nexp = { nothing = 1 }', "no figure 'forward.exp.nothing'"),
    ('inherits = "a2a3"\n[vector]\nstartup = 3', "no table 'vector'"),
    ('inherits = "a5"\n[sync]\ninter_core_wait = "all"', "'pipe' or 'core'"),
    ('inherits = "a5"\n[dma]\ngm_ub = { bytes_per_cycle = 0 }', "a number above 0"),
    ("inherits = ", "not TOML"),
    ("inherits = " + "[" * 10_000, "not TOML"),
)
def test_bad_files(tmp_path: Path, text: str, message: str):
    with pytest.raises(PTOError) as caught:
        load_target(write(tmp_path, text))
    assert message in str(caught.value)
    assert [diagnostic.kind for diagnostic in caught.value.diagnostics] == ["argument"]


def test_a_longer_cycle(tmp_path: Path):
    write(tmp_path, 'inherits = "my.toml"', "base.toml")
    with pytest.raises(PTOError, match=r"my.toml inherits base.toml inherits my.toml"):
        load_target(write(tmp_path, 'inherits = "base.toml"'))


def test_bytes_that_are_no_text(tmp_path: Path):
    path = tmp_path / "my.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(PTOError, match="not TOML"):
        load_target(path)


def test_an_unknown_name_lists_the_built_in_ones():
    with pytest.raises(PTOError, match="a2a3-board, a2a3-flat, a5"):
        load_target("nonsense")
    with pytest.raises(PTOError, match=r"did you mean a2a3-flat"):
        load_target("a2a3-flatt")
