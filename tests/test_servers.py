"""Sums over the reference servers, worked out by hand from article 2, and where no sum is asked."""

from __future__ import annotations

import pytest
from test_answer import run

from knowledge.reference_servers import reference_servers

SUMS = [
    ("两台A800参考机加一台H800参考机,CPU一共多少核", "224"),  # 2 x 64 + 96
    ("How many CPU cores have two A800 reference servers and one H800 reference server?", "224"),
    ("Total RAM of three H800 reference servers", "6,144"),  # 3 x 2,048
    ("Total RAM if I buy three of the H800 reference servers?", "6,144"),
    ("三台 H100/H800 参考服务器内存一共多少", "6,144"),
    ("A100参考机4台,一共多少核", "256"),  # 4 x 64
    ("3 台 821GE 要占多少 U", "24"),
    ("两台821GE一共几根内存", "64"),
]


@pytest.mark.parametrize(("question", "total"), SUMS)
@pytest.mark.parametrize("guess", ["price", "document"])
def test_the_sum_stands_first_with_its_formula(question: str, total: str, guess: str) -> None:
    _, result = run(question, guess)
    assert (result.status, result.verified) == ("answered", True), result.text
    assert f" {total} " in result.text.splitlines()[0]
    assert f"= {total}" in result.text
    assert any("servers.csv" in citation.locator for citation in result.citations)


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("42U机柜最多能放几台821GE,光按U数算", "放 5 台"),
        ("How many 821GE fit in a 42U rack?", "holds 5 servers"),
        ("42U 的机柜能放几台 A100 参考服务器", "放 10 台"),
    ],
)
def test_a_rack_by_height_alone(question: str, fits: str) -> None:
    _, result = run(question, "manipulation")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert fits in result.text.splitlines()[0]


@pytest.mark.parametrize(
    "question", ["参考配置里H100那台内存条一共几根,每根多大", "What CPU is in the A100/A800 reference server?", "SYS-821GE-TNHR几U的"]
)  # fmt: skip
def test_one_server_is_left_to_the_documents(question: str) -> None:
    _, result = run(question, "document")
    assert not [call for call in result.calls if call.tool in ("server_total", "servers_in_rack")]


def test_rows_are_what_article_2_prints() -> None:
    printed = [(s.platform, s.rack_units, s.cpus, s.cpu, s.cores_per_cpu, s.memory_modules, s.module_gb, s.memory_kind) for s in reference_servers()]  # fmt: skip
    assert printed == [
        ("SYS-420GP-TNAR", 4, 2, "8358", 32, 32, 64, "DDR4"),
        ("SYS-821GE-TNHR", 8, 2, "8468", 48, 32, 64, "DDR5"),
    ]
