"""Rows that tests of several files learn from."""

from __future__ import annotations

import pytest
from queryplan.data.domain import load_domain
from queryplan.data.rows import LabelledRow


@pytest.fixture(scope="session")
def few() -> tuple[LabelledRow, ...]:
    """The first 100 rows of the podcast's, which are whole conversations but for the last."""
    return load_domain("podcast", splits=("train",)).rows("train")[:100]
