"""Where a reader may be sent: paths of this site only, and the same path in the other language."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from assistant.evidence import Language

LONGEST_PATH = 2_000
_LANGUAGE = re.compile(r"/(zh|en)(?=[/?#]|$)")


def local_path(text: str | None) -> str:
    """The path to go to, if it is one of this site, else "/": never another host, however it is written."""
    path = text or "/"
    if not path.startswith("/") or path.startswith("//") or "\\" in path or len(path) > LONGEST_PATH:
        return "/"
    if any(ord(character) < 0x21 or ord(character) == 0x7F for character in path):  # browsers drop tabs and newlines
        return "/"
    try:
        parts = urlsplit(path)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc else path


def in_language(path: str, language: Language) -> str:
    """The same place in the page of that language."""
    if path == "/":
        return f"/{language}/"
    return _LANGUAGE.sub(f"/{language}", path, count=1) if _LANGUAGE.match(path) else path
