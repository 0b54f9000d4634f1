"""Cuts an ONNX model off behind one of its tensors, so that what comes after it is neither kept nor computed.

Only the list of outputs has to change, so the model's other fields are copied as they are, and no ONNX package is
needed. The runtime then drops every node on which the remaining output does not depend.
"""

from __future__ import annotations

from .protobuf import fields, with_bytes, with_number

# Numbers of fields, from the format's public description (onnx.proto, ModelProto and what it holds).
GRAPH, NODE, OUTPUT, GIVES = 7, 1, 12, 2
NAME, TYPE, TENSOR, KIND, FLOAT = 1, 2, 1, 1, 1


def cut_off(model: bytes, tensor: str) -> bytes:
    """The model with a tensor of floats as its only output.

    Raises:
        ValueError: these are no bytes of a model, or no node of it gives that tensor.
    """
    found, parts = False, []
    for field in fields(memoryview(model)):
        if field.number != GRAPH:
            parts.append(field.whole)
            continue
        inside = [*fields(field.content)]
        found = found or any(tensor in given_by(node.content) for node in inside if node.number == NODE)
        kept = [one.whole for one in inside if one.number != OUTPUT]
        parts.append(with_bytes(GRAPH, b"".join([*kept, _output(tensor)])))
    if not found:
        raise ValueError(f"no node of the model gives {tensor!r}")
    return b"".join(parts)


def given_by(node: memoryview) -> list[str]:
    """The names of the tensors that a node gives."""
    return [field.text for field in fields(node) if field.number == GIVES]


def _output(tensor: str) -> bytes:
    """The declaration of an output: its name, and that it has floats."""
    floats = with_number(KIND, FLOAT)
    return with_bytes(OUTPUT, with_bytes(NAME, tensor.encode()) + with_bytes(TYPE, with_bytes(TENSOR, floats)))
