"""Structured output by type: the schemas that agents are given, and the values that come back."""

import dataclasses
import datetime as dt
import enum
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Optional, TypedDict

import anyio
import jsonschema
import msgspec
import pydantic
import pytest

from claude_wrapper import (
    ClaudeAgentOptions,
    OptionsError,
    ResultMessage,
    StructuredOutputError,
    output_format,
    query,
    structured_result,
)
from claude_wrapper.testing import ScriptedAgent, ScriptedModel, call, say


class Line(msgspec.Struct):
    item: str
    price: float = 0.0


class Invoice(msgspec.Struct, rename="camel"):
    """What is owed."""

    invoice_number: str
    lines: list[Line]


@dataclasses.dataclass
class Person:
    name: str
    age: int
    born: dt.date | None = None


class Movie(TypedDict, total=False):
    title: str
    year: int


class City(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(json_schema_extra={"x-origin": "atlas"})

    name: str
    inhabitants: Annotated[int, pydantic.Field(gt=0)]
    at: tuple[float, float] | None = None


class Cat(msgspec.Struct, tag="cat"):
    lives: int


class Dog(msgspec.Struct, tag="dog"):
    tricks: list[str]


class Node(msgspec.Struct):
    value: int
    next: Optional["Node"] = None


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(NamedTuple):
    x: int
    y: int


class Boxed(TypedDict):
    output: int


VALUES = [
    (
        Invoice,
        {"invoiceNumber": "7", "lines": [{"item": "tea", "price": 2.5}]},
        Invoice("7", [Line("tea", 2.5)]),
    ),
    (
        Person,
        {"name": "Ada", "age": 36, "born": "1815-12-10"},
        Person("Ada", 36, dt.date(1815, 12, 10)),
    ),
    (Movie, {"title": "M", "year": 1931}, {"title": "M", "year": 1931}),
    (
        City,
        {"name": "Bonn", "inhabitants": 3, "at": [50.7, 7.1]},
        City(name="Bonn", inhabitants=3, at=(50.7, 7.1)),
    ),
    (Node, {"value": 1, "next": {"value": 2}}, Node(1, Node(2))),
    (Boxed, {"output": 3}, {"output": 3}),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (list[Person], {"output": [{"name": "Ada", "age": 36}]}, [Person("Ada", 36)]),
    (list[City], {"output": [{"name": "Bonn", "inhabitants": 3}]}, [City(name="Bonn", inhabitants=3)]),
    (Cat | Dog, {"output": {"type": "dog", "tricks": ["sit"]}}, Dog(["sit"])),
    (Colour, {"output": "blue"}, Colour.BLUE),
    (Literal["yes", "no"], {"output": "no"}, "no"),
    (Point, {"output": [1, 2]}, Point(1, 2)),
    (int, {"output": 4}, 4),
]
IDS = [str(getattr(kind, "__name__", kind)) for kind, _, _ in VALUES]

KEYWORDS = {
    *("$defs", "$ref", "additionalProperties", "anyOf", "const", "default", "description", "enum"),
    *(
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "minItems",
        "properties",
        "required",
        "title",
        "type",
    ),
}


def result(structured=None, text=None, **fields):
    return ResultMessage("success", 1, 1, fields.pop("is_error", False), 1, "s", None, **fields, result=text,
                         structured_output=structured)  # fmt: skip


def schemas_in(schema):
    """The schema and all that stand in it."""
    yield schema
    for key, value in schema.items():
        if key in {"properties", "$defs"}:
            inner = list(value.values())
        elif key == "anyOf":
            inner = value
        else:
            inner = [value] if key in {"items", "additionalProperties"} and isinstance(value, dict) else []
        for part in inner:
            yield from schemas_in(part)


# -- schemas


@pytest.mark.parametrize(("kind", "value", "_decoded"), VALUES, ids=IDS)
def test_a_schema_is_an_object_of_draft_7_that_the_value_fits(kind, value, _decoded):
    asked = output_format(kind)

    assert asked["type"] == "json_schema"
    assert asked["schema"]["type"] == "object"
    jsonschema.Draft7Validator.check_schema(asked["schema"])
    jsonschema.Draft202012Validator.check_schema(asked["schema"])
    jsonschema.validate(value, asked["schema"], jsonschema.Draft7Validator)


@pytest.mark.parametrize("kind", [kind for kind, _, _ in VALUES], ids=IDS)
def test_a_schema_holds_no_keyword_that_strict_agents_refuse(kind):
    for schema in schemas_in(output_format(kind)["schema"]):
        assert set(schema) <= KEYWORDS


@pytest.mark.parametrize("kind", [kind for kind, _, _ in VALUES if kind != dict[str, int]])
def test_objects_with_declared_fields_take_no_others(kind):
    objects = [s for s in schemas_in(output_format(kind)["schema"]) if "properties" in s]
    assert objects
    assert all(schema["additionalProperties"] is False for schema in objects)


def test_a_mapping_takes_any_key_and_a_model_that_allows_more_fields_takes_them():
    class Open(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="allow")

        name: str

    assert output_format(dict[str, int])["schema"]["additionalProperties"] == {"type": "integer"}
    assert output_format(Open)["schema"]["additionalProperties"] is True


def test_the_root_is_the_type_itself_and_not_a_reference_to_it():
    schema = output_format(Invoice)["schema"]
    assert (schema["title"], schema["description"]) == ("Invoice", "What is owed.")
    assert list(schema["properties"]) == ["invoiceNumber", "lines"]
    assert list(schema["$defs"]) == ["Line"]


def test_a_type_that_holds_itself_keeps_its_definition():
    schema = output_format(Node)["schema"]
    assert list(schema["properties"]) == ["value", "next"]
    assert "Node" in schema["$defs"]


def test_a_type_without_a_schema_is_refused_by_name():
    class Opaque:
        pass

    with pytest.raises(OptionsError, match=r"The type Opaque has no JSON schema"):
        output_format(Opaque)


def test_pydantic_is_imported_only_for_its_own_classes():
    code = (
        "import sys, msgspec; from claude_wrapper import output_format, structured_result;"
        "P = msgspec.defstruct('P', [('a', int)]); output_format(P); print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# -- values


@pytest.mark.parametrize(("kind", "value", "decoded"), VALUES, ids=IDS)
def test_a_value_becomes_an_instance_of_the_type(kind, value, decoded):
    got = structured_result(result(value), kind)
    assert got == decoded
    assert type(got) is type(decoded)


@pytest.mark.parametrize(("kind", "value", "decoded"), VALUES, ids=IDS)
def test_the_json_text_serves_where_an_agent_gives_no_value(kind, value, decoded):
    text = msgspec.json.encode(value).decode()
    assert structured_result(result(text=text), kind) == decoded
    assert structured_result(result(text=f"```json\n{text}\n```\n"), kind) == decoded


@pytest.mark.parametrize("key", ["output", "person"])
@pytest.mark.parametrize("kind", [Person, Movie, City])
def test_a_value_under_one_key_too_many_is_taken_out_of_it(kind, key):
    value = {"name": "Ada", "age": 36, "title": "M", "inhabitants": 5}
    wanted = {name: value[name] for name in output_format(kind)["schema"]["properties"] if name in value}
    assert structured_result(result({key: wanted}), kind) == structured_result(result(wanted), kind)


def test_the_last_result_among_messages_counts():
    messages = [result({"output": 1}), "something else", result({"output": 2})]
    assert structured_result(iter(messages), int) == 2


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (Invoice, {"invoiceNumber": "7"}, "missing required field `lines`"),
        (Person, {"name": "Ada", "age": "old"}, "Expected `int`"),
        (Person, {"output": "Ada"}, "missing required field `name`"),
        (Movie, {"year": "1931"}, r"\$.year"),
        (City, {"name": "Bonn", "inhabitants": 0}, "inhabitants"),
        (list[Person], [{"name": "Ada"}], "missing required field `age`"),
        (int, {"value": 3}, "Expected `int`"),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_what_the_validation_said(kind, value, problem):
    with pytest.raises(StructuredOutputError, match=problem) as caught:
        structured_result(result(value), kind)

    error = caught.value
    assert error.error is error.__cause__
    assert type(error.error).__name__ == "ValidationError"
    assert msgspec.json.decode(error.raw) == value
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_text_in_place_of_a_value_is_told_with_the_text():
    with pytest.raises(StructuredOutputError, match="answered with text") as caught:
        structured_result(result(text="I would rather not."), Person)
    assert caught.value.raw == "I would rather not."


def test_no_value_no_text_and_no_result_are_told_apart():
    with pytest.raises(StructuredOutputError, match="gave no structured output"):
        structured_result(result(), Person)
    with pytest.raises(StructuredOutputError, match="no result among the messages"):
        structured_result([], Person)


def test_a_failed_run_is_told_with_its_reasons():
    failed = result({"name": "Ada", "age": 3}, is_error=True, errors=["too many tries"])
    with pytest.raises(StructuredOutputError, match="too many tries"):
        structured_result(failed, Person)


# -- with agents


async def run(kind, **options):
    with anyio.fail_after(30):
        options = ClaudeAgentOptions(output_format=output_format(kind), setting_sources=[], **options)
        return [message async for message in query(prompt="Who?", options=options)]


@pytest.mark.anyio
@pytest.mark.feature("STRUCT-01")
async def test_an_agent_that_wraps_its_answer_or_gives_only_text_is_understood(tmp_path):
    with ScriptedAgent(tmp_path) as agent:
        agent.begin().result(structured_output={"output": {"name": "Ada", "age": 36}}).next_start()
        agent.begin().result('{"name": "Ada", "age": 36}')
        for _ in range(2):
            assert structured_result(await run(Person, cli_path=agent.path), Person) == Person("Ada", 36)
        flag = agent.runs[0].argv.index("--json-schema")
        assert msgspec.json.decode(agent.runs[0].argv[flag + 1]) == output_format(Person)["schema"]


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home")}


@pytest.mark.anyio
@pytest.mark.parametrize(("kind", "value", "decoded"), VALUES, ids=IDS)
async def test_our_agent_gives_a_value_of_every_kind(kind, value, decoded, home, tmp_path):
    with ScriptedModel([call("StructuredOutput", value)]) as model:
        messages = await run(kind, env={**model.environment(), **home}, cwd=tmp_path)

    assert structured_result(messages, kind) == decoded


@pytest.mark.anyio
@pytest.mark.feature("STRUCT-04")
async def test_our_agent_gives_text_when_the_model_never_hands_in_a_value(home, tmp_path):
    with ScriptedModel([say("No.")]) as model:
        messages = await run(Person, env={**model.environment(), **home}, cwd=tmp_path)

    with pytest.raises(StructuredOutputError, match="answered with text") as caught:
        structured_result(messages, Person)
    assert caught.value.raw == "No."


PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")


@pytest.fixture
def established_agent():
    (found,) = Path(PEERS).glob("pyenv/lib/python3*/site-packages/claude_agent_sdk/_bundled/claude")
    return found


@pytest.mark.peers
@pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.anyio
@pytest.mark.parametrize(("kind", "value", "decoded"), VALUES, ids=IDS)
async def test_the_established_agent_takes_the_schema_of_every_kind(
    kind, value, decoded, home, tmp_path, established_agent
):
    with ScriptedModel([call("StructuredOutput", value)]) as model:
        env = {**model.environment(), **home, "PATH": os.environ["PATH"]}
        messages = await run(kind, env=env, inherit_env=False, cwd=tmp_path, cli_path=established_agent)

    assert structured_result(messages, kind) == decoded
