"""Passwords and tokens as they are kept: scrypt with a salt, SHA-256 of a random token, and which are too weak.

Knows no user and no file.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from base64 import b64decode, b64encode

from assistant.evidence import Bilingual

SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 1_000  # characters; whatever is sent for one has to be hashed
TOKEN_PREFIX = "gpa_"  # so that a scanner of secrets, or a reader, knows one when it sees one
# 16 MiB and about 0.15 s for one guess.
_COST, _BLOCK, _PARALLEL = 2**14, 8, 5
_SALT_BYTES, _KEY_BYTES = 16, 32


class WeakPasswordError(Exception):
    """The password is too easy to guess; the message says what is wanted."""

    def __init__(self, sentence: Bilingual) -> None:
        super().__init__(f"{sentence.zh} / {sentence.en}")


def check_strength(password: str, name: str) -> None:
    """Raise WeakPasswordError for a password that is too short, too long, the user's name or one character repeated."""
    if len(password) < SHORTEST_PASSWORD:
        raise WeakPasswordError(
            Bilingual(
                zh=f"密码太短：至少要 {SHORTEST_PASSWORD} 个字符。",
                en=f"The password is too short: it takes at least {SHORTEST_PASSWORD} characters.",
            )
        )
    if len(password) > LONGEST_PASSWORD:
        raise WeakPasswordError(
            Bilingual(
                zh=f"密码太长：最多 {LONGEST_PASSWORD} 个字符。",
                en=f"The password is too long: it takes at most {LONGEST_PASSWORD} characters.",
            )
        )
    if password.casefold() == name.casefold() or len(set(password)) == 1:
        raise WeakPasswordError(
            Bilingual(
                zh="密码太容易猜：不能就是用户名，也不能只重复一个字符。",
                en="The password is too easy to guess: not the name itself, nor one character repeated.",
            )
        )


def hash_password(password: str) -> str:
    """The password as it is kept: method, costs, salt and key."""
    salt = secrets.token_bytes(_SALT_BYTES)
    return _kept(salt, _scrypt(password, salt, _COST, _BLOCK, _PARALLEL))


def matches(password: str, kept: str) -> bool:
    """Whether this is the password that was kept; takes the same time for every one that is not.

    Raises ValueError where `kept` is nothing that hash_password made.
    """
    method, cost, block, parallel, salt, key = kept.split("$")
    if method != "scrypt":
        raise ValueError(f"unknown method {method!r}")
    if len(password) > LONGEST_PASSWORD:
        password = ""
    computed = _scrypt(password, b64decode(salt), int(cost), int(block), int(parallel))
    return hmac.compare_digest(computed, b64decode(key))


def nobodys_password() -> str:
    """What the password of an unknown name is compared with: no password's hash, and as slow to compare."""
    return _kept(secrets.token_bytes(_SALT_BYTES), secrets.token_bytes(_KEY_BYTES))


def new_token() -> str:
    """A bearer token; only `token_digest` of it is kept."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def token_digest(token: str) -> str:
    """SHA-256 of the token, in hexadecimal. A random token needs no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _scrypt(password: str, salt: bytes, cost: int, block: int, parallel: int) -> bytes:
    most = 132 * cost * block + 2**20  # a little over what scrypt itself needs
    secret = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")  # keyboards compose differently
    return hashlib.scrypt(secret, salt=salt, n=cost, r=block, p=parallel, maxmem=most, dklen=_KEY_BYTES)


def _kept(salt: bytes, key: bytes) -> str:
    costs = (str(_COST), str(_BLOCK), str(_PARALLEL))
    return "$".join(("scrypt", *costs, *(b64encode(each).decode("ascii") for each in (salt, key))))
