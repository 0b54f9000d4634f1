"""The code of a registered program, on the tables that it may be given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pandas as pd

from .planning import TURNS, same


def test_a_history_out_of_a_parquet_file_is_read_as_any_other(bench: Any, tmp_path: Path) -> None:
    from queryplan.program.plan import QueryPlan
    from queryplan.program.pyfunc import PlannerModel

    model = PlannerModel()
    model.planner = bench.planner()
    frame = pd.DataFrame({"query": ["and why?"] * 3, "history": [TURNS, [], None]})
    frame.to_parquet(tmp_path / "rows.parquet")
    plans = model.predict(cast(Any, None), pd.read_parquet(tmp_path / "rows.parquet"))
    wanted = [model.planner.plan("and why?", history) for history in (TURNS, [], None)]
    assert [same(QueryPlan.model_validate(json.loads(plan))) for plan in plans] == [same(plan) for plan in wanted]
