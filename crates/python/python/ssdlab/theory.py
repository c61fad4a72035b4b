"""Write amplification as theory has it, and the modelled drive held against it.

`alpha` is the physical pages in use over the logical pages: 1 + over-provisioning for a drive of
which nothing is reserved. Each law is a scalar function; its paper is in its text.

Examples
--------
>>> from ssdlab import theory
>>> round(theory.greedy(1.28, pages_per_block=256), 2)
2.46
>>> theory.random(1.28) > theory.fifo(1.28) > theory.greedy(1.28, pages_per_block=256)
True
"""

from __future__ import annotations

import json
import os
from typing import Optional

from . import _native
from ._progress import Progress, shown
from ._table import Table

__all__ = [
    "d_choices",
    "effective_alpha",
    "fifo",
    "fifo_hot_cold",
    "fifo_zipf",
    "greedy",
    "random",
    "suite",
]


def greedy(alpha: float, pages_per_block: int) -> float:
    """WAF when the block with the fewest valid pages is emptied, uniform load.

    W. Bux, I. Iliadis, "Performance of greedy garbage collection in flash-based solid-state
    drives" (2010).

    Parameters
    ----------
    alpha : float
        Physical / logical pages.
    pages_per_block : int
        Pages, or mapping units, of the block that is emptied.

    Returns
    -------
    float
        NAND bytes programmed / host bytes written; infinite when alpha is 1 or less.
    """
    return _native.greedy(alpha, pages_per_block)


def fifo(alpha: float) -> float:
    """WAF when the oldest block is emptied, uniform load: alpha / (alpha + W(-alpha e^-alpha)).

    L. Xiang, B. Kurkoski, "An improved analytic expression for write amplification in NAND flash"
    (2012); P. Desnoyers, "Analytic modeling of SSD write performance" (2012).

    Parameters
    ----------
    alpha : float
        Physical / logical pages.

    Returns
    -------
    float
    """
    return _native.fifo(alpha)


def random(alpha: float) -> float:
    """WAF when a random block is emptied, any load: alpha / (alpha - 1).

    Parameters
    ----------
    alpha : float
        Physical / logical pages.

    Returns
    -------
    float
    """
    return _native.random(alpha)


def d_choices(alpha: float, pages_per_block: int, d: int) -> float:
    """WAF when the emptiest of `d` random blocks is emptied, uniform load.

    B. Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based
    solid state drives" (2013).

    Parameters
    ----------
    alpha : float
        Physical / logical pages.
    pages_per_block : int
        Pages of a block.
    d : int
        Blocks drawn.

    Returns
    -------
    float
    """
    return _native.d_choices(alpha, pages_per_block, d)


def fifo_hot_cold(alpha: float, writes: float, pages: float) -> float:
    """WAF when the oldest block is emptied, hot and cold pages in one frontier.

    P. Desnoyers, "Analytic models of SSD write performance" (2014).

    Parameters
    ----------
    alpha : float
        Physical / logical pages.
    writes, pages : float
        Share of the writes that goes to a share of the pages: 0.8 and 0.2 for 80/20.

    Returns
    -------
    float
    """
    return _native.fifo_hot_cold(alpha, writes, pages)


def fifo_zipf(alpha: float, count: int, theta: float) -> float:
    """WAF when the oldest block is emptied, Zipf's law over `count` pages.

    Parameters
    ----------
    alpha : float
        Physical / logical pages.
    count : int
        Logical pages.
    theta : float
        Exponent: page i is written in proportion to i^-theta.

    Returns
    -------
    float
    """
    return _native.fifo_zipf(alpha, count, theta)


def effective_alpha(
    blocks: int,
    pages_per_block: int,
    logical_pages: int,
    *,
    waf: float,
    reserve: int,
    open: int = 1,
    separate: bool = True,
) -> float:
    """alpha of a drive of finite size: blocks kept free and open ones are not in use.

    Parameters
    ----------
    blocks, pages_per_block, logical_pages : int
        The drive.
    waf : float
        Write amplification: open blocks of relocated data fill up at its pace.
    reserve : int
        Blocks kept free.
    open : int, optional
        Open blocks of each stream.
    separate : bool, optional
        Whether host data and relocated data have blocks of their own.

    Returns
    -------
    float
    """
    return _native.effective_alpha(
        blocks, pages_per_block, logical_pages, reserve, open, separate, waf
    )


def suite(
    *, full: bool = False, threads: Optional[int] = None, progress: Progress = None
) -> Table:
    """Measure the modelled drive and hold it against the laws: `ssdlab theory`.

    Parameters
    ----------
    full : bool, optional
        The whole grid: minutes to an hour in place of a minute.
    threads : int, optional
        Drives at once. Default: all cores.
    progress : bool or callable, optional
        True draws a line. A function is called with the share that is done (0 to 1) and a text.

    Returns
    -------
    Table
        A row a case: `policy`, `load`, `op` (per cent), `np`, `alpha_eff`, `expected`, `measured`
        (WAF), `tolerance` and `ci` (both relative), `agrees`.
    """
    with shown(progress) as call:
        rows = json.loads(_native.suite(full, threads or os.cpu_count() or 1, call))
    for row in rows:
        row["agrees"] = abs(row["measured"] / row["expected"] - 1) <= row["tolerance"]
    return Table({name: [row[name] for row in rows] for name in rows[0]})
