"""Tables of documents as typed rows: which are recognised, what each heading means, what is asked for, what is refused."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from assistant.cli_knowledge import knowledge_app
from ingest.blocks import Block, Grid, Heading, Parsed, Place, Text, to_json
from ingest.price_import import ImportReport
from ingest.rental_columns import currency_in, period_in
from ingest.rental_tables import GivenTerms, PriceTable, price_rows
from ingest.spec_tables import judge
from ingest.typed_tables import (
    TableIncompleteError,
    TableNotTypedError,
    TypedTable,
    prepare_prices,
    recognised,
    typed,
)
from knowledge import price_snapshots
from knowledge.library import Document, Library
from knowledge.offers import Offer, load_offers
from knowledge.own_cards import own_cards
from knowledge.price_snapshots import undo
from knowledge.table_rows import TABLES
from knowledge.weights import home

TODAY = date(2026, 11, 30)


def grid(*lines: str, caption: str = "", header_rows: int | None = None) -> Grid:
    rows = tuple(tuple(cell.strip() for cell in line.split("|")) for line in lines)
    return Grid(rows, tuple(range(1, len(rows) + 1)), caption, header_rows, Place("page", "3"))


def document(*blocks: Block, title: str = "GPU notes") -> Parsed:
    return Parsed(title, blocks, sum(len(block.rows) for block in blocks if isinstance(block, Grid)))


def only(*blocks: Block, title: str = "GPU notes") -> TypedTable:
    (found,) = recognised(document(*blocks, title=title))
    return found


def prices(*blocks: Block, title: str = "GPU notes", **terms: str) -> list[tuple[str, ...]]:
    """(line, provider, gpu, count, price, currency, per, billing) of each row of the document's first typed table."""
    parsed = document(*blocks, title=title)
    found = typed(parsed, recognised(parsed)[0].number)
    assert isinstance(found, PriceTable)
    rows = price_rows(found, GivenTerms(**terms))
    return [
        (str(line), row["provider"], row["gpu"], row["gpu_count"], row["price"], row["currency"] or rows.currency,
         row["per"].removeprefix("instance-"), row["pricing_model"])
        for line, row in zip(rows.lines, rows.rows, strict=True)
    ]  # fmt: skip


def report(*blocks: Block, title: str = "GPU notes", allow_unusual: bool = False, **terms: str) -> ImportReport:
    found = typed(document(*blocks, title=title), 1)
    assert isinstance(found, PriceTable)
    return prepare_prices(
        found, "报价.docx", GivenTerms(**terms), allow_unusual=allow_unusual, today=TODAY
    ).report  # fmt: skip


def stored() -> list[Offer]:
    offers = load_offers(TABLES / "offers.csv", price_snapshots.current)
    return sorted((offer for offer in offers if offer.origin), key=lambda offer: (offer.row, offer.provider))


HEADINGS = [  # heading of the price column, currency, period; "" = not stated
    ("价格（元/小时）", "CNY", "hour"), ("价格(元/时)", "CNY", "hour"), ("单价（元/卡/小时）", "CNY", "gpu-hour"), ("每小时价格（元）", "CNY", "hour"),
    ("时价（人民币）", "CNY", "hour"), ("租金（元/月）", "CNY", "month"), ("月租（元）", "CNY", "month"), ("卡时价格（元）", "CNY", "gpu-hour"),
    ("价格 (美元/小时)", "USD", "hour"), ("Price ($/h)", "USD", "hour"), ("USD/hr", "USD", "hour"), ("Price per hour (USD)", "USD", "hour"),
    ("Hourly rate (US$)", "USD", "hour"), ("$/GPU-hour", "USD", "gpu-hour"), ("Price per GPU hour ($)", "USD", "gpu-hour"),
    ("Monthly cost (€/month)", "EUR", "month"), ("单卡价格（元/小时）", "CNY", "gpu-hour"), ("Price per GPU ($/hr)", "USD", "gpu-hour"),
    ("Price", "", ""), ("价格", "", ""), ("价格（￥）", "CNY", ""), ("价格（元/台/月）", "CNY", "month"),
]  # fmt: skip


@pytest.mark.parametrize(("heading", "currency", "per"), HEADINGS)
def test_a_heading_says_currency_and_period_or_they_stay_empty(heading: str, currency: str, per: str) -> None:
    rows = prices(grid(f"Provider|GPU|{heading}", "AWS|T4|2.5", "GCP|L4|3"))
    assert [(row[5], row[6]) for row in rows] == [(currency, per)] * 2


