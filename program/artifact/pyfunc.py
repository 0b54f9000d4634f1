"""The code of a registered program: MLflow copies this file beside the program folder and runs it.

It is "models from code": nothing is pickled, and only MLflow imports it. The package is imported by its full name
because the copy lies outside it. Nothing is loaded before `load_context`.

Input is a data frame or a list of dicts with ``query``, and optionally ``history`` and ``session``, each as a value
or as JSON text. Output is one plan for each row, as JSON text. A row that is not a query (no text, or a history that
is not a list of messages) gives ``{"error": …}``, as in a batch, so that it does not stop a job of millions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel, PythonModelContext

if TYPE_CHECKING:
    from queryplan import QueryPlanner


class PlannerModel(PythonModel):
    """Plans each row by itself, with the program beside this file."""

    planner: QueryPlanner

    def load_context(self, context: PythonModelContext) -> None:
        """Load the program; an altered folder is refused. Plans are logged if the environment says so."""
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
        from queryplan.program.batch import no_query

        try:
            history, session = _value(row, "history", []), _value(row, "session", {})
        except TypeError as error:
            return json.dumps({"error": f"this row is no query: {error}"})
        given = {"query": None if _nothing(row["query"]) else row["query"], "history": history, "session": session}
        if why := no_query(given):
            return json.dumps({"error": why})
        return self.planner.plan(**given).model_dump_json()


def _value(row: Mapping[Any, Any], name: str, missing: Any) -> Any:
    """A cell as Python data: JSON text is parsed; ``missing`` stands for None, NaN or empty text.

    Raises:
        TypeError: the text is not JSON.
    """
    cell = row.get(name)
    if isinstance(cell, str):
        try:
            cell = json.loads(cell) if cell.strip() else None
        except (ValueError, RecursionError) as error:
            raise TypeError(f"{name} is not JSON ({type(error).__name__})") from None
    if isinstance(cell, np.ndarray):
        return cell.tolist()  # of Parquet; an array has no truth value
    return missing if _nothing(cell) else cell


def _nothing(cell: Any) -> bool:
    return bool(pd.api.types.is_scalar(cell) and pd.isna(cell))


set_model(PlannerModel())
