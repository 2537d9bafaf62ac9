"""Expansion of questions: which other forms a name or term brings, and which it must not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge import expansion
from knowledge.expansion import TermTableError, all_terms, expand
from knowledge.keywords import Word, words


def written(group: tuple[Word, ...]) -> str:
    return " ".join(word.whole for word in group)


def forms(query: str) -> dict[str, set[str]]:
    """Every word of the expanded question that has equivalents, and these as written words."""
    return {word.whole: {written(group) for group in word.equivalents} for word in expand(query) if word.equivalents}


def holds(passage: str, query: str) -> bool:
    """Whether some group of some word of the question is whole in the passage; own words do not count."""
    tokens = {token for word in words(passage) for token in word.tokens}
    return any(
        all(w.whole in tokens or (w.kind == "code" and w.pieces and set(w.pieces) <= tokens) for w in group)
        for word in expand(query)
        for group in word.equivalents
    )


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("谷歌的AI芯片", "A TPU costs"),
        ("张量核心", "Tensor cores do this"),
        ("Tensor cores", "张量核心很快"),
        ("tensor-core", "张量核心很快"),
        ("显存要多大", "GPU memory of the card"),
        ("显存要多大", "24 GB of VRAM"),
        ("GPU memory", "显存 24 GB"),
        ("图形处理器是什么", "what a GPU is"),
        ("老黄是谁", "黄仁勋创立了它"),
        ("老黄是谁", "Jensen Huang founded it"),
        ("炼丹用什么", "训练用 A100"),
        ("炼丹用什么", "for training"),
        ("推理", "inference"),
        ("inference", "推理服务"),
        ("出口管制", "US export controls"),
        ("export restrictions", "出口管制"),
        ("顯示卡", "a graphics card"),  # traditional, and the word used in Taiwan
        ("記憶體", "主机内存 512 GB"),
        ("頻寬", "bandwidth of 600 GB/s"),
        ("ＶＲＡＭ", "显存"),  # full width
        ("fine-tuned", "微调"),
        ("Finetuning", "微调"),
        ("finetune", "fine-tuning runs"),
        ("renting", "租用价格"),
        ("GPUs", "图形处理器"),
        ("有白嫖的平台吗", "Kaggle is free"),
        ("GPU 显存", "VRAM"),  # a break between scripts
        ("腾讯云", "Tencent Cloud"),
        ("aliyun", "阿里云"),
        ("tencnet", "腾讯云的价格"),  # a slip that the names forgive
        ("騰訊雲", "Tencent Cloud"),
        ("A-100", "the A100"),
        ("pt2", "P-Tuning v2"),
        ("TPUv5e", "TPU v5e"),
        ("通义千问 2.5 72B", "Qwen2.5-72B"),
    ],
)  # fmt: skip
def test_another_form_of_what_the_question_names_is_found(query: str, passage: str) -> None:
    assert holds(passage, query)


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("RTX 4090D", "RTX 4090 24 GB"),  # the lone d of the alias "4090 d" must not be lost
        ("昇腾910B", "昇腾 910C"),
        ("Falcon-40B", "Falcon-7B"),
        ("pt2", "fine-tuning"),  # P-Tuning is not any tuning
        ("A100", "NVIDIA H100"),
        ("A10", "A100"),
        ("T4", "L4"),
        ("出口新规卡在哪两个指标", "graphics card"),  # 卡在: stuck at
        ("Kaggle 卡不卡", "graphics card"),
        ("显卡", "显示器与卡片"),
        ("gpu", "CPU"),
        ("gn7.2xlarge32", "A100"),  # an instance has this card, but is no other word for it
        ("how much is it", "price"),
    ],
)
def test_something_else_is_not_another_form(query: str, passage: str) -> None:
    assert not holds(passage, query)


def test_a_term_of_several_words_is_one_phrase_and_its_neighbours_stay_words() -> None:
    phrase, memory = expand("张量核心的显存")
    assert (phrase.kind, phrase.whole, phrase.pieces) == ("phrase", "张量核心", ())
    assert phrase.parts == tuple(words("张量核心"))
    assert (memory.kind, memory.pieces) == ("han", ("显", "存"))
    assert memory.equivalents
    assert not memory.parts


def test_of_terms_that_begin_alike_the_longest_stands() -> None:
    assert set(forms("显存带宽")) == {"显存带宽"}
    assert "memori bandwidth" in forms("显存带宽")["显存带宽"]


def test_a_name_keeps_the_terms_inside_it() -> None:
    assert [word.whole for word in expand("谷歌的AI芯片")] == ["谷歌的AI芯片"]


def test_chinese_characters_with_a_space_between_them_are_no_term() -> None:
    assert not forms("请先显 存盘")


def test_a_form_that_holds_the_questions_own_words_is_left_out() -> None:
    assert not forms("A100")  # NVIDIA A100, Tesla A100 ... hold A100 already
    assert all("里云" not in form.split()[1:] for form in forms("阿里")["阿里"])  # 阿里云 holds 阿里


def test_all_words_of_the_question_but_seams_are_still_there() -> None:
    query = "谷歌的AI芯片与 H100 租一小时多少钱, fine-tuning a 7B?"
    flat = [part.whole for word in expand(query) for part in word.parts or (word,)]
    expected = [word.whole for word in words(query)]
    assert set(expected) - set(flat) == {"租一"}  # only the seam of two words goes


def test_equivalents_and_parts_are_plain_words() -> None:
    for word in expand("谷歌的AI芯片 显存 Tensor cores 老黄 阿里云 Qwen2.5-72B"):
        plain = [*word.parts, *(one for group in word.equivalents for one in group)]
        assert plain
        assert not any(one.parts or one.equivalents or one.kind == "phrase" for one in plain)


def test_a_name_without_another_form_does_not_cut_its_code() -> None:
    assert expand("A100-SXM4-80GB 40G") == words("A100-SXM4-80GB 40G")


def test_the_order_of_the_words_is_that_of_the_question() -> None:
    assert [word.whole for word in expand("阿里云 H100 推理 b300")] == ["阿里云", "h100", "推理", "b300"]


def test_every_term_has_both_languages_and_every_form_finds_the_others() -> None:
    assert len(all_terms()) >= 110
    for term in all_terms():
        ascii_forms = [form for form in term.forms if form.isascii()]
        assert ascii_forms, term
        assert len(ascii_forms) < len(term.forms), term
        for form in term.forms:
            assert any(word.equivalents for word in expand(form)), (term.id, form)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,显存,", "'a' has 1 forms"),
        ("a,显存,vram\nb,顯存,memory", "'显存' stands for both 'a' and 'b'"),  # the same in traditional characters
        ("a,训练,training\nb,培训,trained", "'trained' stands for both"),  # the same stem
    ],
)
def test_a_table_with_a_lone_or_a_doubled_form_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str, message: str
) -> None:
    table = tmp_path / "terms.csv"
    table.write_text(f"id,zh,en\n{rows}\n", encoding="utf-8")
    monkeypatch.setattr(expansion, "TABLE", table)
    with pytest.raises(TermTableError, match=message):
        all_terms.__wrapped__()


@given(st.text(alphabet="显存张量核心的卡租训练A100 GPUtensor-core4090D谷歌云ß１Ⅷ.×", max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_question_expands_and_one_without_terms_keeps_its_words(query: str) -> None:
    expanded = expand(query)
    assert any(word.equivalents for word in expanded) or expanded == words(query)
    for word in expanded:
        assert (word.kind == "phrase") == bool(word.parts)
        assert word.kind != "phrase" or word.equivalents
        assert all(group for group in word.equivalents)
