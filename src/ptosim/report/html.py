"""A profile as one HTML file: template, style, scripts and data in one text that needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from ptosim.diagnostics import Diagnostic
from ptosim.report.page_data import page_data

if TYPE_CHECKING:
    from ptosim.report.comparison import Comparison
    from ptosim.report.profile import Profile

_SCRIPTS = ("model.js", "timeline.js", "tables.js", "memory.js", "roofline.js", "page.js")
_FRAME_HEIGHT = 820


def page(profile: Profile, findings: Sequence[Diagnostic] | None = None, comparison: Comparison | None = None) -> str:
    """The report; with the findings of a check where there are any, and a comparison with another profile."""
    data = json.dumps(page_data(profile, findings, comparison), separators=(",", ":"), ensure_ascii=False)
    parts = {
        "<!--title-->": escape(f"{profile.kernel} on {profile.target.name}"),
        "/*style*/": _text("report.css"),
        "/*scripts*/": "\n".join(map(_text, _SCRIPTS)),
        "/*data*/": data.replace("<", "\\u003c"),  # so that no text of the kernel can end the script element
    }
    text = _text("report.html")
    for mark, content in parts.items():
        text = text.replace(mark, content)
    return text


def frame(profile: Profile) -> str:
    """For a notebook: the report in a frame of its own, so that neither style touches the other."""
    style = f"width:100%;height:{_FRAME_HEIGHT}px;border:0"
    title = escape(f"profile of {profile.kernel}")
    return f'<iframe title="{title}" style="{style}" srcdoc="{escape(page(profile))}"></iframe>'


def _text(name: str) -> str:
    return (files("ptosim.report") / "page" / name).read_text("utf-8")
