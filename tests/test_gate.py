"""The gate, attacked: spoofed hosts, peers, proxies, cookies and tokens; other web sites; huge bodies; odd paths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gated import Got, credentials, echo_user, send, user_in

from assistant import passwords
from assistant.accounts import LOCAL_USER, User
from assistant.gate import MAX_API_BYTES, MAX_FORM_BYTES, MAX_PAGE_BYTES, Credentials, Gate
from assistant.proxies import proxy_settings
from ingest.incoming import LARGEST_BYTES

SECRET = "correct horse"
LOCAL = [LOCAL_USER.name, "admin"]
PROXY, OUTSIDE = "10.0.0.5", "203.0.113.9"
FORM = "multipart/form-data; boundary=x"


@pytest.fixture(autouse=True)
def fast_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_COST", 16)


@pytest.fixture
def nobody(tmp_path: Path) -> Gate:
    """No login is configured."""
    return Gate(echo_user, credentials(tmp_path / "nobody"))


@pytest.fixture
def known(tmp_path: Path) -> Credentials:
    """Anna is an admin and Bob a reader."""
    found = credentials(tmp_path, owner_secret="the-secret-of-the-owner")
    found.accounts.add("anna", SECRET, "admin")
    found.accounts.add("bob", SECRET, "reader")
    return found


@pytest.fixture
def gate(known: Credentials) -> Gate:
    return Gate(echo_user, known)


@pytest.fixture
def proxied(tmp_path: Path) -> Gate:
    """A proxy at PROXY does the login."""
    settings = {
        "GPU_ADVISOR_USER_HEADER": "X-Forwarded-User",
        "GPU_ADVISOR_TRUSTED_PROXIES": f"{PROXY}, 10.9.0.0/16",
        "GPU_ADVISOR_ADMINS": "anna",
    }
    return Gate(echo_user, credentials(tmp_path, proxy_settings(settings)))


def cookie(known: Credentials, name: str) -> dict[str, str]:
    user = known.accounts.find(name) or User(name, "reader")
    return {"Cookie": f"gpu_advisor_session={known.sessions.new(user)}"}


def bearer(known: Credentials, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {known.accounts.new_token(name)}"}


# Without a login -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:7860", "127.0.0.1:1", "[::1]:7860"])
def test_without_a_login_this_machine_is_the_admin(nobody: Gate, peer: str, host: str) -> None:
    assert user_in(send(nobody, "/zh/", peer=peer, headers={"Host": host})) == LOCAL


@pytest.mark.parametrize(
    "peer", ["172.17.0.1", "10.0.2.100", "192.168.1.7", OUTSIDE, "fe80::1%eth0", "::ffff:192.168.1.7", "testclient", "", None]
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/healthz", "/login", "/favicon.ico", "/api/ask", "/zh/gradio_api/upload"])
def test_a_peer_that_is_not_this_machine_is_refused_whatever_host_it_names(
    nobody: Gate, peer: str | None, path: str
) -> None:
    refused = send(nobody, path, peer=peer, headers={"Host": "localhost:7860"})
    assert refused.status == 403
    assert "gpu-advisor users add" in refused.error
    assert "localhost" in refused.error


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "[::2]", "[", "", "127.0.0.1@evil.example", "2130706433"]
)  # fmt: skip
def test_a_name_that_is_not_this_machines_is_refused_whoever_asks(nobody: Gate, host: str) -> None:
    assert send(nobody, "/zh/", headers={"Host": host}).status == 403


@pytest.mark.parametrize(
    "header",
    [("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-For", OUTSIDE), ("Forwarded", "for=127.0.0.1"), ("X-Real-IP", "127.0.0.1"),
     ("Via", "1.1 proxy"), ("X-Forwarded-Host", "localhost"), ("X-Forwarded-User", "anna"), ("CF-Connecting-IP", "127.0.0.1")],
)  # fmt: skip
def test_what_a_proxy_on_this_machine_passes_on_is_not_local(nobody: Gate, header: tuple[str, str]) -> None:
    assert send(nobody, "/zh/", headers=[header]).status == 403
    assert send(nobody, "/zh/", peer=OUTSIDE, headers=[header]).status == 403


def test_a_token_or_cookie_is_worth_nothing_where_there_are_no_users(nobody: Gate) -> None:
    for headers in ({"Authorization": "Bearer "}, {"Authorization": "Bearer x"}, {"Cookie": "gpu_advisor_session=x"}):
        assert send(nobody, "/zh/", peer=OUTSIDE, headers=headers).status == 403


# With a login ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("peer", ["127.0.0.1", OUTSIDE])
@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("/", "/"),
        ("/zh/?tab=prices&gpu=A%26B", "/zh/%3Ftab%3Dprices%26gpu%3DA%2526B"),
        ("//evil.example/", "//evil.example/"),  # local_path makes "/" of it
        ("/%2e%2e/healthz", "/../healthz"),
        ("/healthz/", "/healthz/"),
        ("/healthz/../zh/", "/healthz/../zh/"),
        ("//login", "//login"),
        ("/login/", "/login/"),
        ("/login%2f..%2fzh/", "/login/../zh/"),
        ("/LOGIN", "/LOGIN"),
        ("/zh/assets/x.js", "/zh/assets/x.js"),
        ("/a%0d%0aSet-Cookie:x=1", "/a%0D%0ASet-Cookie%3Ax%3D1"),
    ],
)
def test_pages_lead_to_the_login_from_this_machine_too(gate: Gate, peer: str, path: str, after: str) -> None:
    sent = send(gate, path, peer=peer)
    assert sent.status == 303
    assert sent.header("location") == f"/login?next={after}"
    assert sent.header("cache-control") == "no-store"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/documents"),
        ("POST", "/api/ask"),
        ("GET", "/metrics"),
        ("GET", "/zh/gradio_api/queue/data?session_hash=x"),
        ("POST", "/zh/gradio_api/queue/join"),
        ("POST", "/zh/gradio_api/upload"),
        ("POST", "/tools/gradio_api/mcp/"),
        ("GET", "/tools/gradio_api/mcp/"),
        ("DELETE", "/api/documents/x"),
        ("POST", "/anything"),
    ],
)
def test_programs_are_told_to_bring_a_token(gate: Gate, method: str, path: str) -> None:
    refused = send(gate, path, method=method, body=b"{}" if method == "POST" else b"")
    assert refused.status == 401
    assert refused.header("www-authenticate").startswith("Bearer")
    assert "gpu-advisor users token" in refused.error


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/login", "/favicon.ico", "/zh/manifest.json", "/language/en"])
def test_open_paths_need_no_login(gate: Gate, path: str) -> None:
    assert user_in(send(gate, path, peer=OUTSIDE, headers={"Host": "gpu.example"})) is None


@pytest.mark.parametrize(
    "path", ["/zh/", "/api/ask", "/metrics", "/tools/gradio_api/mcp/", "/zh/gradio_api/queue/data"]
)
def test_cookie_and_token_are_recognised_everywhere(gate: Gate, known: Credentials, path: str) -> None:
    for name, role in (("anna", "admin"), ("bob", "reader")):
        for headers in (cookie(known, name), bearer(known, name)):
            got = send(gate, path, peer=OUTSIDE, headers={"Host": "gpu.example", **headers})
            assert user_in(got) == [name, role]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_the_scheme_of_a_token_may_be_written_in_any_case(gate: Gate, known: Credentials, scheme: str) -> None:
    token = known.accounts.new_token("bob")
    assert user_in(send(gate, "/metrics", headers={"Authorization": f"{scheme} {token}"})) == ["bob", "reader"]


@pytest.mark.parametrize(
    "written", ["{}", "Basic {}", "Token {}", "Bearer{}", "Bearer: {}", "Bearer {}x", "Bearer x{}", "Bearer", "Bearer "]
)
def test_what_is_no_token_is_refused(gate: Gate, known: Credentials, written: str) -> None:
    headers = {"Authorization": written.format(known.accounts.new_token("bob"))}
    assert send(gate, "/metrics", headers=headers).status == 401


def test_a_wrong_token_is_not_helped_by_a_cookie(gate: Gate, known: Credentials) -> None:
    assert send(gate, "/metrics", headers={**cookie(known, "anna"), "Authorization": "Bearer gpa_x"}).status == 401
    assert user_in(send(gate, "/metrics", headers={**cookie(known, "anna"), "Authorization": "Basic YTpi"}))


def test_a_removed_users_token_and_cookie_end_at_once(gate: Gate, known: Credentials) -> None:
    headers = [cookie(known, "bob"), bearer(known, "bob")]
    known.accounts.remove("bob")
    assert [send(gate, "/metrics", headers=each).status for each in headers] == [401, 401]


def test_a_session_ends_with_the_password(gate: Gate, known: Credentials) -> None:
    headers = cookie(known, "anna")
    known.accounts.set_password("anna", "another secret")
    assert send(gate, "/zh/", headers=headers).status == 303


def test_the_last_user_removed_leaves_this_machine_only(gate: Gate, known: Credentials) -> None:
    known.accounts.remove("anna")
    known.accounts.remove("bob")
    assert user_in(send(gate, "/zh/")) == LOCAL
    assert send(gate, "/zh/", peer=OUTSIDE).status == 403


def test_the_local_command_line_needs_no_login(gate: Gate) -> None:
    headers = {"Authorization": "Bearer the-secret-of-the-owner"}
    assert user_in(send(gate, "/api/documents", headers=headers)) == LOCAL
    for wrong in ("the-secret-of-the-owne", "THE-SECRET-OF-THE-OWNER", "é"):
        assert send(gate, "/api/documents", headers={"Authorization": f"Bearer {wrong}"}).status == 401


def test_no_secret_is_no_way_in(tmp_path: Path) -> None:
    found = credentials(tmp_path, owner_secret="")
    found.accounts.add("anna", SECRET, "admin")
    for authorization in ("Bearer", "Bearer ", "bearer  ", "Bearer\t"):
        assert send(Gate(echo_user, found), "/metrics", headers={"Authorization": authorization}).status == 401


@pytest.mark.parametrize("path", ["/zh/", "/api/ask", "/login"])
def test_a_broken_list_of_users_lets_nobody_in_and_names_no_file(
    gate: Gate, known: Credentials, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    headers = cookie(known, "anna")
    known.accounts.path.write_text("{")
    refused = send(gate, path, headers=headers)
    assert refused.status == 503
    assert "users.json" not in refused.body.decode()
    assert "users.json" in caplog.text


# Through a proxy -------------------------------------------------------------------------------------------------


def test_a_trusted_proxy_names_the_user(proxied: Gate) -> None:
    for peer in (PROXY, "10.9.3.4", f"::ffff:{PROXY}"):
        for name, role in (("anna", "admin"), ("Bob@Example.com", "reader"), ("小王", "reader")):
            got = send(proxied, "/zh/", peer=peer, headers={"Host": "gpu.example", "X-Forwarded-User": name})
            assert user_in(got) == [name.lower(), role]


@pytest.mark.parametrize("peer", [OUTSIDE, "127.0.0.1", "10.0.0.50", "10.8.0.1", None])
def test_a_user_header_from_another_peer_is_ignored_and_taken_out(proxied: Gate, peer: str | None) -> None:
    headers = {"X-Forwarded-User": "anna", "X-Forwarded-For": PROXY, "Forwarded": f"for={PROXY}"}
    refused = send(proxied, "/api/documents", peer=peer, headers=headers)
    assert refused.status == 401
    assert "GPU_ADVISOR_USER_HEADER" in refused.error
    opened = send(proxied, "/healthz", peer=peer, headers=headers)
    assert user_in(opened) is None
    assert "anna" not in opened.body.decode()


@pytest.mark.parametrize(
    "name", ["", " ", "anna, bob", "anna bob", "local", "LOCAL", "a/../b", "x" * 70, "anna\x00", "<b>"]
)
def test_a_proxy_that_names_no_one_user_lets_nobody_in(proxied: Gate, name: str) -> None:
    assert send(proxied, "/zh/", peer=PROXY, headers={"X-Forwarded-User": name}).status == 401


def test_a_header_sent_twice_is_not_believed(proxied: Gate) -> None:
    """A proxy that adds its header to the one that the client sent must not let the client choose."""
    twice = [("X-Forwarded-User", "anna"), ("X-Forwarded-User", "bob")]
    assert send(proxied, "/zh/", peer=PROXY, headers=twice).status == 401
    assert send(proxied, "/zh/", peer=PROXY, headers=[("x_forwarded_user", "anna")]).status == 401


def test_without_a_header_even_the_proxy_is_nobody(proxied: Gate) -> None:
    assert send(proxied, "/zh/", peer=PROXY).status == 401


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        (["198.51.100.7"], "198.51.100.7"),
        (["127.0.0.1, 198.51.100.7"], "198.51.100.7"),  # the client wrote the first
        (["127.0.0.1", "198.51.100.7"], "198.51.100.7"),
        (["198.51.100.7, 10.9.0.1"], "198.51.100.7"),  # two proxies
        (["2001:db8::1"], "2001:db8::1"),
        (["nonsense"], PROXY),
        (["198.51.100.7, nonsense"], PROXY),
        ([], PROXY),
    ],
)
def test_the_address_is_the_nearest_that_no_trusted_proxy_has(proxied: Gate, forwarded: list[str], client: str) -> None:
    headers = [("X-Forwarded-User", "anna"), *(("X-Forwarded-For", each) for each in forwarded)]
    got = send(proxied, "/zh/", peer=PROXY, headers=headers)
    assert json.loads(got.body)["client"] == client


def test_host_and_scheme_are_the_proxys_only_if_it_is_trusted(proxied: Gate) -> None:
    sent = {
        "Host": "inner:7860",
        "X-Forwarded-Host": "gpu.example",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-User": "bob",
    }
    seen = json.loads(send(proxied, "/zh/", peer=PROXY, headers=sent).body)
    assert (seen["scheme"], dict(seen["headers"])["host"]) == ("https", "gpu.example")
    seen = json.loads(send(proxied, "/healthz", peer=OUTSIDE, headers=sent).body)
    assert (seen["scheme"], dict(seen["headers"])["host"]) == ("http", "inner:7860")
    assert not [name for name, _ in seen["headers"] if name.startswith("x-forwarded")]


@pytest.mark.parametrize("host", ["evil.example/x", "a b", "a\r\nb", "<x>", "evil.example:99999999", ""])
def test_a_forwarded_host_that_is_none_is_not_taken(proxied: Gate, host: str) -> None:
    headers = {"X-Forwarded-Host": host, "X-Forwarded-User": "bob", "X-Forwarded-Proto": "gopher"}
    seen = json.loads(send(proxied, "/zh/", peer=PROXY, headers=headers).body)
    assert (seen["scheme"], dict(seen["headers"])["host"]) == ("http", "localhost:7860")


def test_the_origin_is_checked_against_the_host_that_the_trusted_proxy_names(proxied: Gate) -> None:
    headers = {"Host": "inner", "X-Forwarded-Host": "gpu.example", "X-Forwarded-User": "bob"}
    ours = send(proxied, "/zh/gradio_api/queue/join", method="POST", peer=PROXY, body=b"{}",
                headers={**headers, "Origin": "https://gpu.example"})  # fmt: skip
    assert user_in(ours) == ["bob", "reader"]
    assert send(proxied, "/zh/", peer=PROXY, headers={**headers, "Origin": "https://inner"}).status == 403


# Other web sites -------------------------------------------------------------------------------------------------

FOREIGN = ["https://evil.example", "null", "http://localhost:1", "http://localhost", "http://localhost:7860.evil.example",
           "http://localhost:7860@evil.example", "", "http://[", "localhost:7860", "//localhost:7861"]  # fmt: skip


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_another_site_is_refused_whoever_its_reader_is(nobody: Gate, tmp_path: Path, origin: str, method: str) -> None:
    body = b"{}" if method == "POST" else b""
    assert send(nobody, "/api/ask", method=method, body=body, headers={"Origin": origin}).status == 403
    found = credentials(tmp_path)
    found.accounts.add("anna", SECRET, "admin")
    headers = {**cookie(found, "anna"), "Origin": origin}
    for path in ("/api/documents", "/zh/", "/login", "/logout"):
        assert send(Gate(echo_user, found), path, method=method, body=body, headers=headers).status == 403


def test_our_own_page_is_not_another_site(nobody: Gate) -> None:
    for origin in ("http://localhost:7860", "http://LOCALHOST:7860"):
        assert user_in(send(nobody, "/api/ask", method="POST", body=b"{}", headers={"Origin": origin})) == LOCAL


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
)
def test_a_form_without_an_origin_is_judged_by_what_the_browser_says_of_it(
    nobody: Gate, site: str, status: int
) -> None:
    headers = {"Sec-Fetch-Site": site}
    assert send(nobody, "/logout", method="POST", body=b"x", headers=headers).status == status
    assert send(nobody, "/zh/", headers=headers).status == 200  # a link from elsewhere may be followed


def test_a_websocket_from_another_site_or_without_a_login_is_refused(nobody: Gate, gate: Gate) -> None:
    assert send(nobody, "/x", kind="websocket", headers={"Origin": "https://evil.example"}).status == 403
    assert send(nobody, "/x", kind="websocket", peer=OUTSIDE).status == 403
    assert send(gate, "/x", kind="websocket").status == 401


# Sizes, uploads and closed doors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind", "most"),
    [
        ("/api/ask", "application/json", MAX_API_BYTES),
        ("/zh/gradio_api/queue/join", "application/json", MAX_PAGE_BYTES),
        ("/api/documents", "application/octet-stream", LARGEST_BYTES),
        ("/zh/gradio_api/upload", FORM, LARGEST_BYTES + MAX_FORM_BYTES),
        ("/en/gradio_api/upload/", FORM, LARGEST_BYTES + MAX_FORM_BYTES),
        ("/login", "application/x-www-form-urlencoded", MAX_FORM_BYTES),
    ],
)
def test_a_body_is_taken_up_to_its_limit_and_refused_unread_beyond(
    nobody: Gate, path: str, kind: str, most: int
) -> None:
    def status(length: str) -> int:
        return send(nobody, path, method="POST", headers={"Content-Type": kind, "Content-Length": length}).status

    assert [status(str(length)) for length in (0, most, most + 1)] == [200, 200, 413]
    assert [status(length) for length in ("9" * 30, "9" * 5_000)] == [413, 413]
    assert [status(length) for length in ("", "-1", "+1", "1e3", "0x10", "１", "²", "1, 1")] == [411] * 8


def test_a_body_of_unstated_length_is_refused_for_every_method(nobody: Gate) -> None:
    chunked = {"Transfer-Encoding": "chunked"}
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        assert send(nobody, "/api/documents/x", method=method, headers=chunked).status == 411


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/zh/gradio_api/upload", FORM),
        ("/en/gradio_api/upload", FORM),
        ("/tools/gradio_api/upload", FORM),
        ("/zh/gradio_api/upload", "application/json"),
        ("/zh/gradio_api/upload", ""),
        ("/zh/gradio_api/upload/", " Multipart/Form-Data"),
        ("/zh/gradio_api/component_server", FORM),
        ("/zh/gradio_api/%75pload", FORM),
    ],
)
def test_uploads_are_for_admins(gate: Gate, known: Credentials, path: str, kind: str) -> None:
    def sent(name: str) -> Got:
        headers = {**cookie(known, name), "Content-Type": kind}
        return send(gate, path, method="POST", body=b"x", headers=headers)

    assert sent("bob").status == 403
    assert "admin" in sent("bob").error
    assert user_in(sent("anna")) == ["anna", "admin"]


@pytest.mark.parametrize(
    "path",
    ["/zh/gradio_api/proxy=http://evil.example", "/zh/gradio_api/file=http://evil.example/x", "/zh/gradio_api/file=HTTPS://evil.example",
     "/zh/gradio_api/file/http://evil.example/x", "/zh/gradio_api/run-history/connect", "/zh/monitoring", "/zh/monitoring/summary",
     "/zh/gradio_api/vibe-edit", "/zh/gradio_api/dev/reload", "/zh/gradio_api/process_recording", "/zh/gradio_api/%70roxy=x",
     "/tools/gradio_api/file=http://127.0.0.1/"],
)  # fmt: skip
def test_parts_of_gradio_that_reach_outside_are_closed(nobody: Gate, path: str) -> None:
    assert send(nobody, path).status == 404


@pytest.mark.parametrize(
    "path", ["/zh/gradio_api/file=/tmp/gradio/x.csv", "/zh/gradio_api/queue/data", "/zh/gradio_api/info"]
)
def test_parts_of_gradio_that_the_page_needs_are_open(nobody: Gate, path: str) -> None:
    assert user_in(send(nobody, path)) == LOCAL


def test_every_response_carries_the_policy(gate: Gate, nobody: Gate) -> None:
    for got in (send(nobody, "/zh/"), send(gate, "/zh/"), send(gate, "/api/ask"), send(nobody, "/x", peer=OUTSIDE)):
        assert "default-src 'self'" in got.header("content-security-policy")
        assert got.header("x-content-type-options") == "nosniff"
        assert got.header("referrer-policy") == "same-origin"
