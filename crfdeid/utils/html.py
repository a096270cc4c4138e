"""Self-contained HTML pages: one file that loads nothing, in one style (base.css), light and dark, and on paper.

A page consists of three files of the same name: a Jinja template, which extends base.html, its additions to the style,
and its script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any


def render_page(
    templates: Traversable, name: str, *, filters: Mapping[str, Callable[..., Any]] | None = None, **parts: Any
) -> str:
    """Render a page from its template.

    The page's content security policy (base.html's ``css_hash`` and ``js_hash``) permits its own style and script only,
    so that no text of a note can run. Neither may contain ``</``.

    Args:
        templates: the folder with ``name.html``, ``name.css`` and ``name.js``.
        name: the name of the three files.
        filters: filters for the template besides Jinja's own.
        parts: variables for the template; text is escaped.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415  slow to import
    from markupsafe import Markup  # noqa: PLC0415

    def read(file: str) -> str:
        folder = files("crfdeid.utils") if file.startswith("base.") else templates
        return (folder / file).read_text(encoding="utf-8")

    css, js = read("base.css") + read(f"{name}.css"), read(f"{name}.js")
    environment = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters or {}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    template = environment.get_template(f"{name}.html")
    return template.render(**parts, css=Markup(css), js=Markup(js), css_hash=_hash(css), js_hash=_hash(js))


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
