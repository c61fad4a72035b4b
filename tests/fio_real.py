#!/usr/bin/env python3
"""Ten of fio's own example files, by fio and by ssdlab on the same real file: alike?

Usage: fio_real.py EXAMPLES SSDLAB [DIRECTORY], a directory with fio's examples, the ssdlab program,
and where the file of 64 MiB is made (the current directory). Each job file is shortened by the
edits listed here, alike for both, and all its jobs use that one file with direct I/O. Compared are
commands and bytes of each job; the order of sequential jobs, command by command: fio's write_iolog
against ssdlab's own log of each command (write_lat_log with log_offset=1); the blocks, where a
random job visits each once; and the IOPS, ssdlab's over fio's within 0.9 to 1.1, where a rate
bounds them rather than the disk. ssdlab runs each file twice: as it is, and as the command line that
`fio --showcmd` makes of it, after `ssdlab run --`.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from fio_jobs import KINDS, NO_TIME, edited, logged, with_lines

SMALL = (r"(?m)^size=.*$", "size=8m")
FILE_BYTES = 64 << 20
# Written for both below.
OURS = "directory|filename|direct|buffered|write_bw_log|log_offset"


def rated(words):
    """Two seconds, bounded by the words."""
    return [NO_TIME, (r"(?m)^size=.*$", "size=8m\ntime_based\nruntime=2\n" + words)]


# File, edits (pattern and what takes its place), what is compared: "order", "blocks" or "iops".
CASES = [
    ("fio-seq-read", [NO_TIME, SMALL], "order"),
    ("fio-seq-write", [NO_TIME, SMALL], "order"),
    ("backwards-read", [(r"size=128m", "size=8m")], "order"),
    ("ssd-test", [NO_TIME, (r"size=10g", "size=2m")], "order"),
    ("surface-scan",
     [(r"fill_device=1", "size=8m"), (r"create_serialize=0", "size=8m")], "order"),
    ("cross-stripe-verify",
     [(r"io_size=120g", "io_size=1m\nfilesize=32m"), (r"offset_increment=124g", ""),
      (r"numjobs=30", "numjobs=1")], "order"),
    ("disk-zone-profile",
     [(r"zonesize=256m", "zonesize=256k"), (r"zoneskip=2g", "zoneskip=1m\nsize=64m\nio_size=8m")],
     "order"),
    ("aio-read", [(r"size=512m", "size=8m")], "blocks"),
    # Without io_submit_mode=offload, which only says from which thread fio submits.
    ("fixed-rate-submission", [(r"size=128m", "size=8m"), (r"io_submit_mode=offload", "")], "iops"),
    ("fio-rand-RW", rated("rate_iops=60,40"), "iops"),
]


def write_job(directory, text):
    with open(os.path.join(directory, "job.fio"), "w") as job:
        job.write(text)


def command_line(directory, text):
    """The words of fio's command line for a file. On it each --name begins a job: a `name` option
    in a section, which only names one in a file, would make jobs of their own, without a size."""
    write_job(directory, re.sub(r"(?m)^name=.*$", "", text))
    shown = subprocess.run(["fio", "--showcmd", "job.fio"], cwd=directory, capture_output=True,
                           text=True)
    if shown.returncode:
        sys.exit(f"fio --showcmd: {text}\n{shown.stderr}")
    return shlex.split(shown.stdout)


def run(command, directory, text):
    write_job(directory, text)
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=60)
    if done.returncode or "{" not in done.stdout:
        sys.exit(f"{command[0]}: {text}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout[done.stdout.index("{"):])


def by_fio(text, target, directory, how):
    # With an order, one command at a time: fio logs a command again whenever its queue was full.
    log = "" if how == "iops" else "\nioengine=psync\niodepth=1\nwrite_iolog={0}.iolog"
    lines = lambda name: f"name={name}\nfilename={target}\ndirect=1" + log.format(name)
    result = run(["fio", "--output-format=json", "job.fio"], directory, with_lines(text, lines))
    commands = defaultdict(list)
    for job in result["jobs"] if log else []:
        path = os.path.join(directory, job["jobname"] + ".iolog")
        commands[job["jobname"]] = logged(path)
    return commands, result


def by_ssdlab(program, text, target, directory, how, as_line):
    log = "" if how == "iops" else "\niodepth=1\nwrite_lat_log={0}\nlog_offset=1"
    lines = lambda name: f"name={name}\nfilename={target}\ndirect=1" + log.format(name)
    text = with_lines(text, lines)
    plan = ["--", *command_line(directory, text)] if as_line else ["job.fio"]
    command = [program, "run", "--quiet", "--overwrite", "--out", "out"]
    command += ["--format", "fio-json", *plan]
    result = run(command, directory, text)
    commands = defaultdict(list)
    # Copies have numbers of their own, in order; those of a job follow each other.
    for log in sorted(os.listdir(os.path.join(directory, "out"))):
        found = re.fullmatch(r"(.*)_lat\.\d+\.log", log)
        for line in open(os.path.join(directory, "out", log)) if found else []:
            _, _, kind, length, offset, _ = map(int, line.split(","))
            commands[found[1]].append((KINDS[kind], offset, length))
    return commands, result


def totals(result):
    """Commands, bytes and IOPS by job."""
    sums = defaultdict(lambda: [0, 0, 0.0])
    for job in result["jobs"]:
        for kind in KINDS:
            sums[job["jobname"]][0] += job[kind]["total_ios"]
            sums[job["jobname"]][1] += job[kind]["io_bytes"]
            sums[job["jobname"]][2] += job[kind]["iops"]
    return dict(sums)


def compared(how, theirs, ours):
    """What differs, and words on what was compared."""
    (commands, result), (our_commands, our_result) = theirs, ours
    a, b = totals(result), totals(our_result)
    if set(a) != set(b):
        return [f"jobs differ: {sorted(a)} and {sorted(b)}"], ""
    failures, words = [], []
    if how == "iops":
        for job in a:
            ratio = b[job][2] / a[job][2]
            words.append(f"IOPS ratio {ratio:.3f} ({a[job][2]:.1f} by fio)")
            if not 0.9 <= ratio <= 1.1:
                failures.append(f"{job}: {ratio:.3f}")
        return failures, ", ".join(words)
    for job in a:
        x, y = commands[job], our_commands[job]
        sizes = [(len(c), sum(length for _, _, length in c)) for c in (x, y)]
        if sizes[0] != sizes[1]:
            failures.append(f"{job}: fio {sizes[0]}, ssdlab {sizes[1]} (commands, bytes)")
        elif how == "order" and "rand" not in job and x != y:
            at = next(n for n, pair in enumerate(zip(x, y)) if pair[0] != pair[1])
            failures.append(f"{job}: command {at} is {x[at]} in fio, {y[at]} in ssdlab")
        elif sorted(x) != sorted(y):
            failures.append(f"{job}: the blocks differ")
        # Their own counts, too: verifying reads are in the logs and not in these.
        if a[job][:2] != b[job][:2]:
            failures.append(f"{job}: fio's JSON {a[job][:2]}, ssdlab's {b[job][:2]}")
    count = sum(map(len, our_commands.values()))
    return failures, f"{count} commands, {sum(c[1] for c in b.values())} bytes, {how}"


def main():
    examples, program = sys.argv[1:3]
    program = os.path.abspath(program)
    base = os.path.abspath(sys.argv[3] if len(sys.argv) > 3 else ".")
    failed = {"file": 0, "line": 0}
    with tempfile.TemporaryDirectory(dir=base) as base:
        target = os.path.join(base, "target")
        with open(target, "wb") as file:
            file.write(os.urandom(FILE_BYTES))
            os.fsync(file.fileno())
        for name, edits, how in CASES:
            with open(os.path.join(examples, name + ".fio")) as file:
                text = edited(file.read(), edits, OURS)
            results = {}
            for side in ("fio", "file", "line"):
                directory = os.path.join(base, f"{name}-{side}")
                os.mkdir(directory)
                results[side] = (
                    by_fio(text, target, directory, how) if side == "fio" else
                    by_ssdlab(program, text, target, directory, how, side == "line"))
            for side in ("file", "line"):
                failures, words = compared(how, results["fio"], results[side])
                print("FAILED" if failures else "ok    ", f"{name}, as a {side}: {words}",
                      *failures[:3], flush=True)
                failed[side] += bool(failures)
    for side, count in failed.items():
        print(f"{len(CASES) - count} of {len(CASES)} {side}s alike on a real file")
    sys.exit(any(failed.values()))


if __name__ == "__main__":
    main()
