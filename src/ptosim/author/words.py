"""Words: the enums of the surface, and a word of any spelling brought to what an operation class knows."""

from __future__ import annotations

from enum import Enum, EnumMeta, StrEnum
from functools import cache
from typing import Any

from ptosim.author.failures import RemovedName, WrongType, WrongValue, failure

_ENUMS = {
    "MaskPattern": {
        name: f"PAT_{name}" for name in "ALL ALLF H Q M3 M4 VL1 VL2 VL3 VL4 VL8 VL16 VL32 VL64 VL128".split()
    },
    "CmpMode": {name: name.lower() for name in "EQ NE LT LE GT GE".split()},
    "Pipe": {name: f"PIPE_{name}" for name in "S V M MTE1 MTE2 MTE3 MTE4 MTE5 V2 FIX ALL".split()},
    "BarrierType": {
        name: name
        for name in (
            "VV_ALL VST_VLD VLD_VST VST_VST VS_ALL VST_LD VLD_ST VST_ST SV_ALL ST_VLD LD_VST ST_VST "
            "SS_ALL ST_LD LD_ST ST_ST"
        ).split()
    },
    "PostUpdate": {"OFF": "OFF", "ON": "ON"},
    "PostUpdateMode": {"NO_POST_UPDATE": "NO_POST_UPDATE", "POST_UPDATE": "POST_UPDATE"},
    "PredicatePart": {"LOWER": "LOWER", "HIGHER": "HIGHER"},
    "VPackPart": {"LOWER": "LOWER", "HIGHER": "HIGHER"},
    "PredicateDist": {name: name for name in "NORM US DS PK".split()},
    "VLoadDist": {
        ("_" + name if name[0].isdigit() else name): name
        for name in (
            "NORM BRC_B8 BRC_B16 BRC_B32 US_B8 US_B16 DS_B8 DS_B16 UNPK_B8 UNPK_B16 UNPK_B32 BRC_BLK E2B_B16 E2B_B32 "
            "UNPK4_B8 SPLT4CHN_B8 SPLT2CHN_B8 SPLT2CHN_B16"
        ).split()
    },
    "VStoreDist": {
        ("_" + name if name[0].isdigit() else name): name
        for name in (
            "NORM_B8 NORM_B16 NORM_B32 1PT_B8 1PT_B16 1PT_B32 PK_B16 PK_B32 PK_B64 PK4_B32 MRG4CHN_B8 MRG2CHN_B8 "
            "MRG2CHN_B16"
        ).split()
    },
    "DeinterleaveDist": {name: name for name in "DINTLV_B8 DINTLV_B16 DINTLV_B32 BDINTLV".split()},
    "InterleaveDist": {name: name for name in "INTLV_B8 INTLV_B16 INTLV_B32".split()},
    "PartMode": {"EVEN": "EVEN", "ODD": "ODD"},
    "PositionMode": {"LOWEST": "LOWEST", "HIGHEST": "HIGHEST"},
    "OrderMode": {"ASC": "ASC", "DESC": "DESC"},
    "VcvtRoundMode": {name: name for name in "R A F C Z O H".split()},
    "VcvtSatMode": {"SAT": "SAT", "NOSAT": "NOSAT", "RS_ENABLE": "SAT", "RS_DISABLE": "NOSAT"},
    "VcvtPartMode": {name: name for name in "EVEN ODD P0 P1 P2 P3".split()},
    "BLayout": {"ROW_MAJOR": "row_major", "COL_MAJOR": "col_major"},
    "SLayout": {"NONE_BOX": "none_box", "ROW_MAJOR": "row_major", "COL_MAJOR": "col_major"},
    "Layout": {"ND": "nd", "DN": "dn", "NZ": "nz"},
    "PadValue": {"NULL": "null", "ZERO": "zero", "MAX": "max", "MIN": "min"},
    "AlignType": {"ALIGN": "align"},
    "FractalMode": {"ND2NZ": "nd2nz", "DN2NZ": "dn2nz"},
    "MadUnitFlagMode": {"CHECK_ONLY": "check_only", "CHECK_AND_SET": "check_and_set"},
    "AccStoreUnitFlagCtrl": {"CHECK_ONLY": "check_only", "CHECK_AND_CLEAR": "check_and_clear"},
    "SatMode": {"SAT": "sat", "NOSAT": "nosat", "ON": "ON", "OFF": "OFF"},
    "Tf32Mode": {"ROUND_EVEN": "round_even", "ROUND_AWAY": "round_away"},
    "SplitMode": {"M": "split_m", "N": "split_n", "SPLIT_M": "split_m", "SPLIT_N": "split_n"},
    "MemorySpace": {
        **{name: name.lower() for name in "GM MAT LEFT RIGHT ACC BIAS SCALING".split()},
        "UB": "ub",
        "VEC": "ub",
        "L1": "mat",
        "L0A": "left",
        "L0B": "right",
        "L0C": "acc",
        "BT": "bias",
        "FB": "scaling",
    },
    "RoundMode": {name: name for name in "NONE RINT ROUND FLOOR CEIL TRUNC ODD CAST_RINT".split()},
    **{
        f"{name}Precision": {"DEFAULT": "default", "HIGH_PRECISION": "high_precision"}
        for name in "Div Exp Log Recip Rsqrt Sqrt Rem Fmod Pow".split()
    },
}
_ALIASES = {"PAT": "MaskPattern"}

