"""A software SSD, a lab that judges SSDs, and a crash disk for tests.

The same calls as the command line `ssdlab` makes, on the same models: for the same drive, load and
seed, both give the same numbers.

Examples
--------
>>> import ssdlab
>>> life = ssdlab.simulate("intel-320-40gb", block="8k", used_pct=1, until="0.1x")
>>> print(f"{life.waf:.2f}")
1.00
"""

from . import theory
from ._crash import BrokenPromise, Failure, crash_test
from ._drives import Drive, Parameter, create, drives, settings_help
from ._errors import Error, PowerLost
from ._life import Life, life
from ._native import CrashDisk, Report, __version__
from ._qualify import Finding, Mechanism, Qualification, qualify
from ._serve import PowerStatus, Served, serve
from ._simulate import Erases, Latency, Placement, Simulation, Work, simulate
from ._sweep import Sweep, grid, point, sweep
from ._table import Table, table
from ._trace import Trace, convert_trace, trace

__all__ = [
    "BrokenPromise",
    "CrashDisk",
    "Drive",
    "Erases",
    "Error",
    "Failure",
    "Finding",
    "Latency",
    "Life",
    "Mechanism",
    "Parameter",
    "Placement",
    "PowerLost",
    "PowerStatus",
    "Qualification",
    "Report",
    "Served",
    "Simulation",
    "Sweep",
    "Table",
    "Trace",
    "Work",
    "__version__",
    "convert_trace",
    "crash_test",
    "create",
    "drives",
    "grid",
    "life",
    "point",
    "qualify",
    "serve",
    "settings_help",
    "simulate",
    "sweep",
    "table",
    "theory",
    "trace",
]
