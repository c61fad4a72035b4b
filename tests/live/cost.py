#!/usr/bin/env python3
"""What watching costs: the rate of a load with and without `ssdlab watch`, by each source.

One load runs on a loop device over memory. Slices with and without a watch follow each other, and
each slice with one is held against the slices before and after it, so that what else the machine
does falls out. Printed: the median of the ratios and its quartiles, processor time and memory of
the watch, lost events, and the kernel's own time in the eBPF programs.

Usage: cost.py SSDLAB [--pairs N] [--seconds S] [--source SOURCE]... [--depth N] [--check]
`--check` fails when a goal is missed. Needs root, fio, tracefs.
"""

import argparse
import json
import statistics
import sys
import time

import rig

# Share of the rate that a source may cost.
GOALS = {"counters": 0.002, "perf": 0.02, "ebpf": 0.02, "auto": 0.02}
MEMORY_MIB = 64
# s from the watch's begin to its steady state: programs are attached, the first second is over.
SETTLES = 2.0


def rate(loop, seconds):
    before, begun = loop.requests(), time.monotonic()
    time.sleep(seconds)
    return (loop.requests() - before) / (time.monotonic() - begun)


def measure(ssdlab, source, loop, args):
    ratios, rates, processor, memory, lost, uncounted, seen = [], [], [], [], 0, 0, []
    without = rate(loop, args.seconds)
    for _ in range(args.pairs):
        watch = rig.Watch(ssdlab, loop.path, "--source", source)
        time.sleep(SETTLES)
        cpu = watch.cpu_seconds()
        beside = rate(loop, args.seconds)
        processor.append((watch.cpu_seconds() - cpu) / args.seconds)
        memory.append(watch.memory_mib())
        document = watch.document()
        lost += document["lost_events"]
        uncounted += document["origin"]["uncounted"]
        seen.append(document["origin"]["share_seen"])
        after = rate(loop, args.seconds)
        ratios.append(beside / ((without + after) / 2))
        rates.append(beside)
        without = after
    quartiles = statistics.quantiles(ratios, n=4)
    return {
        "source": source,
        "rate": round(statistics.median(rates)),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_quartiles": [round(quartiles[0], 4), round(quartiles[2], 4)],
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
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--source", action="append", choices=list(GOALS))
    parser.add_argument("--depth", type=int, default=32)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    missed = []
    loop = rig.Loop(256 << 20, "/dev/shm")
    try:
        for source in args.source or list(GOALS):
            seconds = (args.pairs + 1) * (2 * args.seconds + SETTLES + 3) + 5
            load = rig.fio(loop.path, int(seconds), "--rw=randread", "--bs=4k",
                           f"--iodepth={args.depth}", "--ioengine=io_uring")
            time.sleep(2)
            row = measure(args.ssdlab, source, loop, args)
            load.terminate()
            load.wait()
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
