"""The icon and the manifest of the site: what every browser asks for. Open to all; they tell nothing."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response

_DAY = {"Cache-Control": "public, max-age=86400"}
# A card with a fan, in the colour of the page.
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect x="2" y="12" width="60" height="40" rx="9" '
    'fill="#0f766e"/><rect x="10" y="52" width="30" height="6" rx="2" fill="#115e59"/><circle cx="24" cy="32" r="13" '
    'fill="#ccfbf1"/><g fill="none" stroke="#0f766e" stroke-width="4" stroke-linecap="round"><path d="M24 32q2-8 8-8"/>'
    '<path d="M24 32q8 2 8 8"/><path d="M24 32q-2 8-8 8"/><path d="M24 32q-8-2-8-8"/></g><circle cx="24" cy="32" r="3.5" '
    'fill="#0f766e"/><path d="M46 24h8M46 32h8M46 40h8" stroke="#ccfbf1" stroke-width="4" stroke-linecap="round"/></svg>'
)
MANIFEST = {
    "name": "gpu-advisor",
    "short_name": "gpu-advisor",
    "start_url": "/",
    "display": "standalone",
    "background_color": "#f1f5f9",
    "theme_color": "#0f766e",
    "icons": [{"src": "/favicon.ico", "sizes": "any", "type": "image/svg+xml"}],
}


def add_site_files(app: FastAPI) -> None:
    """Add the routes; those that the page asks for at its own address, in either language, too."""

    def icon() -> Response:
        return Response(ICON, media_type="image/svg+xml", headers=_DAY)

    def manifest() -> Response:
        return JSONResponse(MANIFEST, media_type="application/manifest+json", headers=_DAY)

    for prefix in ("", "/zh", "/en"):
        app.get(f"{prefix}/favicon.ico")(icon)
        app.get(f"{prefix}/manifest.json")(manifest)
