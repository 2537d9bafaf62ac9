"""The price list over HTTP: GET /api/prices.csv with the filters of the page's link (gpu=A100&provider=tencent&in=USD).

Reads the query and hands it on. Who may ask is decided by the middleware of api.py.
"""

from __future__ import annotations

import logging
from datetime import date
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from assistant.evidence import Language
from assistant.price_export import export
from assistant.price_filters import FilterError, from_query
from knowledge.offer_store import SnapshotBrokenError

log = logging.getLogger(__name__)

BROKEN = (
    "导入的价格文件读不出来，已记入日志；管理员可用 `gpu-advisor prices undo` 退回上一份。 / "
    "The imported prices cannot be read, which was logged; an administrator can go back with `gpu-advisor prices undo`."
)


def add_price_routes(app: FastAPI) -> None:
    """Add the route; `lang=en` gives the source titles in English."""

    @app.get("/api/prices.csv")
    def prices(request: Request) -> Response:
        language: Language = "en" if request.query_params.get("lang") == "en" else "zh"
        try:
            file = export(from_query(request.url.query), language, date.today())
        except FilterError as error:
            return JSONResponse({"error": str(error)}, status_code=HTTPStatus.BAD_REQUEST)
        except SnapshotBrokenError:
            log.exception("the imported prices cannot be read")
            return JSONResponse({"error": BROKEN}, status_code=HTTPStatus.SERVICE_UNAVAILABLE)
        headers = {"Content-Disposition": f'attachment; filename="{file.name}"', "X-Row-Count": str(file.rows)}
        return StreamingResponse(file.text, media_type="text/csv; charset=utf-8", headers=headers)
