"""The bases of all structs: `Frame` for what travels, `Record` for what users hold."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, UnsetType

__all__ = [
    "Flag",
    "Frame",
    "Number",
    "Object",
    "OptionalText",
    "Part",
    "Record",
    "SystemPart",
    "Text",
]

Text = str | UnsetType
OptionalText = str | None | UnsetType
Flag = bool | UnsetType
Number = int | float | UnsetType
Object = dict[str, Any]


class _Shadow:
    """Gives a struct what the `dataclasses` functions look for, under the name it is assigned to.

    The answer is taken from a dataclass with the same fields that is built on first use, so that
    `dataclasses` (and `inspect` with it) is not imported before somebody asks.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type[msgspec.Struct]) -> Any:
        shadow = _shadows.get(owner)
        if shadow is None:
            shadow = _shadows[owner] = _build_shadow(owner)
        return getattr(shadow, self._name)


_shadows: dict[type[msgspec.Struct], type] = {}


def _build_shadow(owner: type[msgspec.Struct]) -> type:
    import dataclasses  # noqa: PLC0415  # start-up: most programs never call asdict()

    def declaration(field: msgspec.structs.FieldInfo) -> Any:
        if field.default is not msgspec.NODEFAULT:
            return dataclasses.field(default=field.default)
        if field.default_factory is not msgspec.NODEFAULT:
            return dataclasses.field(default_factory=field.default_factory)
        return dataclasses.field()

    # msgspec resolves the types of inherited fields too, each in the module that wrote it.
    return dataclasses.make_dataclass(
        owner.__name__,
        [(field.name, field.type, declaration(field)) for field in msgspec.structs.fields(owner)],
    )


# Frames are trees, so that no struct needs the cycle collector (`gc=False`), which would otherwise
# spend more time on walking over kept messages than decoding them takes.


class Record(msgspec.Struct, gc=False):
    """A public value: a struct that `dataclasses.asdict`, `fields`, `replace` and `is_dataclass` accept."""

    __dataclass_fields__: ClassVar[Any] = _Shadow()
    __dataclass_params__: ClassVar[Any] = _Shadow()

    __hash__ = None  # type: ignore[assignment]  # as a dataclass that can be changed; or it would only fail when asked

    @property
    def __dict__(self) -> Object:  # type: ignore[override]  # a struct has slots; `vars()` gets a copy of them
        return {name: getattr(self, name) for name in self.__struct_fields__}


class Part(msgspec.Struct, kw_only=True, gc=False):
    """A piece of a frame. A field that may be absent defaults to UNSET; None is JSON null."""


class Frame(Part, kw_only=True, tag_field="type"):
    """One line of the protocol, told from the others by its `type`."""


class SystemPart(Part, kw_only=True, tag_field="subtype"):
    """A frame of type `system`, told from the others by its `subtype`."""

    type: Literal["system"] = "system"
    uuid: Text = UNSET
    session_id: Text = UNSET
