"""Checks of what stands beside the index in the state folder: prices, conversations, and who holds the index.

Files are read without being changed; nothing is asked of a server but whether it is ready.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

import httpx

from assistant import owner
from assistant.conversations import SCHEMA_VERSION
from assistant.doctor import Check, same
from assistant.doctor_sqlite import first_number, read_only
from assistant.evidence import Bilingual
from knowledge import offer_store, price_snapshots
from knowledge.table_rows import TABLES

OLD_DAYS = 180

PRICES_WHAT = Bilingual(zh="价格行", en="price rows")
CONVERSATIONS_WHAT = Bilingual(zh="对话记录", en="conversations")
OWNER_WHAT = Bilingual(zh="索引占用", en="who holds the index")
NEW_PRICES = Bilingual(
    zh="用 `gpu-advisor prices import FILE` 或 `gpu-advisor prices refresh` 取得新价格。",
    en="Take newer ones in with `gpu-advisor prices import FILE` or `gpu-advisor prices refresh`.",
)


def check_owner(home: Path) -> tuple[Check, owner.Owner | None]:
    """Who holds the index, and whether a server among them answers; also gives that owner."""
    if not (home / "owner.lock").exists():
        return Check("owner", OWNER_WHAT, "ok", Bilingual(zh="无人占用", en="nobody")), None
    try:
        held_by = owner.current_owner()
    except owner.OwnerFailedError as error:
        return Check(
            "owner",
            OWNER_WHAT,
            "fault",
            same(str(error)),
            Bilingual(
                zh="停止正在运行的 gpu-advisor，再运行一次 `gpu-advisor doctor`。",
                en="Stop the gpu-advisor that is running, then run `gpu-advisor doctor` again.",
            ),
        ), None
    if held_by is None:
        return Check("owner", OWNER_WHAT, "ok", Bilingual(zh="无人占用", en="nobody")), None
    who = held_by.named()
    if held_by.url is None:
        return Check(
            "owner",
            OWNER_WHAT,
            "warning",
            who,
            Bilingual(
                zh="别的命令要等它结束；如要同时使用，先运行 `gpu-advisor serve`。",
                en="Other commands have to wait until it ends; to use several at a time, run `gpu-advisor serve` first.",
            ),
        ), held_by
    ready = _ready(held_by.url)
    told = Bilingual(zh=f"{who.zh} {held_by.url}", en=f"{who.en} {held_by.url}")
    if ready == httpx.codes.OK:
        return Check("owner", OWNER_WHAT, "ok", told), held_by
    if ready == httpx.codes.SERVICE_UNAVAILABLE:
        return Check(
            "owner",
            OWNER_WHAT,
            "warning",
            Bilingual(zh=f"{told.zh}，正在加载", en=f"{told.en}, still loading"),
            Bilingual(zh="几秒后再试。", en="Try again in a few seconds."),
        ), held_by
    return Check(
        "owner",
        OWNER_WHAT,
        "fault",
        Bilingual(zh=f"{told.zh} 没有回应", en=f"{told.en} does not answer"),
        Bilingual(
            zh=f"停止它（`kill {held_by.pid}`），再运行 `gpu-advisor serve`。",
            en=f"Stop it (`kill {held_by.pid}`), then run `gpu-advisor serve` again.",
        ),
    ), held_by


def check_prices(today: date, old_days: int = OLD_DAYS) -> Check:
    """The price rows can be read; how old the newest is."""
    try:
        snapshot = price_snapshots.current()
    except offer_store.SnapshotBrokenError as error:
        pointer = price_snapshots.folder() / price_snapshots.POINTER
        return Check(
            "prices",
            PRICES_WHAT,
            "fault",
            same(str(error)),
            Bilingual(
                zh=f"删除 {pointer} 就只用内置价格；再 `gpu-advisor prices import` 一次。",
                en=f"Remove {pointer} to use the built-in prices only; then `gpu-advisor prices import` again.",
            ),
        )
    try:
        with closing(offer_store.build(TABLES / "offers.csv", snapshot)) as database:
            row = database.execute(
                "SELECT count(*), count(first_day), min(first_day), max(first_day) FROM offers"
            ).fetchone()
    except offer_store.SnapshotBrokenError as error:
        return Check(
            "prices",
            PRICES_WHAT,
            "fault",
            same(str(error)),
            Bilingual(zh="运行 `gpu-advisor prices undo`。", en="Run `gpu-advisor prices undo`."),
        )
    rows, dated, oldest, newest = row or (0, 0, None, None)
    if not newest:
        return Check(
            "prices",
            PRICES_WHAT,
            "warning",
            Bilingual(zh=f"{rows:,} 行，都没有日期", en=f"{rows:,} rows, none dated"),
            NEW_PRICES,
        )
    age, oldest_age = (today - newest).days, (today - oldest).days
    detail = Bilingual(
        zh=f"{rows:,} 行，{rows - dated:,} 行无日期；最新 {newest}（{age} 天前），最旧 {oldest}（{oldest_age:,} 天前）",
        en=f"{rows:,} rows, {rows - dated:,} undated; newest {newest} ({age} days old), oldest {oldest} ({oldest_age:,} days old)",
    )
    return Check(
        "prices", PRICES_WHAT, "warning" if age > old_days else "ok", detail, NEW_PRICES if age > old_days else None
    )


def check_conversations(home: Path) -> Check:
    """The file of conversations can be read, and is of this version."""
    file = home / "conversations.sqlite"
    if not file.exists():
        return Check("conversations", CONVERSATIONS_WHAT, "ok", Bilingual(zh="还没有", en="none yet"))
    try:
        with read_only(file) as database:
            version = first_number(database, "PRAGMA user_version")
            threads = (
                first_number(database, "SELECT count(DISTINCT thread) FROM turns") if version <= SCHEMA_VERSION else 0
            )
    except sqlite3.Error as error:
        return Check(
            "conversations",
            CONVERSATIONS_WHAT,
            "fault",
            Bilingual(zh=f"读不出：{error}", en=f"cannot be read: {error}"),
            _move(file),
        )
    if version > SCHEMA_VERSION:
        return Check(
            "conversations",
            CONVERSATIONS_WHAT,
            "fault",
            Bilingual(zh=f"由更新的版本写入（格式 {version}）", en=f"written by a newer version (format {version})"),
            Bilingual(
                zh=f"升级 gpu-advisor，或移走文件：`mv {file} {file}.old`。",
                en=f"Upgrade gpu-advisor, or move the file away: `mv {file} {file}.old`.",
            ),
        )
    return Check("conversations", CONVERSATIONS_WHAT, "ok", Bilingual(zh=f"{threads} 段", en=f"{threads} threads"))


def _ready(url: str) -> int:
    try:
        return httpx.get(f"{url}/readyz", timeout=5, trust_env=False).status_code
    except httpx.HTTPError:
        return 0


def _move(file: Path) -> Bilingual:
    return Bilingual(
        zh=f"移走文件，会另建新的：`mv {file} {file}.old`。",
        en=f"Move the file away, and a new one is made: `mv {file} {file}.old`.",
    )
