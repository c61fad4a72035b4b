"""Recomputes the SNIA suite of `ssdlab snia` from the text of rounds.csv: steady state, the round in
which each test ended, its points, and the rules of the tests that have no steady state. Exact
fractions, and the normal equations of the least-squares line; nothing of the program is used.
Usage: python3 snia.py DIRECTORY ..."""

import csv
import json
import sys
from collections import Counter
from fractions import Fraction

SIZES = {str(kib * 1024) for kib in (1024, 128, 64, 32, 16, 8, 4)} | {"512"}
MIXES = {"100", "95", "65", "50", "35", "5", "0"}
DEMANDS = (32, 16, 8, 6, 4, 2, 1)
DEMAND = {"enterprise": (4, 32), "client": (2, 16)}
# Of which rows a variable is tracked: part, per cent of reads, bytes, demand ("": that of the class).
TRACKED = {
    "iops": [("round", 0, 4096, ""), ("round", 65, 65536, ""), ("round", 100, 1 << 20, "")],
    "throughput": [("round-1024k", 0, 1 << 20, (1, 32)), ("round-128k", 0, 131072, (1, 32))],
    "latency": [("round", 0, 4096, (1, 1))],
    "write-saturation": [("minute", 0, 4096, "")],
    "host-idle-recovery": [("precondition", 0, 4096, "")],
    "cross-stimulus-recovery": [],
    "composite": [("precondition", 0, "", (32, 32)), ("round", 40, "", (32, 32))],
    "demand-intensity": [("precondition", 0, 8192, (32, 32)), ("round", 65, 8192, (32, 32))],
}
COLUMN = {"throughput": "bytes_per_second", "latency": "mean_ns"}


def line(y):
    """Average, range and slope of five values, by the normal equations over x = 1 .. 5."""
    n, sum_x, sum_xx = 5, 15, 55
    sum_y, sum_xy = sum(y), sum(x * v for x, v in zip(range(1, 6), y))
    slope = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x)
    return sum_y / n, max(y) - min(y), slope


def steady(y):
    average, width, slope = line(y)
    return average > 0 and width <= average / 5 and abs(slope) * 4 <= average / 10


def near(found, expected, scale=None):
    return abs(Fraction(found) - expected) <= (scale or abs(expected) or 1) / 10**9


def tracked(name, rows, test, kind, apart=1):
    """The variables of one part: first window in which all are steady, else the last one."""
    for part in dict.fromkeys(one["part"] for one in test["tracked"]):
        variables = [one for one in test["tracked"] if one["part"] == part]
        expected = [t for t in TRACKED[name] if t[0] == part]
        assert len(variables) == len(expected), (name, part)
        values = []
        for one, (_, mix, block, demand) in zip(variables, expected):
            threads, depth = demand or DEMAND[kind]
            assert one["column"] == COLUMN.get(name, "iops"), one
            of = [Fraction(row[one["column"]]) for row in rows
                  if row["part"] == part and row["read_pct"] == str(mix)
                  and row["block_bytes"] == str(block)
                  and (row["threads"], row["depth"]) == (str(threads), str(depth))]
            values.append(of[::apart])
        rounds = len(values[0])
        assert all(len(v) == rounds for v in values) and rounds <= (25 if apart == 1 else 48)
        windows = range(rounds - 4)
        all_steady = [at for at in windows if all(steady(v[at:at + 5]) for v in values)]
        start = all_steady[0] if all_steady else rounds - 5
        if apart == 1:  # ended with the first window, or after 25 rounds
            assert start + 5 == rounds if all_steady else rounds == 25, (name, part, rounds)
        for one, v in zip(variables, values):
            window = v[start:start + 5]
            average, width, slope = line(window)
            said = one["steady"]
            assert said["window_start"] == start, (name, one["name"])
            assert [Fraction(x) for x in said["window"]] == window, (name, one["name"])
            assert near(said["average"], average), (name, one["name"])
            assert near(said["range_share"], width / average, 1), (name, one["name"])
            assert near(said["slope"], slope, average), (name, one["name"])
            assert near(said["excursion_share"], abs(slope) * 4 / average, 1), (name, one["name"])
            assert said["attained"] == steady(window), (name, one["name"])
        yield part, rounds, bool(all_steady)


def points(name, rows, found):
    """Every round has the points of the specification."""
    per_round = {"iops": 56, "throughput": 2, "latency": 9, "composite": 49, "demand-intensity": 49}
    for part, rounds, _ in found:
        if name in per_round and part != "precondition":
            counts = Counter(row["round"] for row in rows if row["part"] == part)
            assert counts == {str(r + 1): per_round[name] for r in range(rounds)}, (name, counts)
    first = [row for row in rows if row["part"] == "round" and row["round"] == "1"]
    if name == "iops":
        pairs = {(row["read_pct"], row["block_bytes"]) for row in first}
        assert pairs == {(mix, size) for mix in MIXES for size in SIZES}
    if name in ("composite", "demand-intensity"):
        pairs = {(int(row["threads"]), int(row["depth"])) for row in first}
        assert pairs == {(threads, depth) for threads in DEMANDS for depth in DEMANDS}


def write_saturation(rows, test, suite, found):
    capacity = suite["facts"]["capacity"]
    written = [int(row["bytes"]) for row in rows]
    ended_by_bytes = sum(written) >= 4 * capacity
    assert sum(written[:-1]) < 4 * capacity and len(rows) <= 24 * 60
    (_, samples, attained), = found
    assert ended_by_bytes or attained or len(rows) == 24 * 60
    if attained:  # no earlier, no later than the fifth sample of the window
        assert len(rows) == 30 * (samples - 1) + 1
    assert f"{sum(written) / capacity:.2f} capacities" in test["notes"][0], test["notes"][0]


