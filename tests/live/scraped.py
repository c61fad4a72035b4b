"""What a Prometheus has of `ssdlab watch`: series, an alert that names the cause, and data for each
expression of the dashboard.

    python3 scraped.py URL DASHBOARD DEVICE
"""

import json
import sys
import time
import urllib.parse
import urllib.request

server, dashboard, device = sys.argv[1:4]
# A loop device has no thermometer.
ABSENT = {"ssdlab_watch_temperature_celsius"}


def ask(path, **parameters):
    url = f"{server}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)["data"]


def until(what, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            found = condition()
        except OSError:
            found = None
        if found:
            print(f"ok: {what}")
            return found
        time.sleep(1)
    sys.exit(f"FAILED: {what}")


def query(expression):
    return ask("query", query=expression)["result"]


until("Prometheus scrapes it", lambda: query('up{job="ssdlab"} == 1'))
flushes = f'ssdlab_watch_requests_total{{device="{device}",kind="flush"}} > 100'
until("requests arrive", lambda: query(flushes))
kinds = ask("metadata")
expected = {
    "ssdlab_watch_request_seconds": "histogram",
    "ssdlab_watch_requests": "counter",
    "ssdlab_watch_stalls": "counter",
    "ssdlab_watch_cause": "gauge",
}
for name, kind in expected.items():
    entry = kinds.get(name) or kinds.get(f"{name}_total")
    assert entry and entry[0]["type"] == kind and entry[0]["help"], (name, entry)
print("ok: types and help arrive")


def firing():
    alerts = ask("alerts")["alerts"]
    return [a for a in alerts if a["state"] == "firing" and "cause" in a["labels"]]


alerts = until("an alert fires", firing)
named = [a for a in alerts if "volatile buffer" in a["annotations"]["summary"]]
assert named and device in named[0]["annotations"]["summary"], alerts
print(f"ok: it names the cause: {named[0]['annotations']['summary']}")

with open(dashboard) as file:
    panels = json.load(file)["panels"]
numbers = [panel["id"] for panel in panels]
assert len(set(numbers)) == len(numbers), numbers
shown = 0
for panel in panels:
    for target in panel["targets"]:
        expression = target["expr"].replace("$device", ".*").replace("$__rate_interval", "10s")
        if any(name in expression for name in ABSENT):
            continue
        result = until(f"dashboard: {panel['title']}", lambda: query(expression))
        labels = set().union(*(series["metric"] for series in result))
        wanted = {part.split("}}")[0] for part in target["legendFormat"].split("{{")[1:]}
        assert wanted <= labels, (expression, wanted - labels)
        shown += 1
assert shown >= 9, shown
variable = ask("label/device/values")
assert device in variable, variable
