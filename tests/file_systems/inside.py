#!/usr/bin/env python3
"""Workload and check of tests/file_systems.sh, on the drive of an `ssdlab crashtest`.

Usage: inside.py fill KIND OPTIONS | inside.py verify KIND OPTIONS OUTCOMES

The workload makes and mounts a file system and does, sixteen times, what programs do without the
fsync that POSIX asks for. The check mounts what a cut left and appends a line to OUTCOMES, a JSON
object with what it found of each; it judges nothing. It ends with 1 when the file system does not
mount, or breaks what every file system promises.
"""

import json
import os
import subprocess
import sys
import time

ROUNDS = 16
MAKE = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=1", "-J", "size=4"],
    "xfs": ["mkfs.xfs", "-q", "-f", "-K"],
    "btrfs": ["mkfs.btrfs", "-q", "-f", "-K"],
}
# Copies of one XFS, with one UUID, may be mounted at once.
ALWAYS = {"ext4": "noatime", "xfs": "noatime,nouuid", "btrfs": "noatime"}
BYTES = 9900
GROWN = 5000
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": PATH})


def attached():
    """The drive as a block device; the campaign detaches it."""
    for _ in range(20):
        device = run("losetup", "-f", "--show", "--direct-io=on", os.environ["SSDLAB_FILE"])
        if device.returncode == 0:
            return device.stdout.strip()
        time.sleep(0.1)
    print(device.stderr)
    sys.exit(77)


def mounted(kind, options, device, is_new):
    folder = os.path.join(os.environ["SSDLAB_DIR"], "mnt")
    os.mkdir(folder)
    words = ",".join([ALWAYS[kind]] + ([options] if options else []))
    done = run("mount", "-t", kind, "-o", words, device, folder)
    if done.returncode:
        print(f"does not mount with {words}: {done.stderr.strip()}")
        sys.exit(77 if is_new else 1)
    return folder


def write(path, data, sync=False, flags=os.O_TRUNC):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o644)
    os.write(file, data)
    if sync:
        os.fsync(file)
    os.close(file)


def sync_dir(path):
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


def letter(n):
    return bytes([65 + n])


def mark(text):
    subprocess.run([os.environ["SSDLAB"], "mark", text], check=True)


def fill(kind, options):
    device = attached()
    made = run(*MAKE[kind], device)
    if made.returncode:
        print(made.stderr)
        sys.exit(77)
    os.chdir(mounted(kind, options, device, True))
    for name in ("early", "new", "order", "safe"):
        os.mkdir(name)
    write("conf", letter(0) * BYTES)
    write("safe/conf", letter(0) * BYTES)
    write("grow", b"")
    run("sync")
    mark("begin")
    for n in range(1, ROUNDS + 1):
        # Two names, in order, and never a sync of them.
        write(f"order/{n:02}a", b"")
        write(f"order/{n:02}b", b"")
        write(f"early/{n:02}", b"x")
        write("grow", letter(n) * GROWN, flags=os.O_APPEND)
        # A file replaces another, and nobody syncs it.
        write("conf.new", letter(n) * BYTES)
        os.rename("conf.new", "conf")
        # A new file is synced, its directory is not.
        write(f"new/{n:02}", letter(n) * 100, sync=True)
        mark(f"new {n}")
        # As it should be.
        write("safe/conf.new", letter(n) * BYTES, sync=True)
        os.rename("safe/conf.new", "safe/conf")
        sync_dir("safe")
        mark(f"safe {n}")
    mark("end")


def state(path, length):
    """What a file that replaced another holds: whole, or what is wrong."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return "missing", -1
    if data and data == data[:1] * length and data[0]:
        return "whole", data[0] - 65
    if not data:
        return "empty", -1
    if not any(data):
        return "zeroes", -1
    return ("part zeroes" if 0 in data else "part"), -1


def verify(kind, options, outcomes):
    marks = open(os.environ["SSDLAB_MARKS"]).read().split("\n")
    if "begin" not in marks:
        return 0
    os.chdir(mounted(kind, options, attached(), False))
    last = lambda word: max([int(m.split()[1]) for m in marks if m.startswith(word)] or [0])
    new, safe = last("new "), last("safe ")
    renamed, _ = state("conf", BYTES)
    kept, version = state("safe/conf", BYTES)
    names = sorted(os.listdir("order"))
    every = [f"{n:02}{side}" for n in range(1, ROUNDS + 1) for side in "ab"]
    grown = open("grow", "rb").read()
    fresh = [n for n in range(1, new + 1) if not os.path.exists(f"new/{n:02}")]
    broken = [n for n in range(1, new + 1)
              if os.path.exists(f"new/{n:02}") and state(f"new/{n:02}", 100)[0] != "whole"]
    early = [n for n in range(1, new + 1) if not os.path.exists(f"early/{n:02}")]
    outcome = {
        "cut": os.environ["SSDLAB_CUT"],
        "marks": len(marks),
        "rename": renamed,
        "new_lost": len(fresh),
        "early_lost": len(early),
        "in_order": names == every[:len(names)],
        "grown_zeroes": 0 in grown,
    }
    with open(outcomes, "a") as file:
        file.write(json.dumps(outcome) + "\n")
    # What every file system promises.
    if kept != "whole" or version < safe:
        print(f"safe/conf was synced as version {safe} and is {kept}, version {version}")
        return 1
    if broken:
        print(f"synced bytes are wrong: {broken}")
        return 1
    return 0


if __name__ == "__main__":
    task, kind, options, *more = sys.argv[1:]
    sys.exit(fill(kind, options) if task == "fill" else verify(kind, options, *more))
