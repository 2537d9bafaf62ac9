"""Where a reader may be sent: never to another host."""

from __future__ import annotations

import pytest

from assistant.local_paths import in_language, local_path


@pytest.mark.parametrize("path", ["/", "/zh/", "/zh/?tab=prices&gpu=A100", "/en/#x", "/%2e%2e", "/a//b", "/login?next=//x"])  # fmt: skip
def test_a_path_of_this_site_is_kept(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        None,
        "",
        "//evil.example",
        "//evil.example/zh/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",  # browsers drop the tab
        "/\n/evil.example",
        "\t//evil.example",
        " //evil.example",
        "/zh\r\nSet-Cookie: a=b",
        "/zh/\x7f",
        "/zh/\x00",
        "https://evil.example/zh/",
        "https:evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "evil.example",
        "zh/",
        "/" + "x" * 3_000,
    ],
)
def test_another_place_becomes_the_front_page(path: str | None) -> None:
    assert local_path(path) == "/"


@pytest.mark.parametrize(
    ("path", "english"),
    [
        ("/", "/en/"),
        ("/zh/", "/en/"),
        ("/zh", "/en"),
        ("/zh/?tab=prices", "/en/?tab=prices"),
        ("/zh?thread=1", "/en?thread=1"),
        ("/en/", "/en/"),
        ("/zhx/", "/zhx/"),
        ("/login?next=/zh/", "/login?next=/zh/"),
        ("/a/zh/", "/a/zh/"),
    ],
)
def test_the_same_place_in_the_other_language(path: str, english: str) -> None:
    assert in_language(path, "en") == english
