"""Does with every public data class what users do with them, and prints what came of it. Argument: the package."""

import copy
import dataclasses
import importlib
import inspect
import json
import pickle
import pprint
import sys
import typing

package = importlib.import_module(sys.argv[1])
ours_of = {"ClaudeAgentOptions": set(sys.argv[2:])}
ours = set()


def outcome(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001  # its type is what is compared
        return f"raises {type(error).__name__}"


def values(cls, number):
    """A value for each field that differs from instance to instance; fields that have to be are plain texts."""
    names = [field.name for field in dataclasses.fields(cls) if field.name not in ours]
    return {name: f"{name} {number}" for name in names}


def made(cls, number=0):
    return cls(**values(cls, number))


def public(value):
    """A dict without what only we have."""
    return {name: item for name, item in value.items() if name not in ours}


def text(value):
    """How it is shown, without the options that only we have."""
    return repr(value).partition(", initialize_timeout=")[0].rstrip(")")


def facts(cls):
    global ours  # noqa: PLW0603  # a program of one thread
    ours = ours_of.get(cls.__name__, set())
    one, same, other = made(cls), made(cls), made(cls, 1)
    names = list(values(cls, 0))
    first = names[0]
    positions = list(values(cls, 0).values())
    return {
        "is dataclass": [dataclasses.is_dataclass(cls), dataclasses.is_dataclass(one)],
        "fields of the instance": [f.name for f in dataclasses.fields(one) if f.name not in ours],
        "field kinds": [
            (f.init, f.repr, f.compare, f.kw_only, f.hash)
            for f in dataclasses.fields(cls)
            if f.name not in ours
        ],
        "asdict": public(dataclasses.asdict(one)),
        "asdict is a copy": dataclasses.asdict(one) is not dataclasses.asdict(one),
        "astuple": list(dataclasses.astuple(one))[: len(names)],
        "vars": outcome(lambda: public(vars(one))),
        "replace": public(dataclasses.asdict(dataclasses.replace(one, **{first: "new"}))),
        "replace leaves it": getattr(one, first),
        "replace of nothing known": outcome(lambda: dataclasses.replace(one, absent=1)),
        "match args": [name for name in cls.__match_args__ if name not in ours],
        "equality": [one == same, one == other, one == positions, one != other],
        "equality with another class": one == dataclasses.make_dataclass("X", names)(*positions),
        "hash": outcome(lambda: type(hash(one)).__name__),
        "hashable": isinstance(one, typing.Hashable),
        "order": outcome(lambda: one < other),
        "repr": text(one),
        "copies": [copy.copy(one) == one, copy.deepcopy(one) == one, copy.copy(one) is one],
        "pickles": [pickle.loads(pickle.dumps(one, p)) == one for p in range(2, pickle.HIGHEST_PROTOCOL + 1)],
        "type of the pickled": type(pickle.loads(pickle.dumps(one))).__name__,
        "by position": outcome(lambda: cls(*positions) == one),
        "nothing given": outcome(lambda: public(dataclasses.asdict(cls()))),
        "too many": outcome(lambda: bool(cls(*positions, *range(100)))),
        "unknown name": outcome(lambda: bool(cls(**values(cls, 0), absent=1))),
        "set": outcome(lambda: (setattr(same, first, "set"), getattr(same, first))[1]),
        "delete": outcome(lambda: (delattr(same, first), hasattr(same, first))[1]),
        "parameters": [name for name in inspect.signature(cls).parameters if name not in ours],
        "subclass": outcome(lambda: isinstance(made(type("Sub", (cls,), {})), cls)),
        "dataclass below": outcome(lambda: below(cls)),
        "pretty": outcome(lambda: len(pprint.pformat(one)) > 0),
        "doc": bool(cls.__doc__),
        "module is public": cls.__module__.startswith(sys.argv[1]),
    }


def below(cls):
    sub = dataclasses.dataclass(type("Sub", (cls,), {"__annotations__": {"more": int}, "more": 3}))
    return (sub(**values(cls, 0)).more, isinstance(made(sub), cls))


def matched():
    """How messages and blocks are taken apart by patterns."""
    p = package
    answer = p.AssistantMessage([p.TextBlock("hi"), p.ToolUseBlock("t1", "Bash", {"command": "ls"})], "m")
    match answer:
        case p.AssistantMessage(
            [p.TextBlock(text), p.ToolUseBlock(number, name, {"command": command})], model
        ):
            first = [text, number, name, command, model]
        case _:
            first = None
    match p.ResultMessage("success", 1, 2, False, 3, "s"):
        case p.ResultMessage(subtype="success", is_error=False, num_turns=turns):
            second = turns
        case _:
            second = None
    match p.TaskStartedMessage("task_started", {}, "t", "d", "u", "s"):
        case p.SystemMessage(subtype, data):
            third = [subtype, data]
        case _:
            third = None
    return [first, second, third]


def nested():
    """Whether messages inside each other are taken apart and copied all the way down."""
    p = package
    message = p.AssistantMessage([p.TextBlock("hi"), p.ToolUseBlock("t", "n", {"a": [1]})], "m")
    deep, shallow = copy.deepcopy(message), copy.copy(message)
    message.content[1].input["a"].append(2)
    return {
        "asdict": dataclasses.asdict(message),
        "deep": deep.content[1].input,
        "shallow": shallow.content[1].input,
        "options": dataclasses.asdict(
            p.ClaudeAgentOptions(agents={"a": p.AgentDefinition("d", "p")}, debug_stderr=None)
        )["agents"],
        "pickled": pickle.loads(pickle.dumps(message)) == message,
        "equal to a subclass": p.SystemMessage("a", {}) == p.MirrorErrorMessage("a", {}),
        "set of a message": outcome(lambda: len({message})),
    }


classes = {
    name: value
    for name in sorted(package.__all__)
    if isinstance(value := getattr(package, name), type) and dataclasses.is_dataclass(value)
}
report = {name: facts(value) for name, value in classes.items()}
report["patterns"] = matched()
report["nested"] = nested()
json.dump(report, sys.stdout, default=repr)
