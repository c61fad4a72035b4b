#!/usr/bin/env python3
"""A volume that is served at its own pace, a load of reads and writes on it, and whether `ssdlab watch`
says that a limit holds it back, when the burst ended and what credit is left, and `qualify` that its
loads met a limit; and the same load on a drive and on a plain loop device, where it must not.

Usage: volume.py SSDLAB [--seconds N]
Needs root, /dev/fuse, loop devices, fio, tracefs. Takes four minutes.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rig import Loop, Watch, fio, run

LOAD = ["--rw=randrw", "--rwmixread=50", "--bs=4k", "--iodepth=32", "--size=256m", "--norandommap"]


class Served:
    """A loop device over what our server serves as a file."""

    def __init__(self, ssdlab, *words):
        self.folder = Path(tempfile.mkdtemp(prefix="ssdlab-volume-"))
        (self.folder / "mnt").mkdir()
        path = self.folder / "mnt/served"
        line = [ssdlab, "serve", *words, "--fuse", path]
        self.server = subprocess.Popen([str(word) for word in line], stdout=subprocess.DEVNULL)
        for _ in range(200):
            time.sleep(0.05)
            if path.exists():
                break
        self.path = run("losetup", "-f", "--show", "--direct-io=on", path).stdout.strip()

    def end(self):
        run("losetup", "-d", self.path, check=False)
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)


def watched(ssdlab, device, seconds, *words):
    """Reports by tracepoints and by counters of the same seconds."""
    load = fio(device, seconds + 4, *LOAD)
    time.sleep(1)
    length = ["--for", f"{seconds}s"]
    watches = [Watch(ssdlab, device, *length, *words), Watch(ssdlab, device, *length, "--counters")]
    reports = [watch.document(stop=False) for watch in watches]
    load.wait()
    return reports


def causes(report):
    return [(finding["cause"], finding["why"]) for finding in report["answer"].get("findings", [])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ssdlab")
    parser.add_argument("--seconds", type=int, default=42)
    args = parser.parse_args()
    failed = 0

    def check(name, is_right, said):
        nonlocal failed
        failed += not is_right
        print(f"{'ok    ' if is_right else 'FAILED'} {name}: {said}", flush=True)

    # 54,000 operations of credit last 20 s at 3,000 a second; then it is 300.
    name = "gp2,size=100"
    volume = Served(args.ssdlab, f"volume:{name},credit=1")
    events, counters = watched(args.ssdlab, volume.path, args.seconds, "--model", f"volume:{name}")
    volume.end()
    for source, report in (("tracepoints", events), ("counters", counters)):
        found = causes(report)
        is_first = bool(found) and found[0][0] == "volume_limit"
        check(f"the limit of a volume, by {source}", is_first, found)
        check(f"the end of its burst, by {source}", is_first and "until second" in found[0][1], found)
    credits = events.get("credits", [])
    check("its credit is spent", [credit["high"] for credit in credits] == [0], credits)

    volume = Served(args.ssdlab, f"volume:{name}")
    events, _ = watched(args.ssdlab, volume.path, 12, "--model", f"volume:{name}")
    volume.end()
    found, credits = causes(events), events.get("credits", [])
    check("the limit of a burst", bool(found) and found[0][0] == "volume_limit", found)
    # 5.4 million less 2,700 for each of 12 s, and the first of them begins before the watch.
    left = credits[0]["high"] if credits else 0
    check("at most this is left", 5_300_000 < left < 5_390_000, credits)
    ends_s = credits[0]["ends_high_s"] if credits else 0
    check("it ends in 33 min at the latest", 1900 < (ends_s or 0) < 2050, ends_s)

    # The quick profile of qualify uses the credit up between its loads, and says so; another one
    # begins with none.
    for credit, expected in (("credit=1", "the burst may be over"), ("credit=0", "the same 300")):
        volume = Served(args.ssdlab, f"volume:{name},{credit}")
        said = run(args.ssdlab, "qualify", volume.path, "--role", "etcd", "--serial",
                   Path(volume.path).name, "--no-reference", "--out", volume.folder / "run",
                   check=False).stdout
        volume.end()
        words = " ".join(said.split())
        check(f"qualify on a device with {credit}", expected in words, said[-800:])

    drive = Served(args.ssdlab, "drive:consumer-sata-1tb", "--size", "1GiB", "--pace", "real")
    plain = Loop(256 << 20, folder="/dev/shm")
    for kind, device in (("a drive", drive), ("a loop device", plain)):
        for source, report in zip(("tracepoints", "counters"),
                                  watched(args.ssdlab, device.path, 12)):
            found = causes(report)
            is_named = any(cause == "volume_limit" for cause, _ in found)
            check(f"{kind} is no volume, by {source}", not is_named, found)
        device.end()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