NAMES = (*_ENUMS, *_ALIASES)


class _Known(EnumMeta):
    """Enums that say which members they have."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        kind, _, plain = name.partition("_")
        if kind in ("PIPE", "PAT") and plain in cls.__members__:
            return cls.__members__[plain]
        raise failure(RemovedName, f"pto.{cls.__name__} has no '{name}'; known: {', '.join(cls.__members__)}")


class _Word(StrEnum, metaclass=_Known):
    """A word as a member of an enum."""


@cache
def enum(name: str) -> type[Enum]:
    """An enum of the surface, by its name."""
    members = _ENUMS[_ALIASES.get(name, name)]
    made = _Word(name, members, module="ptosim.ptodsl.pto")
    return made  # pyright: ignore[reportReturnType]


def spelled(word: Any) -> str | None:
    """The text of a word that is given as a member, a token or a string."""
    if isinstance(word, Enum):
        word = word.value
    return word if isinstance(word, str) else None


def word(value: Any, vocabulary: Any, what: str) -> str:
    """The word of a vocabulary that is meant, in whichever spelling."""
    text = spelled(value)
    known = (*vocabulary.words, *vocabulary.illegal)
    if text is None:
        raise failure(WrongType, f"{what} is a word, one of {vocabulary.known}, not {value!r}")
    if text in known:
        return text
    if text in vocabulary.aliases:
        return vocabulary.aliases[text]
    plain = text.lower().lstrip("_").removeprefix("#")
    found = [each for each in known if each.lower() == plain]
    found = found or [each for each in known if each.lower().endswith(f"_{plain}") and _is_prefix(each, plain)]
    if not found and (aliased := {key.lower(): each for key, each in vocabulary.aliases.items()}.get(plain)):
        return aliased
    if not found:
        raise failure(WrongValue, f"there is no {what} {text!r}; known: {vocabulary.known}")
    return found[0]


def _is_prefix(known: str, plain: str) -> bool:
    """Whether what is in front of the word is only its kind: PIPE_V, PAT_ALL, EVENT_ID0."""
    return known.lower().removesuffix(f"_{plain}") in ("pipe", "pat", "event", "single_mode", "dual_mode")


def choice(value: Any, known: dict[str, str] | tuple[str, ...], what: str) -> str:
    """One of a few words, whatever case and whichever separators it is written with."""
    table = known if isinstance(known, dict) else {each: each for each in known}
    text = spelled(value)
    if text is not None:
        plain = text.replace("_", "").replace("-", "").lower()
        for each, meant in table.items():
            if each.replace("_", "").lower() == plain:
                return meant
    raise failure(WrongValue, f"there is no {what} {value!r}; known: {', '.join(table)}")
