"""Names as people type them: a table of questions with their links, exact forms of cards, and names of instances."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.card_forms import TABLE as GPUS
from knowledge.gpu_names import gpu_forms
from knowledge.instances import all_instance_types, find_instances
from knowledge.names import MODELS, Link, all_names, link, model_name, normalise


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# text, and its links as kind:key[form|form], with ~ where something was assumed
CASES = [(row["text"], row["links"]) for row in rows(Path(__file__).parent / "name_cases.csv")]
FAMILIES = {family for row in rows(GPUS) for family in row["families"].split(";")}
FORMS = {row["name"]: row for row in rows(GPUS)}


def written(item: Link) -> str:
    forms = f"[{'|'.join(item.forms)}]" if item.forms else ""
    return f"{item.kind}:{item.key}{forms}{'~' if item.assumed else ''}"


def test_the_table_of_cases_is_large_and_says_everything_once() -> None:
    assert len({text for text, _ in CASES}) == len(CASES) >= 250


@pytest.mark.parametrize(("text", "links"), CASES)
def test_a_question_has_these_links_and_no_others(text: str, links: str) -> None:
    assert "; ".join(map(written, link(normalise(text)))) == links


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("A100", ["A100 PCIe 40GB", "A100 PCIe 80GB", "A100 SXM4 40GB", "A100 SXM4 80GB"]),
        ("A100 80G", ["A100 PCIe 80GB", "A100 SXM4 80GB"]),
        ("A100 80", ["A100 PCIe 80GB", "A100 SXM4 80GB"]),
        ("HGX A100", ["A100 SXM4 40GB", "A100 SXM4 80GB"]),
        ("V100 32G", ["Tesla V100 PCIe 32GB", "Tesla V100 SXM2 32GB"]),
        ("H100", ["H100 PCIe 80GB", "H100 SXM5 80GB", "H100 NVL 94GB"]),
        ("H200", ["H200 SXM 141GB", "H200 NVL 141GB"]),
        ("RTX 6000", ["RTX PRO 6000 Blackwell Workstation", "RTX PRO 6000 Blackwell Max-Q",
                      "RTX PRO 6000 Blackwell Server Edition", "RTX 6000 Ada", "Quadro RTX 6000"]),
        ("TPU", ["TPU v4", "TPU v5e", "TPU v5p", "TPU v6e (Trillium)", "TPU v7x (Ironwood)"]),
        ("Trainium", ["Trainium1", "Trainium2", "Trainium3"]),
    ],
)  # fmt: skip
def test_a_name_that_several_forms_share_is_ambiguous(text: str, forms: list[str]) -> None:
    found = gpu_forms(text)
    assert (found.kind, list(found.forms), found.ambiguous, found.assumed) == ("gpu", forms, True, None)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("A100-SXM4-40GB", "A100 SXM4 40GB"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM4 80GB"),
        ("A100 80G PCIe", "A100 PCIe 80GB"),
        ("PCIe A100 40G", "A100 PCIe 40GB"),
        ("8xA100 SXM 80GB", "A100 SXM4 80GB"),
        ("H100 SXM5", "H100 SXM5 80GB"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM5 80GB"),
        ("DGX H100", "H100 SXM5 80GB"),
        ("H100 NVL", "H100 NVL 94GB"),
        ("H100 PCIe", "H100 PCIe 80GB"),
        ("H200 PCIe", "H200 NVL 141GB"),
        ("4090 24G", "GeForce RTX 4090"),
        ("魔改4090 48G", "GeForce RTX 4090 48GB (modded)"),
        ("4090 48G", "GeForce RTX 4090 48GB (modded)"),
        ("4090D", "GeForce RTX 4090 D"),
        ("2080ti 22g", "GeForce RTX 2080 Ti 22GB (modded)"),
        ("RTX 6000 48G", "RTX 6000 Ada"),
        ("RTX Pro 6000 Server Edition", "RTX PRO 6000 Blackwell Server Edition"),
        ("RTX PRO 6000 工作站版", "RTX PRO 6000 Blackwell Workstation"),
        ("A2", "A2"),
        ("L2", "L2"),
        ("Max 1550", "Data Center GPU Max 1550"),
        ("昇腾910B", "Ascend 910B (uncertain)"),
        ("TPU v5e", "TPU v5e"),
        ("v5litepod-8", "TPU v5e"),
        ("p4d.24xlarge", "A100 SXM4 40GB"),
        ("GB200 NVL72", "GB200 (per GPU)"),
        ("B200 192GB", "B200 SXM 180GB"),
        ("GH200 141G", "GH200 144GB HBM3e"),
    ],
)
def test_a_name_with_size_or_socket_means_exactly_one_form(text: str, form: str) -> None:
    found = gpu_forms(text)
    assert (found.kind, found.forms, found.ambiguous, found.assumed) == ("gpu", (form,), False, None)


@pytest.mark.parametrize(
    ("text", "form", "not_meant"),
    [
        ("4090", "GeForce RTX 4090", "48GB"),
        ("RTX 4090显卡", "GeForce RTX 4090", "48GB"),
        ("2080 Ti", "GeForce RTX 2080 Ti", "22GB"),
    ],
)
def test_a_bare_name_never_means_a_modded_card_and_says_so_in_both_languages(
    text: str, form: str, not_meant: str
) -> None:
    found = gpu_forms(text)
    assert (found.forms, found.ambiguous) == ((form,), False)
    assert found.assumed is not None
    assert all(form in words and not_meant in words for words in found.assumed)


@pytest.mark.parametrize(
    "text",
    [
        "A100 60G", "A100 60", "A100X", "A100 NVL", "H100 96GB", "H100 SXM4", "H20 141G", "H20-3e", "H800 NVL", "T4 24G", "3080 12G", "4090 32G",
        "RTX 4090 Ti", "4090 laptop", "RTX 6090", "TPU v3", "昇腾310", "V100 SXM3", "H300", "A100 和 H100", "显卡", "", "腾讯", "llama 70b",
    ],
)  # fmt: skip
def test_what_no_form_fits_is_unknown_and_never_a_neighbour(text: str) -> None:
    found = gpu_forms(text)
    assert (found.kind, found.forms, found.ambiguous) == ("unknown", (), False)


def test_a_card_that_only_prices_know_is_a_gpu_without_forms() -> None:
    assert [(gpu_forms(text).kind, gpu_forms(text).forms) for text in ("M40", "P4 8G", "K80")] == [("gpu", ())] * 3


@pytest.mark.parametrize("name", FORMS)
def test_every_row_of_the_specifications_is_found_by_its_own_name(name: str) -> None:
    found = gpu_forms(name)
    assert (found.family, found.forms) == (FORMS[name]["families"].split(";")[0], (name,))
    assert gpu_forms(name.upper()).forms == (name,)


# A2 and L2 as such are a paper size and a cache.
@pytest.mark.parametrize("name", [name for name in FORMS if name not in ("A2", "L2")])
def test_in_a_running_question_the_name_of_a_row_links_to_its_family(name: str) -> None:
    (item,) = link(normalise(f"租一张 {name} 要多少钱"))
    assert (item.kind, item.key) == ("gpu", FORMS[name]["families"].split(";")[0])
    assert item.forms in ((), (name,))


def test_a_form_beside_a_card_does_not_widen_the_link() -> None:
    text = "两张 24G 的 RTX 4090 和 A100 80G PCIe"
    assert [item.text for item in link(text)] == ["RTX 4090", "A100"]


PIECES = st.sampled_from([
    "A100", "H100", "4090", "2080ti", "T4", "RTX 6000", "p4d.24xlarge", "24G", "48G", "80GB", "PCIe", "SXM4", "NVL", "魔改", "HBM3",
    "的", " ", "/", "和", "两张", "x2", "(", "，", "qwen 7b", "腾讯",
])  # fmt: skip


@given(st.lists(PIECES, max_size=10).map("".join))
def test_forms_are_of_the_card_whatever_stands_beside_it(text: str) -> None:
    for item in link(normalise(text)):
        assert all(item.key in FORMS[form]["families"].split(";") for form in item.forms)
        assert item.kind == "gpu" or not item.forms


@pytest.mark.parametrize(
    ("text", "provider", "gpu", "count"),
    [
        ("p4d.24xlarge", "aws", "A100", "8"),
        ("P3.2xlarge", "aws", "V100", "1"),
        ("g5.48xlarge", "aws", "A10G", "8"),
        ("g6.24xlarge", "aws", "L4", "4"),
        ("trn1.32xlarge", "aws", "Trainium1", "16"),
        ("p5.4xlarge", "aws", "H100", "1"),
        ("ecs.gn7i-c32g1.32xlarge", "alibaba", "A10", "4"),
        ("gn6v-c8g1.2xlarge", "alibaba", "V100", "1"),
        ("ecs.gn7e-c16g1.32xlarge", "alibaba", "A100", "8"),
        ("GN7.20XLARGE320", "tencent", "T4", "4"),
        ("GN7.LARGE20", "tencent", "T4", "0.25"),
        ("gn10x.18xlarge320", "tencent", "V100", "8"),
        ("GN6S.2XLARGE40", "tencent", "P4", "2"),
        ("a2-megagpu-16g", "gcp", "A100", "16"),
        ("g2-standard-96", "gcp", "L4", "8"),
        ("v5litepod-16", "gcp", "TPU v5e", "16"),
        ("v5p-8", "gcp", "TPU v5p", "4"),
        ("tpu v4-32", "gcp", "TPU v4", "16"),
        ("Standard_NC96ads_A100_v4", "azure", "A100", "4"),
        ("NC24ads A100 v4", "azure", "A100", "1"),
        ("NV6ads_A10_v5", "azure", "A10", "0.1667"),
        ("NV72ads_A10_v5", "azure", "A10", "2"),
        ("BM.GPU.H100.8", "oracle", "H100", "8"),
        ("t2-le-180", "ovh", "V100", "4"),
        ("gpu_8x_v100_n", "lambda", "V100", "8"),
    ],
)
def test_an_instance_says_whose_it_is_and_how_many_gpus_it_holds(
    text: str, provider: str, gpu: str, count: str
) -> None:
    (found,) = find_instances(f"租 {text} 一天")
    assert (found.text, found.provider, found.gpu, found.gpu_count) == (text, provider, gpu, Decimal(count))


@pytest.mark.parametrize("text", ["gn7i", "ecs.gn6v", "GN10Xp", "GN10Xp.20XLARGE320", "p4d", "gn7i-c12g1.20xlarge"])
def test_a_family_or_a_size_that_is_not_certain_has_a_gpu_and_no_count(text: str) -> None:
    (found,) = find_instances(text)
    assert (found.text, found.gpu_count) == (text, None)


@pytest.mark.parametrize("text", ["sgn7i-vws-m2.xlarge", "vgn6i-m4.xlarge", "gn7", "p5", "m5.xlarge", "xp4d.24xlarge"])
def test_other_instances_are_none_of_these(text: str) -> None:
    assert find_instances(text) == []


def test_rows_of_instances_speak_of_known_names_and_forms_of_their_gpu() -> None:
    names = {(name.kind, name.key) for name in all_names()}
    for row in all_instance_types():
        assert {("provider", row.provider), ("gpu", row.gpu)} <= names, row
        assert all(row.gpu in FORMS[form]["families"].split(";") for form in row.forms), row
        assert row.source, row
        assert row.gpu_count in ("", "n", "n/2") or Decimal(row.gpu_count) > 0, row
        if "*" not in row.instance and "{" not in row.instance:
            (found,) = find_instances(row.instance)
            assert (found.gpu, found.forms, found.provider) == (row.gpu, row.forms, row.provider)


def test_every_family_of_the_specifications_is_a_name() -> None:
    assert FAMILIES - {name.key for name in all_names() if name.kind == "gpu"} == set()


def test_every_row_of_the_models_has_a_key_and_every_key_a_row() -> None:
    keys = [name.key for name in all_names() if name.kind == "model"]
    assert {model_name(key) for key in keys} == {row["name"] for row in rows(MODELS)}
    assert (model_name("ChatGLM"), model_name("ChatGLM2"), model_name("Falcon-40B"), model_name("GPT-4")) == (
        "ChatGLM-6B", "ChatGLM2-6B", "Falcon-40B", None,
    )  # fmt: skip


@pytest.mark.parametrize("name", [row["name"] for row in rows(MODELS)])
def test_every_row_of_the_models_is_found_by_its_own_name_without_assuming(name: str) -> None:
    (item,) = link(f"run {name} on one card")
    assert (item.kind, model_name(item.key), item.assumed) == ("model", name, None)
