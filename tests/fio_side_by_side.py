#!/usr/bin/env python3
"""Ten and more of fio's own example files, by fio and by ssdlab: the same commands?

Usage: fio_side_by_side.py EXAMPLES FIO_COMMANDS, a directory with fio's examples and the built
example program `fio_commands`. Each file is shortened by the edits listed here, alike for both; fio
runs it with its null engine, which needs no drive, and logs its commands (write_iolog). Compared are
the number of commands and bytes of each job; the order, where the job is sequential; the
blocks, where a random job visits each once. Where rates, pauses or shares bound a job rather than a
drive, the IOPS of fio over those of ssdlab on a modelled drive are compared, too.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from fio_jobs import NO_TIME, edited, logged, with_lines

SMALL = (r"(?m)^size=.*$", "size=16m")

# File, edits (pattern and what takes its place), what is compared: "order", "blocks" or "count" for
# each kind of job, and "iops" or "share" for those that a rate bounds.
CASES = [
    ("backwards-read", [SMALL], "order"),
    ("fio-seq-read", [NO_TIME, SMALL], "order"),
    ("fio-seq-write", [NO_TIME, SMALL], "order"),
    ("disk-zone-profile", [(r"zoneskip=2g", "zoneskip=2g\nsize=8g")], "order"),
    ("cross-stripe-verify",
     [(r"io_size=120g", "io_size=8m\nfilesize=4g"), (r"offset_increment=124g", "offset_increment=1g"),
      (r"numjobs=30", "numjobs=1")], "order"),
    ("surface-scan", [(r"fill_device=1", "size=8m"), (r"create_serialize=0", "size=8m")], "order"),
    ("ssd-test", [NO_TIME, SMALL], "order"),
    ("aio-read", [], "blocks"),
    ("basic-verify", [(r"bs=4k", "bs=4k\nsize=4m\niodepth=1"), (r"(?m)^iodepth=16$", "")], "blocks"),
    ("fio-rand-read", [NO_TIME, SMALL], "count"),
    ("fio-rand-write", [NO_TIME, SMALL], "count"),
    ("fio-rand-RW", [NO_TIME, SMALL], "count"),
    ("fio-seq-RW", [NO_TIME, SMALL], "count"),
    ("zipf", [SMALL], "count"),
    ("rand-zones", [SMALL], "count"),
    ("tiobench-example", [NO_TIME, SMALL], "count"),
    # With its null engine and io_submit_mode=offload, fio 3.33 does not end.
    ("fixed-rate-submission", [(r"size=128m", "size=12m"), (r"io_submit_mode=offload", "")], "iops"),
    # Not poisson-rate-submission: with its null engine, fio draws two gaps for each command.
    ("flow", [(r"size=100g", "size=1g"), (r"runtime=30", "runtime=2")], "share"),
]


def sections(text):
    return [name for name in re.findall(r"(?m)^\[(.*)\]", text) if name != "global"]


def by_fio(text, directory, logs):
    """Commands by job, and the JSON of the run."""
    # Deeper, fio logs a command again whenever its queue was full.
    log = lambda name: f"ioengine=null\nname={name}" + (
        f"\niodepth=1\nwrite_iolog={name}.iolog" if logs else "")
    with open(os.path.join(directory, "fio.fio"), "w") as job:
        job.write(with_lines(text, log))
    run = subprocess.run(["timeout", "-s", "KILL", "60", "fio", "--output-format=json", "fio.fio"],
                         cwd=directory, capture_output=True, text=True)
    if run.returncode or "{" not in run.stdout:
        sys.exit(f"fio: {run.stdout}{run.stderr}")
    result = json.loads(run.stdout[run.stdout.index("{"):])
    commands = defaultdict(list)
    for name in sections(text):
        # All copies of a job write into one log.
        if logs:
            commands[name] = logged(os.path.join(directory, f"{name}.iolog"))
    return commands, result


def by_ssdlab(program, text, directory, what):
    path = os.path.join(directory, "ssdlab.fio")
    with open(path, "w") as job:
        job.write(with_lines(text, lambda name: f"ioengine=null\nname={name}"))
    run = subprocess.run([program, what, path], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{run.stderr}")
    return [line.split() for line in run.stdout.splitlines()]


def start(commands):
    """Commands with offsets from the lowest: files of a job lie one after another in ssdlab."""
    lowest = min(offset for _, offset, _ in commands)
    return [(kind, offset - lowest, length) for kind, offset, length in commands]


def commands_agree(name, how, theirs, ours):
    failures = []
    if set(theirs) != set(ours):
        return [f"jobs differ: {sorted(theirs)} and {sorted(ours)}"]
    for key in theirs:
        a, b = start(theirs[key]), start(ours[key])
        sizes = [(len(c), sum(length for _, _, length in c)) for c in (a, b)]
        if sizes[0] != sizes[1]:
            failures.append(f"{key}: fio {sizes[0]}, ssdlab {sizes[1]} (commands, bytes)")
        random = how != "order" or "rand" in key
        if not random and a != b:
            at = next(n for n, pair in enumerate(zip(a, b)) if pair[0] != pair[1])
            failures.append(f"{key}: command {at} is {a[at]} in fio, {b[at]} in ssdlab")
        if how == "blocks" and sorted(a) != sorted(b):
            failures.append(f"{key}: the blocks differ")
    return failures


def counts_agree(result, ours):
    theirs = defaultdict(lambda: [0, 0])
    for job in result["jobs"]:
        for side in ("read", "write", "trim"):
            theirs[job["jobname"]][0] += job[side]["total_ios"]
            theirs[job["jobname"]][1] += job[side]["io_bytes"]
    sums = {job: [len(c), sum(length for _, _, length in c)] for job, c in ours.items()}
    return [] if sums == dict(theirs) else [f"fio {dict(theirs)}, ssdlab {sums} (commands, bytes)"]


def rates_agree(result, ours, how):
    """Ratios of ours to fio's by job, in words, and what is wrong."""
    rates, failures = {}, []
    for job in result["jobs"]:
        mine = ours[job["jobname"]]
        count = sum(job[side]["total_ios"] for side in ("read", "write", "trim"))
        total = sum(map(int, mine[:3]))
        seconds = job["job_runtime"] / 1000
        rates[job["jobname"]] = (count / seconds, total / float(mine[4]))
        if how == "iops" and count != total:
            failures.append(f"{count} commands by fio, {total} by ssdlab")
    if how == "share":
        sums = [sum(rate[side] for rate in rates.values()) for side in (0, 1)]
        rates = {job: (a / sums[0], b / sums[1]) for job, (a, b) in rates.items()}
    ratios = {job: b / a for job, (a, b) in rates.items()}
    words = ", ".join(f"{how} ratio {ratio:.3f}" for ratio in ratios.values())
    failures += [f"{job}: {r:.3f}" for job, r in ratios.items() if not 0.9 <= r <= 1.1]
    return words, failures


