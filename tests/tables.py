"""Tables of cases, as tests are given them."""

from typing import Any

import pytest


def table(names: str, *rows: Any, **options: Any) -> pytest.MarkDecorator:
    """A test for each row: its values in the order of the names, or the value itself where there is one name."""
    return pytest.mark.parametrize(names, rows, **options)
