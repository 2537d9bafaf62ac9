"""Checks of the machine: Python, packages, state folder, disk, cores, memory, port, settings, proxies.

Reads only, and contacts nothing but the port of this machine. Knows nothing of models or the knowledge base.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import sys
import tomllib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from rapidfuzz import fuzz, process

from assistant.doctor import Check, same
from assistant.evidence import Bilingual
from knowledge.embedding import available_cores

PYTHON = (3, 11)
LEAST_FREE_GIB = 5.0  # model files 1.3, index and what it is built beside, documents
LEAST_MEMORY_GIB = 3.0  # embedding model and page 1.3, language model and its context 1.5
PORT = 7860
MEMINFO, CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
# Settings of ours, as README lists them; a name near one of these is a slip.
OURS = (
    "EMBEDDING_MODEL",
    "GPU_ADVISOR_ADMINS",
    "GPU_ADVISOR_HOME",
    "GPU_ADVISOR_QUESTIONS_PER_MINUTE",
    "GPU_ADVISOR_SLACK_CHANNELS",
    "GPU_ADVISOR_SLACK_USERS",
    "GPU_ADVISOR_TRUSTED_PROXIES",
    "GPU_ADVISOR_USER_HEADER",
    "LLM_API_KEY",
    "LLM_BASE_URL",
    "LLM_MODEL",
    "LLM_TOOLS",
    "RERANKER_MODEL",
    "SLACK_API_URL",
    "SLACK_APP_TOKEN",
    "SLACK_BOT_TOKEN",
    "SLACK_SIGNING_SECRET",
)
SHARED = ("HF_ENDPOINT", "HF_HUB_OFFLINE", "OMP_NUM_THREADS")  # settings that other programs read too
SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
PREFIXES = ("GPU_ADVISOR_", "LLM_")
NEAR_PERCENT = 85
FOLDERS = ("CACHE", "DATA", "DIR", "DIRECTORY", "FOLDER", "PATH", "ROOT", "STATE")  # other words for HOME
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")

PYTHON_WHAT = same("Python")
PACKAGES_WHAT = Bilingual(zh="软件包", en="packages")
TORCH_WHAT = same("torch")
HOME_WHAT = Bilingual(zh="数据目录", en="state folder")
DISK_WHAT = Bilingual(zh="磁盘剩余", en="free disk")
CORES_WHAT = Bilingual(zh="处理器核心", en="cores")
MEMORY_WHAT = Bilingual(zh="可用内存", en="free memory")
PORT_WHAT = Bilingual(zh="端口", en="port")
SETTINGS_WHAT = Bilingual(zh="设置", en="settings")
PROXY_WHAT = Bilingual(zh="代理", en="proxy")
INSTALL = Bilingual(zh="运行 `make install`。", en="Run `make install`.")


def check_python(version: tuple[int, int] | None = None) -> Check:
    """The version that runs this against the one that the packages are pinned for."""
    seen = version or sys.version_info[:2]
    shown = ".".join(map(str, seen))
    if seen == PYTHON:
        return Check("python", PYTHON_WHAT, "ok", same(f"{shown} ({sys.executable})"))
    return Check(
        "python",
        PYTHON_WHAT,
        "fault",
        Bilingual(zh=f"{shown}，需要 3.11", en=f"{shown}, but 3.11 is needed"),
        Bilingual(
            zh="删除 .venv 后运行 `make install PYTHON=/path/to/python3.11`。",
            en="Remove .venv, then run `make install PYTHON=/path/to/python3.11`.",
        ),
    )


def check_packages(requirements: list[str] | None = None) -> Check:
    """Every package that the product needs is installed."""
    wanted = _required() if requirements is None else requirements
    missing = [name for name in wanted if not _installed(name)]
    if missing:
        names = ", ".join(missing)
        detail = Bilingual(zh=f"缺少 {names}", en=f"missing: {names}")
        return Check("packages", PACKAGES_WHAT, "fault", detail, INSTALL)
    count = len(wanted)
    return Check("packages", PACKAGES_WHAT, "ok", Bilingual(zh=f"{count} 个都在", en=f"all {count} are there"))


def check_torch() -> Check:
    """Which build of torch: read from its files, since importing a wrong one can end the process."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return Check("torch", TORCH_WHAT, "fault", Bilingual(zh="没有安装", en="not installed"), INSTALL)
    text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    cuda = re.search(r"^cuda\b[^=]*=\s*'([^']+)'", text, re.M)
    build = f"CUDA {cuda[1]}" if cuda else "CPU"
    detail = f"{metadata.version('torch')}, {build}"
    if cuda and not Path("/dev/nvidiactl").exists():
        return Check(
            "torch",
            TORCH_WHAT,
            "ok",
            Bilingual(zh=f"{detail}；没有 GPU，用 CPU 运行", en=f"{detail}; no GPU here, so it runs on the CPU"),
        )
    return Check("torch", TORCH_WHAT, "ok", same(detail))