def compared(name, text, how, program):
    """The result in words, and what is wrong."""
    with tempfile.TemporaryDirectory() as directory:
        theirs, result = by_fio(text, directory, how in ("order", "blocks"))
        if how in ("iops", "share"):
            lines = by_ssdlab(program, text, directory, "run")
            return rates_agree(result, {line[0]: line[1:] for line in lines}, how)
        ours = defaultdict(list)
        for job, _, kind, offset, length in by_ssdlab(program, text, directory, "list"):
            ours[job].append((kind, int(offset), int(length)))
        if how == "count":
            failures = counts_agree(result, ours)
        else:
            failures = commands_agree(name, how, theirs, ours)
        return f"{sum(map(len, ours.values()))} commands, {how}", failures


def main():
    examples, program = sys.argv[1:]
    program = os.path.abspath(program)
    failed = 0
    for name, edits, how in CASES:
        with open(os.path.join(examples, name + ".fio")) as file:
            text = edited(file.read(), edits, "ioengine|directory")
        # fio's shares are those of two threads, one of which a busy machine may hold up.
        for _ in range(4 if how == "share" else 1):
            words, failures = compared(name, text, how, program)
            if not failures:
                break
        print("FAILED" if failures else "ok    ", f"{name}: {words}", *failures[:3], flush=True)
        failed += bool(failures)
    print(f"{len(CASES) - failed} of {len(CASES)} files alike")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
