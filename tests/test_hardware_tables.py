"""gpus.csv, models.csv, rates.csv and instances.csv as they stand: dense rates, ranges, shapes, and published figures.

The expected figures are those that makers and papers print, written here by hand; shapes are checked against the
parameter counts by arithmetic of this file.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from knowledge.names import all_names

TABLES = Path(__file__).resolve().parent.parent / "knowledge" / "tables"
GPU_COLUMNS = (
    "name families variant vendor architecture release_year form_factor memory memory_unit memory_type bandwidth_gb_per_s"
    " fp32_tflops fp16_tflops bf16_tflops fp8_tflops int8_tops tdp_w interconnect nvlink_gb_per_s launch_price_usd"
    " compute_capability export_status export_rule_date export_rule_zh export_rule_en export_source note_zh note_en source"
)
MODEL_COLUMNS = (
    "name parameters_billion active_parameters_billion parameters_from layers hidden_size attention_heads kv_heads head_size"
    " mlp_size expert_mlp_size vocabulary context_tokens cache mla_rank mla_rope_size windowed_layers window_tokens experts"
    " experts_per_token tied_embeddings licence source"
)
FIGURES = [
    "memory",
    "bandwidth_gb_per_s",
    "fp32_tflops",
    "fp16_tflops",
    "bf16_tflops",
    "fp8_tflops",
    "int8_tops",
    "tdp_w",
]


def read(table: str) -> list[dict[str, str]]:
    with (TABLES / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


GPUS = {row["name"]: row for row in read("gpus")}
MODELS = {row["name"]: row for row in read("models")}


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("gpus", GPU_COLUMNS), ("models", MODEL_COLUMNS), ("rates", "currency units_per_usd kind year source"),
        ("instances", "instance provider gpu forms gpu_count source"),
    ],
)  # fmt: skip
def test_columns_stand_and_every_row_is_whole_and_sourced(table: str, columns: str) -> None:
    rows = read(table)
    assert rows
    for row in rows:
        assert list(row) == columns.split()
        assert None not in row.values()
        assert row["source"]
        assert all(cell == cell.strip() for cell in row.values()), row
    keys = [
        tuple(row[column] for column in ("currency", "year")) if table == "rates" else next(iter(row.values()))
        for row in rows
    ]
    assert len(keys) == len(set(keys))


def test_families_and_forms_are_known_names() -> None:
    known = {name.key for name in all_names() if name.kind == "gpu"}
    for row in GPUS.values():
        assert set(row["families"].split(";")) <= known, row["name"]
        assert row["variant"] in ("", "modded"), row["name"]
    for row in read("instances"):
        assert row["gpu"] in known, row
        assert {form for form in row["forms"].split(";") if form} <= set(GPUS), row


def test_model_names_can_be_asked_for() -> None:
    from knowledge.names import model_name

    assert {model_name(name.key) for name in all_names() if name.kind == "model"} == set(MODELS)


def test_figures_are_positive_and_ranges_run_upwards() -> None:
    for row in GPUS.values():
        for column in FIGURES:
            if row[column]:
                assert re.fullmatch(r"\d+(?:\.\d+)?(?:-\d+(?:\.\d+)?)?", row[column]), (row["name"], column)
                low, _, high = row[column].partition("-")
                assert float(low) > 0, row["name"]
                assert not high or float(low) < float(high), (row["name"], column)


def test_a_disputed_figure_is_remarked_upon_in_both_languages() -> None:
    for row in GPUS.values():
        assert bool(row["note_zh"]) == bool(row["note_en"]), row["name"]
        assert bool(row["export_rule_zh"]) == bool(row["export_rule_en"]), row["name"]


def test_a_memory_size_has_a_unit_and_only_the_accelerators_of_aws_count_in_gib() -> None:
    for row in GPUS.values():
        assert bool(row["memory"]) == bool(row["memory_unit"]), row["name"]
        assert (row["memory_unit"] == "GiB") == (row["vendor"] == "AWS"), row["name"]
    unknown = {name for name, row in GPUS.items() if not row["memory"]}
    assert unknown == {"B100", "Data Center GPU Max 1550", "Ascend 910 (2019)"}


@pytest.mark.parametrize(
    ("name", "memory"),
    [
        ("Tesla T4", "16"), ("A10", "24"), ("A100 PCIe 40GB", "40"), ("A100 SXM4 80GB", "80"), ("A800 PCIe 80GB", "80"),
        ("H100 NVL 94GB", "94"), ("H20 96GB", "96"), ("H200 SXM 141GB", "141"), ("L40S", "48"), ("GeForce RTX 4090", "24"),
        ("GeForce RTX 3060 12GB", "12"), ("GeForce RTX 5090", "32"), ("RTX A6000", "48"), ("Instinct MI300X", "192"),
        ("B200 SXM 180GB", "180-192"), ("GB10 (DGX Spark)", "128"), ("TPU v5e", "16"), ("Trainium2", "96"),
    ],
)  # fmt: skip
def test_memory_sizes_are_those_the_cards_are_sold_with(name: str, memory: str) -> None:
    assert GPUS[name]["memory"] == memory


# Dense figures; every one of these cards is often quoted with the sparse one, twice as high.
DENSE = [
    ("H100 SXM5 80GB", "bf16_tflops", 989), ("H100 SXM5 80GB", "fp8_tflops", 1979), ("H100 PCIe 80GB", "bf16_tflops", 756),
    ("H200 SXM 141GB", "bf16_tflops", 989), ("A100 SXM4 80GB", "bf16_tflops", 312), ("A100 PCIe 40GB", "bf16_tflops", 312),
    ("A100 SXM4 80GB", "int8_tops", 624), ("GeForce RTX 4090", "fp16_tflops", 165.2), ("H20 96GB", "bf16_tflops", 148),
    ("L4", "fp16_tflops", 121), ("L40S", "bf16_tflops", 362), ("A10G", "fp16_tflops", 70), ("A10", "fp16_tflops", 125),
    ("Tesla T4", "fp16_tflops", 65), ("GeForce RTX 3090", "fp16_tflops", 71), ("B200 SXM 180GB", "bf16_tflops", 2250),
    ("Instinct MI300X", "bf16_tflops", 1307.4), ("GeForce RTX 5090", "fp16_tflops", 209.5), ("Trainium2", "bf16_tflops", 667),
]  # fmt: skip


@pytest.mark.parametrize(("name", "column", "figure"), DENSE)
def test_rates_are_dense(name: str, column: str, figure: float) -> None:
    assert float(GPUS[name][column]) == figure


@pytest.mark.parametrize(
    ("name", "bandwidth"),
    [
        ("A100 PCIe 40GB", 1555), ("A100 SXM4 80GB", 2039), ("H100 SXM5 80GB", 3350), ("H20 96GB", 4000), ("Tesla T4", 300),
        ("GeForce RTX 4090", 1008), ("L40S", 864), ("H200 SXM 141GB", 4800), ("Instinct MI300X", 5300), ("A10", 600),
    ],
)  # fmt: skip
def test_bandwidth_is_the_published_one_in_gb_per_second(name: str, bandwidth: float) -> None:
    assert float(GPUS[name]["bandwidth_gb_per_s"]) == bandwidth


def test_eight_bit_rates_are_about_twice_the_sixteen_bit_ones() -> None:
    """A sparse figure in one column would make it one or four times."""
    own_design = {"Gaudi 3", "Ascend 910C (uncertain)"}  # as fast in both, by their papers
    for name, row in GPUS.items():
        if row["fp8_tflops"] and row["bf16_tflops"] and name not in own_design:
            ratio = float(row["fp8_tflops"].partition("-")[0]) / float(row["bf16_tflops"].partition("-")[0])
            assert 1.85 <= ratio <= 2.05 or row["vendor"] == "AWS" or name == "TPU v6e (Trillium)", (name, ratio)


def test_cards_before_volta_have_no_tensor_rates_and_before_ampere_no_bf16() -> None:
    for row in GPUS.values():
        if row["architecture"] == "Pascal":
            assert not row["fp16_tflops"], row["name"]
        if row["architecture"] in ("Pascal", "Volta", "Turing"):
            assert not row["bf16_tflops"], row["name"]
        if row["architecture"] == "Ampere":
            assert not row["fp8_tflops"], row["name"]


def test_compute_capability_is_nvidias_number_or_amds_code() -> None:
    form = {"NVIDIA": r"\d{1,2}\.\d", "AMD": r"gfx[0-9a-f]{3,4}|"}
    for row in GPUS.values():
        assert re.fullmatch(form.get(row["vendor"], ""), row["compute_capability"]), row["name"]
    got = [
        GPUS[name]["compute_capability"]
        for name in ("Tesla T4", "A100 SXM4 80GB", "A10", "L4", "H100 PCIe 80GB", "GeForce RTX 5090")
    ]
    assert got == ["7.5", "8.0", "8.6", "8.9", "9.0", "12.0"]


def test_an_export_status_has_the_date_of_its_rule_unless_there_is_none() -> None:
    for row in GPUS.values():
        undated = row["export_status"] in ("unknown", "china-model", "not-us")
        assert row["export_status"] in ("barred", "licence", "china-model", "not-us", "unknown"), row["name"]
        assert bool(re.fullmatch(r"\d{4}(?:-\d{2}){0,2}", row["export_rule_date"])) != undated, row["name"]
        assert undated or row["export_source"], row["name"]
    assert {GPUS[n]["export_rule_date"] for n in ("A100 SXM4 80GB", "H100 SXM5 80GB")} == {"2022-10-07"}
    assert {GPUS[n]["export_rule_date"] for n in ("A800 SXM4 80GB", "H800 PCIe 80GB", "L40S")} == {"2023-10-17"}


def test_the_cut_china_cards_have_slower_links_than_their_originals() -> None:
    for cut, original in (("A800 SXM4 80GB", "A100 SXM4 80GB"), ("H800 SXM5 80GB", "H100 SXM5 80GB")):
        assert float(GPUS[cut]["nvlink_gb_per_s"]) == 400 < float(GPUS[original]["nvlink_gb_per_s"])
        assert GPUS[cut]["bf16_tflops"] == GPUS[original]["bf16_tflops"]


TWO_MATRICES = ("Falcon", "MPT", "ChatGLM-6B")  # an MLP without a gate
# DeepSeek: (shared experts, dense layers before the experts, rank of the query or None); heads are 128 + 64 and 128 wide.
DEEPSEEK = {
    "DeepSeek-V2-Lite": (2, 1, None),
    "DeepSeek-V2": (2, 1, 1536),
    "DeepSeek-V3": (1, 3, 1536),
    "DeepSeek-R1": (1, 3, 1536),
}


def whole(row: dict[str, str], column: str) -> int:
    return int(row[column])


def attention(row: dict[str, str]) -> int:
    """Weights of one layer's attention."""
    hidden, heads = whole(row, "hidden_size"), whole(row, "attention_heads")
    if row["cache"] == "full":
        return 2 * hidden * whole(row, "head_size") * (heads + whole(row, "kv_heads"))
    query = DEEPSEEK[row["name"]][2]
    queries = heads * 192 * (query or hidden) + (hidden * query if query else 0)
    rank, rope = whole(row, "mla_rank"), whole(row, "mla_rope_size")
    return queries + hidden * (rank + rope) + rank * heads * 256 + heads * 128 * hidden


