"""Schemas of tools as the model's API takes them."""

import pytest

from claude_wrapper.agent.mcp.schema import flattened

A = {"a": {"type": "string"}}
B = {"b": {"type": "number"}}


@pytest.mark.feature("MCP-09")
@pytest.mark.parametrize(
    ("schema", "flat"),
    [
        ({"type": "object", "properties": A}, {"type": "object", "properties": A}),
        ({"properties": A}, {"properties": A, "type": "object"}),
        (
            {"anyOf": [{"properties": A, "required": ["a"]}, {"properties": B}]},
            {"type": "object", "properties": {**A, **B}},
        ),
        (
            {"oneOf": [{"properties": A, "required": ["a"]}, {"properties": A | B, "required": ["a", "b"]}]},
            {"type": "object", "properties": {**A, **B}, "required": ["a"]},
        ),
        (
            {
                "properties": A,
                "required": ["a"],
                "allOf": [{"properties": B, "required": ["b"]}, {"$ref": "#/x"}, 5],
            },
            {"type": "object", "properties": {**A, **B}, "required": ["a", "b"]},
        ),
    ],
)
def test_alternatives_at_the_root_become_one_object(schema, flat):
    assert flattened(schema) == flat
