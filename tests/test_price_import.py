"""Price files in: encodings, spellings and catalogues; what is rejected and why; nothing is written but by commit."""

from __future__ import annotations

import csv
import io
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from assistant.cli import app
from ingest.price_formats import CELLS, PriceFileError
from ingest.price_import import ImportReport, PreparedImport, prepare
from knowledge import price_snapshots
from knowledge.offers import Offer, OfferFilter, load_offers
from knowledge.table_rows import TABLES

TODAY = date(2026, 11, 30)
HEAD = "provider,gpu,gpu_count,region,price,currency,pricing_model,as_of"
GOOD = "阿里云,A100 80G,1,cn-x,34.5,CNY,按量,2026-10-01"


def file(folder: Path, text: str | bytes, name: str = "prices.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def imported(path: Path, **options: str) -> PreparedImport:
    return prepare(path, today=TODAY, **options)  # type: ignore[arg-type]


def report(folder: Path, *lines: str, head: str = HEAD, **options: str) -> ImportReport:
    return imported(file(folder, "\n".join([head, *lines])), **options).report


def stored(origin: str = "prices.csv") -> list[Offer]:
    offers = load_offers(TABLES / "offers.csv", price_snapshots.current)
    return sorted(
        (offer for offer in offers if offer.origin == origin), key=lambda offer: (offer.row, offer.pricing_model)
    )


def only(folder: Path, *lines: str, head: str = HEAD, **options: str) -> Offer:
    done = imported(file(folder, "\n".join([head, *lines])), **options)
    assert done.report.rejected == ()
    done.commit()
    (offer,) = stored()
    return offer


def test_a_row_is_taken_as_written(tmp_path: Path) -> None:
    offer = only(tmp_path, "阿里云,A100 80G SXM,8,cn-x,274.50,CNY,竞价,2026-10-01")
    assert (offer.provider, offer.gpu, offer.gpu_form, offer.gpu_count) == ("alibaba", "A100", "A100 SXM4 80GB", 8)
    assert (str(offer.price), offer.currency, offer.per) == ("274.50", "CNY", "instance-hour")
    assert (offer.pricing_model, offer.region, offer.as_of) == ("spot", "cn-x", "2026-10-01")
    assert (offer.origin, offer.row, offer.source) == ("prices.csv", 2, "price-import")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "gb18030"])
def test_chinese_headings_in_any_usual_encoding(tmp_path: Path, encoding: str) -> None:
    text = "云厂商，GPU，价格\n".replace("，", ",") + "腾讯云,T4,￥８．５０\n"
    done = imported(file(tmp_path, text.replace("￥", "¥" if encoding == "utf-8" else "￥").encode(encoding)))
    assert (done.report.accepted, done.report.rejected) == (1, ())
    done.commit()
    assert [(offer.provider, str(offer.price), offer.currency) for offer in stored()] == [("tencent", "8.50", "CNY")]


@pytest.mark.parametrize(
    ("cell", "price", "currency", "per"),
    [
        ("$1.25", "1.25", "USD", "instance-hour"), ("US$ 1.25/hr", "1.25", "USD", "instance-hour"),
        ("1.25美元", "1.25", "USD", "instance-hour"), ("￥９．５", "9.5", "CNY", "instance-hour"),
        ("9.5元/小时", "9.5", "CNY", "instance-hour"), ('"¥4,380.00/月"', "4380.00", "CNY", "instance-month"),
        ("€1.1", "1.1", "EUR", "instance-hour"), ("1.250 USD", "1.250", "USD", "instance-hour"),
    ],
)  # fmt: skip
def test_money_is_read_in_the_forms_people_write(
    tmp_path: Path, cell: str, price: str, currency: str, per: str
) -> None:
    offer = only(tmp_path, f"aws,T4,1,r,{cell},,,", head=HEAD)
    assert (str(offer.price), offer.currency, offer.per) == (price, currency, per)


