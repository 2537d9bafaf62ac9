"""The built-in passages: the document format is strict, rows read out in both languages, nothing lost in splitting."""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.builtin import builtin_passages, split
from ingest.rows import MAX_WIDTH, TABLES, BuiltinFormatError, width
from knowledge.passage import Passage

TABLE_FOLDER = Path(__file__).parents[1] / "knowledge" / "tables"

ZH = """---
title: 显卡入门
language: zh
topic: basics
source: gpu-guide-1, gpu-guide-2   # 两篇都有
kind: text
---
# 显卡入门

## GPU 是什么

GPU 即图形处理器。

## 显存

<!-- source: own -->
显存越大，能放下的模型越大。
"""
EN = (
    ZH.replace("显卡入门", "Cards").replace("language: zh", "language: en").replace("GPU 是什么", "What a GPU is")
    .replace("GPU 即图形处理器。", "A graphics processor.").replace("## 显存", "## Memory")
    .replace("显存越大，能放下的模型越大。", "More memory holds larger models.")
)  # fmt: skip


def read(tmp_path: Path, *, zh: str = ZH, en: str | None = EN, name: str = "basics") -> list[Passage]:
    (tmp_path / f"{name}.zh.md").write_text(zh, encoding="utf-8")
    if en is not None:
        (tmp_path / f"{name}.en.md").write_text(en, encoding="utf-8")
    return [passage for passage in builtin_passages(documents=tmp_path) if passage.kind != "row"]


def test_each_section_is_a_passage_with_its_heading_source_and_place(tmp_path: Path) -> None:
    by_id = {passage.id: passage for passage in read(tmp_path)}
    assert by_id["basics.zh#1"] == Passage(
        id="basics.zh#1",
        topic="basics#1",
        language="zh",
        title="显卡入门",
        section="GPU 是什么",
        text="GPU 即图形处理器。",
        source="GPU 选型文章一（未注明日期，内容为 2023 年）；GPU 选型文章二（未注明日期，内容为 2023 年）",
        locator="documents/basics.zh.md § GPU 是什么",
        as_of=None,
        kind="text",
    )
    assert by_id["basics.en#1"].source.startswith("GPU selection article 1 (undated, content of 2023); GPU")
    assert set(by_id) == {"basics.zh#1", "basics.zh#2", "basics.en#1", "basics.en#2"}


def test_a_section_may_name_its_own_source_and_a_dated_source_gives_the_date(tmp_path: Path) -> None:
    own = next(passage for passage in read(tmp_path) if passage.id == "basics.zh#2")
    assert own.text == "显存越大，能放下的模型越大。"
    assert own.source == "gpu-advisor 自己的整理（2026-11-30）"
    assert own.as_of == "2026-11-30"


def test_twins_share_a_topic(tmp_path: Path) -> None:
    topics = {passage.id: passage.topic for passage in read(tmp_path)}
    assert topics["basics.zh#2"] == topics["basics.en#2"] != topics["basics.en#1"]


def test_a_gap_keeps_its_kind(tmp_path: Path) -> None:
    gap = [text.replace("kind: text", "kind: gap") for text in (ZH, EN)]
    assert {passage.kind for passage in read(tmp_path, zh=gap[0], en=gap[1])} == {"gap"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("---\ntitle", "title", "front matter"),
        ("kind: text\n", "", "kind"),
        ("title: 显卡入门", "title 显卡入门", "title 显卡入门"),
        ("kind: text", "kind: prose", "prose"),
        ("language: zh", "language: fr", "fr"),
        ("topic: basics", "topic: cards", "cards.zh.md"),
        ("gpu-guide-2", "gpu-guide-9", "gpu-guide-9"),
        ("source: own", "source: nobody", "nobody"),
        ("# 显卡入门\n\n", "# 显卡入门\n\n开头一段话。\n\n", "开头一段话"),  # would be lost
        ("GPU 即图形处理器。", "", "needs '##' sections"),
        ("\n## 显存\n\n", "\n", "1 sections in Chinese"),
        (ZH[ZH.index("# 显卡入门") :], "没有小节", "没有小节"),
    ],
)
def test_a_document_out_of_format_is_refused_and_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ZH
    with pytest.raises(BuiltinFormatError, match=re.escape(message)):
        read(tmp_path, zh=ZH.replace(old, new, 1))


def test_a_document_without_its_twin_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuiltinFormatError, match="2 sections in Chinese and 0 in English"):
        read(tmp_path, en=None)


