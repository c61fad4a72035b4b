"""Reads dashboards by the types that Grafana generates from its own schemas (11.6): what these do not
know is lost on the way, and is an error.

    python3 grafana.py DASHBOARD.json...
"""

import json
import sys

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard


def lost(given, read, place):
    """Places of a dashboard that are not the same once it was read."""
    if isinstance(given, dict) and isinstance(read, dict):
        for key, value in given.items():
            yield from lost(value, read.get(key), f"{place}.{key}")
    elif isinstance(given, list) and isinstance(read, list) and len(given) == len(read):
        for number, (value, other) in enumerate(zip(given, read)):
            yield from lost(value, other, f"{place}[{number}]")
    elif given != read:
        yield f"{place}: {given!r} is read as {read!r}"


register_default_plugins()
failed = False
for path in sys.argv[1:]:
    with open(path) as file:
        given = json.load(file)
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(given)))
    places = list(lost(given, read, "dashboard"))
    failed = failed or bool(places) or not given["panels"]
    print(f"{path}: {len(given['panels'])} panels", *places, sep="\n  ")
sys.exit(failed)
