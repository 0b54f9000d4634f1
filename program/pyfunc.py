"""The code of a registered program: MLflow copies this file beside the program folder and runs it.

It is "models from code": nothing is pickled, and only MLflow imports it. The package is imported by
its full name because the copy lies outside of it. Nothing is loaded before `load_context`.

Input is a data frame or a list of dicts with ``query``, and optionally ``history`` and ``session``,
each as a value or as JSON text; output is one plan a row, as JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel, PythonModelContext

if TYPE_CHECKING:
    from queryplan import QueryPlanner


class PlannerModel(PythonModel):
    """Plans each row by itself with the program that lies beside this file."""

    planner: QueryPlanner

    def load_context(self, context: PythonModelContext) -> None:
        """Load the program; a folder that was altered is refused. Plans are logged where the environment says so."""
        import queryplan
        from queryplan.program.plan_log import log_of_environment

        self.planner = queryplan.QueryPlanner.load(context.artifacts["program"])
        self.planner.log = log_of_environment()

    def predict(  # pyright: ignore[reportIncompatibleMethodOverride]  (MLflow declares that it returns None)
        self, context: PythonModelContext, model_input: pd.DataFrame, params: dict[str, Any] | None = None
    ) -> pd.Series:
        """JSON plans, in the order of the rows and with their index."""
        frame = model_input if isinstance(model_input, pd.DataFrame) else pd.DataFrame(model_input)
        plans = [self._plan(row) for row in frame.to_dict(orient="records")]
        return pd.Series(plans, index=frame.index, name="plan", dtype="object")

    def _plan(self, row: Mapping[Any, Any]) -> str:
        history, session = _value(row.get("history")), _value(row.get("session"))
        told = list(history) if history is not None else []  # Parquet gives an array, which has no truth value
        plan = self.planner.plan(row["query"], history=told, session=dict(session or {}))
        return plan.model_dump_json()


def _value(cell: Any) -> Any:
    """A cell as Python data: JSON text is read; None, NaN and empty text are None."""
    if isinstance(cell, str):
        return json.loads(cell) if cell.strip() else None
    return cell if hasattr(cell, "__len__") else None


set_model(PlannerModel())
