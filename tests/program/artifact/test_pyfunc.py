"""The code of a registered program, on the tables that it may be given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pandas as pd

from ..planning import TURNS, same


def test_a_history_out_of_a_parquet_file_is_read_as_any_other(bench: Any, tmp_path: Path) -> None:
    from queryplan.program.artifact.pyfunc import PlannerModel
    from queryplan.program.plan import QueryPlan

    model = PlannerModel()
    model.planner = bench.planner()
    frame = pd.DataFrame({"query": ["and why?"] * 3, "history": [TURNS, [], None]})
    frame.to_parquet(tmp_path / "rows.parquet")
    plans = model.predict(cast(Any, None), pd.read_parquet(tmp_path / "rows.parquet"))
    wanted = [model.planner.plan("and why?", history) for history in (TURNS, [], None)]
    assert [same(QueryPlan.model_validate(json.loads(plan))) for plan in plans] == [same(plan) for plan in wanted]


def test_a_row_that_is_no_query_says_so_and_does_not_stop_the_others(bench: Any) -> None:
    from queryplan.program.artifact.pyfunc import PlannerModel

    model = PlannerModel()
    model.planner = bench.planner()
    histories: list[Any] = [None, '[{"role": "user"', '"who?"', [3], float("nan"), " "]
    rows: dict[str, list[Any]] = {"query": [None, "a?", "b?", "c?", "d?", "and why?"], "history": histories}
    plans = model.predict(cast(Any, None), pd.DataFrame({**rows, "session": [pd.NA, "", None, None, [1], "{}"]}))
    said = [json.loads(plan).get("error", "") for plan in plans]
    assert said[-1] == ""
    assert [one.removeprefix("this row is no query: ") for one in said[:-1]] == [
        "query must be a string, not NoneType",
        "history is not JSON (JSONDecodeError)",
        "history must be a list of messages with role and content, not str",
        "a message must be a mapping with role and content, not int",
        "session must be a mapping",
    ]
