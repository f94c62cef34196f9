"""The head of a text file: fields in YAML between two lines of dashes."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

__all__ = ["BadHeadError", "fields_of", "split"]

_HEAD = re.compile(r"---[ \t]*\n(.*?)(?:\A|\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_MOST_OF_HEAD = 64 * 1024
_BOOL, _TIME = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"


class BadHeadError(ValueError):
    """The head cannot be read."""


def split(text: str) -> tuple[str | None, str]:
    """The head and what stands behind it; None and the whole text where there is no head."""
    found = _HEAD.match(text[:_MOST_OF_HEAD])
    return (None, text) if found is None else (found[1], text[found.end() :])


@lru_cache(maxsize=256)
def fields_of(head: str) -> dict[str, Any]:
    """The fields of a head, not to be changed: the same files are read again at every turn. Raises BadHeadError."""
    import yaml  # noqa: PLC0415  # most sessions read no file with a head

    try:
        fields = yaml.load(head, _loader())  # noqa: S506  # a safe one
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadHeadError(str(error)) from error
    if not isinstance(fields, dict):
        raise BadHeadError("the head holds no fields")
    return fields


@lru_cache(maxsize=1)
def _loader() -> type[Any]:
    """YAML as people know it: only `true` and `false` are no texts, and neither `no` nor a date is one of them."""
    import yaml  # noqa: PLC0415  # as above

    class Loader(yaml.SafeLoader):
        yaml_implicit_resolvers = {  # noqa: RUF012  # declared so by its base
            first: [each for each in resolvers if each[0] not in {_BOOL, _TIME}]
            for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    Loader.add_implicit_resolver(_BOOL, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
    return Loader
