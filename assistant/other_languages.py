"""Questions in a language that the advisor does not speak: recognised, so that the answer can say so.

Tells scripts apart, and French, German, Spanish, Italian and Portuguese from English by their commonest words. It
translates nothing: names, figures and units of such a question are understood as far as they are written alike.
"""

from __future__ import annotations

import re

OTHER_SCRIPT = re.compile(
    r"[\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u0e00-\u0eff\u3041-\u3096\u30a1-\u30fa\uac00-\ud7af]"
)
FEWEST_LETTERS = 3  # of another script; a lone к may be a slip of the keyboard
ENGLISH = frozenset(
    re.findall(
        r"\S+",
        "the is are what how which does do much many for and with i my can per should of to an on at it if cost need best price will",
    )
)
OTHERS = (
    frozenset(
        # French, German, Spanish, Italian, Portuguese; words that are English too are left out
        re.findall(
            r"\S+",
            "quel quelle quels quelles combien coûte coute prix pour est une des les louer heure avec sur mon quelle mois "
            "wie viel viele kostet welche welcher ist der das für fuer eine einen brauche ich mieten stunde pro und mit monat kann "
            "cuánto cuanto cuesta qué para una los las alquilar hora mes puedo necesito con precio cuál "
            "quanto costa quale per il gli noleggiare ora mese posso qual preço custa alugar uma não",
        )
    )
    - ENGLISH
)
WORD = re.compile(r"[^\W\d_]+")
LATIN = re.compile(r"[a-zà-ÿ]+")

NOTE = "（我只用中文和英文回答；问题里能认出的名称和数字已按原样理解。 / I answer in Chinese or English only; names and figures that could be read in the question were understood as written.）"


def is_in_another_language(question: str) -> bool:
    """Whether a question is in neither Chinese nor English."""
    if len(OTHER_SCRIPT.findall(question)) >= FEWEST_LETTERS:
        return True
    words = {word.lower() for word in WORD.findall(question) if LATIN.fullmatch(word.lower())}
    foreign, english = len(words & OTHERS), len(words & ENGLISH)
    return foreign >= 2 and foreign > english
