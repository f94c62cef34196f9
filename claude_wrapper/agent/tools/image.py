"""Knows image formats by their first bytes, with their sizes, without decoding them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["ImageInfo", "sniff"]


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """What the header of an image says."""

    media_type: str
    width: int | None
    height: int | None


def sniff(data: bytes) -> ImageInfo | None:
    """The format and size of a PNG, JPEG, GIF or WebP; None for anything else."""
    for media_type, matches, measure in _FORMATS:
        if matches(data):
            try:
                size = measure(data)
            except (struct.error, IndexError, ValueError):
                size = None
            return ImageInfo(media_type, *(size or (None, None)))
    return None


def _png_size(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif_size(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    position = 2
    while position + 9 <= len(data):
        if data[position] != 0xFF:
            return None
        marker = data[position + 1]
        if marker == 0xFF:
            position += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, position + 5)
            return width, height
        position += 2 + int(struct.unpack_from(">H", data, position + 2)[0])
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _is_webp(data: bytes) -> bool:
    return data.startswith(b"RIFF") and data[8:12] == b"WEBP"


_FORMATS: tuple[tuple[str, Callable[[bytes], bool], Callable[[bytes], tuple[int, int] | None]], ...] = (
    ("image/png", lambda data: data.startswith(b"\x89PNG\r\n\x1a\n"), _png_size),
    ("image/jpeg", lambda data: data.startswith(b"\xff\xd8\xff"), _jpeg_size),
    ("image/gif", lambda data: data.startswith((b"GIF87a", b"GIF89a")), _gif_size),
    ("image/webp", _is_webp, _webp_size),
)
