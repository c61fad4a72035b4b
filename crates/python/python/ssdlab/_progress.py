"""Progress of long calls, on a terminal and in notebooks."""

from __future__ import annotations

import sys
import time
from typing import Callable, Optional, TextIO, Union

Call = Callable[[float, str], object]
Progress = Union[bool, Call, None]

_WIDTH = 24


class Bar:
    """A line that is drawn over itself: `[######      ]  50% load WAF 2.31`."""

    def __init__(self, out: Optional[TextIO] = None) -> None:
        self._out = out or sys.stderr
        self._drawn_s = 0.0
        self._length = 0

    def __call__(self, done: float, text: str) -> None:
        now_s = time.monotonic()
        if done < 1.0 and now_s - self._drawn_s < 0.1:
            return
        self._drawn_s = now_s
        filled = "#" * round(_WIDTH * min(max(done, 0.0), 1.0))
        line = f"[{filled:{_WIDTH}}] {done:4.0%} {text}"
        self._out.write("\r" + line.ljust(self._length))
        self._length = len(line)
        self._out.flush()

    def end(self) -> None:
        """End the line."""
        if self._length:
            self._out.write("\n")
            self._out.flush()


class shown:
    """A progress function for as long as a `with` block lasts."""

    def __init__(self, progress: Progress) -> None:
        self._bar = Bar() if progress is True else None
        self._call = None if isinstance(progress, bool) else progress

    def __enter__(self) -> Optional[Call]:
        return self._bar or self._call

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.end()