def test_a_price_per_card_becomes_the_instances_and_is_flagged(tmp_path: Path) -> None:
    offer = only(tmp_path, "aws,A100 80G,8,1.25,USD,元/卡/小时", head="provider,gpu,gpu_count,price,currency,per")
    assert offer.price == Decimal(10)
    assert offer.price_per_gpu_hour == Decimal("1.25")
    assert offer.flags == ("from-price-per-gpu",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("aws,T4,1,r,0,USD,,", "above 0"), ("aws,T4,1,r,-1,USD,,", "above 0"), ("aws,T4,1,r,free,USD,,", "no number"),
        ('aws,T4,1,r,"1,23",USD,,', "no number"), ("aws,H300,1,r,1,USD,,", "no GPU we know"),
        ("aws,A100 96G,1,r,1,USD,,", "no form"), (",T4,1,r,1,USD,,", "no usable provider"),
        ("aws,T4,0,r,1,USD,,", "card count"), ("aws,T4,1.5,r,1,USD,,", "card count"), ("aws,T4,1,r,1,,,", "states no currency"),
        ("aws,T4,1,r,1,XAU,,", "no rate"), ("aws,T4,1,r,¥1,USD,,", "disagree"), ("aws,T4,1,r,1,USD,auction,", "no pricing model"),
        ("aws,T4,1,r,1,USD,,2026-12-01", "in the future"), ("aws,T4,1,r,1,USD,,soon", "the date must be"),
        ("aws,T4,1,r,1,USD,,2026-02-30", "the date must be"), ("aws,T4,1,r,99,USD,,", "no plausible price"),
        ("aws,T4,8,r,0.1,USD,,", "no plausible price"), ("aws,T4", "has 2 cells"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_with_its_reason_and_the_good_one_is_taken(tmp_path: Path, line: str, said: str) -> None:
    done = report(tmp_path, GOOD, line)
    assert (done.accepted, done.rejected_count) == (1, 1)
    assert done.rejected[0].line == 3
    assert said in done.rejected[0].en
    assert done.rejected[0].zh != done.rejected[0].en


def test_lines_keep_their_numbers_past_bad_and_empty_ones(tmp_path: Path) -> None:
    done = report(tmp_path, "aws,T4", "", GOOD, "aws,H300,1,r,1,USD,,")
    assert [line.line for line in done.rejected] == [2, 5]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"), (b" \n ", "empty"), (HEAD.encode(), "No rows"), (b"provider,gpu\naws,T4", "Missing column: price"),
        (b"gpu,price\nT4,1", "Missing column: provider"), (b"provider,gpu,price,price\na,b,1,2", "twice"),
        (b"provider,cloud,gpu,price\na,b,T4,1", "both mean provider"), (b"\xff\xfe\x00p\x00r", "encoding"),
        (b"PAR1 broken", "damaged"), (b"PK\x03\x04 broken", "XLSX"), (b"\x80\x81\xff\xff,", "encoding"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_price_table_is_refused_as_a_whole(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(PriceFileError, match=said):
        imported(file(tmp_path, content))


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match="no such file"):
        imported(tmp_path / "none.csv")


def test_the_report_tells_new_changed_unchanged_and_repeated(tmp_path: Path) -> None:
    rows = ["aws,T4,1,a,0.50,USD,,", "aws,T4,1,b,0.60,USD,,", "aws,T4,1,c,0.70,USD,,"]
    imported(file(tmp_path, "\n".join([HEAD, *rows]))).commit()
    again = report(
        tmp_path, "aws,T4,1,a,0.50,USD,,", "aws,T4,1,b,0.65,USD,,", "aws,T4,1,d,1,USD,,", "aws,T4,1,d,1,USD,,"
    )
    assert (again.accepted, again.new, again.changed_count, again.unchanged, again.repeated) == (4, 1, 1, 1, 1)
    assert [(change.line, change.old, change.new) for change in again.changed] == [(3, "0.60", "0.65 USD")]


def test_a_built_in_row_of_the_same_offer_is_a_change(tmp_path: Path) -> None:
    done = report(tmp_path, "腾讯云,T4,1,,8.00,CNY,,2026-10-01")
    assert [(change.old, change.new) for change in done.changed] == [("8.68", "8.00 CNY")]


def test_forty_and_eighty_gb_are_two_offers(tmp_path: Path) -> None:
    done = report(tmp_path, "aws,A100 40G,1,r,1.1,USD,,", "aws,A100 80G,1,r,1.9,USD,,")
    assert (done.accepted, done.repeated) == (2, 0)


def test_prepare_writes_nothing_and_undo_takes_a_commit_back(tmp_path: Path) -> None:
    done = imported(file(tmp_path, f"{HEAD}\n{GOOD}"))
    assert price_snapshots.current() is None
    done.commit()
    assert len(stored()) == 1
    assert price_snapshots.undo() == "prices.csv"
    assert stored() == []


def test_options_stand_for_what_the_file_does_not_state(tmp_path: Path) -> None:
    offer = only(tmp_path, "T4,8.8", head="gpu,price", provider="青云", currency="cny", as_of="2026年5月")
    assert (offer.provider, offer.currency, offer.as_of) == ("qingcloud", "CNY", "2026-05")


def test_a_new_provider_is_taken_and_pointed_out(tmp_path: Path) -> None:
    done = report(tmp_path, "我的机房,T4,1,r,0.5,USD,,2026-10-01")
    assert done.accepted == 1
    assert ["我的机房" in en for _, en in done.notes] == [True]


def test_an_unusual_price_is_taken_only_when_asked_and_flagged(tmp_path: Path) -> None:
    path = file(tmp_path, f"{HEAD}\naws,T4,1,r,99,USD,,2026-10-01")
    assert imported(path).report.accepted == 0
    prepare(path, allow_unusual=True, today=TODAY).commit()
    assert [offer.flags for offer in stored()] == [("unusual-price",)]


def test_xlsx_and_parquet_give_the_same_rows_as_csv(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["云厂商", "GPU", "价格", "币种", "日期"])
    book.active.append(["腾讯云", "T4", 8.5, "CNY", date(2026, 10, 1)])
    book.save(tmp_path / "prices.xlsx")
    with duckdb.connect() as database:
        database.execute(
            f"COPY (SELECT '腾讯云' AS provider, 'T4' AS gpu, 8.5::DOUBLE AS price, 'CNY' AS currency, DATE '2026-10-01' AS as_of)"
            f" TO '{tmp_path / 'prices.parquet'}'"
        )
    for name in ("prices.xlsx", "prices.parquet"):
        imported(tmp_path / name).commit()
        assert [(o.provider, o.gpu, str(o.price), o.as_of, o.row) for o in stored(name)] == [
            ("tencent", "T4", "8.5", "2026-10-01", 2)
        ]
        price_snapshots.undo()


SKYPILOT = """InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone
p4d.24xlarge,A100,8.0,96.0,1152.0,"{'Gpus': [{'Name': 'A100', 'MemoryInfo': {'SizeInMiB': 40960}}]}",21.95764,7.9992,us-west-2,usw2-az1
p4d.24xlarge,A100,8.0,96.0,1152.0,,21.95764,21.95764,us-west-2,usw2-az2
m5.large,,,2.0,8.0,,0.096,0.03,us-west-2,usw2-az1
g6f.large,L4,0.125,2.0,8.0,,0.2,,us-west-2,usw2-az1
"""


def test_a_skypilot_line_is_an_on_demand_row_and_a_spot_row_where_they_differ(tmp_path: Path) -> None:
    (tmp_path / "aws").mkdir()
    done = imported(file(tmp_path / "aws", SKYPILOT, "vms.csv"))
    assert (done.report.format, done.report.cpu_only, done.report.rejected) == ("skypilot", 1, ())
    done.commit()
    found = {(o.row, o.pricing_model): o for o in stored("vms.csv")}
    assert {(str(o.price), o.region, o.gpu_count) for o in found.values() if o.gpu == "A100"} == {
        ("21.95764", "us-west-2", 8), ("7.9992", "us-west-2/usw2-az1", 8)}  # fmt: skip
    sliced = found[5, "on-demand"]
    assert (sliced.gpu_count, sliced.gpu_fraction, sliced.price_per_gpu_hour) == (1, Decimal("0.125"), Decimal("1.6"))
    assert {o.provider for o in found.values()} == {"aws"}
    assert {o.currency for o in found.values()} == {"USD"}


def test_a_gpuhunt_catalogue_is_read_and_its_parts_of_a_card_are_slices(tmp_path: Path) -> None:
    text = """instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size
g2-standard-4,us-east1,0.708,4,16.0,1,L4,24.0,False,
g2-standard-4,us-east1,0.9,4,16.0,1,L4,24.0,True,
nv6ads,eastus,0.454,6,55.0,0.1667,A10,4.0,False,
e2,us-east1,0.1,4,16.0,0,,,False,
"""
    done = imported(file(tmp_path, text, "gcp.csv"))
    assert (done.report.format, done.report.accepted, done.report.cpu_only) == ("gpuhunt", 3, 1)
    done.commit()
    whole, spot, part = stored("gcp.csv")
    assert (whole.provider, whole.gpu_form, str(whole.price), whole.cpu_cores, whole.host_memory_gib) == (
        "gcp",
        "L4",
        "0.708",
        4,
        16,
    )
    assert (spot.pricing_model, spot.flags) == ("spot", ("spot-above-on-demand",))
    assert (part.gpu_fraction, part.is_slice) == (Decimal("0.1667"), True)


@settings(max_examples=60, deadline=None)
@given(
    content=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode("utf-8", "ignore")))
)
def test_no_file_crashes_or_writes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    said, taken = " / ", 0
    try:
        taken = imported(file(tmp_path_factory.mktemp("fuzz"), content)).report.accepted
    except PriceFileError as error:
        said = str(error)
    assert (taken, " / " in said, price_snapshots.folder().exists()) == (0, True, False)


CELL = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["A100", "T4", "aws", "1", "0", "1e308", "NaN", "-1", "9" * 30, "USD", "0.5", "2026-01-01"]),
)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.lists(CELL, min_size=len(CELLS), max_size=len(CELLS)), min_size=1, max_size=4))
def test_no_cell_crashes_and_every_line_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([list(CELLS), *rows])
    try:
        done = imported(file(tmp_path_factory.mktemp("fuzz"), text.getvalue().encode("utf-8", "ignore"))).report
    except PriceFileError:
        return
    assert done.accepted + done.rejected_count <= len(rows) + text.getvalue().count("\r") + text.getvalue().count("\n")
    assert price_snapshots.current() is None


