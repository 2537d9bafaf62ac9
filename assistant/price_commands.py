"""What `prices import`, `prices undo` and `prices refresh` do and print. Reading and checking is in ingest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from ingest.price_import import ImportReport, PreparedImport, prepare
from ingest.price_refresh import SOURCES, RefreshReport, refresh
from knowledge.price_snapshots import undo


def import_file(
    path: Path, *, provider: str, currency: str, as_of: str, allow_unusual: bool, dry_run: bool, today: date
) -> tuple[str, bool]:
    """(what to print, whether any row was taken). Raises PriceFileError and SnapshotBrokenError."""
    prepared = prepare(
        path, provider=provider, currency=currency, as_of=as_of, allow_unusual=allow_unusual, today=today
    )
    return f"{report_text(prepared.report)}\n{_committed(prepared, dry_run)}", prepared.report.accepted > 0


def undo_import() -> str:
    """Takes the last import or refresh back. Raises NothingToUndoError."""
    label = undo()
    return f"已撤销：{label}。 / Undone: {label}."


def refresh_prices(providers: Sequence[str], *, dry_run: bool, today: date) -> tuple[str, bool]:
    """(what to print, whether every provider answered). Raises RefreshUnavailableError, UnknownProviderError."""
    done = refresh(providers or tuple(SOURCES), SOURCES, today)
    parts = [_refresh_text(done)]
    if done.prepared:
        parts += [report_text(done.prepared.report), _committed(done.prepared, dry_run)]
    return "\n".join(parts), not done.failed


def report_text(report: ImportReport) -> str:
    """The counts, the changes, what was rejected with its line, and what to look at; both languages on each line."""
    lines = [
        f"{report.label}（{report.format}）：收下 {report.accepted} 行（新 {report.new}，改价 {report.changed_count}，"
        f"不变 {report.unchanged}，重复 {report.repeated}），拒绝 {report.rejected_count} 行"
        f" / accepted {report.accepted} rows (new {report.new}, changed {report.changed_count}, unchanged {report.unchanged},"
        f" repeated {report.repeated}), rejected {report.rejected_count}"
    ]
    if report.cpu_only:
        lines.append(
            f"跳过 {report.cpu_only} 行没有 GPU 的实例 / skipped {report.cpu_only} rows of instances without a GPU"
        )
    lines += [f"改价 / changed: {change.what}: {change.old} -> {change.new}" for change in report.changed]
    lines += [f"第 {line.line} 行{line.zh} / line {line.line}: {line.en}" for line in report.rejected]
    unlisted = report.rejected_count - len(report.rejected)
    if unlisted > 0:
        lines.append(f"还有 {unlisted} 行被拒绝，没有列出 / {unlisted} more rejected lines are not listed")
    if more := report.changed_count - len(report.changed):
        lines.append(f"还有 {more} 处改价，没有列出 / {more} more changes are not listed")
    lines += [f"注意：{zh} / note: {en}" for zh, en in report.notes]
    return "\n".join(lines)


def _committed(prepared: PreparedImport, dry_run: bool) -> str:
    if not prepared.report.accepted:
        return "没有可以收下的行，什么都没有写入。 / No row could be accepted; nothing was written."
    if dry_run:
        return "这是试运行，什么都没有写入。 / This was a dry run; nothing was written."
    prepared.commit()
    return "已写入；`gpu-advisor prices undo` 可撤销。 / Written; `gpu-advisor prices undo` takes it back."


def _refresh_text(done: RefreshReport) -> str:
    lines = [f"{name}: {count} 行 / rows" for name, count in done.fetched.items()]
    lines += [
        f"{name}: 没有取到，旧价格保留（{reason}） / not fetched, its old rows stay ({reason})"
        for name, reason in done.failed.items()
    ]
    return "\n".join(lines)
