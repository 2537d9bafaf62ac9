"""Names in a text, as verification compares them: "kind:key"; and codes of digits that are no figures."""

from __future__ import annotations

from assistant.remembered import linked, remembered
from knowledge.names import all_names

IDENTIFIERS = frozenset(alias for name in all_names() for alias in name.aliases if alias.isdigit()) | {"8358", "8468"}


@remembered(2048)
def named(text: str) -> frozenset[str]:
    """The names of a text, as "kind:key"."""
    return frozenset(f"{item.kind}:{item.key}" for item in linked(text))
