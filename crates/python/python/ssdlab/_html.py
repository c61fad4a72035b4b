"""Pages in notebooks."""

from __future__ import annotations

from html import escape


def frame(page: str, height_px: int = 640) -> str:
    """A whole page inside a notebook: its styles and scripts stay its own."""
    source = escape(page, quote=True)
    style = f"width:100%;height:{height_px}px;border:0"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{source}"></iframe>'