def test_every_row_of_a_small_table_is_a_chinese_and_an_english_passage() -> None:
    rows = [passage for passage in builtin_passages() if passage.kind == "row"]
    for table in TABLES:
        with (TABLE_FOLDER / f"{table.name}.csv").open(encoding="utf-8", newline="") as file:
            ids = [row["id"] for row in csv.DictReader(file)]
        for language in ("zh", "en"):
            assert [row.id for row in rows if row.id.startswith(f"{table.name}.") and row.language == language] == [
                f"{table.name}.{each}.{language}" for each in ids
            ]


def test_a_row_reads_as_header_and_value_with_units_source_and_what_is_not_stated() -> None:
    by_id = {passage.id: passage for passage in builtin_passages()}
    zh, en = by_id["gpus.a800-pcie-80gb.zh"], by_id["gpus.a800-pcie-80gb.en"]
    assert (zh.topic, en.topic) == ("gpus#a800-pcie-80gb",) * 2
    assert (zh.section, en.section) == ("A800 PCIe 80GB",) * 2
    with (TABLE_FOLDER / "gpus.csv").open(encoding="utf-8", newline="") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    assert zh.locator == en.locator == f"tables/gpus.csv row {names.index('A800 PCIe 80GB') + 1}"
    for part in (
        "显存 = 80 GB HBM2e",
        "显存带宽 = 1,940 GB/s",
        "BF16 算力（稠密） = 312 TFLOPS",
        "功耗 TDP = 250–300 W",
    ):
        assert part in zh.text.split("; ")
    for part in (
        "GPU memory = 80 GB HBM2e",
        "BF16 (dense) = 312 TFLOPS",
        "power (TDP) = 250–300 W",
        "compute capability = 8.0",
    ):
        assert part in en.text.split("; ")
    assert "出口" not in zh.text  # the rule's own document answers that
    assert "FP8" not in zh.text + en.text  # no source gives it


def test_the_prices_of_a_gpu_stand_together_line_by_line_under_their_sources() -> None:
    by_id = {passage.id: passage for passage in builtin_passages()}
    zh, en = by_id["offers.a100.zh"], by_id["offers.a100.en"]
    assert (zh.topic, en.topic, zh.section, en.section) == (
        "offers#a100",
        "offers#a100",
        "A100 租用价格",
        "A100 rental prices",
    )
    lines = zh.text.splitlines()
    assert lines[0] == "来源 = GPU 选型文章一（未注明日期，内容为 2023 年）:"
    assert (
        lines[2]
        == "- 阿里云 1 × A100（形态未注明）, 16 vCPU, 主机内存 125 GiB, 34.742 CNY 每实例每小时, 按量付费, 日期未注明"
    )
    assert (
        "- Tencent Cloud 1 × A100 (form not stated), 16 core, host memory 96 GiB, 28.64 CNY per instance-hour, on demand, date not stated"
        in en.text
    )
    assert zh.locator.startswith("tables/offers.csv rows 1, 2, 3, 7")


