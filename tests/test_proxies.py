"""Settings of the access: which can be used, and that a wrong one is named with the way out."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from assistant.proxies import AccessSettingError, ProxySettings, proxy_settings
from assistant.request_limits import RateSettingError, questions_per_minute

HEADER, TRUSTED, ADMINS = "GPU_ADVISOR_USER_HEADER", "GPU_ADVISOR_TRUSTED_PROXIES", "GPU_ADVISOR_ADMINS"


def test_without_settings_nobody_is_trusted() -> None:
    assert proxy_settings({}) == proxy_settings({HEADER: " ", TRUSTED: " , ", ADMINS: ""}) == ProxySettings()
    assert not ProxySettings().trusts(ip_address("127.0.0.1"))


def test_addresses_networks_and_names_are_read() -> None:
    found = proxy_settings({HEADER: "X-Remote-User", TRUSTED: "10.0.0.5, fd00::/8,172.18.0.1/16", ADMINS: "Anna, 小王"})
    assert found.user_header == "x-remote-user"
    assert found.admins == {"anna", "小王"}
    trusted = ["10.0.0.5", "fd12::1", "172.18.9.9"]
    others = ["10.0.0.6", "fe00::1", "172.19.0.1", "127.0.0.1"]
    assert [found.trusts(ip_address(each)) for each in (*trusted, *others)] == [True] * 3 + [False] * 4
    assert not found.trusts(None)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({HEADER: "X-Forwarded-User"}, f"{HEADER}='X-Forwarded-User'.*{TRUSTED}=10"),
        ({HEADER: "X-User", TRUSTED: "nginx"}, f"{TRUSTED}='nginx'"),
        ({TRUSTED: "10.0.0.0/99"}, f"{TRUSTED}='10.0.0.0/99'"),
        ({TRUSTED: "10.0.0.5 10.0.0.6"}, TRUSTED),
        ({TRUSTED: "0.0.0.0/0"}, "believe everybody"),
        ({TRUSTED: "::/0"}, "believe everybody"),
        ({TRUSTED: "10.0.0.5", HEADER: "X User"}, f"{HEADER}='X User'"),
        ({TRUSTED: "10.0.0.5", HEADER: "X-User:"}, HEADER),
        ({TRUSTED: "10.0.0.5", HEADER: "Authorization"}, HEADER),
        ({TRUSTED: "10.0.0.5", HEADER: "cookie"}, HEADER),
        ({TRUSTED: "10.0.0.5", HEADER: "X-User", ADMINS: "a b"}, f"{ADMINS}='a b'"),
        ({TRUSTED: "10.0.0.5", HEADER: "X-User", ADMINS: "local"}, f"{ADMINS}='local'"),
        ({ADMINS: "anna"}, f"{ADMINS}='anna'.*users add NAME --admin"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_with_the_way_out(settings: dict[str, str], named: str) -> None:
    with pytest.raises(AccessSettingError, match=named) as told:
        proxy_settings(settings)
    assert " / " in str(told.value)


def test_questions_per_minute_have_a_usual_value() -> None:
    assert [questions_per_minute({"GPU_ADVISOR_QUESTIONS_PER_MINUTE": text}) for text in ("", " ", "5", "999999")] == [60, 60, 5, 999_999]  # fmt: skip


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "１０", "²", "1e3", "9999999", "5/min"])
def test_questions_per_minute_that_are_no_number_are_named(text: str) -> None:
    with pytest.raises(RateSettingError, match=r"GPU_ADVISOR_QUESTIONS_PER_MINUTE=.* / .*no whole number"):
        questions_per_minute({"GPU_ADVISOR_QUESTIONS_PER_MINUTE": text})
