"""Turns the 4-bit file of multilingual-e5-small (format "E5S1") into a folder that sentence-transformers loads.

Format, as the C source that comes with the file describes it; all little-endian:
  header      "E5S1", u32 version, seven i32 (hidden, layers, heads, feed-forward, vocabulary, positions, types),
              f32 layer-norm epsilon, i32 block size (32)
  vocabulary  i32 pieces, four i32 ids (bos, eos, pad, unk), u64 text bytes; u32 offsets[pieces + 1];
              f32 scores[pieces]; the UTF-8 text
  characters  i32 entries, u32 bytes, and the bytes: a table of character replacements, which NFKC and two rules equal
  tensors     i32 count; each: u16 name length, name, u8 type (0 float32, 1 four-bit), u32 values, u64 offset, u64 bytes
  data
A four-bit block holds 32 weights in 18 bytes: a float16 scale and 16 bytes, whose low nibbles are the first sixteen
weights and whose high nibbles the other sixteen; weight = (nibble - 8) * scale.

This module does NOT check where the file came from (weights.py does) and runs no model.
"""

import itertools
import json
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BLOCK_WEIGHTS = 32
BLOCK_BYTES = 18
# Raised whenever the folder made from the same file would differ, so that an older one is not taken for it.
CONVERTER_VERSION = 1

# Names inside a layer: in the file, and in transformers' BertModel (each has .weight and .bias).
LAYER_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
# Where the file's character table departs from NFKC, it does so in these ways (checked over all its entries; rare
# phonetic letters that newer Unicode versions added apart).
BLANKS = "[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"
CONTROLS = "[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
WAVE_DASH = "\uff5e"
WAVE_DASH_HIDDEN = "\ue000"  # for private use: no text carries a meaning here


class NotE5FileError(Exception):
    """The file is not in the format this module reads."""


@dataclass(frozen=True)
class Header:
    """Sizes of the model, as the file states them."""

    epsilon: float
    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    types: int


def converted(file: Path, stem: Path) -> Path:
    """Return the sentence-transformers folder made from `file`, making it first where it is not there.

    Its path is `stem` and the converter's version; it appears there only when complete. One caller at a time.
    Raises NotE5FileError.
    """
    folder = stem.with_name(f"{stem.name}-v{CONVERTER_VERSION}")
    if not folder.exists():
        scratch = folder.with_name(folder.name + ".part")
        shutil.rmtree(scratch, ignore_errors=True)  # left by a process that was killed
        scratch.mkdir()
        try:
            _write_folder(file, scratch)
        except NotE5FileError:
            shutil.rmtree(scratch)
            raise
        scratch.rename(folder)
    return folder


def dequantise(blocks: bytes) -> NDArray[np.float32]:
    """Weights of whole four-bit blocks, in order, as float32. Raises NotE5FileError for part of a block."""
    if len(blocks) % BLOCK_BYTES:
        raise NotE5FileError(f"{len(blocks)} bytes are not whole blocks of {BLOCK_BYTES} bytes")
    raw = np.frombuffer(blocks, dtype=np.uint8).reshape(-1, BLOCK_BYTES)
    scales = raw[:, :2].copy().view(np.float16).astype(np.float32)
    nibbles = np.concatenate([raw[:, 2:] & 0x0F, raw[:, 2:] >> 4], axis=1).astype(np.float32)
    nibbles -= 8
    nibbles *= scales
    return nibbles.reshape(-1)


def _write_folder(file: Path, folder: Path) -> None:
    from safetensors.numpy import save_file

    cursor = _Cursor(file.read_bytes())
    header = _read_header(cursor)
    _write_tokenizer(cursor, folder / "tokenizer.json")
    save_file(_bert_tensors(cursor, header), folder / "model.safetensors", metadata={"format": "pt"})
    for name, content in _configuration(header).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, indent=2), encoding="utf-8")