@pytest.mark.parametrize("table", ["offers", "purchases"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_no_price_row_is_lost_doubled_or_too_wide(table: str, language: str) -> None:
    with (TABLE_FOLDER / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    passages = [p for p in builtin_passages() if p.id.startswith(f"{table}.") and p.language == language]
    named = [int(number) for p in passages for number in re.findall(r"\d+", p.locator)]
    assert sorted(named) == list(range(1, len(rows) + 1))
    assert sum(line.startswith("- ") for p in passages for line in p.text.splitlines()) == len(rows)
    assert max(width(p.text) for p in passages) <= MAX_WIDTH
    for p in passages:
        printed = {Decimal(price.replace(",", "")) for price in re.findall(r"([\d,.]+) (?:USD|CNY)", p.text)}
        assert {Decimal(rows[int(number) - 1]["price"]) for number in re.findall(r"\d+", p.locator)} <= printed, p.id
    assert len(passages) < len(rows)


def test_all_parts_of_a_gpus_prices_share_the_topic_and_have_their_own_ids() -> None:
    parts = [p for p in builtin_passages() if p.topic == "offers#a100" and p.language == "zh"]
    assert [p.id for p in parts] == ["offers.a100.zh", *(f"offers.a100.zh.{n}" for n in range(2, len(parts) + 1))]
    assert len(parts) > 1


def test_rates_are_one_passage_for_each_currency() -> None:
    rates = {p.id: p for p in builtin_passages() if p.id.startswith("rates.")}
    assert set(rates) == {f"rates.{c}.{lang}" for c in ("cny", "eur", "gbp", "jpy") for lang in ("zh", "en")}
    assert "2024 年平均：1 美元 = 7.189 CNY" in rates["rates.cny.zh"].text


def test_remarks_come_in_the_language_of_the_passage_and_are_left_out_where_empty() -> None:
    by_id = {passage.id: passage for passage in builtin_passages()}
    assert "H100: 242,000 CNY 每张, 数据中心, 讲义未印显存, 日期未注明" in by_id["purchases.buy-h100.zh"].text
    assert "memory not printed in the handout" in by_id["purchases.buy-h100.en"].text
    assert (
        "A10: 18,999 CNY per card, enterprise, graphics, GPU memory (as printed) 24G, date not stated"
        in by_id["purchases.buy-a10.en"].text
    )


def test_english_rows_hold_no_chinese_but_the_counter_they_explain() -> None:
    for passage in builtin_passages():
        if passage.kind == "row" and passage.language == "en":
            assert not re.search(r"[\u4e00-\u9fff]", passage.text.replace("台", "")), passage.text


@pytest.mark.parametrize("table", ["speedups", "gpus", "models", "offers", "purchases", "rates"])
def test_a_column_nobody_reads_out_is_refused(tmp_path: Path, table: str) -> None:
    for file in TABLE_FOLDER.glob("*.csv"):
        text = file.read_text(encoding="utf-8")
        if file.stem == table:
            header, *rows = text.splitlines()
            text = "\n".join([f"{header},colour", *(f"{row},red" for row in rows)])
        (tmp_path / file.name).write_text(text, encoding="utf-8")
    with pytest.raises(BuiltinFormatError, match="colour"):
        builtin_passages(documents=tmp_path, tables=tmp_path)


def test_the_real_files_are_in_format_and_their_ids_unique() -> None:
    passages = builtin_passages()
    assert len({passage.id for passage in passages}) == len(passages) > 200


def test_a_long_section_is_split_between_paragraphs_and_its_parts_share_the_topic(tmp_path: Path) -> None:
    long = "\n\n".join(f"第{number}段。" + "显存与显卡。" * 40 for number in range(6))
    passages = read(tmp_path, zh=ZH.replace("GPU 即图形处理器。", long))
    parts = [passage for passage in passages if passage.language == "zh" and passage.topic == "basics#1"]
    assert [part.id for part in parts[:2]] == ["basics.zh#1", "basics.zh#1.2"]
    assert "\n\n".join(part.text for part in parts) == long
    assert all(len(part.text) <= 700 for part in parts)


TABLE = "| 卡 | 显存 |\n|---|---|\n" + "\n".join(f"| 卡{number} | {number} GB |" for number in range(40))


def test_a_table_is_cut_between_rows_and_its_header_repeated() -> None:
    parts = split(f"说明。\n\n{TABLE}\n\n结尾。", max_width=200)
    assert len(parts) > 3
    cells = [line for part in parts for line in part.splitlines() if line.startswith("| 卡")]
    assert [cell for cell in cells if cell != "| 卡 | 显存 |"] == TABLE.splitlines()[2:]
    for part in parts:
        if "| 卡" in part:
            lines = part.splitlines()
            assert lines[lines.index("| 卡 | 显存 |") + 1] == "|---|---|"


def test_a_short_text_is_one_part() -> None:
    assert split(f"一段。\n\n{TABLE}", max_width=10_000) == [f"一段。\n\n{TABLE}"]


@given(st.lists(st.text(alphabet="ab 显存|-\n", min_size=1, max_size=80), max_size=6), st.integers(20, 200))
def test_splitting_loses_no_line(paragraphs: list[str], max_width: int) -> None:
    text = "\n\n".join(paragraphs)
    kept = {line for part in split(text, max_width) for line in part.splitlines()}
    assert {line for line in text.splitlines() if line.strip()} <= kept


@pytest.mark.parametrize("before", ["", "<!-- source: own -->\n"])
def test_questions_of_a_section_lead_to_it_and_are_no_text_of_it(tmp_path: Path, before: str) -> None:
    asked = f"{before}<!-- asked: 显存是啥 |  why more memory -->\n\nGPU 即图形处理器。"
    first = next(p for p in read(tmp_path, zh=ZH.replace("GPU 即图形处理器。", asked)) if p.id == "basics.zh#1")
    assert first.asked.splitlines() == ["显存是啥", "why more memory"]
    assert first.text == "GPU 即图形处理器。"


def test_every_shipped_section_has_questions_in_its_language_and_shows_no_comment() -> None:
    documents = [passage for passage in builtin_passages() if passage.kind != "row"]
    firsts = [passage for passage in documents if "." not in passage.id.rsplit("#", 1)[1]]
    assert len(firsts) > 200
    assert all(len(passage.asked.splitlines()) >= 5 for passage in firsts)
    assert not [passage.id for passage in documents if "<!--" in passage.text]
