"""Databases on a served drive whose power is cut: see tests/databases.sh.

    python3 tests/databases --ssdlab PATH --work EMPTY_DIR [--cuts N] [--seed N] [--only WORD]
"""

import argparse
import json
import signal
import subprocess
import sys
import shutil
import tempfile
from pathlib import Path

import postgres
from campaign import Campaign
from postgres import Postgres
from sqlite import Sqlite
from stack import Failed, RigFailed, Server

VOLATILE, PROTECTED = "consumer-sata-1tb", "consumer-sata-1tb-plp"
SIZE = "512MiB"
# Cuts within which a canary must find its loss.
CANARY_CUTS = 24
# Exit code if the test could not do its work; 0: every result is correct; 1: an unexpected loss, or
# a canary that found nothing.
RIG_FAILED = 2


def honest(file_systems):
    """Yields databases configured as their manuals require, on drives that keep their promises."""
    for drive in (VOLATILE, PROTECTED):
        for kind in file_systems:
            for database in ("delete extra", "wal full", "postgres"):
                yield drive, None, kind, database, "flush", "nothing"


def canaries(file_systems):
    """Yields combinations that must lose data, with the layer to blame."""
    for kind in file_systems:
        for database in ("wal full", "postgres"):
            yield VOLATILE, "ignores-flush", kind, database, "flush", "drive"
    yield VOLATILE, None, "ext4", "wal off", "acknowledged", "application"
    yield VOLATILE, None, "ext4", "delete full", "flush", "application"


def verdict(tally, expected, notes):
    """Returns whether the result is as expected, and the result in words. `notes` are the closing
    notes of `ssdlab serve`."""
    has_loss = tally.lost > 0 or tally.damaged > 0
    if not has_loss:
        found = "nothing"
    else:
        found = "application" if tally.broken == 0 else "drive"
    is_right = found == expected and not (expected == "drive" and tally.unblamed > 0)
    is_right = is_right and tally.cuts > 0 and (expected != "nothing" or tally.broken == 0)
    words = "the drive's fault" if tally.broken > 0 else "every promise kept"
    is_right = is_right and words in notes
    if not has_loss and tally.broken > 0:
        found = "drive, but nothing acknowledged is lost"
    return is_right, found


def show(name, tally, is_right, found):
    """Prints one line, and the failures."""
    late = ""
    if tally.late:
        late = (f", {tally.late} more acknowledged when the file system had shut down"
                f" ({tally.late_lost} of them gone)")
    mark = "ok      " if is_right else "FAILED  "
    print(f"{mark} {name}: {tally.cuts} cuts, {tally.acknowledged} acknowledged,"
          f" {tally.lost} lost at {tally.cuts_with_loss} cuts, {tally.damaged} damaged{late},"
          f" {tally.broken} promises of the drive broken; to blame: {found};"
          f" {tally.seconds:.0f} s", flush=True)
    for words in tally.words:
        print(f"           {words}", flush=True)


def one(args, scratch, combination):
    """Runs one combination on a drive of its own; returns whether the result is as expected."""
    drive, fault, kind, database, aim, expected = combination
    work = Path(tempfile.mkdtemp(dir=args.work))
    work.chmod(0o711)
    if database == "postgres":
        base = Postgres(scratch)
    else:
        base = Sqlite(*database.upper().split())
    name = f"{drive}{' ' + fault if fault else ''}, {kind}, {base.name}"
    server = Server(args.ssdlab, work, drive, SIZE, fault, args.seed)
    try:
        until_loss = 0 if expected == "nothing" else CANARY_CUTS
        tally = Campaign(server, kind, base, args.seed, aim).run(args.cuts, until_loss)
    finally:
        notes = server.stop()
    is_right, found = verdict(tally, expected, notes)
    show(name, tally, is_right, found)
    record = {**vars(tally), "drive": drive, "fault": fault, "expected": expected,
              "found": found, "is_right": is_right, "notes": notes}
    with open(args.work / "results.jsonl", "a", encoding="utf-8") as results:
        results.write(json.dumps(record) + "\n")
    shutil.rmtree(work)
    return is_right


def main():
    """Runs all combinations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ssdlab", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--cuts", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="combinations whose name contains WORD")
    args = parser.parse_args()
    args.ssdlab, args.work = args.ssdlab.resolve(), args.work.resolve()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("interrupted"))
    file_systems = ["ext4"] + (["xfs"] if shutil.which("mkfs.xfs") else [])
    has_postgres = postgres.binaries() and postgres.user()
    good, rig_failed, count = True, False, 0
    for combination in [*honest(file_systems), *canaries(file_systems)]:
        words = " ".join(str(word) for word in combination)
        if args.only not in words:
            continue
        count += 1
        if combination[3] == "postgres" and not has_postgres:
            continue
        try:
            good &= one(args, args.work, combination)
        except (RigFailed, Failed, OSError, subprocess.TimeoutExpired) as error:
            rig_failed = True
            print(f"RIG FAILED {words}: {error}", flush=True)
    if count == 0:
        print(f"RIG FAILED no combination has `{args.only}` in its name", flush=True)
    sys.exit(RIG_FAILED if rig_failed or count == 0 else 0 if good else 1)


if __name__ == "__main__":
    main()
