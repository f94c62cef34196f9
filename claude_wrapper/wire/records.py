"""The bases of all structs: `Frame` for what travels, `Record` for what users hold."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

__all__ = ["Frame", "Part", "Record"]


class _DataclassFields:
    """Gives a struct the `__dataclass_fields__` that the `dataclasses` functions look for.

    The fields are built on first use from a shadow dataclass, so that `dataclasses` (and
    `inspect` with it) is not imported before somebody asks.
    """

    def __init__(self) -> None:
        self._built: dict[type, dict[str, Any]] = {}

    def __get__(self, instance: object, owner: type[msgspec.Struct]) -> dict[str, Any]:
        fields = self._built.get(owner)
        if fields is None:
            fields = self._built[owner] = _shadow_fields(owner)
        return fields


def _shadow_fields(owner: type[msgspec.Struct]) -> dict[str, Any]:
    import dataclasses  # noqa: PLC0415  # start-up: most programs never call asdict()

    def declaration(field: Any) -> Any:
        if field.default is not msgspec.NODEFAULT:
            return dataclasses.field(default=field.default)
        if field.default_factory is not msgspec.NODEFAULT:
            return dataclasses.field(default_factory=field.default_factory)
        return dataclasses.field()

    shadow = dataclasses.make_dataclass(
        owner.__name__,
        [
            (f.name, owner.__annotations__.get(f.name, Any), declaration(f))
            for f in msgspec.structs.fields(owner)
        ],
    )
    fields: dict[str, Any] = shadow.__dataclass_fields__  # type: ignore[attr-defined]  # make_dataclass returns a bare type
    return fields


class Record(msgspec.Struct):
    """A public value: a struct that `dataclasses.asdict`, `fields`, `replace` and `is_dataclass` accept."""

    __dataclass_fields__: ClassVar[Any] = _DataclassFields()


class Part(msgspec.Struct, kw_only=True):
    """A piece of a frame. A field that may be absent defaults to UNSET; None is JSON null."""


class Frame(Part, kw_only=True, tag_field="type"):
    """One line of the protocol, told from the others by its `type`."""
