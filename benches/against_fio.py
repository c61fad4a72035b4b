#!/usr/bin/env python3
"""Compares results and cost of the load generator with those of fio.

Runs fio and ours in turn, five pairs each, on one file, and prints the median ratio of IOPS (pair
by pair, so that a drifting machine or drive affects both alike) and the CPU time of each per I/O:
user and system time of the process and its threads, kernel workers included, over the commands
completed while counting. Then compares the null target with fio's null engine.

    cargo build --release
    benches/against_fio.py --file /path/on/the/drive/scratch [--engine libaio] [--size 1g]

The file is created, overwritten and removed. Needs fio and direct I/O.
"""

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

# With `registered`, fio does as ours always does: buffers and file are registered with the ring,
# and no fresh marks are put into every 512 bytes of a buffer. Without it, fio pays for both in CPU
# time, which affects IOPS if the storage is faster than the processor.
REGISTERED = "fixedbufs=1\nregisterfiles=1\nscramble_buffers=0\n"

JOBS = [
    ("4K random write, QD32", "randwrite", "4k", 32),
    ("4K random read, QD1", "randread", "4k", 1),
    ("128K sequential write, QD8", "write", "128k", 8),
]


def job_text(rw, bs, depth, engine, size, seconds, registered=False):
    random_map = "norandommap\n" if rw.startswith("rand") else ""
    return (
        f"[job]\nioengine={engine}\ndirect=1\nrw={rw}\nbs={bs}\niodepth={depth}\n"
        f"size={size}\ntime_based\nruntime={seconds}\n{random_map}"
        f"{REGISTERED if registered else ''}"
    )


def timed(command):
    """Runs a command; returns its standard output and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return out, cpu


def fio(job, extra):
    """IOPS, I/Os and CPU seconds of fio."""
    out, cpu = timed(["fio", "--output-format=json", *extra, job])
    sides = [json.loads(out[out.index("{"):])["jobs"][0][side] for side in ("read", "write")]
    return sum(s["iops"] for s in sides), sum(s["total_ios"] for s in sides), cpu


def ours(binary, job, target):
    """IOPS, I/Os and CPU seconds of ours: the whole process, its report included."""
    with tempfile.TemporaryDirectory() as directory:
        out, cpu = timed([
            binary, "run", job, "--target", target, "--overwrite", "--quiet", "--json",
            "--out", os.path.join(directory, "run"),
        ])
    result = json.loads(out)
    if result["ending"] != "complete":
        sys.exit(f"{binary}: {result['ending']}")
    ops = result["jobs"][0]["ops"]
    return sum(op["iops"] for op in ops), sum(op["count"] for op in ops), cpu


def compare(title, pairs, run_fio, run_ours):
    ratios, cpu = [], {"fio": [], "ours": []}
    for pair in range(pairs):
        runs = [("fio", run_fio), ("ours", run_ours)]
        # Whoever goes first finds the drive as the other left it: take turns.
        results = {name: run() for name, run in (runs if pair % 2 == 0 else runs[::-1])}
        ratios.append(results["ours"][0] / results["fio"][0])
        for name, (_, count, seconds) in results.items():
            cpu[name].append(seconds / count * 1e9)
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(
        f"{title:49} IOPS ours/fio {statistics.median(ratios):5.2f} ({spread}); CPU per I/O: "
        f"ours {statistics.median(cpu['ours']):7.0f} ns, fio {statistics.median(cpu['fio']):7.0f} ns",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", help="file to create on the drive (default: null target only)")
    parser.add_argument("--engine", default="io_uring", choices=["io_uring", "libaio"])
    parser.add_argument("--size", default="1g")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--binary", default="target/release/ssdlab")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "job.fio")

        def write(*job, registered=False):
            with open(path, "w", encoding="ascii") as file:
                file.write(job_text(*job, args.size, args.seconds, registered))

        if args.file:
            measure_file(args, path, write)
        for depth in (32, 1):
            write("randwrite", "4k", depth, "null")
            compare(
                f"null, 4K random write, QD{depth}",
                args.pairs,
                lambda: fio(path, []),
                lambda: ours(args.binary, path, f"null:{args.size}"),
            )


def measure_file(args, path, write):
    if os.path.exists(args.file):
        sys.exit(f"{args.file} exists")
    try:
        # Write every block first, for both.
        subprocess.run(
            ["fio", "--name=fill", f"--filename={args.file}", f"--size={args.size}", "--rw=write",
             "--bs=1m", "--direct=1", "--end_fsync=1", "--refill_buffers"],
            check=True, stdout=subprocess.DEVNULL,
        )
        variants = [False, True] if args.engine == "io_uring" else [False]
        for (title, rw, bs, depth), registered in itertools.product(JOBS, variants):
            write(rw, bs, depth, args.engine, registered=registered)
            how = ", registered" if registered else ""
            compare(
                f"{title} ({args.engine}{how})",
                args.pairs,
                lambda: fio(path, [f"--filename={args.file}"]),
                lambda: ours(args.binary, path, args.file),
            )
    finally:
        if os.path.exists(args.file):
            os.remove(args.file)


if __name__ == "__main__":
    main()