@pytest.mark.parametrize(
    "heading",
    ["采购价（元）", "售价", "Launch price (USD)", "价格（万元/月）", "价格（元/天）", "包年价格（元）", "Price (cents/h)", "单卡价格（元/月）", "价格（元/卡/月）",
     "1 year reserved ($/h)", "销量", "备注", "Price per million tokens ($)"],
)  # fmt: skip
def test_a_price_that_is_not_of_renting_by_hour_or_month_is_none(heading: str) -> None:
    assert recognised(document(grid(f"云厂商|GPU|{heading}", "AWS|T4|2.5", "GCP|L4|3"))) == []


@pytest.mark.parametrize(
    "header",
    ["云厂商|显卡型号|价格（元/小时）", "Provider|GPU model|Price (CNY/hour)", "云平台 (Cloud)|GPU 型号|小时价（元）"],
)
def test_chinese_and_english_headings_mean_the_same(header: str) -> None:
    assert prices(grid(header, "阿里云|A10|10", "腾讯云|T4|8")) == [
        ("2", "阿里云", "A10", "1", "10", "CNY", "hour", ""), ("3", "腾讯云", "T4", "1", "8", "CNY", "hour", ""),
    ]  # fmt: skip


def test_one_column_for_each_provider_is_one_row_for_each_price() -> None:
    rows = prices(grid("GPU|阿里云|腾讯云", "A10|10|9.5", "T4|8|-", caption="单位：元/小时"))
    assert rows == [
        ("2", "alibaba", "A10", "1", "10", "CNY", "hour", ""), ("2", "tencent", "A10", "1", "9.5", "CNY", "hour", ""),
        ("3", "alibaba", "T4", "1", "8", "CNY", "hour", ""),
    ]  # fmt: skip


def test_a_column_of_figures_under_an_unknown_name_keeps_the_table_out() -> None:
    assert recognised(document(grid("GPU|阿里云|小鸟云", "A10|10|9.5", "T4|8|7", caption="单位：元/小时"))) == []
    assert prices(grid("GPU|阿里云|备注", "A10|10|热门", "T4|8|", caption="单位：元/小时"))[0][1] == "alibaba"


def test_one_column_for_each_way_of_billing_and_years_are_left_out() -> None:
    table = grid(
        "GPU|按需（元/小时）|竞价（元/小时）|包月（元）|包年（元）", "A10|10|3|4000|40000", caption="阿里云价格"
    )
    assert [(row[1], *row[4:]) for row in prices(table)] == [
        ("alibaba", "10", "CNY", "hour", "on-demand"), ("alibaba", "3", "CNY", "hour", "spot"), ("alibaba", "4000", "CNY", "month", "monthly"),
    ]  # fmt: skip
    assert [heading for heading, *_ in only(table).left_out] == ["包年（元）"]


def test_a_given_period_does_not_make_the_monthly_column_hourly() -> None:
    rows = prices(grid("GPU|按需|包月", "A10|10|4000", caption="阿里云（元）"), per="instance-hour")
    assert [row[6] for row in rows] == ["hour", "month"]


@pytest.mark.parametrize("header_rows", [None, 2])
def test_merged_headers_give_provider_and_billing_together(header_rows: int | None) -> None:
    rows = prices(
        grid("GPU|阿里云|阿里云|腾讯云|腾讯云", "GPU|按需|竞价|按需|竞价", "A10|10|3|9|2.5", "T4|8|2|7|1.5", caption="价格，单位：元/小时", header_rows=header_rows)
    )  # fmt: skip
    assert [row[1:3] + row[4:5] + row[7:] for row in rows[:4]] == [
        ("alibaba", "A10", "10", "on-demand"), ("alibaba", "A10", "3", "spot"), ("tencent", "A10", "9", "on-demand"),
        ("tencent", "A10", "2.5", "spot"),
    ]  # fmt: skip


def test_providers_down_and_cards_across() -> None:
    rows = prices(grid("云厂商|A10|T4", "阿里云|10|8", "腾讯云|9|7", caption="价格（元/小时）"))
    assert [row[1:5] for row in rows] == [
        ("阿里云", "A10", "1", "10"), ("阿里云", "T4", "1", "8"), ("腾讯云", "A10", "1", "9"), ("腾讯云", "T4", "1", "7"),
    ]  # fmt: skip


def test_two_columns_that_say_the_same_are_not_taken() -> None:
    assert (
        recognised(document(grid("云厂商|GPU|价格（元/小时）|单价（元/小时）", "AWS|T4|2.5|2", "GCP|L4|3|2.5"))) == []
    )