def host_idle_recovery(rows):
    counts = Counter(row["part"] for row in rows if row["part"] != "precondition")
    parts = [f"{kind}{s}s" for s in (5, 10, 15, 25, 50) for kind in ("wait-", "baseline-after-")]
    assert counts == {part: 360 for part in parts}, counts


def cross_stimulus_recovery(rows, test, reduction):
    groups = {}
    for row in rows:
        groups.setdefault(row["part"], []).append(row)
    first, random, last = groups.values()
    hours = [float(sum(Fraction(r["length_s"]) for r in g)) * reduction / 3600
             for g in (first, random, last)]
    for length, expected in zip(hours, (8, 6, 8)):
        sample = float(Fraction(first[0]["length_s"])) * reduction / 3600
        assert abs(length - expected) <= sample, hours
    assert {(r["block_bytes"], r["read_pct"]) for r in first + last} == {("1048576", "0")}
    assert {(r["block_bytes"], r["read_pct"]) for r in random} == {("8192", "0")}
    rates = [[Fraction(r["bytes_per_second"]) for r in g] for g in (first, last)]
    mean = sum(rates[0]) / len(rates[0])
    back = next((at + 1 for at, rate in enumerate(rates[1]) if rate >= mean * 95 / 100), None)
    sample_s = max(1, int(60 / reduction))
    said = (f"within {float(back * sample_s * reduction / 60):.1f} minutes" if back else "did not come back")
    assert any(said in note for note in test["notes"]), (said, test["notes"])


def chosen_demands(name, rows, test):
    """Max, mid and min: the demands whose response times are shown."""
    of = [row for row in rows if row["part"] == "round"]
    last = max(int(row["round"]) for row in of)
    of = [row for row in of if int(row["round"]) == last]
    iops = {(int(r["threads"]), int(r["depth"])): Fraction(r["iops"]) for r in of}
    quick = {(int(r["threads"]), int(r["depth"])) for r in of if Fraction(r["mean_ns"]) < 5_000_000}
    most = max(iops[demand] for demand in quick)
    middle = (most + iops[1, 1]) / 2
    nearest = min(abs(iops[demand] - middle) for demand in quick)
    shown = [(h["row"]["threads"], h["row"]["depth"]) for h in test["histograms"]]
    assert len(shown) == 3 and set(shown[:2]) <= quick and shown[2] == (1, 1), (name, shown)
    assert iops[shown[0]] == most and abs(iops[shown[1]] - middle) == nearest, (name, shown)


def histograms(test):
    for one in test["histograms"]:
        total = one["row"]["read_count"] + one["row"]["write_count"]
        assert sum(count for _, count in one["buckets"]) == total, one["title"]
        values = [ns for _, ns in one["percentiles_ns"]] + [one["row"]["max_ns"]]
        assert values == sorted(values), one["title"]


def rates(rows):
    for row in rows:
        length = Fraction(row["length_s"])
        count = int(row["read_count"]) + int(row["write_count"])
        assert near(row["iops"], count / length), row
        assert near(row["bytes_per_second"], int(row["bytes"]) / length), row


def one_test(name, rows, test, suite):
    assert test["complete"] and not test["failures"] and rows, name
    rates(rows)
    histograms(test)
    apart = 30 if name == "write-saturation" else 1
    found = list(tracked(name, rows, test, suite["class"], apart))
    assert len(test["tracked"]) == len(TRACKED[name]), name
    points(name, rows, found)
    if name == "write-saturation":
        write_saturation(rows, test, suite, found)
    elif name == "host-idle-recovery":
        host_idle_recovery(rows)
    elif name == "cross-stimulus-recovery":
        cross_stimulus_recovery(rows, test, suite["reduction"])
    elif name in ("composite", "demand-intensity"):
        chosen_demands(name, rows, test)


def canary(name, rows, test, suite):
    """With one value of the window changed, and the rest consistent, the check fails."""
    part = test["tracked"][-1]["part"]
    rows = [dict(row) for row in rows]
    last = max(int(row["round"]) for row in rows if row["part"] == part)
    last -= (last - 1) % 30 if name == "write-saturation" else 0
    for row in (row for row in rows if row["part"] == part and row["round"] == str(last)):
        for column in ("length_s", "iops", "bytes_per_second", "mean_ns"):
            factor = Fraction(1, 2) if column in ("iops", "bytes_per_second") else 2
            row[column] = str(Fraction(row[column]) * factor)
    try:
        one_test(name, rows, test, suite)
    except AssertionError:
        return
    raise SystemExit(f"{name}: a changed round was not noticed")


def main(directory):
    with open(f"{directory}/rounds.csv") as file:
        all_rows = list(csv.DictReader(file))
    with open(f"{directory}/snia.json") as file:
        suite = json.load(file, parse_float=Fraction)  # the digits, as in the CSV
    names = [test["test"].replace("_", "-") for test in suite["tests"]]
    assert names == list(TRACKED), names
    for name, test in zip(names, suite["tests"]):
        rows = [row for row in all_rows if row["test"] == name]
        one_test(name, rows, test, suite)
        if test["tracked"]:
            canary(name, rows, test, suite)
        with open(f"{directory}/{name}.html") as page:
            assert "Test - Report Page" in page.read(), name
    print(f"{directory}: eight tests, {len(all_rows)} points")


for given in sys.argv[1:]:
    main(given)
