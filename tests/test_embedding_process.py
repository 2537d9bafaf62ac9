"""The embedder in a process of its own: same vectors, errors that cross over, a child that dies."""

from __future__ import annotations

import numpy as np
import pytest

from knowledge.embedding import EmbeddingModelError, load_embedder
from knowledge.embedding_process import EmbedderProcess


def test_what_loading_raises_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "/nowhere/at-all")
    embedder = EmbedderProcess()
    with pytest.raises(EmbeddingModelError, match="/nowhere/at-all"):
        embedder.embed_queries(["A100"])
    embedder.close()


@pytest.mark.live
def test_child_gives_the_same_vectors_and_is_started_again_when_it_dies() -> None:
    texts = ["A100 多少钱一小时", "What are Tensor cores for?"]
    here, there = load_embedder(), EmbedderProcess()
    assert (there.fingerprint, there.dimension) == (here.fingerprint, here.dimension)
    np.testing.assert_allclose(there.embed_queries(texts), here.embed_queries(texts), atol=1e-5)
    there._child.kill()
    there._child.join()
    np.testing.assert_allclose(there.embed_passages(texts), here.embed_passages(texts), atol=1e-5)
    there.close()
    assert not there._child.is_alive()