class _Cursor:
    """Reads the file from front to back."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, size_bytes: int) -> bytes:
        piece = self.data[self.position : self.position + size_bytes]
        if len(piece) < size_bytes:
            raise NotE5FileError(f"file ends at byte {len(self.data)}, needed {self.position + size_bytes}")
        self.position += size_bytes
        return piece

    def integer(self, form: str) -> int:
        value: int = struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]
        return value


def _read_header(cursor: _Cursor) -> Header:
    magic, version = cursor.take(4), cursor.integer("I")
    if magic != b"E5S1" or version != 1:
        raise NotE5FileError(f"starts with {magic!r} version {version}, needed b'E5S1' version 1")
    sizes = [cursor.integer("i") for _ in range(7)]
    (epsilon,) = struct.unpack("<f", cursor.take(4))
    if (block := cursor.integer("i")) != BLOCK_WEIGHTS:
        raise NotE5FileError(f"blocks of {block} weights, needed {BLOCK_WEIGHTS}")
    return Header(epsilon, *sizes)


def _write_tokenizer(cursor: _Cursor, path: Path) -> None:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    pieces, bos, eos, pad, unk = (cursor.integer("i") for _ in range(5))
    text_bytes = cursor.integer("Q")
    offsets = np.frombuffer(cursor.take(4 * (pieces + 1)), dtype="<u4")
    scores = np.frombuffer(cursor.take(4 * pieces), dtype="<f4")
    text = cursor.take(text_bytes)
    words = [text[start:end].decode() for start, end in itertools.pairwise(offsets)]
    cursor.integer("i")
    cursor.take(cursor.integer("I"))  # the character table, see BLANKS and CONTROLS

    tokenizer = Tokenizer(models.Unigram(list(zip(words, scores.tolist(), strict=True)), unk_id=unk))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(CONTROLS), ""),
            normalizers.Replace(Regex(BLANKS), " "),
            # NFKC would turn the wave dash of Chinese ranges (2～3) into "~", which the model has not seen there.
            normalizers.Replace(WAVE_DASH, WAVE_DASH_HIDDEN),
            normalizers.NFKC(),
            normalizers.Replace(WAVE_DASH_HIDDEN, WAVE_DASH),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{words[bos]} $A {words[eos]}",
        pair=f"{words[bos]} $A {words[eos]} {words[eos]} $B {words[eos]}",
        special_tokens=[(words[bos], bos), (words[eos], eos)],
    )
    tokenizer.add_special_tokens([AddedToken(words[i], special=True) for i in (bos, pad, eos, unk)])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.save(str(path), pretty=False)


def _bert_tensors(cursor: _Cursor, header: Header) -> dict[str, NDArray[np.float32]]:
    stored = _read_tensors(cursor)
    hidden = header.hidden
    tensors = {
        "embeddings.word_embeddings.weight": stored["emb.word"].reshape(header.vocabulary, hidden),
        "embeddings.position_embeddings.weight": stored["emb.pos"].reshape(header.positions, hidden),
        "embeddings.token_type_embeddings.weight": stored["emb.type"].reshape(header.types, hidden),
        "embeddings.LayerNorm.weight": stored["emb.ln.w"],
        "embeddings.LayerNorm.bias": stored["emb.ln.b"],
        # The file has no pooler and mean pooling needs none; zeros spare the reader a warning about absent weights.
        "pooler.dense.weight": np.zeros((hidden, hidden), dtype=np.float32),
        "pooler.dense.bias": np.zeros(hidden, dtype=np.float32),
    }
    for layer in range(header.layers):
        for short, name in LAYER_NAMES.items():
            bias = stored[f"l{layer}.{short}.b"]
            weight = stored[f"l{layer}.{short}.w"]
            tensors[f"encoder.layer.{layer}.{name}.bias"] = bias
            is_matrix = weight.size > bias.size  # layer norms have one weight per output
            tensors[f"encoder.layer.{layer}.{name}.weight"] = weight.reshape(bias.size, -1) if is_matrix else weight
    return tensors


def _read_tensors(cursor: _Cursor) -> dict[str, NDArray[np.float32]]:
    tensors = {}
    for _ in range(cursor.integer("i")):
        name = cursor.take(cursor.integer("H")).decode()
        kind, count, start, size_bytes = (cursor.integer(form) for form in "BIQQ")
        raw = cursor.data[start : start + size_bytes]
        values = dequantise(raw) if kind == 1 else np.frombuffer(raw, dtype="<f4")
        if values.size != count:
            raise NotE5FileError(f"tensor {name!r} has {values.size} values, its entry says {count}")
        tensors[name] = values
    return tensors


def _configuration(header: Header) -> dict[str, object]:
    """The small files of a sentence-transformers folder, by path."""
    special = {
        "bos": "<s>",
        "eos": "</s>",
        "sep": "</s>",
        "cls": "<s>",
        "unk": "<unk>",
        "pad": "<pad>",
        "mask": "<mask>",
    }
    modules = "sentence_transformers.models"
    return {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_act": "gelu",
            "hidden_size": header.hidden,
            "num_hidden_layers": header.layers,
            "num_attention_heads": header.heads,
            "intermediate_size": header.feed_forward,
            "vocab_size": header.vocabulary,
            "max_position_embeddings": header.positions,
            "type_vocab_size": header.types,
            "layer_norm_eps": header.epsilon,
            "pad_token_id": 1,
            "dtype": "float32",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": header.positions,
            "model_input_names": ["input_ids", "attention_mask"],
        }
        | {f"{role}_token": token for role, token in special.items()},
        "sentence_bert_config.json": {"max_seq_length": header.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": "passage: "}},
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{modules}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{modules}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{modules}.Normalize"},
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": header.hidden,
            "pooling_mode_mean_tokens": True,
            "pooling_mode_cls_token": False,
            "pooling_mode_max_tokens": False,
        },
        "2_Normalize/config.json": {},
    }
