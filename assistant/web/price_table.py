"""The price table and one row of it as HTML: every text escaped, headings that sort, rows that open by click or key."""

from __future__ import annotations

from html import escape

from assistant.evidence import Bilingual, Language
from assistant.price_filters import PriceFilter, to_query
from assistant.price_row import RowDetail
from assistant.price_view import Cell, PriceTable, Row
from assistant.price_words import Heading

CAPTION = Bilingual(zh="价格表，点一行看全部内容与出处", en="Prices; click a row for all of it and its source")
SORT = Bilingual(zh="按此列排序", en="Sort by this column")
OPEN = Bilingual(zh="看这一行的全部内容", en="Show this row in full")
EARLIER = Bilingual(zh="← 上一页", en="← Earlier rows")
LATER = Bilingual(zh="下一页 →", en="Later rows →")
PAGE = Bilingual(zh="第 {page} / {pages} 页", en="Page {page} of {pages}")
EXPORT = Bilingual(zh="下载 CSV（全部 {rows} 行）", en="Download CSV (all {rows} rows)")
COPY = Bilingual(zh="复制链接", en="Copy link")
COPIED = Bilingual(zh="已复制", en="Copied")
HINT = Bilingual(zh="点表中一行，这里显示它的全部内容与出处。", en="Click a row to see all of it and its source here.")
GONE = Bilingual(zh="这一行已经不在了，请重新筛选。", en="That row is gone; please filter again.")
BROKEN = Bilingual(
    zh="价格读不出来（不是没有价格），已记入日志，请告诉管理员。",
    en="The prices cannot be read (that is not the same as no prices). It was logged; please tell the administrator.",
)
# Runs once: the element stays while what is in it changes.
SCRIPT = """
let columns = 0;
watch('value', () => {
  const box = element.querySelector('.price-scroll');
  if (!box) return;
  const now = box.querySelectorAll('thead th').length;
  box.scrollTop = 0;
  if (now !== columns) box.scrollLeft = 0;
  columns = now;
});
element.addEventListener('click', (event) => {
  const at = (selector) => event.target.closest(selector);
  const heading = at('[data-sort]'), page = at('[data-page]'), row = at('[data-row]');
  if (heading) trigger('sort', { key: heading.dataset.sort });
  else if (page) trigger('turn', { page: Number(page.dataset.page) });
  else if (row && !String(window.getSelection())) {
    element.querySelectorAll('[aria-current]').forEach((each) => each.removeAttribute('aria-current'));
    row.setAttribute('aria-current', 'true');
    trigger('open', { id: row.dataset.row });
  }
});
"""


def table_html(table: PriceTable, wanted: PriceFilter, language: Language) -> str:
    """The table; nothing where no row was found, for then the sentences above say why."""
    if not table.rows:
        return ""
    head = "".join(_heading(heading, wanted, language) for heading in table.headings)
    body = "".join(_row(row, table.headings, language) for row in table.rows)
    return (
        f'<div class="price-scroll" tabindex="0" role="region" aria-label="{CAPTION[language]}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{_pager(table, language)}"
    )


def summary_html(table: PriceTable, wanted: PriceFilter, language: Language) -> str:
    """What was found and left out, the download of all rows, and the link to this view."""
    sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in table.said)
    query = to_query(wanted)
    link = f"?tab=prices&{query}" if query else "?tab=prices"
    download = f"../api/prices.csv?{query}&lang={language}" if query else f"../api/prices.csv?lang={language}"
    rows = f"{table.matched:,}"
    export = (
        f'<a class="price-button" href="{escape(download)}" download>{EXPORT[language].format(rows=rows)}</a>'
        if table.matched
        else ""
    )
    copy = (
        f'<button type="button" class="price-button" data-copy-link="{escape(link)}" data-done="{COPIED[language]}">'
        f"{COPY[language]}</button>"
    )
    return f'<div role="status">{sentences}</div><div class="price-actions">{export}{copy}</div>'


def problem_html(sentence: str) -> str:
    """A filter that means nothing, or prices that cannot be read."""
    return f'<div class="price-problem" role="alert">{escape(sentence)}</div>'


def detail_html(detail: RowDetail | None, language: Language) -> str:
    """Every cell of the row with what it is called."""
    if detail is None:
        return problem_html(GONE[language])
    cells = "".join(f"<dt>{escape(words)}</dt><dd>{escape(text)}</dd>" for words, text in detail.cells)
    return f'<section class="price-detail" role="status"><h3>{escape(detail.title)}</h3><dl>{cells}</dl></section>'


def hint_html(language: Language) -> str:
    """What stands where a row is shown in full, before one is chosen."""
    return f'<p class="price-hint">{HINT[language]}</p>'


def _heading(heading: Heading, wanted: PriceFilter, language: Language) -> str:
    words, kind = escape(heading.words[language]), ' class="number"' if heading.numeric else ""
    if heading.sort is None:
        return f'<th scope="col"{kind}>{words}</th>'
    direction = ("descending" if wanted.descending else "ascending") if heading.sort == wanted.sort else "none"
    arrow = {"ascending": " ▲", "descending": " ▼", "none": ""}[direction]
    return (
        f'<th scope="col"{kind} aria-sort="{direction}"><button type="button" data-sort="{heading.sort}"'
        f' title="{SORT[language]}">{words}<span aria-hidden="true">{arrow}</span></button></th>'
    )


def _row(row: Row, headings: tuple[Heading, ...], language: Language) -> str:
    first, *rest = zip(row.cells, headings, strict=True)
    opener = f'<th scope="row"><button type="button" title="{OPEN[language]}">{escape(first[0].text)}</button></th>'
    return f'<tr data-row="{escape(row.id)}">{opener}{"".join(_cell(cell, heading) for cell, heading in rest)}</tr>'


def _cell(cell: Cell, heading: Heading) -> str:
    if cell.mark:
        return f'<td><span class="price-age {cell.mark}">{escape(cell.text)}</span></td>'
    kind = ' class="number"' if heading.numeric else ""
    return f"<td{kind}>{escape(cell.text)}</td>"


def _pager(table: PriceTable, language: Language) -> str:
    if table.pages == 1:
        return ""

    def button(words: str, page: int) -> str:
        off = "" if 1 <= page <= table.pages else " disabled"
        return f'<button type="button" class="price-button" data-page="{page}"{off}>{words}</button>'

    at = PAGE[language].format(page=table.page, pages=table.pages)
    return (
        f'<div class="price-actions">{button(EARLIER[language], table.page - 1)}<span>{at}</span>'
        f"{button(LATER[language], table.page + 1)}</div>"
    )
