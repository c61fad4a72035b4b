#!/usr/bin/env python3
"""What fio's verification finds on twelve lying drives, and what the contract and `pull run` do.

Each drive loses power under a fio job, on a modelled drive (`ssdlab crashtest fio`). Of some cuts the
disk is kept, and fio itself verifies it: with the state file, and without. Its verdict must be the
one that ssdlab states for fio; a difference is a failure. Then `ssdlab pull run` writes in its own
way to the same drive, served as a file; where that cannot be, its column says so.

The table goes to standard output. Rows of the deterministic columns must stand in docs/test-your-program.md.
Usage: fio_verify.py PATH-TO-SSDLAB [--pulls N] [--only WORD] [--update]
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

JOB = """[j]
rw=randwrite
bs=4k
size=1m
verify=md5
"""
FSYNC = JOB + "fsync=8\n"
DSYNC = JOB + "sync=dsync\n"
SATA, PLP, OLD = "consumer-sata-1tb", "consumer-sata-1tb-plp", "intel-320-160gb"
# Fault, drive, job, how the job makes its writes durable.
DRIVES = [
    ("none", SATA, FSYNC, "fsync"),
    ("none", PLP, JOB, "buffer"),
    ("ignores-flush", SATA, FSYNC, "fsync"),
    ("ignores-fua", SATA, DSYNC, "dsync"),
    ("flush-not-map", OLD, FSYNC, "fsync"),
    ("loses-map-updates", SATA, FSYNC, "fsync"),
    ("shorn-writes", SATA, FSYNC, "fsync"),
    ("flying-writes", SATA, FSYNC, "fsync"),
    ("bit-corruption", SATA, FSYNC, "fsync"),
    ("paired-page-loss", SATA, FSYNC, "fsync"),
    ("capacitor-failed", PLP, JOB, "buffer"),
    ("recovery-picks-older", SATA, FSYNC, "fsync"),
    ("trusts-torn-pages", SATA, FSYNC, "fsync"),
    ("dies-after-cuts:1", SATA, FSYNC, "fsync"),
]
CUTS = 20
KEPT = 2
PAGE = "docs/test-your-program.md"


def campaign(ssdlab, folder, fault, drive, job):
    """The report of `crashtest fio`, and the folder of kept disks."""
    (folder / "j.fio").write_text(job)
    out = folder / "kept"
    command = [ssdlab, "crashtest", "fio", "j.fio", "--drive", drive, "--cuts", str(CUTS), "-q"]
    command += ["--json", "--keep", str(KEPT), "--out", str(out)]
    command += [] if fault == "none" else ["--fault", fault]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{fault}: {done.stderr}")
    return json.loads(done.stdout), out


def fio_is_content(folder, has_state):
    """Whether fio finds nothing on a kept disk."""
    text = (folder / "verify.fio").read_text()
    if not has_state:
        text = text.replace("verify_state_load=1", "verify_state_load=0")
    (folder / "job.fio").write_text(text)
    done = subprocess.run(["fio", "job.fio"], cwd=folder, capture_output=True, text=True)
    return done.returncode == 0


def agree(report, out, fault):
    """Number of verdicts of fio's that were compared with those that were stated for it."""
    compared = 0
    for cut in report["cuts"]:
        for rule in ("completed", "fsynced"):
            folder = out / f"cut-{cut['index']:04}-{rule}"
            if not folder.is_dir():
                continue
            for name, has_state in ((rule, True), ("stateless", False)):
                stated = cut["verdicts"][name]["failed"] == 0
                found = fio_is_content(folder, has_state)
                if found != stated:
                    sys.exit(f"FAILED: {fault}, cut {cut['index']}, {name}: fio {found}, "
                             f"stated {stated}; see {folder}")
                compared += 1
    return compared


def served(ssdlab, folder, fault, drive):
    """A server of the drive as a file, once it is ready."""
    (folder / "mnt").mkdir()
    made = [ssdlab, "create", folder / "drive", "--drive", drive, "--size", "64MiB"]
    subprocess.run(made, check=True, capture_output=True)
    command = [ssdlab, "serve", folder / "drive", "--nbd", f"unix:{folder}/nbd"]
    command += ["--control", folder / "control", "--fuse", folder / "mnt" / "drive"]
    command += [] if fault == "none" else ["--fault", fault]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in server.stdout:
        if line.strip() == "ready":
            return server
    sys.exit(f"{fault}: the drive is not served")


def pulls(ssdlab, folder, fault, drive, count):
    """Pulls that broke a promise, and all, of `pull run`."""
    server = served(ssdlab, folder, fault, drive)
    power = " ".join(map(shlex.quote, (ssdlab, "power", "STATE", "--control", f"{folder}/control")))
    command = [ssdlab, "pull", "run", folder / "mnt" / "drive", "--ledger", folder / "ledger"]
    command += ["--overwrite", "--size", "16MiB", "--pulls", str(count), "--keep-going", "--json"]
    command += ["--off", power.replace("STATE", "off"), "--on", power.replace("STATE", "on")]
    command += ["--write-for", "200ms", "--settle", "0s", "--back", "20s", "-q"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    finally:
        server.terminate()
        server.wait()
    if done.stdout:
        record = json.loads(done.stdout)
        return record["breaking"], record["pulls"]
    # A drive that does not come back is not judged by `pull run`.
    return None


def row(fault, drive, durable, report, cell):
    fails = report["fails"]
    cuts = len(report["cuts"])
    counts = [fails[rule] for rule in ("stateless", "completed", "fsynced", "contract")]
    cells = [f"`{fault}`" if fault != "none" else "none", drive, durable, str(cuts)]
    cells += [str(count) for count in counts] + [str(report["broke_promise"])]
    return "| " + " | ".join(cells) + " |", cell


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ssdlab")
    parser.add_argument("--pulls", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--update", action="store_true", help="do not compare with the page")
    args = parser.parse_args()
    ssdlab = os.path.abspath(args.ssdlab)
    page = Path(PAGE).read_text()
    has_fuse = os.access("/dev/fuse", os.W_OK)
    compared, missing = 0, []
    for fault, drive, job, durable in DRIVES:
        if args.only not in fault:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(dir=os.environ.get("SSDLAB_DISK")) as name:
            folder = Path(name)
            report, out = campaign(ssdlab, folder, fault, drive, job)
            compared += agree(report, out, fault)
            cell = "not served"
            if has_fuse and args.pulls:
                found = pulls(ssdlab, folder, fault, drive, args.pulls)
                cell = f"{found[0]} of {found[1]}" if found else "does not come back"
        start, cell = row(fault, drive, durable, report, cell)
        print(f"{start} {cell} |", flush=True)
        print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        if start not in page:
            missing.append(start)
    print(f"{compared} verdicts of fio's are those that were stated", flush=True)
    if missing and not args.update:
        sys.exit(f"FAILED: not in {PAGE}:\n" + "\n".join(missing))


main()