@pytest.mark.parametrize(
    ("blocks", "title", "provider"),
    [
        ((grid("GPU|价格（元/小时）", "T4|8", "A10|10", caption="腾讯云 GPU 价格"),), "阿里云", "tencent"),
        ((Text("表 1：腾讯云 GPU 价格"), grid("GPU|价格（元/小时）", "T4|8", "A10|10")), "阿里云", "tencent"),
        (
            (Heading(2, "腾讯云"), Text("价格如下。"), grid("GPU|价格（元/小时）", "T4|8", "A10|10")),
            "阿里云",
            "tencent",
        ),
        ((grid("GPU|价格（元/小时）", "T4|8", "A10|10"),), "阿里云报价", "alibaba"),
        ((grid("GPU|价格（元/小时）", "T4|8", "A10|10"),), "阿里云与腾讯云对比", ""),
        ((grid("GPU|价格（元/小时）", "T4|8", "A10|10"),), "内部报价", ""),
    ],
)
def test_the_provider_is_the_one_named_nearest_and_two_are_none(
    blocks: tuple[Block, ...], title: str, provider: str
) -> None:
    assert {row[1] for row in prices(*blocks, title=title)} == {provider}


@pytest.mark.parametrize(
    ("caption", "cell", "currency"),
    [
        ("单位：元", "2", "CNY"),
        ("prices in USD", "2", "USD"),
        ("", "¥2", "CNY"),
        ("", "$2", "USD"),
        ("人民币或美元", "2", None),
        ("三个单元的机器", "2", None),
    ],
)
def test_currency_comes_from_caption_or_cell_and_two_currencies_are_none(
    caption: str, cell: str, currency: str | None
) -> None:
    table = grid("云厂商|GPU|小时价", f"AWS|T4|{cell}", f"GCP|L4|{cell}", caption=caption)
    assert ("currency" in only(table).missing) == (currency is None)
    if currency:
        assert report(table).rejected == ()


def test_a_period_in_the_cells_is_read_and_taken_out_of_the_price() -> None:
    rows = prices(grid("云厂商|GPU|价格", "AWS|T4|8元/小时", "AWS|A10|10元/卡/时", "AWS|L4|¥4000/月", "AWS|L4|80元/天"))
    assert [(row[4], row[6]) for row in rows] == [
        ("8元", "hour"),
        ("10元", "gpu-hour"),
        ("¥4000", "month"),
        ("80元/天", ""),
    ]


def test_a_count_beside_the_card_is_its_count() -> None:
    rows = prices(
        grid("云厂商|GPU|价格（元/小时）", "AWS|8×A100 80G|270", "AWS|A100*4|130", "AWS|T4 2卡|16", "AWS|H20|12")
    )
    assert [row[3] for row in rows] == ["8", "4", "2", ""]


def test_what_the_table_does_not_say_is_asked_for_and_not_guessed() -> None:
    table = grid("GPU|Price", "T4|1.2", "A10|1.5")
    assert set(only(table).missing) == {"provider", "currency", "per"}
    with pytest.raises(TableIncompleteError, match=r"--provider.*--per.*--currency"):
        report(table)
    with pytest.raises(TableIncompleteError, match="does not state the currency"):
        report(table, provider="aws", per="instance-hour")
    assert report(table, provider="aws", per="instance-hour", currency="USD").accepted == 2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("AWS|T4|0", "above 0"),
        ("AWS|H300|2", "no GPU we know"),
        ("AWS|T4|2-3", "no number"),
        ("AWS|T4|80000", "plausible"),
        ("|T4|2", "no usable provider"),
    ],
)
def test_a_bad_price_row_is_refused_with_its_line(row: str, said: str) -> None:
    table = grid("云厂商|GPU|价格（元/小时）", "阿里云|A10|10", row)
    done = report(table)
    assert (done.accepted, [line.line for line in done.rejected]) == (1, [3])
    assert said in done.rejected[0].en


def test_an_unknown_provider_in_a_column_is_taken_and_pointed_out() -> None:
    done = report(grid("云厂商|GPU|价格（元/小时）", "小鸟云|A10|10", "阿里云|T4|8"))
    assert done.accepted == 2
    assert any("小鸟云" in zh for zh, _ in done.notes)


SPECS = "型号|显存|带宽|FP16（TFLOPS）|TDP"


