"""Takes `scf.execute_region` apart: its body runs where it stands, so that nothing else has to know of it."""

from __future__ import annotations

from ptosim.language.structure.control import Yield
from ptosim.language.structure.execute_region import ExecuteRegion
from ptosim.language.text.parser import ParsedModule


def inline_regions(parsed: ParsedModule) -> None:
    """Put the operations of every such region in its place, inner ones first."""
    for region in reversed([op for op in parsed.module.walk() if isinstance(op, ExecuteRegion)]):
        block, inner = region.parent_block(), region.region.block
        end = inner.last_op
        assert block is not None and isinstance(end, Yield)
        for result, value in zip(region.results, end.arguments, strict=True):
            result.replace_all_uses_with(value)
        end.detach()
        end.erase()
        for op in list(inner.ops):
            op.detach()
            block.insert_op_before(op, region)
        region.detach()
        region.erase()
