"""Encodings told apart on short texts, and bytes that are no text refused."""

from __future__ import annotations

import re
from pathlib import Path

import opencc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import knowledge
from ingest.blocks import FileRefusedError
from ingest.encodings import decode

SIMPLIFIED = [
    "显卡租用价格表一览二", "阿里云每小时三十四元", "服务器的显存与带宽对比", "英伟达数据中心加速卡报价", "春眠不觉晓处处闻啼鸟",
    "床前明月光疑是地上霜", "鲲鹏昇腾寒武纪摩尔线程", "人民币 每小时 28.64 元", "GPU 价格：28.64 元/小时", "价格", "型号,显存\nA100,80",
    "北京市海淀区中关村大街", "工商银行转账汇款手续费", "糖醋排骨的做法很简单吗",
]  # fmt: skip
TRADITIONAL = [
    "顯示卡租用價格表一覽", "伺服器的顯存與頻寬比較", "人工智慧加速器報價單", "每小時新台幣三百元整", "資料中心的租用費用表", "春眠不覺曉處處聞啼鳥",
    "床前明月光疑是地上霜", "GPU 價格：28.64 元", "臺北市信義區松仁路", "型號,顯存\nA100,80", "台灣積體電路製造公司", "請問今天天氣如何呢",
]  # fmt: skip
WESTERN = [
    "Größe und Preis für Café",
    "naïve café costs £3.50",
    "Señor año",
    "München",
    "price 30 € – “ok”",
    "at 25 °C",
    "10 µs",
]


@pytest.mark.parametrize("text", SIMPLIFIED)
@pytest.mark.parametrize("encoding", ["gb18030", "utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_simplified_chinese(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == (text, encoding)


@pytest.mark.parametrize("text", TRADITIONAL)
@pytest.mark.parametrize("encoding", ["big5", "gb18030"])
def test_traditional_chinese_is_told_apart_between_big5_and_gbk(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == (text, encoding)


@pytest.mark.parametrize("text", WESTERN)
def test_accented_text_is_not_taken_for_chinese(text: str) -> None:
    assert decode(text.encode("cp1252")) == (text, "cp1252")


def test_windows_of_ten_characters_of_our_own_documents() -> None:
    folder = Path(knowledge.__path__[0]) / "documents"
    han = [
        re.sub(r"[^\u4e00-\u9fff，。、；：]", "", path.read_text("utf-8")) for path in sorted(folder.glob("*.zh.md"))
    ]
    windows = [text[start : start + 10] for text in han for start in range(0, len(text) - 10, 97)]
    to_traditional = opencc.OpenCC("s2twp").convert
    assert len(windows) > 100
    for window in windows:
        assert decode(window.encode("gb18030"))[0] == window
        traditional = to_traditional(window)
        assert decode(traditional.encode("gb18030"))[0] == traditional
        if len(traditional.encode("big5", "ignore")) == 2 * len(traditional):
            assert decode(traditional.encode("big5"))[0] == traditional


@pytest.mark.parametrize("text", ["hello, price 28.64", "显卡租用价格", "价格 A100\n0", "顯示卡租用價格"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == (text, encoding)


@pytest.mark.parametrize(
    "text", ["Привет мир, цена", "שלום עולם", "αβγδε", "A · B × 3", "日本語のテキスト", "한국어", "é", "😀", ""]
)
def test_valid_utf8_stays_utf8_in_any_script(text: str) -> None:
    assert decode(text.encode()) == (text, "utf-8")


@pytest.mark.parametrize(
    ("text", "encoding", "declared", "found"),
    [
        ("Привет мир, цена", "cp1251", "windows-1251", "windows-1251"),
        ("日本語のテキスト、価格表", "shift_jis", "Shift_JIS", "shift_jis"),
        ("价格", "gbk", "GB2312", "gb18030"),
        ("價格", "big5", "big5", "big5"),
        ("顯示卡租用價格表一覽", "big5", "gb2312", "big5"),  # declared wrongly
        ("显卡租用价格表一览二", "gbk", "iso-8859-1", "gb18030"),
        ("显卡租用价格表一览二", "gbk", "utf-8", "gb18030"),
        ("显卡租用价格表一览二", "utf-8", "gbk", "utf-8"),
        ("显卡租用价格表一览二", "gbk", "no-such-charset", "gb18030"),
        ("Größe", "latin-1", "iso-8859-1", "cp1252"),
    ],
)
def test_a_declared_encoding_is_believed_only_if_it_makes_sense(
    text: str, encoding: str, declared: str, found: str
) -> None:
    assert decode(text.encode(encoding), declared) == (text, found)


def test_gbk_that_happens_to_be_valid_utf8_is_chinese_all_the_same() -> None:
    common = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经"
    text = "".join(c for c in common if re.fullmatch(rb"[\xc2-\xdf][\x80-\xbf]", c.encode("gbk")))
    assert len(text) > 6
    assert decode(text.encode("gbk")) == (text, "gb18030")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (bytes(range(256)), "wrong-type"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "wrong-type"),
        (b"%PDF-1.7 text", "wrong-type"),
        (b"PK\x03\x04abc", "wrong-type"),
        (b"plain text with one \x00 in it", "broken"),
        ("UTF-16 with one \0 in it".encode("utf-16"), "broken"),
        ("클라우드 서버의 가격은 시간당 이 달러입니다. 세금은 포함되지 않습니다.".encode("euc-kr"), "encoding"),
        (b"\x01\x02\x03\x04 mostly control characters", "wrong-type"),
        ("한국어 텍스트 가격표입니다".encode("euc-kr"), "encoding"),
        ("日本語のテキストです、価格表".encode("shift_jis"), "encoding"),
        ("Привет мир, цена".encode("cp1251"), "encoding"),
        ("显卡".encode() + b"\xff\xfe\xfd price", "encoding"),
        (b"\xef\xbb\xbf\xff\xff", "encoding"),
        (b"\xff\xfea", "encoding"),
    ],
)
def test_what_cannot_be_read_is_refused_and_nothing_replaced(content: bytes, code: str) -> None:
    with pytest.raises(FileRefusedError) as refused:
        decode(content)
    assert refused.value.code == code


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
def test_a_stray_nul_is_refused_with_its_line(encoding: str) -> None:
    with pytest.raises(FileRefusedError, match=r"^第 2 行.*NUL.* / Line 2 holds a NUL character"):
        decode("显卡价格表，每小时的价格如下\n型号\0价格\n".encode(encoding))


def test_chinese_of_rare_characters_is_not_taken_for_korean() -> None:
    names = "昇腾寒武纪壁仞燧原沐曦昆仑芯摩尔线程海光景嘉微天数智芯"
    assert decode(names.encode("gb18030")) == (names, "gb18030")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_come_back_the_same_or_are_refused(content: bytes) -> None:
    try:
        text, encoding = decode(content)
    except FileRefusedError:
        return
    codec = {"big5": "cp950"}.get(encoding, encoding)
    assert content in (text.encode(codec, "replace"), text.encode("big5hkscs", "replace")) or text == content.decode(
        codec
    )
    assert "\ufffd" not in text or "\ufffd".encode(codec) in content
