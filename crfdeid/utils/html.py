"""Texts from Jinja templates: Markdown, and self-contained HTML pages, in one style (base.css), also on paper.

A page consists of three files of the same name: a Jinja template, which extends base.html, its additions to the style,
and its script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template


def render_page(
    templates: Traversable, name: str, *, filters: Mapping[str, Callable[..., Any]] | None = None, **parts: Any
) -> str:
    """Render a page, one file that loads nothing, from its template.

    The page's content security policy (base.html's ``css_hash`` and ``js_hash``) permits its own style and script only,
    so that no text of a note can run. Neither may contain ``</``.

    Args:
        templates: the folder with ``name.html``, ``name.css`` and ``name.js``.
        name: the name of the three files.
        filters: filters for the template besides Jinja's own.
        parts: variables for the template; text is escaped.
    """
    from markupsafe import Markup  # noqa: PLC0415  slow to import

    css, js = _read(templates, "base.css") + _read(templates, f"{name}.css"), _read(templates, f"{name}.js")
    template = _template(templates, f"{name}.html", filters, escape=True)
    return template.render(**parts, css=Markup(css), js=Markup(js), css_hash=_hash(css), js_hash=_hash(js))


def render_markdown(
    templates: Traversable, name: str, *, filters: Mapping[str, Callable[..., Any]] | None = None, **parts: Any
) -> str:
    """Render Markdown from its template, ``name.md``; arguments are those of `render_page`, and nothing is escaped."""
    return _template(templates, f"{name}.md", filters, escape=False).render(**parts).rstrip("\n")


def _template(
    templates: Traversable, file: str, filters: Mapping[str, Callable[..., Any]] | None, *, escape: bool
) -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415  slow to import

    environment = Environment(
        loader=FunctionLoader(lambda name: _read(templates, name)),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters or {}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment.get_template(file)


def _read(templates: Traversable, file: str) -> str:
    folder = files("crfdeid.utils") if file.startswith("base.") else templates
    return (folder / file).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