def test_the_command_shows_the_report_and_writes_unless_told_not_to(tmp_path: Path) -> None:
    path = file(tmp_path, f"{HEAD}\n{GOOD}\naws,H300,1,r,1,USD,,")
    dry = CliRunner().invoke(app, ["prices", "import", str(path), "--dry-run"])
    assert (dry.exit_code, price_snapshots.current()) == (0, None)
    assert "nothing was written" in dry.output
    done = CliRunner().invoke(app, ["prices", "import", str(path)])
    assert done.exit_code == 0
    assert "line 3: 'H300'" in done.output
    assert [offer.provider for offer in stored()] == ["alibaba"]
    assert "prices.csv" in CliRunner().invoke(app, ["prices", "undo"]).output
    assert CliRunner().invoke(app, ["prices", "undo"]).exit_code == 1


def test_a_file_without_a_usable_row_fails_and_writes_nothing(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["prices", "import", str(file(tmp_path, f"{HEAD}\naws,H300,1,r,1,USD,,"))])
    assert (done.exit_code, price_snapshots.current()) == (1, None)


def test_imported_rows_answer_queries_beside_the_built_in_ones(tmp_path: Path) -> None:
    imported(file(tmp_path, f"{HEAD}\naws,A100 80G,1,mars,0.9,USD,,2026-11-01")).commit()
    offers = load_offers(TABLES / "offers.csv", price_snapshots.current)
    found = offers.query(OfferFilter(gpus=("A100",), providers=("aws",)))
    assert {offer.origin for offer in found.offers} == {None, "prices.csv"}
