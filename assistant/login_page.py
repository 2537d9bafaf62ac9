"""The login page: one small page of HTML in the reader's language. Renders only; login.py decides."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from assistant.evidence import Bilingual, Language
from assistant.local_paths import in_language

_TITLE = Bilingual(zh="登录", en="Log in")
_TAGLINE = Bilingual(
    zh="GPU 怎么选、放不放得下、要花多少钱：每个数字都有出处",
    en="Which GPU, will it fit, what will it cost: every figure with its source",
)
_NAME = Bilingual(zh="用户名", en="Name")
_PASSWORD = Bilingual(zh="密码", en="Password")
_SUBMIT = Bilingual(zh="登录", en="Log in")
_HELP = Bilingual(
    zh="没有账号，或忘了密码？请管理员运行 <code>gpu-advisor users</code>。",
    en="No account, or password forgotten? Ask an administrator to run <code>gpu-advisor users</code>.",
)
_TAG = Bilingual(zh="zh-CN", en="en")
_OTHER: dict[Language, tuple[Language, str]] = {"zh": ("en", "English"), "en": ("zh", "中文")}

_STYLE = """
:root { color-scheme: light dark; --page: #f1f5f9; --card: #fff; --text: #0f172a; --quiet: #475569; --line: #cbd5e1;
  --accent: #0f766e; --on-accent: #fff; --fault: #b91c1c; --fault-page: #fef2f2; --shadow: 0 10px 30px rgb(15 23 42 / 10%); }
@media (prefers-color-scheme: dark) {
  :root { --page: #0f172a; --card: #1e293b; --text: #f1f5f9; --quiet: #94a3b8; --line: #475569; --accent: #2dd4bf;
    --on-accent: #042f2e; --fault: #fca5a5; --fault-page: #450a0a; --shadow: 0 10px 30px rgb(0 0 0 / 40%); }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 1rem;
  background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif; }
main { width: min(24rem, 100%); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: 2rem 1.75rem;
  box-shadow: var(--shadow); }
header { display: flex; align-items: center; gap: .75rem; margin-bottom: 1.5rem; }
header img { width: 2.75rem; height: 2.75rem; flex: none; }
h1 { font-size: 1.35rem; line-height: 1.2; margin: 0; }
header p { margin: .25rem 0 0; color: var(--quiet); font-size: .85rem; line-height: 1.35; }
label { display: block; font-weight: 600; font-size: .9rem; margin: 1rem 0 .35rem; }
input { width: 100%; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
  border-radius: .6rem; padding: .65rem .8rem; }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button { width: 100%; margin-top: 1.5rem; font: inherit; font-weight: 600; color: var(--on-accent);
  background: var(--accent); border: 0; border-radius: .6rem; padding: .75rem; cursor: pointer; }
button:hover { filter: brightness(1.08); }
.fault { color: var(--fault); background: var(--fault-page); border-radius: .6rem; padding: .6rem .8rem; margin: 0 0 .5rem; }
footer { display: flex; justify-content: space-between; gap: 1rem; margin-top: 1rem; padding: 0 .25rem;
  color: var(--quiet); font-size: .8rem; }
a { color: var(--accent); flex: none; padding: .25rem; margin: -.25rem; }
code { font-family: ui-monospace, Consolas, monospace; white-space: nowrap; }
"""


def login_page(language: Language, after: str, *, fault: Bilingual | None = None, name: str = "") -> str:
    """The page as HTML. `after` is the local path to go to once logged in, `fault` why the last attempt failed."""
    other, other_name = _OTHER[language]
    here = f"/login?next={quote(in_language(after, other), safe='/')}"
    said = f'<p class="fault" role="alert" id="fault">{escape(fault[language])}</p>' if fault else ""
    described = ' aria-describedby="fault"' if fault else ""
    return f"""<!doctype html>
<html lang="{_TAG[language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{_TITLE[language]} · gpu-advisor</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<style>{_STYLE}</style>
</head>
<body>
<main>
<div class="card">
<header><img src="/favicon.ico" alt=""><div><h1>gpu-advisor</h1><p>{_TAGLINE[language]}</p></div></header>
{said}
<form method="post" action="/login">
<input type="hidden" name="next" value="{escape(after)}">
<label for="name">{_NAME[language]}</label>
<input id="name" name="name" value="{escape(name)}" autocomplete="username" autocapitalize="none" spellcheck="false"
 maxlength="64" required{"" if name else " autofocus"}{described}>
<label for="password">{_PASSWORD[language]}</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1000"
 required{" autofocus" if name else ""}{described}>
<button type="submit">{_SUBMIT[language]}</button>
</form>
</div>
<footer><span>{_HELP[language]}</span><a href="/language/{other}?next={quote(here, safe="/")}" lang="{other}"
 hreflang="{other}">{other_name}</a></footer>
</main>
</body>
</html>
"""
