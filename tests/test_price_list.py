"""The price list below the page: filters from links and cells, sorting, conversion, what is left out, rows in full."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from price_rows import AWKWARD, take_in

from assistant.evidence import Language
from assistant.price_choices import choices
from assistant.price_conversion import convert_to
from assistant.price_filters import FilterError, PriceFilter, from_query, read_day, to_query
from assistant.price_purchases import purchase_table
from assistant.price_row import offer_detail, purchase_detail
from assistant.price_view import ROWS_PER_PAGE, PriceTable, conversion_of, rental_rows, rental_table
from knowledge import price_snapshots
from knowledge.catalog import load_catalog
from knowledge.offer_store import SnapshotBrokenError

TODAY = date(2026, 11, 30)
LANGUAGES: tuple[Language, ...] = ("zh", "en")


def column(table: PriceTable, key: str) -> list[str]:
    place = [heading.key for heading in table.headings].index(key)
    return [row.cells[place].text for row in table.rows]


def table(query: str, language: Language = "en") -> PriceTable:
    return rental_table(from_query(query), language, TODAY)


@pytest.mark.parametrize(
    ("query", "gpus"),
    [
        ("gpu=A100", ("A100",)),
        ("gpu=a100&gpu=Ｔ４", ("A100", "T4")),
        ("gpu=A100 80GB SXM", ("A100 SXM4 80GB",)),
        ("gpu=A100 SXM4 80GB&gpu=A100", ("A100 SXM4 80GB", "A100")),
        ("?tab=prices&gpu=", ()),
    ],
)
def test_gpus_of_a_link_are_read_as_people_write_them(query: str, gpus: tuple[str, ...]) -> None:
    assert from_query(query).gpus == gpus


@pytest.mark.parametrize(
    "query",
    [
        "gpu=A100&gpu=H100+SXM5+80GB&provider=tencent&provider=aws&region=us-east-1&currency=USD&pricing=spot&from=2024-01-01"
        "&to=2026-06-30&undated=no&slices=yes&memory=40&in=CNY&rate=7.2&sort=-date&page=3",
        "view=buy&gpu=RTX+4090&sort=provider",
        "sort=-per-gpu-hour",
        "",
    ],
)  # fmt: skip
def test_a_link_gives_back_the_filter_it_was_made_of(query: str) -> None:
    assert to_query(from_query(query)) == query


def test_a_link_takes_names_in_either_language_and_ignores_what_is_not_its_own() -> None:
    assert from_query("provider=阿里云&provider=Tencent Cloud&theme=dark&sort=nonsense") == PriceFilter(
        providers=("alibaba", "tencent")
    )


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("gpu=H300", "H300"), ("provider=nobody", "nobody"), ("region=mars", "mars"), ("currency=XYZ", "XYZ"),
        ("pricing=free", "free"), ("from=2024-13", "2024-13"), ("to=soon", "soon"), ("memory=0", "0"), ("memory=lots", "lots"),
        ("rate=-7", "-7"), ("rate=Infinity", "Infinity"), ("in=XAU", "XAU"),
    ],
)  # fmt: skip
def test_a_cell_that_means_nothing_is_named_in_both_languages(query: str, named: str) -> None:
    with pytest.raises(FilterError) as raised:
        from_query(query)
    assert named in raised.value.said.zh
    assert named in raised.value.said.en


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2024", date(2024, 1, 1), date(2024, 12, 31)),
        ("2026年5月24日", date(2026, 5, 24), date(2026, 5, 24)),
        ("２０２６-05-24", date(2026, 5, 24), date(2026, 5, 24)),
    ],
)
def test_a_month_or_year_means_its_first_day_and_as_an_end_its_last(written: str, first: date, last: date) -> None:
    assert (read_day(written), read_day(written, end=True)) == (first, last)


def test_a_gpu_in_any_form_keeps_its_rows_beside_a_form_of_another() -> None:
    both, alone = table("gpu=T4&gpu=A100 SXM4 80GB"), table("gpu=T4")
    assert set(column(both, "form")) - set(column(alone, "form")) == {"A100 SXM4 80GB"}
    assert both.matched == alone.matched + table("gpu=A100 SXM4 80GB").matched
    assert "not stated" in column(both, "form")  # T4 rows of the articles, which state none


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_empty_result_says_which_filter_left_out_how_many_and_never_that_there_is_no_offer(
    language: Language,
) -> None:
    said = " ".join(table("gpu=T4&provider=tencent&pricing=spot&slices=yes", language).said)
    assert ("不等于市场上没有" if language == "zh" else "may still have such an offer") in said
    assert ("行是别的计费方式" if language == "zh" else "another pricing model") in said
    assert any(character.isdigit() for character in said)


@pytest.mark.parametrize("language", LANGUAGES)
def test_gpus_and_providers_that_never_meet_are_told_apart_from_a_filter(language: Language) -> None:
    found = table("gpu=H200&provider=tencent", language)
    assert found.rows == ()
    assert "43" in found.said[1]


def test_dates_leave_out_what_is_older_later_or_undated_and_count_each() -> None:
    catalog = load_catalog()
    wanted = from_query("from=2024&to=2025&undated=no&slices=yes")
    result = catalog.offers.query(wanted.offer_filter())
    reasons = {left.reason: left.count for left in result.left_out}
    assert {offer.as_of for offer in result.offers} == {"2024-07", "2025-11-16"}
    assert set(reasons) == {"undated", "too-old", "too-new"}
    assert reasons["undated"] == sum(1 for offer in catalog.offers if not offer.as_of)
    kept = catalog.offers.query(from_query("from=2024&to=2025&slices=yes").offer_filter())
    assert kept.matched == result.matched + reasons["undated"]


@pytest.mark.parametrize(
    ("sort", "value"),
    [
        ("count", lambda o: o.gpu_count * o.gpu_fraction), ("provider", lambda o: o.provider),
        ("host-memory", lambda o: o.host_memory_gib), ("region", lambda o: o.region), ("cpu", lambda o: o.cpu_cores),
        ("form", lambda o: o.gpu_form),
    ],
)  # fmt: skip
@pytest.mark.parametrize("descending", [False, True])
def test_columns_sort_as_what_they_are_and_rows_that_do_not_say_come_last(sort: str, value, descending: bool) -> None:  # type: ignore[no-untyped-def]
    wanted = from_query(f"slices=yes&sort={'-' if descending else ''}{sort}")
    values = [value(offer) for offer in rental_rows(wanted, None, None).offers]
    said = [each for each in values if each is not None]
    assert said == sorted(said, reverse=descending)
    assert values == [*said, *[None] * (len(values) - len(said))]


def test_prices_sort_within_their_currency_and_with_a_conversion_across() -> None:
    apart = column(table("gpu=A100"), "currency")
    assert apart == sorted(apart)
    wanted = from_query("gpu=A100&in=USD&rate=7.2")
    offers = rental_rows(wanted, conversion_of(wanted), None).offers
    worth = [o.price_per_gpu_hour / (Decimal("7.2") if o.currency == "CNY" else 1) for o in offers]
    assert [round(each, 8) for each in worth] == sorted(round(each, 8) for each in worth)
    assert len({offer.currency for offer in offers[:-1]}) == 2


def test_pages_hold_each_row_once() -> None:
    first = table("slices=yes")
    pages = [table(f"slices=yes&page={page}") for page in range(1, first.pages + 1)]
    ids = [row.id for page in pages for row in page.rows]
    assert len(first.rows) == ROWS_PER_PAGE
    assert (len(ids), len(set(ids))) == (load_catalog().offers.count, load_catalog().offers.count)
    beyond = table("slices=yes&page=99")
    assert beyond.page == first.pages
    assert [row.id for row in beyond.rows] == [row.id for row in pages[-1].rows]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_converted_amount_stands_beside_the_rows_own_with_rate_and_year(language: Language) -> None:
    found = table("gpu=A100&provider=alibaba&in=USD", language)
    assert column(found, "per-gpu-hour") == ["34.742"]
    assert column(found, "converted") == [f"{Decimal('34.742') / Decimal('7.189'):.4f}"]
    assert "1 USD = 7.189 CNY" in found.said[-1]
    assert "2024" in found.said[-1]


def test_the_readers_own_rate_is_said_to_be_theirs_and_leaves_other_currencies_alone() -> None:
    own = convert_to("CNY", ["EUR", "USD"], Decimal(7))
    assert own.rates["USD"] == 7
    assert own.rates["EUR"] == Decimal(7) / Decimal("0.924")
    assert "your rate 1 USD = 7 CNY" in own.en
    assert "the 2024 average 1 USD = 0.924 EUR" in own.en


def test_awkward_rows_are_shown_as_they_are(tmp_path: Path) -> None:
    take_in(tmp_path, AWKWARD)
    found = table("provider=evilcloud&currency=USD")
    prices = column(found, "per-gpu-hour")
    assert prices[-1] == "123,456,789,012.5"
    assert prices[0] == "0.0000004"
    assert "=cmd|'/C calc'!A0" in column(found, "region")
    assert "Left out: 1 another currency; 1 a slice of one card." in found.said
    with_slice = table("provider=evilcloud&currency=USD&slices=yes")
    assert "A100 · slice 0.25" in column(with_slice, "gpu")
    assert column(with_slice, "memory")[column(with_slice, "gpu").index("A100 · slice 0.25")] == "20"


def test_prices_that_cannot_be_read_are_no_empty_result() -> None:
    price_snapshots.folder().mkdir(parents=True)
    (price_snapshots.folder() / price_snapshots.POINTER).write_text("{", encoding="utf-8")
    with pytest.raises(SnapshotBrokenError):
        table("gpu=A100")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_age_of_a_row_is_in_its_date_cell(language: Language) -> None:
    found = table("gpu=A100&sort=date", language)
    place = [heading.key for heading in found.headings].index("date")
    first, last = found.rows[0].cells[place], found.rows[-1].cells[place]
    assert (first.mark, last.mark) == ("stale", "undated")
    assert ("天前" if language == "zh" else "days old") in first.text
    assert ("已过时" if language == "zh" else "stale") in first.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_row_in_full_says_every_cell_its_flags_and_where_it_stands(language: Language) -> None:
    detail = offer_detail("tencent-tesla-t4-1x-gn7-2xlarge32-monthly-undated", language, TODAY)
    assert detail is not None
    texts = [text for _, text in detail.cells]
    assert "3.424658 CNY = 2,500 / 730" in texts
    assert "GN7.2XLARGE32" in texts
    assert ("不含磁盘与网络" if language == "zh" else "without disk and network") in texts
    assert any(text.startswith("offers.csv ") for text in texts)
    assert offer_detail("nonsense", language, TODAY) is None


def test_an_imported_row_in_full_names_its_file_and_line(tmp_path: Path) -> None:
    take_in(tmp_path, AWKWARD)
    (row, *_) = table("provider=evilcloud&from=2026-11&undated=no").rows
    detail = offer_detail(row.id, "en", TODAY)
    assert detail is not None
    assert ("File and row", "rows.csv row 8") in detail.cells


@pytest.mark.parametrize("language", LANGUAGES)
def test_purchase_prices_have_the_same_filters_and_say_what_they_left_out(language: Language) -> None:
    found = purchase_table(from_query("view=buy&gpu=A100&gpu=RTX 4090&currency=CNY"), language, TODAY)
    assert "14,599" in column(found, "price")
    assert ("行是别的币种" if language == "zh" else "another currency") in found.said[1]
    everything = purchase_table(from_query("view=buy"), language, TODAY)
    assert everything.matched == len(load_catalog().purchases)
    detail = purchase_detail("buy-t4", language, TODAY)
    assert detail is not None
    assert "14G" in [text for _, text in detail.cells]


@pytest.mark.parametrize("sort", ["price", "-price", "date", "-date", "gpu", "memory", "form", "source"])
def test_purchase_rows_sort_by_each_column_and_none_is_lost(sort: str) -> None:
    found = purchase_table(from_query(f"view=buy&in=CNY&sort={sort}"), "en", TODAY)
    assert len({row.id for row in found.rows}) == len(load_catalog().purchases)
    if "price" in sort:
        amounts = [Decimal(text.replace(",", "")) for text in column(found, "converted")]
        assert amounts == sorted(amounts, reverse=sort.startswith("-"))
    if sort.endswith("date"):
        assert column(found, "date")[-1] == "undated"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_can_be_chosen_comes_from_the_rows_and_can_be_searched_in_either_language(language: Language) -> None:
    offered = choices(language)
    labels = {value: label for label, value in offered.providers}
    assert "腾讯云" in labels["tencent"]
    assert "Tencent" in labels["tencent"]
    assert {value for _, value in offered.gpus} >= {"A100", "A100 SXM4 80GB", "T4"}
    assert len({label for label, _ in offered.gpus}) == len(offered.gpus)
    assert ("按需" if language == "zh" else "on demand", "on-demand") in offered.pricing_models
    assert [value for _, value in offered.currencies] == ["CNY", "USD"]


def test_imported_rows_can_be_chosen_at_once(tmp_path: Path) -> None:
    take_in(tmp_path, AWKWARD)
    assert "evilcloud" in {value for _, value in choices("zh").providers}
