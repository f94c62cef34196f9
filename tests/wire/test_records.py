"""Public values behave as the dataclasses that programs expect them to be."""

import copy
import dataclasses
import inspect
import pickle
import pprint
import subprocess
import sys
import textwrap
from typing import Any

import msgspec
import pytest

from claude_wrapper.wire.blocks import (
    DocumentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    ServerToolResultBlock,
    ServerToolUseBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
)
from claude_wrapper.wire.records import Record

BLOCKS = [
    (TextBlock("hello"), {"text": "hello"}),
    (ThinkingBlock("hm", "sig"), {"thinking": "hm", "signature": "sig"}),
    (ToolUseBlock("t", "Bash", {"command": "ls"}), {"id": "t", "name": "Bash", "input": {"command": "ls"}}),
    (ToolResultBlock("t"), {"tool_use_id": "t", "content": None, "is_error": None}),
    (
        ToolResultBlock("t", [{"type": "text", "text": "x"}], is_error=True),
        {"tool_use_id": "t", "content": [{"type": "text", "text": "x"}], "is_error": True},
    ),
    (ServerToolUseBlock("s", "web_search", {}), {"id": "s", "name": "web_search", "input": {}}),
    (ServerToolResultBlock("s", {"a": 1}), {"tool_use_id": "s", "content": {"a": 1}}),
    (UnknownBlock({"type": "new"}), {"raw": {"type": "new"}}),
    (RedactedThinkingBlock("abc"), {"data": "abc"}),
]
WITH_ABSENT_FIELDS = [ImageBlock({"type": "base64"}), DocumentBlock({"type": "text"}, title="T")]


class Base(Record):
    subtype: str
    data: dict[str, Any]


class Derived(Base):
    task_id: str
    status: "int | None" = None
    tags: list[str] = msgspec.field(default_factory=list)


every_block = pytest.mark.parametrize(("block", "fields"), BLOCKS, ids=lambda value: type(value).__name__)
every_value = pytest.mark.parametrize(
    "value",
    [block for block, _ in BLOCKS] + [*WITH_ABSENT_FIELDS, Derived("s", {"a": 1}, "t")],
    ids=lambda value: type(value).__name__,
)


@every_block
def test_asdict_and_vars_give_the_fields(block, fields):
    assert dataclasses.asdict(block) == fields
    assert vars(block) == fields


@every_block
def test_fields_are_named_in_order(block, fields):
    assert [field.name for field in dataclasses.fields(block)] == list(fields)
    assert [field.name for field in dataclasses.fields(type(block))] == list(fields)
    assert type(block).__match_args__ == tuple(fields)


@every_value
def test_it_passes_for_a_dataclass(value):
    assert dataclasses.is_dataclass(value)
    assert dataclasses.is_dataclass(type(value))


@every_value
def test_replace_gives_a_changed_copy(value):
    name = dataclasses.fields(value)[0].name
    changed = dataclasses.replace(value, **{name: "other"})
    assert type(changed) is type(value)
    assert getattr(changed, name) == "other"
    assert getattr(value, name) != "other"
    assert dataclasses.replace(value) == value


@every_value
def test_copies_are_equal(value):
    for other in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert other == value
        assert other is not value
        assert type(other) is type(value)


@every_value
def test_a_deep_copy_shares_nothing(value):
    other = copy.deepcopy(value)
    for field in dataclasses.fields(value):
        mine = getattr(value, field.name)
        if isinstance(mine, (dict, list)):
            assert getattr(other, field.name) is not mine


@every_value
def test_repr_is_the_call_that_makes_it(value):
    assert repr(value).startswith(f"{type(value).__name__}({dataclasses.fields(value)[0].name}=")
    assert eval(repr(value), {**globals(), "UNSET": msgspec.UNSET}) == value


@every_value
def test_it_can_be_printed_in_any_width(value):
    assert pprint.pformat(value, width=10) == repr(value)


def test_equality_is_by_type_and_value():
    assert TextBlock("a") == TextBlock("a")
    assert TextBlock("a") != TextBlock("b")
    assert TextBlock("a") != UnknownBlock("a")
    with pytest.raises(TypeError):
        hash(TextBlock("a"))


def test_fields_can_be_set():
    block = TextBlock("a")
    block.text = "b"
    assert block == TextBlock("b")


def test_blocks_can_be_matched():
    def read(block):
        match block:
            case TextBlock(text):
                return text
            case ToolUseBlock(name="Bash", input={"command": command}):
                return command
            case ToolResultBlock(_, str(content)):
                return content
            case ThinkingBlock():
                return "thinking"

    assert [
        read(TextBlock("a")),
        read(ToolUseBlock("t", "Bash", {"command": "ls"})),
        read(ToolResultBlock("t", "out")),
        read(ThinkingBlock("", "")),
        read(UnknownBlock({})),
    ] == ["a", "ls", "out", "thinking", None]


def test_asdict_goes_into_records_within():
    assert dataclasses.asdict(Base("s", {"blocks": [TextBlock("a")]})) == {
        "subtype": "s",
        "data": {"blocks": [{"text": "a"}]},
    }


def test_inherited_fields_come_first_with_their_types_and_defaults():
    fields = {field.name: field for field in dataclasses.fields(Derived)}
    assert list(fields) == ["subtype", "data", "task_id", "status", "tags"]
    assert [fields[name].type for name in fields] == [str, dict[str, Any], str, int | None, list[str]]
    missing = dataclasses.MISSING
    assert [fields[name].default for name in fields] == [missing, missing, missing, None, missing]
    assert fields["tags"].default_factory is list
    assert Derived("s", {}, "t", 1) == Derived(subtype="s", data={}, task_id="t", status=1, tags=[])
    assert isinstance(Derived("s", {}, "t"), Base)
    assert [field.name for field in dataclasses.fields(Base)] == ["subtype", "data"]


def test_its_parameters_are_those_of_a_dataclass():
    @dataclasses.dataclass
    class Plain:
        text: str

    assert TextBlock.__dataclass_params__.frozen is Plain.__dataclass_params__.frozen is False
    assert TextBlock.__dataclass_params__.eq is Plain.__dataclass_params__.eq is True
    assert list(inspect.signature(TextBlock).parameters) == list(inspect.signature(Plain).parameters)


def test_no_record_is_walked_by_the_cycle_collector():
    assert not any(type(value).__struct_config__.gc for value, _ in BLOCKS)


def test_dataclasses_is_not_imported_before_somebody_asks():
    program = """
        import sys
        from claude_wrapper.wire.blocks import TextBlock
        repr(TextBlock("a"))
        assert "dataclasses" not in sys.modules
        hasattr(TextBlock, "__dataclass_fields__")
        assert "dataclasses" in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=30)
