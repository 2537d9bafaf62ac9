"""The price rows of an answer in another currency and period: exact, cheapest first, and every figure traced."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError
from scripted_advisor import plain_answer

from assistant import render
from assistant.board_amounts import BoardRow, DatedRate, Per, PerGpu, per_gpu, rounded, steps
from assistant.evidence import Answer, Call, Language
from assistant.ledger import Ledger
from assistant.price_board import Board, BoardTable, board_of
from assistant.verify import trace
from knowledge.catalog import Offer, load_catalog

TODAY = date(2026, 11, 30)
LANGUAGES: tuple[Language, ...] = ("zh", "en")
PERIODS: tuple[Per, ...] = ("hour", "day", "month")
MOST_ROWS = 6  # of each GPU and currency
HOURS = {"hour": 1, "day": 24, "month": 730}
RATES = {
    "CNY": DatedRate("CNY", Decimal("7.189"), "2024", "irs-rates"),
    "JPY": DatedRate("JPY", Decimal("151.353"), "2024", "irs-rates"),
}


def answer_of(offers: Sequence[Offer], question: str = "比价") -> Answer:
    """An answer that looked these rows up, as the product writes it and as a browser or the disk gives it back."""
    book = Ledger(load_catalog(), "zh")
    book.cite_offers(offers)
    answer = plain_answer(question, "", "zh").model_copy(update={"calls": tuple(book.calls), "citations": tuple(book.citations)})  # fmt: skip
    return Answer.model_validate_json(answer.model_dump_json())


def real_board(*gpus: str, question: str = "比价") -> tuple[Answer, Board]:
    offers = load_catalog().offers
    rows = [
        o
        for gpu in gpus
        for code in ("CNY", "USD")
        for o in [o for o in offers if (o.gpu, o.currency) == (gpu, code)][:MOST_ROWS]
    ]
    answer = answer_of(rows, question)
    board = board_of(answer)
    assert board
    return answer, board


def row(**cells: JsonValue) -> dict[str, JsonValue]:
    return {"provider": "tencent", "gpu": "A100", "price": 28.64, "unit": "CNY/hour", **cells}


def board(*rows: dict[str, JsonValue]) -> Board:
    call = Call(tool="find_offers", arguments={}, result=list(rows))
    found = board_of(plain_answer("q", "").model_copy(update={"calls": (call,)}))
    assert found
    return found


def printed(table: BoardTable) -> str:
    return render.table(table.headings, table.rows) + "\n\n" + "\n".join(table.said)


ROWS = st.builds(
    BoardRow, provider=st.sampled_from(["tencent", "aws", "vast"]), gpu=st.sampled_from(["A100", "H100"]),
    price=st.decimals("0.0001", "99999", places=4).map(float), unit=st.sampled_from(["CNY/hour", "USD/hour", "CNY/month", "JPY/hour"]),
    gpu_count=st.sampled_from([1, 2, 7, 8]), gpu_fraction=st.sampled_from([1, 1, 1, 0.25, 0.1667]),
)  # fmt: skip


def expected(price: BoardRow, per: Per, currency: str) -> Fraction:
    """The price of one GPU by another way: per hour in dollars first."""
    a_gpu = Fraction(str(price.price)) / (price.gpu_count * Fraction(str(price.gpu_fraction)))
    an_hour = a_gpu / (730 if price.unit.endswith("month") else 1)
    per_usd = {"USD": Fraction(1)} | {code: Fraction(rate.per_usd) for code, rate in RATES.items()}
    return an_hour / per_usd[price.unit[:3]] * per_usd[currency or price.unit[:3]] * HOURS[per]


@given(ROWS, st.sampled_from(PERIODS), st.sampled_from(["", "CNY", "USD", "JPY"]))
def test_an_amount_is_the_price_times_rate_and_hours_in_every_direction(price: BoardRow, per: Per, to: str) -> None:
    amount = per_gpu(price, per, to, RATES)
    assert amount.exact == expected(price, per, to)
    assert amount.currency == (to or price.currency)
    assert abs(Fraction(amount.shown) - amount.exact) <= max(Fraction(1, 200), amount.exact / 200)
    assert amount.shown > 0


@given(ROWS, st.sampled_from(["CNY", "USD", "JPY"]))
def test_there_and_back_is_the_same_price(price: BoardRow, to: str) -> None:
    there = per_gpu(price, "hour", to, RATES).exact
    back = {"USD": Fraction(1)} | {code: Fraction(rate.per_usd) for code, rate in RATES.items()}
    assert there * back[price.currency] / back[to] == per_gpu(price, "hour", "", RATES).exact


@given(
    st.lists(ROWS, min_size=2, max_size=12, unique=True), st.sampled_from(PERIODS), st.sampled_from(["", "USD", "CNY"]),
    st.booleans(),
)  # fmt: skip
def test_the_cheapest_is_the_least_whole_card_of_its_currency(
    rows: list[BoardRow], per: Per, to: str, cheapest_only: bool
) -> None:
    bars = Board(tuple(rows), RATES).bars(to, per, cheapest_only, "en")
    for code in {bar.currency for bar in bars}:
        whole = [expected(r, per, to) for r in rows if (to or r.currency) == code and not r.is_slice]
        marked = [bar for bar in bars if bar.currency == code and bar.cheapest]
        assert len(bars) == 1 or bool(marked) == bool(whole)
        for bar in marked:
            assert bar.value in {per_gpu(r, per, to, RATES).shown for r in rows if expected(r, per, to) == min(whole)}
            assert "slice" not in bar.gpu
        drawn = [bar.value for bar in bars if bar.currency == code and "slice" not in bar.gpu]
        assert drawn == sorted(drawn)


@given(st.lists(ROWS, min_size=2, max_size=12, unique=True), st.sampled_from(["", "CNY"]))
def test_cheapest_only_keeps_each_provider_and_gpu_and_counts_the_rest(rows: list[BoardRow], to: str) -> None:
    found = Board(tuple(rows), RATES)
    kept = found.bars(to, "hour", True, "en")
    assert {(b.label, b.gpu, b.currency) for b in kept} == {(b.label, b.gpu, b.currency) for b in found.bars(to, "hour", False, "en")}  # fmt: skip
    said = " ".join(found.table(to, "hour", True, "en").said)
    left = len(rows) - len(kept)
    assert (f"{left} row{'s are' if left > 1 else ' is'} left out" in said) == bool(left)


def test_cheapest_only_takes_the_forms_of_a_card_together() -> None:
    cards = (
        ("A100 SXM4 40GB", 0.9),
        ("A100 PCIe 80GB", 0.8),
        ("A100", 0.85),
        ("H100 SXM5 80GB", 2.0),
        ("H100 NVL 94GB", 2.1),
    )
    rows = tuple(BoardRow(provider="vast", gpu=gpu, price=price, unit="USD/hour") for gpu, price in cards)
    table = Board(rows, RATES).table("", "hour", True, "zh")
    assert [row[1] for row in table.rows] == ["A100 PCIe 80GB", "H100 SXM5 80GB"]
    assert "每家每种 GPU（不分形态）只列最低的一行，略去 3 行。" in table.said


@given(ROWS, st.sampled_from(PERIODS), st.sampled_from(["", "CNY", "USD"]))
def test_a_formula_gives_the_figure_that_it_ends_with(price: BoardRow, per: Per, to: str) -> None:
    amount = per_gpu(price, per, to, RATES)
    left, right = steps(amount, RATES, "en").split(" = ")
    value = Fraction(left.split()[0].replace(",", ""))
    words = left.split()
    for sign, figure in pairwise(words):
        if sign in "÷×":
            value = value / Fraction(figure) if sign == "÷" else value * Fraction(figure)
    assert value == amount.exact
    assert right == render.amount(amount.shown, amount.currency, "en", per)


@pytest.mark.parametrize(
    ("exact", "per", "converted", "shown"),
    [
        (Fraction("3.98386"), "hour", True, "3.9839"), (Fraction("88.35281"), "hour", True, "88.35"),
        (Fraction("2.744705"), "hour", False, "2.7447"), (Fraction("95.605"), "day", True, "95.61"),
        (Fraction("0.0123456"), "month", True, "0.0123"), (Fraction("0.00000041"), "hour", True, "4.1E-7"),
    ],
)  # fmt: skip
def test_amounts_are_rounded_half_up_and_never_to_nothing(
    exact: Fraction, per: Per, converted: bool, shown: str
) -> None:
    assert rounded(exact, per, converted=converted) == Decimal(shown)


@pytest.mark.parametrize("gpus", [("A100", "H100"), ("A10",), ("T4", "V100")])
def test_every_figure_of_every_view_of_real_rows_is_traced(gpus: tuple[str, ...]) -> None:
    answer, found = real_board(*gpus)
    for language, to, per, few in product(LANGUAGES, ("", "CNY", "EUR", "HKD"), ("hour", "month"), (True,)):
        view = (to, per, few, language)
        text = printed(found.table(*view, today=TODAY))
        traced = trace(text, (*answer.calls, *found.calls(*view)), answer.citations)
        assert (view, traced.untraced) == (view, ())
        assert traced.figures


def test_a_converted_figure_is_not_traced_without_the_boards_own_calls() -> None:
    answer, found = real_board("A100")
    assert trace(printed(found.table("CNY", "month", True, "zh")), answer.calls, answer.citations).untraced


def test_real_rows_of_several_currencies_have_a_cheapest_each_until_they_are_converted() -> None:
    _, found = real_board("A100", "H100")
    assert set(found.currencies) == {"CNY", "USD"}
    apart, together = found.table("", "hour", False, "zh"), found.table("CNY", "hour", False, "zh")
    assert {apart.rows[place][2].split()[2][:2] for place in apart.cheapest} >= {"元（", "美元"}
    assert len(together.cheapest) >= 1
    assert together.cheapest[0] == 0
    assert len(apart.rows) == len(together.rows) == len(found.rows)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", [("", "hour", False), ("CNY", "month", True), ("EUR", "day", False)])
def test_no_cell_is_empty_and_all_rows_are_as_long_as_the_headings(view: tuple[str, Per, bool], language: Language) -> None:  # fmt: skip
    _, found = real_board("A100", "A10", "T4")
    table = found.table(*view, language)
    assert {len(cells) for cells in table.rows} == {len(table.headings)}
    assert all(cell.strip() for cells in (table.headings, *table.rows) for cell in cells)
    word = {"zh": "最低", "en": "cheapest"}[language]
    assert {i for i, cells in enumerate(table.rows) if word in cells[2]} == set(table.cheapest)


def test_the_rate_is_said_with_its_year_and_that_it_is_not_todays() -> None:
    found = board(row(), row(provider="aws", unit="USD/hour", price=3))
    zh, en = (" ".join(found.table("USD", "hour", False, language).said) for language in LANGUAGES)
    assert "2024 年平均汇率 1 USD = 7.189 CNY（不是当日汇率）折算成美元" in zh
    assert "at the 2024 average 1 USD = 7.189 CNY (not today's rate)" in en
    assert "28.64 CNY/hour ÷ 7.189 CNY/USD = 3.9839 USD/hour" not in en  # the cheapest row needs no conversion
    assert found.table("USD", "hour", False, "en").rows[0][2] == "✓ 3 (cheapest)"


def test_the_readers_own_rate_goes_before_the_table() -> None:
    answer, found = real_board("A100", question="A100 价格，汇率按 7.5")
    view = ("CNY", "hour", True, "zh")
    table = found.table("CNY", "hour", True, "zh")
    assert any("您给的汇率 1 USD = 7.5 CNY" in sentence for sentence in table.said)
    assert not trace(printed(table), (*answer.calls, *found.calls(*view)), answer.citations, answer.question).untraced


def test_the_formula_names_the_cheapest_row_with_its_numbers() -> None:
    found = board(row(gpu_count=8, price=98.32, unit="USD/hour", provider="azure"), row(provider="aws", price=32.78, unit="USD/hour"))  # fmt: skip
    zh, en = (found.table("CNY", "month", False, language).said for language in LANGUAGES)
    assert "算式（Azure A100）：98.32 美元/小时 ÷ 8 张 × 730 小时 × 7.189 元/美元 = 64,497.55 元/月" in zh
    assert "Formula (Azure A100): 98.32 USD/hour ÷ 8 GPUs × 730 h × 7.189 CNY/USD = 64,497.55 CNY/month" in en
    assert "每月按 730 小时计，按全时租用。" in zh


def test_a_row_billed_by_the_month_is_exact_per_month_and_says_its_hours_per_hour() -> None:
    found = board(row(price=5000, unit="CNY/month"), row(provider="alibaba", price=6.9))
    monthly = found.table("", "month", False, "zh")
    assert [cells[2] for cells in monthly.rows] == ["✓ 5,000（最低）", "5,037"]
    hourly = found.table("", "hour", False, "en")
    assert [cells[2] for cells in hourly.rows] == ["✓ 6.8493 (cheapest)", "6.9"]
    assert hourly.rows[0][3] == "5,000 CNY/month"
    assert "A month counts 730 h, rented all the time." in hourly.said


@pytest.mark.parametrize(
    ("language", "mark", "said"), [("zh", "（切片 0.25）", "切片只租到"), ("en", " (slice 0.25)", "A slice is")]
)
def test_a_slice_is_marked_as_one_and_never_the_cheapest(language: Language, mark: str, said: str) -> None:
    found = board(row(price=1, gpu_fraction=0.25), row(provider="alibaba", price=34.742), row(provider="volcengine", price=40.39))  # fmt: skip
    table = found.table("", "hour", False, language)
    assert table.cheapest == (0,)
    assert table.rows[0][0] == render.name("provider", "alibaba", language)
    assert table.rows[2][1] == f"A100{mark}"
    assert table.rows[2][2] == "4"
    assert any(sentence.startswith(said) for sentence in table.said)


def test_slices_alone_have_no_cheapest_and_no_view_fails_over_them() -> None:
    found = board(row(gpu_fraction=0.25), row(gpu_fraction=0.5))
    assert found.table("", "hour", False, "zh").cheapest == ()


def test_equal_prices_are_all_marked_by_what_they_are_not_by_what_is_printed() -> None:
    found = board(row(price=1.98), row(provider="alibaba", price=1.98), row(provider="volcengine", price=1.98000001))
    table = found.table("JPY", "hour", False, "zh")
    assert table.cheapest == (0, 1)


@pytest.mark.parametrize(("language", "way_out"), [("zh", "改回“全部”"), ("en", "back to all")])
def test_a_filter_that_leaves_nothing_names_the_way_out_and_denies_no_offer(language: Language, way_out: str) -> None:
    found = board(row(), row(price=30))
    table = found.table("", "hour", False, language, ("aws",))
    assert (table.headings, table.rows, table.cheapest) == ((), (), ())
    assert way_out in table.said[0]
    assert ("不等于市场上没有" if language == "zh" else "may still have one") in table.said[0]
    assert "AWS" in table.said[0]
    assert found.bars("", "hour", False, language, ("aws",)) == ()
    assert found.calls("", "hour", False, language, ("aws",))


def test_a_filter_says_whose_rows_it_shows_and_how_many_it_leaves_out() -> None:
    found = board(row(), row(provider="alibaba", price=34.742), row(provider="aws", price=4, unit="USD/hour"))
    table = found.table("", "hour", False, "zh", ("tencent", "alibaba"))
    assert len(table.rows) == 2
    assert "只列腾讯云、阿里云，略去其他厂商的 1 行。" in table.said
    assert "Only Tencent Cloud, Alibaba Cloud; 1 row of other providers is left out." in found.table("", "hour", False, "en", ("tencent", "alibaba")).said  # fmt: skip


def test_a_currency_without_a_rate_is_said_and_the_rows_stay_as_they_are() -> None:
    found = board(row(), row(provider="aws", price=4, unit="USD/hour"))
    zh, en = (found.table("HKD", "hour", False, language) for language in LANGUAGES)
    assert "没有 CNY、USD 与 HKD 之间的汇率，这些行仍按 CNY、USD 显示。" in zh.said
    assert "There is no rate between CNY, USD and HKD; those rows stay in CNY, USD." in en.said
    assert [cells[2] for cells in en.rows] == ["✓ 28.64 CNY (cheapest)", "✓ 4 USD (cheapest)"]


def test_dates_are_shown_as_stated_undated_rows_say_so_and_old_ones_are_old() -> None:
    found = board(row(as_of="2026-05-24"), row(as_of=None), row(as_of="2023-Q3"))
    zh, en = (found.table("", "hour", False, language, today=TODAY) for language in LANGUAGES)
    assert [cells[-1] for cells in zh.rows] == ["2026-05-24", "未注明日期", "2023-Q3（旧）"]
    assert [cells[-1] for cells in en.rows] == ["2026-05-24", "not dated", "2023-Q3 (old)"]


def test_host_columns_stand_only_where_a_row_has_a_host() -> None:
    without = board(row(), row(price=30)).table("", "hour", False, "en")
    with_one = board(row(cpu_cores=16, host_memory_gib=96), row(price=30)).table("", "hour", False, "en")
    assert not any("memory" in heading for heading in without.headings)
    assert [cells[4:6] for cells in with_one.rows] == [("16", "96 GiB"), ("—", "—")]


def test_an_answer_with_one_row_or_the_same_row_twice_or_none_has_no_board() -> None:
    offers = [o for o in load_catalog().offers if o.gpu == "A100"][:1]
    once = answer_of(offers)
    twice = once.model_copy(update={"calls": (*once.calls, *once.calls)})
    assert [board_of(a) for a in (once, twice, plain_answer("q", "no price"))] == [None, None, None]


def test_rows_of_two_look_ups_are_one_board() -> None:
    first, second = (answer_of([o]) for o in [o for o in load_catalog().offers if o.gpu == "A100"][:2])
    both = first.model_copy(update={"calls": (*first.calls, *second.calls)})
    found = board_of(both)
    assert found
    assert len(found.rows) == 2


@pytest.mark.parametrize("broken", [{"price": 0}, {"unit": "元/小时"}, {"gpu_fraction": 2}, {"provider": None}])
def test_a_row_that_is_none_is_an_error_that_names_it(broken: dict[str, JsonValue]) -> None:
    with pytest.raises(ValidationError, match=next(iter(broken))):
        board(row(), row(**broken))


def test_an_amount_that_the_row_states_is_not_computed() -> None:
    amount = per_gpu(BoardRow.model_validate(row(price=34.742)), "hour", "", RATES)
    assert amount == PerGpu(amount.row, "hour", "CNY", Fraction("34.742"), Decimal("34.742"), is_computed=False)


def test_a_bar_says_the_rate_and_the_hours_behind_its_value() -> None:
    found = board(row(), row(provider="aws", price=4, unit="USD/hour", gpu_fraction=0.5))
    yuan, dollars = found.bars("USD", "day", False, "en")
    assert yuan.said == (
        "Converted to USD at the 2024 average 1 USD = 7.189 CNY (not today's rate).",
        "A day counts 24 h, rented all the time.",
    )
    assert dollars.said[0] == "A day counts 24 h, rented all the time."
    assert dollars.said[1].startswith("A slice is a part of one card")
    assert found.bars("", "hour", False, "en")[0].said == ()


@pytest.mark.parametrize("providers", [("aws",), ("tencent", "alibaba"), ("coreweave",)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_counts_of_a_filter_are_traced_whether_it_leaves_rows_or_none(
    providers: tuple[str, ...], language: Language
) -> None:
    found = board(row(), row(price=30), row(provider="aws", unit="USD/hour", price=4), row(provider="aws", unit="USD/hour", price=5))  # fmt: skip
    view = ("", "hour", True, language, providers)
    said = found.table(*view).said
    traced = trace("\n".join(said), found.calls(*view), ())
    assert traced.untraced == ()
    assert traced.figures


def test_every_real_row_is_a_board_row_with_the_catalogues_price_per_gpu_hour() -> None:
    """board_of raises for a row that is none, and nobody catches it: no look-up of the catalogue may write one."""
    offers = list(load_catalog().offers)
    rows = [BoardRow.model_validate(cells) for call in answer_of(offers).calls for cells in call.result]  # type: ignore[union-attr]
    assert len(rows) == len(offers)
    for offer, found in zip(offers, rows, strict=True):
        assert found.is_slice == offer.is_slice
        amount = per_gpu(found, "hour", "", RATES)
        assert abs(amount.exact - Fraction(offer.price_per_gpu_hour)) <= Fraction(1, 10**20)
        assert abs(Fraction(amount.shown) - amount.exact) <= max(Fraction(1, 20000), amount.exact / 200)