def counted(row: dict[str, str], experts_used: int | None = None) -> int:
    """V x h x (1 or 2) + L x (attention + MLP); with experts, all of them or only those one token uses."""
    hidden, layers = whole(row, "hidden_size"), whole(row, "layers")
    matrices = 2 if row["name"].startswith(TWO_MATRICES) else 3
    embedding = whole(row, "vocabulary") * hidden * (1 if row["tied_embeddings"] == "yes" else 2)
    if not row["experts"]:
        return embedding + layers * (attention(row) + matrices * hidden * whole(row, "mlp_size"))
    shared, dense, _ = DEEPSEEK.get(row["name"], (0, 0, None))
    expert = 3 * hidden * whole(row, "expert_mlp_size")
    used = (experts_used or whole(row, "experts")) + shared
    router = hidden * whole(row, "experts")
    mlps = (layers - dense) * (used * expert + router) + dense * 3 * hidden * whole(row, "mlp_size")
    return embedding + layers * attention(row) + mlps


@pytest.mark.parametrize("name", [name for name in MODELS if name != "Llama-4-Scout"])  # its MLP sizes are not known
def test_parameters_follow_from_the_shape(name: str) -> None:
    row = MODELS[name]
    assert counted(row) / 1e9 == pytest.approx(float(row["parameters_billion"]), rel=0.01)
    used = whole(row, "experts_per_token") if row["experts"] else None
    assert counted(row, used) / 1e9 == pytest.approx(float(row["active_parameters_billion"]), rel=0.01)


