"""A parsed file as passages: headings and places shown, rows whole and self-contained, every cell found again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Parsed, Place, Text
from ingest.passages import PARTS_PER_TOPIC, WIDEST_SECTION, passages_of
from ingest.rows import MAX_WIDTH, width
from ingest.table_words import WIDEST_ROW
from knowledge.passage import Passage

NOWHERE = Place()
PAGE = Place("page", "3")
SHEET = Place("sheet", "价格")


def grid(drawn: str, *, place: Place = NOWHERE, caption: str = "", header_rows: int | None = None) -> Grid:
    rows = tuple(tuple(cell.strip() for cell in line.split("|")) for line in drawn.strip("\n").splitlines())
    return Grid(rows, tuple(range(1, len(rows) + 1)), caption, header_rows, place)


def made(*blocks: Block, title: str = "采购指南", name: str = "指南.docx") -> list[Passage]:
    rows = sum(len(block.rows) for block in blocks if isinstance(block, Grid))
    return passages_of(Parsed(title, blocks, rows), document="d1", name=name)


def rows_of(passages: Sequence[Passage]) -> list[Passage]:
    return [passage for passage in passages if passage.kind == "row"]


PRICES = "型号|价格\nA100|28.64\nH100|60"


def test_a_paragraph_is_a_passage_with_its_headings_source_and_place() -> None:
    blocks = (Heading(1, "采购指南"), Heading(2, "显卡"), Heading(3, "显存"), Text("显存越大越好。", PAGE))
    assert made(*blocks, name="指南.pdf") == [
        Passage(
            id="d1:1",
            topic="d1#1",
            language="zh",
            title="采购指南",
            section="显卡 > 显存",
            text="显存越大越好。",
            source="指南.pdf",
            locator="指南.pdf § 显存, 第 3 页",
            as_of=None,
            kind="text",
        )
    ]


def test_a_file_without_a_title_goes_by_its_name_and_a_source_may_be_given() -> None:
    (passage,) = passages_of(
        Parsed("", (Text("words"),), 0), document="d", name="notes.txt", source="the notes of our team"
    )
    assert (passage.title, passage.source, passage.locator) == ("notes.txt", "the notes of our team", "notes.txt")


@pytest.mark.parametrize(
    ("place", "zh", "en"),
    [
        (Place("page", "3"), "第 3 页", "page 3"),
        (Place("slide", "2"), "幻灯片 2", "slide 2"),
        (Place("sheet", "S1"), "工作表 S1", "sheet S1"),
        (Place("line", "12"), "第 12 行", "line 12"),
    ],
)
def test_a_place_is_told_in_the_passages_own_language(place: Place, zh: str, en: str) -> None:
    assert made(Text("中文句子。", place))[0].locator == f"指南.docx, {zh}"
    assert made(Heading(2, "Part"), Text("An English sentence.", place))[0].locator == f"指南.docx § Part, {en}"


def test_code_and_addresses_do_not_make_a_chinese_text_english() -> None:
    text = "安装：\n\n```bash\npip install vllm\nvllm serve Qwen/Qwen2.5-7B\n```\n\n见 https://example.com/some/long/address"
    assert made(Text(text))[0].language == "zh"


def test_a_chinese_table_of_an_english_file_is_introduced_in_chinese() -> None:
    table = made(grid(PRICES, caption="各家价格"), title="prices.csv")[0]
    assert (table.language, table.text.splitlines()[0]) == ("zh", "表：各家价格")


def test_a_passage_over_two_pages_names_both() -> None:
    assert made(Text("One."), Text("Two."))[0].locator == "指南.docx"
    assert made(Text("One.", PAGE), Text("Two.", Place("page", "4")))[0].locator == "指南.docx, pages 3–4"
    assert made(Text("一。", PAGE), Text("二。", Place("page", "4")))[0].locator == "指南.docx, 第 3–4 页"


def test_short_neighbours_of_one_section_are_packed_and_those_of_another_are_not() -> None:
    texts = [
        passage.text for passage in made(Heading(2, "甲"), Text("一。"), Text("二。"), Heading(2, "乙"), Text("三。"))
    ]
    assert texts == ["一。\n\n二。", "三。"]


def test_the_parts_of_a_section_share_a_topic_but_a_whole_book_is_not_one_topic() -> None:
    long = [Text("显存与显卡。" * 100) for _ in range(PARTS_PER_TOPIC + 1)]
    topics = [passage.topic for passage in made(Heading(2, "章"), *long)]
    assert topics == ["d1#1"] * PARTS_PER_TOPIC + ["d1#2"]
    assert len({passage.topic for passage in made(*long)}) == len(long)  # without headings each part is its own


def test_a_long_paragraph_is_cut_to_size() -> None:
    passages = made(Text("这是一个关于显存的句子。" * 300))
    assert max(width(passage.text) for passage in passages) <= MAX_WIDTH
    assert all(passage.text.endswith("。") for passage in passages)


def test_a_heading_of_the_same_level_replaces_the_one_before() -> None:
    blocks = (
        Heading(1, "一"),
        Heading(3, "甲"),
        Text("x。"),
        Heading(2, "乙"),
        Text("y。"),
        Heading(1, "二"),
        Text("z。"),
    )
    assert [passage.section for passage in made(*blocks)] == ["一 > 甲", "一 > 乙", "二"]


def test_a_long_heading_path_loses_its_outer_headings_first() -> None:
    blocks = [Heading(level, f"{level}" + "题" * 30) for level in (1, 2, 3)]
    assert made(*blocks, Text("x。"))[0].section == f"3{'题' * 30}"
    only = made(Heading(1, "题" * 500), Text("x。"))[0]
    assert width(only.section) <= WIDEST_SECTION
    assert only.section.endswith("题…")


def test_a_slide_of_a_title_alone_is_still_found() -> None:
    passages = made(Heading(2, "只有标题", Place("slide", "1")), Heading(2, "有内容"), Text("内容。"))
    assert [passage.text for passage in passages] == ["只有标题", "内容。"]


def test_a_chapter_heading_above_sections_is_no_passage() -> None:
    assert [passage.text for passage in made(Heading(1, "章"), Heading(2, "节"), Text("内容。"))] == ["内容。"]


def test_each_row_is_a_passage_and_a_small_table_is_one_as_well() -> None:
    passages = made(Heading(2, "价格"), grid(PRICES, place=SHEET))
    assert [(each.kind, each.topic) for each in passages] == [
        ("text", "d1.t1#table"),
        ("row", "d1.t1#2"),
        ("row", "d1.t1#3"),
    ]
    assert passages[0].text == "| 型号 | 价格 |\n| --- | --- |\n| A100 | 28.64 |\n| H100 | 60 |"
    assert passages[1].text == "型号 = A100; 价格 = 28.64"
    assert passages[1].locator == "指南.docx § 价格, 工作表 价格 第 2 行"
    assert passages[0].locator == "指南.docx § 价格, 工作表 价格"


def test_rows_of_a_table_share_what_the_index_counts_them_by() -> None:
    passages = rows_of(
        made(
            grid(PRICES),
            Text("中间的一段话，不是表题，而是一句完整而且很长的正文，写在两个表格的中间。" * 3),
            grid(PRICES),
        )
    )
    assert [each.topic.partition("#")[0] for each in passages] == ["d1.t1", "d1.t1", "d1.t2", "d1.t2"]


@pytest.mark.parametrize(
    ("blocks", "where"),
    [
        ((grid("Model|Price\nA100|28"),), "row 2"),
        ((Text("Prose that is longer than a caption would be, so it stays. " * 2), grid("Model|Price\nA100|28")), "table row 2"),
        ((grid("A|B\nx|1", place=PAGE), grid("Model|Price\nA100|28", place=PAGE)), "page 3, table 2 row 2"),
        ((replace(grid("Model|Price\nA100|28"), numbers=(7, 8), place=Place("line", "7")), Text("# after")), "line 8"),
        ((Text("Prose that is longer than a caption would be, so it stays. " * 2), grid("Model|Price\nA100|28", place=Place("line", "1"), header_rows=1)), "table row 2"),
    ],
)  # fmt: skip
def test_a_row_says_where_it_stands(blocks: tuple[Block, ...], where: str) -> None:
    assert rows_of(made(*blocks, name="a.x"))[-1].locator == f"a.x, {where}"


def test_caption_unit_and_group_come_first_in_every_row() -> None:
    drawn = "GPU 价格|GPU 价格|GPU 价格\n单位：元/小时|单位：元/小时|单位：元/小时\n型号|按需|包月\n北京地域|北京地域|北京地域\nA100|28|\nH100|0|9"
    table, first, second = made(grid(drawn))
    assert (
        first.text == "表：GPU 价格（单位：元/小时）; 分组：北京地域; 型号 = A100; 按需 = 28"
    )  # the empty cell is left out
    assert second.text.endswith("型号 = H100; 按需 = 0; 包月 = 9")  # zero is not
    assert "| **北京地域** |  |  |" in table.text


def test_english_tables_are_introduced_in_english() -> None:
    drawn = "Unit: USD|Unit: USD|Unit: USD\nModel|Hour|Month\nEurope|Europe|Europe\nA100|1.5|900"
    assert (
        rows_of(made(grid(drawn, caption="Prices")))[0].text
        == "Table: Prices (unit: USD); group: Europe; Model = A100; Hour = 1.5; Month = 900"
    )


@pytest.mark.parametrize(
    ("lead", "caption"),
    [
        ("表 1 各云厂商 GPU 价格", "表 1 各云厂商 GPU 价格"),
        ("**Table 2. Prices**", "Table 2. Prices"),
        ("下面是我们整理出来的、几家主要云厂商在本月的价格：", "表：下面是我们整理出来的、几家主要云厂商在本月的价格"),
        ("价格", "表：价格"),
    ],
)
def test_a_caption_like_paragraph_before_a_table_is_its_caption_and_no_passage(lead: str, caption: str) -> None:
    passages = made(Text(lead), grid("型号|价格\nA100|28.64"))
    assert len(passages) == 2
    assert passages[1].text == f"{caption}; 型号 = A100; 价格 = 28.64"


@pytest.mark.parametrize(
    "lead",
    [
        "- 列表项",
        "```\n代码\n```",
        "这是一段普通的正文，说了很多和表格没有关系的话，所以不是表格的标题。",
        "两行\n文字",
    ],
)
def test_prose_lists_and_code_before_a_table_are_no_caption(lead: str) -> None:
    passages = made(Text(lead), grid("型号|价格\nA100|28.64"))
    assert passages[0].text == lead
    assert rows_of(passages)[0].text == "型号 = A100; 价格 = 28.64"


def test_a_unit_between_caption_and_table_goes_with_both() -> None:
    passages = made(Text("GPU 价格"), Text("（单位：元/小时）"), grid("型号|价格\nA100|28.64"))
    assert rows_of(passages)[0].text.startswith("表：GPU 价格（单位：元/小时）; ")


def test_a_tables_own_caption_leaves_the_paragraph_before_it_alone() -> None:
    passages = made(Text("前文"), grid("型号|价格\nA100|28.64", caption="价格表"))
    assert passages[0].text == "前文"
    assert rows_of(passages)[0].text.startswith("表：价格表; ")


def test_properties_down_and_cards_across_read_as_a_property_of_each_card() -> None:
    assert rows_of(made(grid("|RTX 4090|A100\n显存|24 GB|80 GB")))[0].text == "显存：RTX 4090 = 24 GB; A100 = 80 GB"


def test_labels_and_values_read_as_label_is_value() -> None:
    assert [row.text for row in rows_of(made(grid("显存|80 GB\n功耗|400 W\n价格|")))] == [
        "显存 = 80 GB",
        "功耗 = 400 W",
        "价格",
    ]


def test_pipes_line_ends_and_semicolons_in_cells_break_neither_row_nor_table() -> None:
    table, row = made(Grid((("型号", "说明"), ("A100", "有|竖线\n换行; 分号")), (1, 2)))
    assert row.text == "型号 = A100; 说明 = 有|竖线 换行, 分号"
    assert table.text.splitlines()[-1] == "| A100 | 有\\|竖线 换行; 分号 |"


def test_a_large_table_is_rows_only_but_its_notes_are_kept() -> None:
    drawn = (
        "型号|价格|备注\n"
        + "\n".join(f"RTX {number}|{number}|无" for number in range(500))
        + "\n注：不含税|注：不含税|注：不含税"
    )
    passages = made(grid(drawn))
    assert [passage.text for passage in passages if passage.kind == "text"] == ["注：不含税"]
    assert len(rows_of(passages)) == 500


def test_a_row_wider_than_a_part_stays_whole() -> None:
    text = "很长的说明。" * 200
    assert rows_of(made(grid(f"型号|说明\nA100|{text}")))[0].text == f"型号 = A100; 说明 = {text}"


def test_a_monstrous_row_is_cut_between_cells_and_its_first_cell_repeated() -> None:
    cells = [f"{number}" + "字" * 900 for number in range(12)]
    rows = rows_of(made(grid("型号|" + "|".join(f"列{n}" for n in range(12)) + "\nA100|" + "|".join(cells))))
    assert len(rows) > 2
    assert {row.topic for row in rows} == {"d1.t1#2"}
    assert len({row.id for row in rows}) == len(rows)
    for row in rows:
        assert row.text.startswith("型号 = A100; ")
        assert width(row.text) <= WIDEST_ROW
    assert [sum(f" = {cell}" in row.text for row in rows) for cell in cells] == [1] * 12


def test_a_monstrous_cell_is_cut_as_prose_and_keeps_its_header() -> None:
    rows = rows_of(made(grid("型号|说明\nA100|" + "一个句子。" * 2000)))
    assert len(rows) == 3
    assert all(row.text.startswith("型号 = A100; 说明 = 一个句子。") for row in rows)
    assert sum(row.text.count("一个句子。") for row in rows) == 2000


def test_rows_that_the_reader_counted_and_the_grids_lack_refuse_the_file() -> None:
    with pytest.raises(FileRefusedError, match=r"价格\.xlsx.*has 5 and 3 were read") as refusal:
        passages_of(Parsed("t", (grid(PRICES),), 5), document="d", name="价格.xlsx")
    assert refusal.value.code == "rows-lost"


@pytest.mark.parametrize("blocks", [(), (Text("  \n"),), (grid("|\n|"),), (Heading(1, "  "),), (Grid((), ()),)])
def test_a_file_that_says_nothing_is_refused_as_empty(blocks: tuple[Block, ...]) -> None:
    with pytest.raises(FileRefusedError, match="空的") as refusal:
        made(*blocks)
    assert refusal.value.code == "empty"


def test_ids_count_on_through_texts_and_rows() -> None:
    passages = made(
        Text("正文一段，比一个表题要长，所以它不是表题，而是正文，还要再长一点。"), grid(PRICES), Text("后文。")
    )
    assert [passage.id for passage in passages] == [f"d1:{number}" for number in range(1, 6)]


CELL = st.one_of(
    st.sampled_from(["", "0", "28.64", "80 GB", "北京地域", "单位：元", "-", "A100"]),
    st.integers(10, 9999).map("值{}。".format),
)


@given(st.integers(1, 5), st.data())
@settings(max_examples=150)
def test_every_value_stands_in_exactly_one_row_with_its_header(columns: int, data: st.DataObject) -> None:
    headers = tuple(f"列名{at}" for at in range(columns))
    body = data.draw(st.lists(st.tuples(*[CELL] * columns), min_size=1, max_size=8))
    marked = [tuple(f"{cell}<{at}.{n}>" if cell else "" for n, cell in enumerate(row)) for at, row in enumerate(body)]
    table = Grid((headers, *marked), tuple(range(1, len(body) + 2)), header_rows=1)
    rows = rows_of(made(table)) if any(map(any, marked)) else []
    lone = [row for row in marked if sum(map(bool, row)) == 1]
    for row in marked:
        for header, cell in zip(headers, row, strict=True):
            if cell and row not in lone:
                assert [f"{header} = {cell}" in passage.text for passage in rows].count(True) == 1
    everything = "\n".join(passage.text for passage in made(Text("全文"), table))
    assert all(cell.removeprefix("单位：") in everything for row in marked for cell in row)


BLOCK = st.one_of(
    st.builds(Heading, st.integers(1, 4), st.text("题目 ab#", max_size=12)),
    st.builds(
        Text, st.text("显卡。，ab 12|-\n`", max_size=300), st.builds(Place, st.just("page"), st.sampled_from("123"))
    ),
    st.builds(
        lambda rows: Grid(tuple(rows), tuple(range(len(rows)))), st.lists(st.tuples(CELL, CELL, CELL), max_size=5)
    ),
)


@given(st.lists(BLOCK, max_size=8))
@settings(max_examples=150)
def test_no_word_of_any_file_is_lost(blocks: list[Block]) -> None:
    passages = made(*blocks, Text("末尾。"), title="")
    said = "".join("".join(each.section.split() + each.text.replace("\\|", "|").split()) for each in passages)
    for block in blocks:
        if isinstance(block, Text):
            for word in block.markdown.split():
                assert word in said or all(character in said for character in word)
        elif isinstance(block, Grid):
            assert all("".join(cell.removeprefix("单位：").split()) in said for row in block.rows for cell in row)
        else:
            assert "".join(block.text.split()) in said or not block.text.split()
    assert len({each.id for each in passages}) == len(passages)
    assert all(each.text.strip() for each in passages)