def check_home(home: Path) -> Check:
    """The state folder, or where it will be made, can be written."""
    place = _existing(home)
    if home.exists() and not home.is_dir():
        detail = Bilingual(zh=f"{home} 不是文件夹", en=f"{home} is no folder")
    elif not os.access(place, os.W_OK | os.X_OK):
        detail = Bilingual(zh=f"{place} 不可写", en=f"{place} cannot be written")
    elif not home.exists():
        detail = Bilingual(zh=f"{home}（还没有，会自动建立）", en=f"{home} (not there yet; it is made when needed)")
        return Check("home", HOME_WHAT, "ok", detail)
    else:
        return Check("home", HOME_WHAT, "ok", same(str(home)))
    return Check(
        "home",
        HOME_WHAT,
        "fault",
        detail,
        Bilingual(
            zh="把 GPU_ADVISOR_HOME 设为可写的文件夹，或修正其权限（`ls -ld` 可看归属）。",
            en="Set GPU_ADVISOR_HOME to a folder that can be written, or correct its permissions (`ls -ld` shows the owner).",
        ),
    )


def check_disk(home: Path, least_gib: float = LEAST_FREE_GIB) -> Check:
    """Room for model files, the index and the one it is built beside."""
    free_gib = shutil.disk_usage(_existing(home)).free / 2**30
    shown = f"{free_gib:,.1f} GiB"
    if free_gib >= least_gib:
        return Check("disk", DISK_WHAT, "ok", same(shown))
    return Check(
        "disk",
        DISK_WHAT,
        "warning",
        Bilingual(zh=f"{shown}，宜有 {least_gib:g} GiB", en=f"{shown}; {least_gib:g} GiB is advisable"),
        Bilingual(
            zh="腾出空间，或把 GPU_ADVISOR_HOME 设到更大的磁盘。",
            en="Make room, or set GPU_ADVISOR_HOME to a larger disk.",
        ),
    )


def check_cores() -> Check:
    """The cores that this process may use."""
    cores = available_cores()
    if cores >= 2:
        return Check("cores", CORES_WHAT, "ok", same(str(cores)))
    return Check(
        "cores",
        CORES_WHAT,
        "warning",
        same(str(cores)),
        Bilingual(
            zh="一个核心时文字说明很慢：多分配核心（或去掉 OMP_NUM_THREADS），或用 LLM_BASE_URL 指定别的模型服务。",
            en="With one core prose is slow: allow more (or unset OMP_NUM_THREADS), or name a model server in LLM_BASE_URL.",
        ),
    )


def check_memory(
    own_model_server: bool,
    meminfo: Path = MEMINFO,
    group: Path = CGROUP,
    least_gib: float = LEAST_MEMORY_GIB,
) -> Check:
    """Free memory within the container's limit; without the embedded language model half is enough."""
    free = free_memory(meminfo, group)
    if free is None:
        return Check(
            "memory", MEMORY_WHAT, "skipped", Bilingual(zh="这个系统读不出", en="cannot be read on this system")
        )
    free_gib, least = free / 2**30, least_gib / (2 if own_model_server else 1)
    if free_gib >= least:
        return Check("memory", MEMORY_WHAT, "ok", same(f"{free_gib:.1f} GiB"))
    return Check(
        "memory",
        MEMORY_WHAT,
        "warning",
        Bilingual(zh=f"{free_gib:.1f} GiB，宜有 {least:g} GiB", en=f"{free_gib:.1f} GiB; {least:g} GiB is advisable"),
        Bilingual(
            zh="关闭别的程序，或用 LLM_BASE_URL 指定别处的模型服务。",
            en="End other programs, or name a model server elsewhere in LLM_BASE_URL.",
        ),
    )


def check_port(owner_url: str | None, port: int = PORT) -> Check:
    """Whether `serve` could listen there, or does."""
    if owner_url and urlsplit(owner_url).port == port:
        return Check(
            "port", PORT_WHAT, "ok", Bilingual(zh=f"{port}，由本程序的 serve 使用", en=f"{port}, used by our own serve")
        )
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        return Check(
            "port",
            PORT_WHAT,
            "warning",
            Bilingual(zh=f"{port} 用不了（{error.strerror}）", en=f"{port} cannot be used ({error.strerror})"),
            Bilingual(
                zh=f"换一个端口：`gpu-advisor serve --port {port + 1}`。",
                en=f"Choose another: `gpu-advisor serve --port {port + 1}`.",
            ),
        )
    return Check("port", PORT_WHAT, "ok", Bilingual(zh=f"{port} 空闲", en=f"{port} is free"))


