"""Why a question is not answered: not now, not here, or the server is gone; each with the sentence for the reader.

It decides nothing and posts nothing.
"""

from __future__ import annotations

from assistant.conversations import AdviceFailedError
from assistant.evidence import Bilingual
from assistant.owner import OwnerError

NO_SERVER = Bilingual(
    zh="现在联系不上问答服务。请稍后再问；若一直如此，请管理员检查 gpu-advisor serve。",
    en="The advisor cannot be reached right now. Please ask again later; if it stays so, have gpu-advisor serve checked.",
)
NOT_ALLOWED = Bilingual(
    zh="这个频道或用户没有开放给我，请联系管理员。",
    en="I am not open to this channel or user; please ask your administrator.",
)


class NotReadyError(Exception):
    """The question cannot be answered now; `sentence` is for the reader."""

    def __init__(self, sentence: Bilingual) -> None:
        self.sentence = sentence
        super().__init__(f"{sentence.zh} / {sentence.en}")


def sentence_of(error: NotReadyError | AdviceFailedError) -> Bilingual:
    """What the reader is told; a server that could not be asked is told apart from a fault inside it."""
    return NO_SERVER if isinstance(error.__cause__, OwnerError) else error.sentence
