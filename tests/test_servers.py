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
    ("A800那台和H800那台参考服务器各来一台,CPU核心全加一块多少个", "160"),  # 64 + 96; 加一块 is no yuan
    ("A800和H800两台参考服务器一共多少核", "160"),  # both, not two of the last
    ("H800参考服务器和A800参考服务器各两台,CPU一共多少颗", "8"),
    ("Both reference servers together, how many memory sticks?", "64"),
    ("One of each of the A800 and H800 reference servers: total RAM?", "4,096"),
]


@pytest.mark.parametrize(("question", "total"), SUMS)
@pytest.mark.parametrize("guess", ["price", "document"])
def test_the_sum_stands_first_with_its_formula(question: str, total: str, guess: str) -> None:
    _, result = run(question, guess)
    assert (result.status, result.verified) == ("answered", True), result.text
    assert f" {total} " in result.text.splitlines()[0]
    assert f"= {total}" in result.text
    assert any("servers.csv" in citation.locator for citation in result.citations)


def test_two_sums_asked_of_both_servers_are_both_given() -> None:
    _, result = run("A800和H800那两种参考服务器各来一台,机柜里一共占几U,内存加一块儿多大", "document")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert "共 12 U" in result.text.splitlines()[0]
    assert "共 4,096 GB 内存" in result.text.splitlines()[1]


FOLLOWED = [  # first turn, question that names no server, what the row says
    ("what cpu sits in the A800 reference server", "base n boost clock of those?", ["2.6 GHz", "3.4 GHz"]),
    ("H100/H800那套推荐服务器的CPU是哪个型号", "主频睿频各多少，机箱几U，内存D4还是D5", ["2.1 GHz", "3.8 GHz", "8U", "DDR5"]),
    ("参考服务器H800", "那A800那台主频多少", ["2.6 GHz", "3.4 GHz"]),
    ("What chassis is the 821GE?", "how much ram and what ddr", ["DDR5", "2,048 GB"]),
    ("A800参考服务器CPU是什么", "买三台一共多少核", ["192"]),  # 3 x 64
    ("两台参考服务器有什么区别", "主频分别多少", ["2.6 GHz", "3.4 GHz", "2.1 GHz", "3.8 GHz"]),
]  # fmt: skip


@pytest.mark.parametrize(("turn", "question", "figures"), FOLLOWED)
@pytest.mark.parametrize("guess", ["off_topic", "document", "price"])
def test_parts_asked_for_of_the_server_talked_about(turn: str, question: str, figures: list[str], guess: str) -> None:
    _, result = run(question, guess, turn)
    assert (result.status, result.verified) == ("answered", True), result.text
    assert not [figure for figure in figures if figure not in result.text]


def test_a_card_named_after_a_server_is_asked_about_itself() -> None:
    _, result = run("H20显存多大", "document", "A800参考服务器CPU是什么")
    assert "96 GB" in result.text.splitlines()[0]
    assert "参考服务器" not in result.text


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
    printed = [(s.platform, s.rack_units, s.cpus, s.cpu, s.cores_per_cpu, str(s.base_ghz), str(s.boost_ghz), s.memory_modules, s.module_gb, s.memory_kind) for s in reference_servers()]  # fmt: skip
    assert printed == [
        ("SYS-420GP-TNAR", 4, 2, "8358", 32, "2.6", "3.4", 32, 64, "DDR4"),
        ("SYS-821GE-TNHR", 8, 2, "8468", 48, "2.1", "3.8", 32, 64, "DDR5"),
    ]