def check_settings(environment: Mapping[str, str]) -> list[Check]:
    """The settings that are set, and names that look like a slip of one."""
    known = [name for name in (*OURS, *SHARED) if environment.get(name)]
    shown = ", ".join(f"{name}={_shown(name, environment[name])}" for name in known)
    checks = [
        Check("settings", SETTINGS_WHAT, "ok", same(shown) if shown else Bilingual(zh="全为默认", en="all defaults"))
    ]
    for name in sorted(environment.keys() - {*OURS, *SHARED}):
        near = process.extractOne(name, OURS, scorer=fuzz.ratio, score_cutoff=NEAR_PERCENT)
        if near or name.startswith(PREFIXES):
            checks.append(_unknown(name, near[0] if near else _nearest(name)))
    return checks


def check_proxy(environment: Mapping[str, str]) -> Check:
    """Proxies take requests to other machines; those to this one never go through them."""
    names = [name for name in PROXIES if environment.get(name)]
    if not names:
        return Check("proxy", PROXY_WHAT, "ok", Bilingual(zh="无", en="none"))
    shown = ", ".join(f"{name}={_without_password(environment[name])}" for name in names)
    host = urlsplit(environment.get("LLM_BASE_URL", "")).hostname or ""
    if not host or _is_loopback(host) or host in environment.get("NO_PROXY", environment.get("no_proxy", "")):
        return Check(
            "proxy",
            PROXY_WHAT,
            "ok",
            Bilingual(
                zh=f"{shown}；只用于下载，本机请求不经过它", en=f"{shown}; for downloads only, never for this machine"
            ),
        )
    return Check(
        "proxy",
        PROXY_WHAT,
        "warning",
        Bilingual(zh=f"{shown}；发往 {host} 的请求也经过它", en=f"{shown}; requests to {host} go through it too"),
        Bilingual(
            zh=f"如不应经过代理：`export NO_PROXY={host}`。", en=f"If they should not: `export NO_PROXY={host}`."
        ),
    )


def _required() -> list[str]:
    """Names of the packages that the product needs: as pyproject.toml states them, else as it was installed with."""
    project = Path(__file__).parent.parent / "pyproject.toml"
    if project.exists():  # of a checkout, where what was noted when it was installed may be older
        stated = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
    else:
        stated = metadata.requires("gpu-advisor") or []
    return [re.split(r"[\s\[<>=!~;(]", each, maxsplit=1)[0] for each in stated if "extra ==" not in each]


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that is there."""
    return next(each for each in (path, *path.absolute().parents) if each.exists())


def free_memory(meminfo: Path = MEMINFO, group: Path = CGROUP) -> int | None:
    """Bytes free for us: what the machine has left, or what the container's limit leaves."""
    if not meminfo.exists():
        return None
    found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(encoding="ascii"), re.M)
    free = int(found[1]) * 1024 if found else None
    limit, used = group / "memory.max", group / "memory.current"
    if limit.exists() and used.exists() and (most := limit.read_text(encoding="ascii").strip()) != "max":
        # The cache of files read counts as used, but gives way.
        cached = re.search(r"^inactive_file (\d+)", _text(group / "memory.stat"), re.M)
        left = int(most) - int(used.read_text(encoding="ascii")) + int(cached[1] if cached else 0)
        return left if free is None else min(free, left)
    return free


def _text(file: Path) -> str:
    return file.read_text(encoding="ascii") if file.exists() else ""


def _unknown(name: str, near: str) -> Check:
    return Check(
        "setting-unknown",
        SETTINGS_WHAT,
        "warning",
        Bilingual(zh=f"不认识 {name}，它不起作用", en=f"{name} is not known and has no effect"),
        Bilingual(zh=f"是指 {near} 吗？请改名或删去。", en=f"Is {near} meant? Rename it or unset it."),
    )


def _nearest(name: str) -> str:
    """The setting that was probably meant: by what the name says, else by its letters."""
    if name.startswith("GPU_ADVISOR_") and name.rpartition("_")[2] in FOLDERS:
        return "GPU_ADVISOR_HOME"
    return str(process.extract(name, OURS, scorer=fuzz.ratio, limit=1)[0][0])


def _shown(name: str, value: str) -> str:
    return "***" if any(word in name for word in SECRET) else _without_password(value)


def _without_password(value: str) -> str:
    return re.sub(r"//[^/@\s]*@", "//***@", value)


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")
