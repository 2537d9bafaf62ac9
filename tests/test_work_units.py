"""The order in which test files start knows every file that it names, and every file of the real server."""

from __future__ import annotations

from work_units import FOLDER, LONG, REAL_SERVER


def test_every_file_named_is_there() -> None:
    assert [name for name in LONG if not (FOLDER / name).exists()] == []
    assert len(set(LONG)) == len(LONG)


def test_a_file_that_uses_the_real_server_runs_where_that_is() -> None:
    fixture = "real_" + "url: str"  # parted, so that this file does not name it
    users = {file.name for file in FOLDER.glob("test_*.py") if fixture in file.read_text(encoding="utf-8")}
    assert users == set(REAL_SERVER)
