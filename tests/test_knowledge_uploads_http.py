"""The knowledge tab over HTTP: what a browser may name as its upload, and that no event of the tab is public."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from documents_server import serving

FILE = b"# Racks\n\nRack 42 is locked.\n"


@dataclass(frozen=True)
class Page:
    """The page that is served, and the folder where its uploads land."""

    url: str
    uploads: Path

    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = httpx.get(f"{self.url}/en/config").json()
        return config

    def documents(self) -> list[str]:
        return [each["name"] for each in httpx.get(f"{self.url}/api/documents").json()]

    def files(self) -> list[Path]:
        return [each for each in self.uploads.rglob("*") if each.is_file() and not each.is_symlink()]

    def sent(self, path: str, name: str, session: str) -> str:
        """What the page is told after a browser names a file of its own choosing as the upload."""
        event = next(each for each in self.config()["dependencies"] if targets(each) == ["upload"])
        file = {"path": path, "orig_name": name, "meta": {"_type": "gradio.FileData"}}
        asked = {"data": [[file]], "fn_index": event["id"], "session_hash": session}
        httpx.post(f"{self.url}/en/gradio_api/queue/join", json=asked).raise_for_status()
        told = []
        address = f"{self.url}/en/gradio_api/queue/data"
        with httpx.stream("GET", address, params={"session_hash": session}, timeout=60) as stream:
            for line in stream.iter_lines():
                told += [json.loads(line.removeprefix("data:"))] if line.startswith("data:") else []
                if "process_completed" in line:
                    break
        return json.dumps(told, ensure_ascii=False)


def targets(event: dict[str, Any]) -> list[str]:
    return [target[1] for target in event["targets"]]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "uploads").mkdir()
    with serving(folder / "home", folder / "uploads") as url:
        yield Page(url, folder / "uploads")


def test_an_uploaded_file_goes_in_and_its_copy_is_removed(page: Page) -> None:
    (path,) = httpx.post(f"{page.url}/en/gradio_api/upload", files={"files": ("racks.md", FILE)}).json()
    assert Path(path).is_relative_to(page.uploads)
    assert "Accepted" in page.sent(path, "../机架 (1).md", "good")
    assert "机架 (1).md" in page.documents()
    assert not page.files()


@pytest.mark.parametrize("form", ["absolute", "dots", "link", "another-host"])
def test_a_file_that_was_not_uploaded_is_not_read_whatever_a_browser_names(
    page: Page, tmp_path: Path, form: str
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_bytes(b"# Keys\n\nThe master key is 4711.\n")
    (page.uploads / form).mkdir()
    (page.uploads / form / "link.md").symlink_to(secret)
    path = {
        "absolute": str(secret),
        "dots": f"{page.uploads}/{form}/../../../{secret.relative_to(secret.parents[2])}",
        "link": str(page.uploads / form / "link.md"),
        "another-host": "http://127.0.0.1:9/x.md",
    }[form]
    before = page.documents()
    told = page.sent(path, "x.md", form)
    assert "Accepted" not in told
    assert "4711" not in told
    assert str(tmp_path) not in told
    assert page.documents() == before
    assert not page.files()
    assert secret.exists()


def test_the_tab_has_no_public_event_and_fills_nothing_when_the_page_opens(page: Page) -> None:
    config = page.config()
    listed = next(each["id"] for each in config["components"] if each["props"].get("elem_id") == "knowledge-list")
    filling = [each for each in config["dependencies"] if listed in each["outputs"]]
    assert len(filling) >= 4
    assert {each["api_visibility"] for each in config["dependencies"]} == {"private"}
    assert not [each for each in filling if "load" in targets(each)]
    assert not next(each for each in config["components"] if each["id"] == listed)["props"]["value"]["data"]
