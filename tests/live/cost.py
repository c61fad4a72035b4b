#!/usr/bin/env python3
"""What watching costs a load, by each source.

One load reads from a loop device over memory, as fast as one thread can. Slices with and without a
watch follow each other, and each slice with one is held against the slices before and after it.
`ratio` is that of the rates which the fastest requests would give (the 5th percentile of their
time): a watch costs every request the same, what else the machine does makes others longer. `rates` is the ratio of requests per
second, which on a shared machine says little. Both are medians of all pairs, with quartiles.

Usage: cost.py SSDLAB [--pairs N] [--seconds S] [--source SOURCE]... [--check]
`--check` fails when a goal is missed. Needs root, fio, tracefs.
"""

import argparse
import json
import statistics
import sys
import time

import rig

# Share of the rate that a source may cost.
GOALS = {"counters": 0.002, "perf": 0.02, "ebpf": 0.02, "histograms": 0.02, "auto": 0.02}
# Histograms alone: without tracefs no request is seen singly.
HIDDEN = ("unshare", "-m", "sh", "-c",
          "umount -l /sys/kernel/debug 2>/dev/null; umount -l /sys/kernel/tracing; exec \"$@\"",
          "sh")
MEMORY_MIB = 64
# s until programs are attached; the load then runs for two seconds before it is measured, so that
# the watch has seen its rate.
SETTLES = 1.0


def slice_of(loop, seconds):
    """Time of a request, ns, and requests a second."""
    result = rig.run("nice", "-n", "-19", "fio", "--name=load", f"--filename={loop.path}",
                     "--direct=1", "--ioengine=psync", "--thread", "--rw=randread", "--bs=4k",
                     "--time_based", "--ramp_time=2", f"--runtime={seconds}",
                     "--percentile_list=5:50", "--output-format=json")
    read = json.loads(result.stdout)["jobs"][0]["read"]
    return read["clat_ns"]["percentile"]["5.000000"], read["iops"]


def spread(values):
    quartiles = statistics.quantiles(values, n=4)
    return [round(value, 4) for value in (statistics.median(values), quartiles[0], quartiles[2])]


def measure(ssdlab, source, loop, args):
    ratios, rates, processor, memory, lost, uncounted, seen = [], [], [], [], 0, 0, []
    times, speeds = [], []
    without = slice_of(loop, args.seconds)
    for _ in range(args.pairs):
        if source == "histograms":
            watch = rig.Watch(ssdlab, loop.path, "--source", "ebpf", prefix=HIDDEN)
        else:
            watch = rig.Watch(ssdlab, loop.path, "--source", source)
        time.sleep(SETTLES)
        cpu, begun = watch.cpu_seconds(), time.monotonic()
        beside = slice_of(loop, args.seconds)
        processor.append((watch.cpu_seconds() - cpu) / (time.monotonic() - begun))
        memory.append(watch.memory_mib())
        document = watch.document()
        lost += document["lost_events"]
        uncounted += document["origin"]["uncounted"]
        seen.append(document["origin"]["share_seen"])
        after = slice_of(loop, args.seconds)
        ratios.append((without[0] + after[0]) / 2 / beside[0])
        rates.append(beside[1] / ((without[1] + after[1]) / 2))
        times.append((without[0], beside[0]))
        speeds.append(beside[1])
        without = after
    ratio, low, high = spread(ratios)
    return {
        "source": source,
        "ratio": ratio,
        "ratio_quartiles": [low, high],
        "request_ns": [round(statistics.median(column)) for column in zip(*times)],
        "rates": spread(rates),
        "rate": round(statistics.median(speeds)),
        "processor": round(statistics.median(processor), 4),
        "memory_mib": round(max(memory), 1),
        "lost_events": lost,
        "uncounted": uncounted,
        "share_seen": round(statistics.median(seen), 4),
        "pairs": args.pairs,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ssdlab")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--source", action="append", choices=list(GOALS))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    missed = []
    loop = rig.Loop(256 << 20, "/dev/shm")
    try:
        for source in args.source or list(GOALS):
            row = measure(args.ssdlab, source, loop, args)
            print(json.dumps(row), flush=True)
            if row["ratio"] < 1 - GOALS[source]:
                missed.append(f"{source}: {1 - row['ratio']:.2%} of the rate")
            if row["memory_mib"] > MEMORY_MIB:
                missed.append(f"{source}: {row['memory_mib']} MiB")
    finally:
        loop.end()
    for goal in missed:
        print(f"missed: {goal}", file=sys.stderr)
    return 1 if missed and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
