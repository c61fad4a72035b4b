#!/usr/bin/env python3
"""Whether `ssdlab watch` writes: an idle, mounted file system under each mode.

The device's counters and the hash of the file under it stay as they are, and the kernel's
tracepoints show no request of it. A canary writes in the end: all three must see it.

Usage: no_write.py SSDLAB [--seconds N] [--mode MODE]...
Needs root, mkfs.ext4, tracefs.
"""

import argparse
import hashlib
import os
import sys
import time
from pathlib import Path

import rig

MODES = {
    "perf": ["--source", "perf"],
    "ebpf": ["--source", "ebpf"],
    "counters": ["--source", "counters"],
    "auto": [],
    "record": ["--record", "{folder}/record.gz"],
    "exporter": ["--exporter", "127.0.0.1:0"],
}


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Trace:
    """Requests of the device, by the tracepoints that blktrace stands on.

    blktrace's own files in debugfs are closed where a kernel is locked down; these are not.
    """

    EVENTS = ("block_bio_queue", "block_rq_issue")

    def __init__(self, loop):
        number = os.stat(loop.path).st_rdev
        number = os.major(number) << 20 | os.minor(number)
        self.folder = Path(f"/sys/kernel/tracing/instances/ssdlab-{os.getpid()}")
        self.folder.mkdir()
        for event in self.EVENTS:
            folder = self.folder / "events/block" / event
            (folder / "filter").write_text(f"dev == {number}")
            (folder / "enable").write_text("1")

    def lines(self):
        for event in self.EVENTS:
            (self.folder / "events/block" / event / "enable").write_text("0")
        lines = (self.folder / "trace").read_text().splitlines()
        self.folder.rmdir()
        return [line for line in lines if line and not line.startswith("#")]


def look(loop, action):
    stat, before = loop.stat(), digest(loop.image)
    trace = Trace(loop)
    result = action()
    lines = trace.lines()
    # Reads, writes, discards and flushes, their sectors.
    changed = [place for place in (0, 2, 4, 6, 11, 13, 15) if loop.stat()[place] != stat[place]]
    return result, lines, changed, digest(loop.image) != before


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ssdlab")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--mode", action="append", choices=list(MODES))
    args = parser.parse_args()
    rig.run("mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing", check=False)
    loop = rig.Loop(64 << 20)
    mount = loop.folder / "fs"
    failed = 0
    try:
        rig.run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", loop.path)
        mount.mkdir()
        rig.run("mount", loop.path, mount)
        (mount / "file").write_bytes(b"x" * 4096)
        rig.run("sync", "-f", mount)
        time.sleep(8)
        for mode in args.mode or list(MODES):
            folder = f"/dev/shm/{loop.folder.name}"
            words = [word.format(folder=folder) for word in MODES[mode]]
            Path("/dev/shm", loop.folder.name).mkdir(exist_ok=True)

            def watch():
                ended = rig.Watch(args.ssdlab, mount, "--for", f"{args.seconds}s", *words)
                ended.process.communicate(timeout=args.seconds + 60)
                return ended.process.returncode

            code, lines, changed, is_changed = look(loop, watch)
            # Somebody else may have synced all file systems of the machine.
            own = [line for line in lines if line.strip().startswith("ssdlab")]
            good = code == 3 and not own and bool(lines) == bool(changed) and not is_changed
            failed += not good
            print(f"{mode}: {args.seconds} s, exit {code}, {len(own)} requests of its own, "
                  f"{len(lines)} of others, counters changed {changed}, content changed "
                  f"{is_changed}: {'ok' if good else 'WRONG'}", flush=True)
            for line in lines[:5]:
                print("   ", line)

        def canary():
            (mount / "file").write_bytes(b"y" * 8192)
            rig.run("sync", "-f", mount)

        _, lines, changed, is_changed = look(loop, canary)
        good = bool(lines) and bool(changed) and is_changed
        failed += not good
        print(f"canary: {len(lines)} requests, counters changed {changed}, content changed "
              f"{is_changed}: {'ok' if good else 'WRONG'}")
    finally:
        rig.run("umount", mount, check=False)
        rig.run("rm", "-rf", f"/dev/shm/{loop.folder.name}", check=False)
        loop.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