def test_tables_are_numbered_as_they_stand_whether_recognised_or_not() -> None:
    parsed = document(grid("a|b", "1|2", "3|4"), Text("见下表"), grid(SPECS, "A10|24|600|125|150", "L4|24|300|121|72"))
    assert [(found.number, found.kind, found.rows, found.place) for found in recognised(parsed)] == [
        (2, "specs", 2, Place("page", "3"))
    ]
    with pytest.raises(TableNotTypedError, match="recognised are: 2"):
        typed(parsed, 1)


CELL = st.text(st.sampled_from("阿里云A10T4价格元/小时$.,-%显存GB带宽 8×xX\n|（）"), max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=5)
    )
)
def test_no_table_breaks_the_reading(rows: list[list[str]]) -> None:
    parsed = document(Grid(tuple(map(tuple, rows)), tuple(range(1, len(rows) + 1))))
    for found in recognised(parsed):
        read = typed(parsed, found.number)
        if isinstance(read, PriceTable):
            assert len(price_rows(read, GivenTerms()).rows) <= len(rows) * len(read.prices)
        else:
            assert len(judge(read, "d1", "x").new) <= max(len(rows), len(rows[0]))


@given(st.sampled_from(["USD", "CNY", "EUR", "GBP", "HKD"]), st.sampled_from(["小时", "h", "hr", "hour"]))
def test_any_currency_code_with_any_hour_is_read(code: str, hour: str) -> None:
    assert (currency_in(f"{code}/{hour}"), period_in(f"{code}/{hour}")) == (code, "instance-hour")


# The commands, on a library of documents without an index.


@pytest.fixture
def listed() -> str:
    parsed = document(
        grid("云厂商|GPU|价格（元/小时）", "阿里云|A10|10", "腾讯云|T4|8", "腾讯云|T4|0"),
        grid("GPU|Price ($)", "T4|0.5"),
        grid(SPECS, "MTT S4000|48 GB|768 GB/s|100|450 W", "L40S|40 GB|864 GB/s|362|350 W"),
    )
    library = Library(home() / "library.sqlite")
    library.put(
        Document(
            "d1", "/x/报价.docx", "报价.docx", "d1.a", "0" * 64, "1", 9, "GPU notes", 1, 9, "2026-11-30T00:00:00+00:00"
        ),
        json.dumps(to_json(parsed)).encode(),
    )
    library.close()
    return "报价.docx"


def command(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(knowledge_app, list(arguments))
    return done.exit_code, done.output


def test_tables_are_shown_with_rows_and_what_is_missing(listed: str) -> None:
    code, text = command("tables")
    assert code == 0
    for words in (
        "表 1 / table 1",
        "价格（元/小时） -> price",
        "2: 阿里云 | A10",
        "--provider",
        "新显卡 / new card: MTT S4000",
        "page 3",
    ):
        assert words in text, text
    assert command("tables", "nothing.pdf")[0] == 1


def test_accepted_prices_are_in_the_catalogue_with_their_table_and_undone_as_an_import(listed: str) -> None:
    assert command("accept", listed, "1", "--dry-run")[0] == 0
    assert stored() == []
    code, text = command("accept", listed, "1", "--as-of", "2026-11-01")
    assert (code, "第 4 行" in text, "line 4" in text) == (0, True, True)
    assert [
        (offer.provider, offer.gpu, str(offer.price), offer.origin, offer.row, offer.as_of) for offer in stored()
    ] == [
        ("alibaba", "A10", "10", "报价.docx · 表 1 (table 1)", 2, "2026-11-01"),
        ("tencent", "T4", "8", "报价.docx · 表 1 (table 1)", 3, "2026-11-01"),
    ]
    assert undo() == "报价.docx · 表 1 (table 1)"
    assert stored() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("2",), "--provider"), (("2", "--provider", "aws", "--per", "fortnight"), "hour, month or gpu-hour"), (("9",), "recognised are: 1, 2, 3"),
        (("1", "--as-of", "soon"), "the date must be"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_command_is_said_in_both_languages(
    listed: str, arguments: tuple[str, ...], said: str
) -> None:
    code, text = command("accept", listed, *arguments)
    assert code == 1
    assert said in text
    assert " / " in text


def test_accepted_cards_are_stored_and_a_known_one_is_shown_beside_ours(listed: str, tmp_path: Path) -> None:
    code, text = command("accept", listed, "3", "--dry-run")
    assert (code, own_cards()) == (0, ())
    code, text = command("accept", listed, "3")
    assert code == 0
    assert "L40S" in text
    assert "differs; the built-in value stays" in text
    assert [(card.name, card.document_id) for card in own_cards()] == [("MTT S4000", "d1")]
