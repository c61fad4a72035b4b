#!/usr/bin/env python3
"""Bad conditions for `ssdlab watch`: each is made, and the watch goes on or says what to do.

Usage: bad.py SSDLAB [--only NAME]... [--set-clock]
`--set-clock` sets this machine's clock back by an hour for two seconds: not on a shared machine.
Needs root, fio, loop devices, /dev/fuse, tracefs.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rig

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def missing(document, name):
    states = [source for source in document["sources"] if source["name"].startswith(name)]
    expect(states, f"no source {name}: {document['sources']}")
    return states[0]["missing"]


def with_load(action, seconds=20, words=("--rw=randrw", "--bs=4k", "--iodepth=4")):
    loop = rig.Loop(64 << 20)
    load = rig.fio(loop.path, seconds, *words, nice=0)
    try:
        time.sleep(1)
        return action(loop, load)
    finally:
        load.kill()
        load.wait()
        loop.end()


@case
def device_detached(ssdlab, _):
    """The loop device is detached while it is watched, with I/O under way."""
    def action(loop, load):
        watch = rig.Watch(ssdlab, loop.path, "--for", "6s")
        time.sleep(2.5)
        load.kill()
        load.wait()
        rig.run("losetup", "-d", loop.path)
        document = watch.document(stop=False)
        why = missing(document, "/sys/block counters")
        expect(why and "gone" in why, f"the removal is not said: {why}")
        expect(document["figures"]["reads"]["device"]["count"] > 30, "what was seen is kept")
    with_load(action)


@case
def server_killed(ssdlab, _):
    """The server of a drive is killed: requests fail, the watch does not."""
    folder = Path(tempfile.mkdtemp(prefix="ssdlab-live-"))
    loop = server = load = None
    try:
        rig.run(ssdlab, "create", folder / "drive", "--drive", "samsung-pm983-960gb", "--size",
                "64MiB")
        (folder / "mnt").mkdir()
        log = open(folder / "log", "w")
        server = subprocess.Popen([ssdlab, "serve", folder / "drive", "--fuse",
                                   folder / "mnt/drive", "--pace", "fast"], stdout=log, stderr=log)
        for _ in range(400):
            if "ready" in (folder / "log").read_text():
                break
            time.sleep(0.05)
        loop = rig.run("losetup", "-f", "--show", "--direct-io=on",
                       folder / "mnt/drive").stdout.strip()
        load = rig.fio(loop, 20, "--rw=randwrite", "--bs=4k", "--iodepth=4",
                       "--continue_on_error=all", nice=0)
        time.sleep(1)
        watch = rig.Watch(ssdlab, loop, "--for", "6s")
        time.sleep(2.5)
        server.send_signal(signal.SIGKILL)
        document = watch.document(stop=False)
        expect(document["figures"]["failed"] > 0, "no failed request is shown")
    finally:
        if load:
            load.kill()
            load.wait()
        if loop:
            rig.run("losetup", "-d", loop, check=False)
        if server:
            server.kill()
            server.wait()
        rig.run("umount", "-l", folder / "mnt", check=False)
        rig.run("umount", "-l", folder / "mnt/drive", check=False)
        shutil.rmtree(folder, ignore_errors=True)


@case
def tracefs_not_mounted(ssdlab, _):
    """Without tracefs counters remain, the kernel's histograms too, and the hint is a command."""
    hidden = ("unshare", "-m", "sh", "-c",
              "umount -l /sys/kernel/debug 2>/dev/null; umount -l /sys/kernel/tracing; exec \"$@\"",
              "sh")

    def action(loop, _load):
        document = rig.Watch(ssdlab, loop.path, "--for", "2s", prefix=hidden).document(stop=False)
        why = missing(document, "block tracepoints")
        expect(why and "mount -t tracefs" in why, f"no hint: {why}")
        # Counters alone at low rates; from 10,000 requests a second on the kernel counts.
        counted = missing(document, "histograms in the kernel") is None
        expect(document["figures"]["only_means"] != counted, "neither of the two is used")
        expect(document["figures"]["reads"]["device"]["count"] > 30, "nothing is counted")
        document = rig.Watch(ssdlab, loop.path, "--for", "3s", "--source", "ebpf",
                             prefix=hidden).document(stop=False)
        expect(missing(document, "histograms in the kernel") is None, document["sources"])
        reads = document["figures"]["reads"]["device"]
        expect(reads["count"] > 30 and reads["p99_ns"] > reads["median_ns"], "spreads remain")
        # The hint is followed.
        mounted = (*hidden[:-2], hidden[-2].replace("; exec", f"; {hint(why)}; exec"), "sh")
        document = rig.Watch(ssdlab, loop.path, "--for", "2s", prefix=mounted).document(stop=False)
        expect(missing(document, "block tracepoints") is None, "the hint does not work")
    with_load(action)


