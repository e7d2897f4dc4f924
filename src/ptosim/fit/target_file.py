"""A target file that holds what a fit found, and inherits the rest."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ptosim.fit.fitting import Fit, FittedFigure, mean
from ptosim.target.figures import ALIASES, ROW_TABLES, built_in_names

ORIGIN = "FIT"


def target_file(fit: Fit, inherits: str, out: Path, measured: str) -> str:
    """The text of the file, to be written to `out`."""
    before, after = (f"{100 * mean(errors):.1f} %" for errors in (fit.before, fit.after))
    lines = [
        f"# Fitted by ptosim fit to {len(fit.after)} launches of {Path(measured).name}: "
        f"mean error {before} before, {after} after.",
        f"name = {_text(out.stem)}",
        f"inherits = {_text(_parent(inherits, out))}",
    ]
    tables: dict[str, list[FittedFigure]] = {}
    for figure in fit.figures:
        tables.setdefault(figure.path.partition(".")[0], []).append(figure)
    for table, figures in tables.items():
        lines += ["", f"[{table}]", *(_rows(figures) if table in ROW_TABLES else map(_single, figures))]
    return "\n".join(lines) + "\n"


def _parent(inherits: str, out: Path) -> str:
    """The parent in the words of the file: a built-in name, or the way from where the file lies."""
    if ALIASES.get(inherits.lower(), inherits.lower()) in built_in_names():
        return inherits.lower()
    return Path(os.path.relpath(Path(inherits).resolve(), out.resolve().parent)).as_posix()


def _single(figure: FittedFigure) -> str:
    return f'{figure.path.partition(".")[2]} = [{_number(figure.after)}, "{ORIGIN}"]  # was {_number(figure.before)}'


def _rows(figures: Sequence[FittedFigure]) -> list[str]:
    rows: dict[str, list[FittedFigure]] = {}
    for figure in figures:
        rows.setdefault(figure.path.split(".")[1], []).append(figure)
    return [
        f"{row} = {{ {', '.join(f'{_key(each)} = {_number(each.after)}' for each in members)}, "
        f'origin = "{ORIGIN}" }}  # was {", ".join(_number(each.before) for each in members)}'
        for row, members in rows.items()
    ]


def _key(figure: FittedFigure) -> str:
    return figure.path.split(".")[2]


def _number(value: Any) -> str:
    return f"[{', '.join(map(_number, value))}]" if isinstance(value, tuple | list) else f"{value:g}"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _text(value: str) -> str:
    """The value in TOML."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
