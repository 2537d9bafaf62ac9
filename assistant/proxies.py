"""Requests that come through a proxy: which proxies are believed, and what they say about who asks and from where.

Settings: GPU_ADVISOR_TRUSTED_PROXIES, GPU_ADVISOR_USER_HEADER, GPU_ADVISOR_ADMINS. What anybody else says in such a
header is taken out of the request before a handler can see it. Errors: AccessSettingError.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import Scope

from assistant.accounts import User, UserNameError, user_name

USER_HEADER, TRUSTED_PROXIES, ADMINS = "GPU_ADVISOR_USER_HEADER", "GPU_ADVISOR_TRUSTED_PROXIES", "GPU_ADVISOR_ADMINS"
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_TAKEN = frozenset({"authorization", "cookie", "host", "origin", "content-type", "content-length", "accept"})
_HOST = re.compile(r"[\w.-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?", re.ASCII)
# What proxies add; a client may write the same.
_FORWARDED = frozenset({"forwarded", "via", "x-real-ip", "x-original-host", "cf-connecting-ip", "true-client-ip"})


class AccessSettingError(Exception):
    """A setting of the access is not usable; the message names it, its value and the way out."""

    def __init__(self, name: str, value: str, zh: str, en: str) -> None:
        super().__init__(f"{name}={value!r}：{zh} / {name}={value!r}: {en}")


@dataclass(frozen=True)
class ProxySettings:
    """Which peers are believed, the header (in lower case) that names the user, and which of these are admins."""

    user_header: str = ""
    trusted: tuple[Network, ...] = ()
    admins: frozenset[str] = frozenset()

    def trusts(self, address: Address | None) -> bool:
        """Whether what this peer says about a request is believed."""
        return address is not None and any(address in network for network in self.trusted)


def proxy_settings(environment: Mapping[str, str]) -> ProxySettings:
    """The settings in the environment. Raises AccessSettingError."""
    header, admins = environment.get(USER_HEADER, "").strip(), environment.get(ADMINS, "")
    trusted = tuple(_network(each) for each in _listed(environment.get(TRUSTED_PROXIES, "")))
    if header and (not _HEADER_NAME.fullmatch(header) or header.lower() in _TAKEN):
        raise AccessSettingError(
            USER_HEADER,
            header,
            "不能用作用户头。请写代理所用的名称，例如 X-Forwarded-User。",
            "cannot be the header with the user's name. Give the one that the proxy sets, such as X-Forwarded-User.",
        )
    if header and not trusted:
        raise AccessSettingError(
            USER_HEADER,
            header,
            f"还须用 {TRUSTED_PROXIES} 写明代理的地址，例如 {TRUSTED_PROXIES}=10.0.0.5，否则谁都能冒名。",
            f"also needs the address of the proxy, such as {TRUSTED_PROXIES}=10.0.0.5: without it anybody could claim any name.",
        )
    if admins and not header:
        raise AccessSettingError(
            ADMINS,
            admins,
            f"没有 {USER_HEADER} 就不起作用。密码登录的管理员请用 gpu-advisor users add 用户名 --admin。",
            f"has no effect without {USER_HEADER}. For an admin with a password: gpu-advisor users add NAME --admin.",
        )
    return ProxySettings(header.lower(), trusted, frozenset(_admin(each) for each in _listed(admins)))


def is_forwarded(scope: Scope) -> bool:
    """Whether any proxy, trusted or not, has left its mark on the request."""
    return any(_is_forwarded(name) for name in Headers(scope=scope))


def arrived(scope: Scope, settings: ProxySettings) -> Scope:
    """The request as it was sent: address, host and scheme as trusted proxies say; what others say is taken out."""
    headers = Headers(scope=scope)
    believed = settings.trusts(peer(scope))
    kept = [
        (name, value)
        for name, value in scope["headers"]
        if (believed if (text := name.decode("latin-1").lower()) == settings.user_header else not _is_forwarded(text))
    ]
    changed = {**scope, "headers": kept}
    if believed:
        changed["client"] = (_client(headers.getlist("x-forwarded-for"), scope, settings), 0)
        host = _first(headers, "x-forwarded-host")
        if _HOST.fullmatch(host):
            changed["headers"] = [(name, value) for name, value in kept if name.lower() != b"host"]
            changed["headers"].append((b"host", host.encode("latin-1")))
        if (scheme := _first(headers, "x-forwarded-proto").lower()) in {"http", "https"}:
            changed["scheme"] = scheme
    return changed


def forwarded_user(scope: Scope, settings: ProxySettings) -> User | None:
    """Whom the proxy names, in a request that `arrived` has passed. Raises UserNameError for what is no one name."""
    if not settings.user_header:
        return None
    wanted = settings.user_header.encode("latin-1")
    values = [value for name, value in scope["headers"] if name.lower() == wanted]
    if not values:
        return None
    if len(values) > 1:  # the proxy has added its own to one that the client sent
        raise UserNameError(f"{settings.user_header}: {len(values)} ×")
    name = user_name(values[0].decode("utf-8", "replace"))
    return User(name, "admin" if name in settings.admins else "reader")


def peer(scope: Scope) -> Address | None:
    """The address that a request comes from; None where it has none."""
    client = scope.get("client")
    return _address(str(client[0])) if client else None


def _client(forwarded: Iterable[str], scope: Scope, settings: ProxySettings) -> str:
    """The nearest address that is no trusted proxy: what stands left of it, anybody may have written."""
    nearest = str(scope["client"][0])
    for text in reversed([each.strip() for line in forwarded for each in line.split(",")]):
        address = _address(text)
        if address is None:
            break
        nearest = str(address)
        if not settings.trusts(address):
            break
    return nearest


def _address(text: str) -> Address | None:
    try:
        address = ip_address(text.strip("[]").split("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _network(text: str) -> Network:
    try:
        network = ip_network(text, strict=False)
    except ValueError as error:
        raise AccessSettingError(
            TRUSTED_PROXIES,
            text,
            "不是 IP 地址或网段。请写成 10.0.0.5 或 172.18.0.0/16，用逗号分隔。",
            "is no IP address or network. Write 10.0.0.5 or 172.18.0.0/16, separated by commas.",
        ) from error
    if network.prefixlen == 0:
        raise AccessSettingError(
            TRUSTED_PROXIES,
            text,
            "等于相信所有人。请只写代理自己的地址。",
            "would believe everybody. Give the address of the proxy only.",
        )
    return network


def _admin(text: str) -> str:
    try:
        return user_name(text)
    except UserNameError as error:
        raise AccessSettingError(ADMINS, text, *str(error).split(" / ", 1)) from error


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _is_forwarded(name: str) -> bool:
    return name.startswith("x-forwarded-") or name in _FORWARDED


def _first(headers: Headers, name: str) -> str:
    return headers.get(name, "").split(",")[0].strip()