def hint(why):
    return why.split("(", 1)[1].rsplit(")", 1)[0]


@case
def no_rights(ssdlab, _):
    """As nobody: counters, and a line that says which rights are missing."""
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

    def action(loop, _load):
        document = rig.Watch(ssdlab, loop.path, "--for", "2s", prefix=nobody).document(stop=False)
        why = missing(document, "block tracepoints")
        expect(why and "CAP_PERFMON" in why and "sudo" in why, f"no hint: {why}")
        expect(document["figures"]["reads"]["device"]["count"] > 30, "counters remain")
        document = rig.Watch(ssdlab, loop.path, "--for", "2s", "--source", "ebpf",
                             prefix=nobody).document(stop=False)
        why = missing(document, "histograms in the kernel")
        expect(why and "CAP_BPF" in why, f"no hint: {why}")
    with_load(action)


@case
def clock_set_back(ssdlab, args):
    """Times are those of the monotonic clock; the wall clock may jump."""
    if not args.set_clock:
        return "left out: --set-clock sets the machine's clock"

    def action(loop, _load):
        watch = rig.Watch(ssdlab, loop.path, "--for", "6s")
        time.sleep(2)
        time.clock_settime(time.CLOCK_REALTIME, time.time() - 3600)
        time.sleep(2)
        time.clock_settime(time.CLOCK_REALTIME, time.time() + 3600)
        document = watch.document(stop=False)
        expect(5.5 < document["watched_s"] < 7, document["watched_s"])
        expect(all(second["reads"]["count"] > 0 for second in document["seconds"]), "a gap")
    with_load(action)
    return None


@case
def ten_thousand_processes(ssdlab, _):
    """The watch costs no more beside 10,000 tasks."""
    def cost(loop, seconds=4):
        watch = rig.Watch(ssdlab, loop.path)
        time.sleep(1.5)
        begun = watch.cpu_seconds()
        time.sleep(seconds)
        spent = watch.cpu_seconds() - begun
        watch.document()
        return spent / seconds

    def action(loop, _load):
        few = cost(loop)
        sleepers = subprocess.Popen([sys.executable, "-c", SLEEPERS], stdout=subprocess.PIPE,
                                    text=True)
        try:
            count = int(sleepers.stdout.readline())
            expect(count >= 9_000, f"only {count} tasks could be made")
            many = cost(loop)
        finally:
            sleepers.kill()
            sleepers.wait()
        expect(many < few * 1.5 + 0.02, f"{few:.3f} of a core without, {many:.3f} with {count}")
        return f"{few:.3f} of a core without, {many:.3f} beside {count} tasks"
    return with_load(action, 30, ("--rw=randrw", "--bs=4k", "--iodepth=1", "--rate_iops=1000"))


SLEEPERS = """
import os, signal, sys, threading, time
threading.stack_size(65536)
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        import ctypes
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        made = 0
        for _ in range(999):
            try:
                threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
                made += 1
            except RuntimeError:
                break
        time.sleep(600)
    children.append(child)
time.sleep(3)
tasks = sum(len(os.listdir(f"/proc/{child}/task")) for child in children)
print(tasks, flush=True)
time.sleep(600)
"""


@case
def killed_while_recording(ssdlab, _):
    """kill -9: the recording is readable to its last whole second."""
    def action(loop, _load):
        record = loop.folder / "record.gz"
        watch = rig.Watch(ssdlab, loop.path, "--record", record)
        time.sleep(5.6)
        watch.process.send_signal(signal.SIGKILL)
        watch.process.communicate()
        again = rig.Watch(ssdlab, record).document(stop=False)
        expect(again["watched_s"] > 3.9, f"{again['watched_s']} s of 5.6")
        busy = [second for second in again["seconds"] if second["reads"]["count"] > 0]
        expect(len(busy) >= 4, f"{len(busy)} seconds with requests")
        return f"{again['watched_s']:.1f} of 5.6 s"
    return with_load(action)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ssdlab")
    parser.add_argument("--only", action="append", choices=list(CASES))
    parser.add_argument("--set-clock", action="store_true")
    args = parser.parse_args()
    failed = 0
    for name in args.only or list(CASES):
        try:
            note = CASES[name](args.ssdlab, args)
            print(f"{name}: {note or 'ok'}", flush=True)
        except (AssertionError, RuntimeError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"{name}: WRONG: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
