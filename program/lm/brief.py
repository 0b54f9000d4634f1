"""A DSPy adapter that sends the whole JSON schema, and does not repeat in words what constrained decoding enforces."""

from __future__ import annotations

import json
from typing import Any

import dspy
from dspy.adapters.utils import serialize_for_json, translate_field_type
from pydantic import TypeAdapter

LONG = 1500
"""Length of a JSON schema, in characters, from which it is left out of the prompt.

The schema of graph steps of a graph with ten edge types has 5,000; with seven demonstrations such a prompt had 3,344
tokens and did not fit into a slot of 3,072.
"""


_BOUNDS = ("minItems", "maxItems")


class BriefJSONAdapter(dspy.JSONAdapter):
    """As ``JSONAdapter``, but outputs with a long schema are described by their ``desc`` alone, on one line.

    For endpoints that enforce a schema, which get all of it beside the prompt. Prompts of other signatures are exactly
    those of ``JSONAdapter``.

    DSPy reads a field's annotation without its constraints, so how many items a list may have is added to the schema
    here. Answers are parsed without it: an endpoint that ignores it may write too many, and the planner asks again.
    """

    def _prepare_response_format(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any) -> None:
        super()._prepare_response_format(lm, lm_kwargs, signature)
        sent = lm_kwargs.get("response_format")
        if isinstance(sent, type):
            _add_bounds(sent.model_json_schema()["properties"], signature.output_fields)

    def format_field_structure(self, signature: Any) -> str:
        """How inputs and outputs are laid out."""
        whole = super().format_field_structure(signature)
        for name, info in signature.output_fields.items():
            if is_long(info):
                # As the layout has it: a JSON text inside of a JSON text.
                said = json.dumps(translate_field_type(name, info), ensure_ascii=False)
                whole = whole.replace(said, f'"{{{name}}}"')
        return whole

    def user_message_output_requirements(self, signature: Any) -> str:
        """The request for output at the end of every question."""
        if not _any_long(signature):
            return super().user_message_output_requirements(signature)
        named = ", then ".join(f"`{name}`" for name in signature.output_fields)
        return f"Respond with a JSON object on one line, with the fields {named}."

    def format_assistant_message_content(
        self, signature: Any, outputs: dict[str, Any], missing_field_message: Any = None
    ) -> str:
        """A demonstration's answer."""
        if not _any_long(signature):
            return super().format_assistant_message_content(signature, outputs, missing_field_message)
        values = {name: outputs.get(name, missing_field_message) for name in signature.output_fields}
        return json.dumps(serialize_for_json(values), ensure_ascii=False)


def is_long(info: Any) -> bool:
    """Whether the schema of an output field is too long to be repeated in words."""
    return len(translate_field_type("", info)) > LONG


def _any_long(signature: Any) -> bool:
    return any(is_long(info) for info in signature.output_fields.values())


def _add_bounds(properties: dict[str, Any], fields: dict[str, Any]) -> None:
    for name in properties.keys() & fields.keys():
        whole = TypeAdapter(fields[name].rebuild_annotation()).json_schema()
        properties[name].update({key: whole[key] for key in _BOUNDS if key in whole})