def test_active_parameters_never_exceed_all_and_equal_them_where_there_are_no_experts() -> None:
    for row in MODELS.values():
        total, active = float(row["parameters_billion"]), float(row["active_parameters_billion"])
        assert (active < total) if row["experts"] else (active == total), row["name"]
        assert bool(row["experts"]) == bool(row["experts_per_token"]), row["name"]
        assert row["parameters_from"] in ("published", "shape")


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("Llama-2-7B", 524_288), ("Llama-2-70B", 327_680), ("Llama-3.1-8B", 131_072), ("Llama-3.1-405B", 516_096),
        ("Qwen2.5-7B", 57_344), ("Qwen2.5-72B", 327_680), ("Falcon-7B", 8_192), ("ChatGLM2-6B", 28_672), ("MPT-30B", 1_376_256),
        ("DeepSeek-V2-Lite", 31_104), ("DeepSeek-V2", 69_120), ("DeepSeek-V3", 70_272), ("DeepSeek-R1", 70_272),
    ],
)  # fmt: skip
def test_cache_bytes_per_token_are_the_published_ones_at_16_bits(name: str, published: int) -> None:
    row = MODELS[name]
    if row["cache"] == "mla":
        values = whole(row, "mla_rank") + whole(row, "mla_rope_size")
    else:
        values = 2 * whole(row, "kv_heads") * whole(row, "head_size")
    assert values * whole(row, "layers") * 2 == published


def test_a_cache_layout_has_its_sizes_and_a_window_its_width() -> None:
    for row in MODELS.values():
        assert row["cache"] in ("full", "mla")
        assert bool(row["kv_heads"] and row["head_size"]) == (row["cache"] == "full"), row["name"]
        assert bool(row["mla_rank"] and row["mla_rope_size"]) == (row["cache"] == "mla"), row["name"]
        assert bool(whole(row, "windowed_layers")) == bool(row["window_tokens"]), row["name"]
        assert whole(row, "windowed_layers") <= whole(row, "layers")
        if row["kv_heads"]:
            assert whole(row, "attention_heads") % whole(row, "kv_heads") == 0, row["name"]


@pytest.mark.parametrize(
    ("currency", "year", "printed"),
    [("CNY", "2024", "7.189"), ("CNY", "2020", "6.9"), ("EUR", "2024", "0.924"), ("JPY", "2023", "140.511")],
)
def test_rates_are_the_printed_yearly_averages(currency: str, year: str, printed: str) -> None:
    rows = [row for row in read("rates") if (row["currency"], row["year"]) == (currency, year)]
    assert [(row["units_per_usd"], row["kind"], row["source"]) for row in rows] == [
        (printed, "yearly-average", "irs-rates")
    ]
