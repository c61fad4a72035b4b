#!/usr/bin/env python3
"""Planted causes of slowness on this machine, and whether `ssdlab watch` names them.

A modelled drive is served at its own pace as a file, a loop device stands on it, real programs use
it, and one cause is planted in the drive or in the host. `watch` sees what any kernel shows.

Usage: blind.py SSDLAB [--seed N] [--runs N] [--only CAUSE] [--counters] [--out FILE.jsonl]
Needs root, /dev/fuse, loop devices, fio, mkfs.ext4, tracefs.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROTECTED = [
    "intel-dc-s3700-200gb",
    "intel-dc-s3500-240gb",
    "samsung-pm983-960gb",
    "intel-dc-p3700-400gb",
    "solidigm-d7-p5520-1920gb",
]
VOLATILE = ["samsung-980-1tb", "wd-blue-sn550-1tb", "consumer-sata-1tb", "tlc-client-nvme-1tb"]
# Blocks of a plane that leave an S3500 of 80 GB 2 to 4 % of spare; it has 2,816.
LITTLE_SPARE = [2430, 2450, 2480]
QLC = ["crucial-p1-1tb", "qlc-client-nvme-1tb"]
# Microseconds of reading a page of each bit of MLC.
SLOW_READS = [str([f"{us} us"] * 2).replace("'", '"') for us in (140, 170, 200)]
WATCHED = 10
RUNTIME = WATCHED + 6


def override(base, lines):
    """A drive file that differs from one of the catalogue."""
    return f'name = "planted"\ntitle = "planted"\nbase = "{base}"\n' + lines


def quoted(text):
    return f'"{text}"'


def value(text):
    return f'{{ value = {text}, kind = "assumed", source = "planted" }}'


class Run:
    """One drive, one host, one cause."""

    def __init__(self, ssdlab, seed, cause):
        self.ssdlab, self.cause = ssdlab, cause
        self.random = random.Random(f"{seed} {cause}")
        self.folder = Path(tempfile.mkdtemp(prefix="ssdlab-live-"))
        self.loop = None
        self.server = None
        self.loads = []
        self.undo = []
        self.accepted = {cause}

    def command(self, *words, check=True, **more):
        return subprocess.run(words, check=check, text=True, capture_output=True, **more)

    def create(self, drive, size="1GiB"):
        if "\n" in drive:
            path = self.folder / "planted.toml"
            path.write_text(drive)
            drive = str(path)
        self.command(self.ssdlab, "create", self.folder / "drive", "--drive", drive, "--size", size)
        (self.folder / "mnt").mkdir()

    def serve(self, pace):
        log = open(self.folder / "serve.log", "w")
        self.server = subprocess.Popen(
            [self.ssdlab, "serve", self.folder / "drive", "--fuse", self.folder / "mnt/drive",
             "--pace", pace], stdout=log, stderr=log)
        for _ in range(600):
            if "ready" in (self.folder / "serve.log").read_text():
                break
            time.sleep(0.05)
        else:
            raise RuntimeError((self.folder / "serve.log").read_text())
        self.loop = self.command("losetup", "-f", "--show", "--direct-io=on",
                                 self.folder / "mnt/drive").stdout.strip()

    def hang_up(self):
        if self.loop:
            self.command("losetup", "-d", self.loop, check=False)
            self.loop = None
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(60)
            self.server = None

    def fill(self, *words):
        """Writes the drive at full speed, before the watch."""
        self.serve("fast")
        self.command("fio", "--name=fill", f"--filename={self.loop}", "--direct=1",
                     "--ioengine=libaio", "--iodepth=16", *words)
        self.hang_up()

    def mount(self, options=None):
        self.command("mkfs.ext4", "-q", "-E", "nodiscard", self.loop)
        (self.folder / "fs").mkdir()
        words = ["-o", options] if options else []
        self.command("mount", *words, self.loop, self.folder / "fs")
        self.undo.append(lambda: self.command("umount", self.folder / "fs", check=False))

    def fio(self, *words, name="app", device=False, group=None, path=None):
        target = f"--filename={path or self.loop}"
        if not device and not path:
            target = f"--directory={self.folder / 'fs'}"
        line = ["fio", f"--name={name}", target, "--time_based", f"--runtime={RUNTIME}", *words]
        if group:
            line = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", *line]
        self.loads.append(subprocess.Popen(line, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL))

    def python(self, text):
        self.loads.append(subprocess.Popen([sys.executable, "-c", text],
                                           cwd=self.folder / "fs"))

    def setting(self, name, text):
        path = Path(f"/sys/block/{Path(self.loop).name}/queue/{name}")
        before = path.read_text().strip()
        if "[" in before:
            before = before.split("[")[1].split("]")[0]
        path.write_text(text)
        self.undo.append(lambda: path.write_text(before))

    def watch(self, counters):
        time.sleep(3)
        words = ["--counters"] if counters else []
        result = self.command(self.ssdlab, "watch", self.loop, "--for", f"{WATCHED}s", "-q",
                              "--json", *words, check=False)
        if result.returncode not in (0, 1, 3):
            raise RuntimeError(result.stderr)
        return json.loads(result.stdout)

    def end(self):
        for load in self.loads:
            load.terminate()
            load.wait()
        for undo in reversed(self.undo):
            undo()
        self.hang_up()
        shutil.rmtree(self.folder, ignore_errors=True)


# What each cause is planted by. The name is that of `answer.findings[].cause`.

def commits(run, fsyncs="--fsync=1"):
    run.fio("--size=32m", f"--bs={run.random.choice(['4k', '8k', '16k'])}", "--rw=write", fsyncs,
            f"--numjobs={run.random.randint(1, 3)}", "--ioengine=psync")


def volatile_buffer(run):
    run.create(run.random.choice(VOLATILE))
    run.serve("real")
    run.mount()
    commits(run)


def little_spare(run):
    blocks = run.random.choice(LITTLE_SPARE)
    run.create(override("intel-dc-s3500-80gb", f"[nand]\nblocks_per_plane = {value(blocks)}\n"))


def reclaim(run):
    little_spare(run)
    run.fill("--rw=randwrite", "--bs=4k", "--io_size=2g", "--size=100%", "--norandommap")
    run.serve("real")
    run.fio("--rw=randwrite", "--bs=4k", f"--iodepth={run.random.choice([4, 16, 32])}",
            "--direct=1", "--ioengine=libaio", device=True)


def slc_full(run):
    run.create(run.random.choice(QLC), "4GiB")
    run.serve("real")
    run.fio("--rw=write", f"--bs={run.random.choice(['128k', '256k', '1m'])}", "--iodepth=4",
            "--direct=1", "--ioengine=libaio", device=True)


def map_misses(run):
    dram = run.random.choice(["64 KiB", "128 KiB"])
    run.create(override("intel-dc-s3500-240gb",
                        f"[ftl]\nmapping = {value(quoted('cached'))}\n"
                        f"map_dram = {value(quoted(dram))}\nmap_entry = {value(quoted('4 B'))}\n"
                        f"[nand]\nread = {value(run.random.choice(SLOW_READS))}\n"))
    run.fill("--rw=write", "--bs=256k", "--size=100%")
    run.serve("real")
    run.fio("--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync", device=True)


def link(run):
    rate = run.random.choice([60, 100, 150])
    run.create(override(run.random.choice(PROTECTED[:2]),
                        f"[host]\nlink_rate = {value(quoted(f'{rate} MB/s'))}\n"))
    run.fill("--rw=write", "--bs=256k", "--size=100%")
    run.serve("real")
    run.fio(f"--rw={run.random.choice(['read', 'randread'])}", "--bs=256k",
            f"--iodepth={run.random.choice([2, 4])}", "--direct=1", "--ioengine=libaio",
            device=True)


def reads_behind_writes(run):
    run.create(override(run.random.choice(PROTECTED[:2]),
                        f"[nand]\nread_first = {value('false')}\n"))
    run.fill("--rw=write", "--bs=256k", "--size=100%")
    run.serve("real")
    run.fio("--rw=randrw", f"--rwmixread={run.random.choice([30, 50])}", "--bs=4k",
            f"--iodepth={run.random.choice([8, 16])}", "--direct=1", "--ioengine=libaio",
            device=True)


def slow_media(run):
    latency = run.random.choice([600, 1000, 2000])
    run.create(override(run.random.choice(PROTECTED),
                        f"[host]\nlatency = {value(quoted(f'{latency} us'))}\n"))
    run.fill("--rw=write", "--bs=256k", "--size=100%")
    run.serve("real")
    run.fio("--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio",
            f"--iodepth={run.random.choice([1, 2, 4])}", device=True)


def doubled_flushes(run):
    run.create(run.random.choice(VOLATILE + PROTECTED))
    run.serve("real")
    run.mount()
    more = run.random.randint(1, 3)
    run.python(f"""
import os
f = os.open("log", os.O_RDWR | os.O_CREAT)
os.pwrite(f, bytes(1 << 20), 0)
os.fsync(f)
while True:
    for i in range(256):
        os.pwrite(f, bytes([i]) * 4096, i * 4096)
        os.fdatasync(f)
        for _ in range({more}):
            os.fdatasync(f)
""")


def cgroup_limit(run):
    run.create(run.random.choice(PROTECTED))
    run.serve("real")
    number = os.stat(run.loop).st_rdev
    number = f"{os.major(number)}:{os.minor(number)}"
    group = Path(f"/sys/fs/cgroup/blkio/ssdlab-live-{os.getpid()}")
    group.mkdir(exist_ok=True)
    run.undo.append(group.rmdir)
    bytes_per_second = run.random.choice([1, 4, 8]) << 20
    if run.random.random() < 0.5:
        (group / "blkio.throttle.write_bps_device").write_text(f"{number} {bytes_per_second}")
    else:
        (group / "blkio.throttle.write_iops_device").write_text(f"{number} {bytes_per_second >> 12}")
    run.fio("--rw=randwrite", "--bs=4k", "--direct=1", "--ioengine=libaio",
            f"--iodepth={run.random.choice([1, 8])}", device=True, group=group)


def host_queue(run):
    run.create(run.random.choice(PROTECTED))
    run.fill("--rw=write", "--bs=256k", "--size=100%")
    run.serve("real")
    run.setting("scheduler", "none")
    run.setting("nr_requests", "4")
    run.fio("--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio",
            f"--iodepth={run.random.choice([16, 32, 64])}", device=True)


def one_at_a_time(run):
    run.create(run.random.choice(PROTECTED))
    if run.random.random() < 0.5:
        run.fill("--rw=write", "--bs=256k", "--size=100%")
        run.serve("real")
        run.fio("--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync", device=True)
    else:
        run.serve("real")
        run.mount()
        run.fio("--size=32m", "--bs=4k", "--rw=write", "--fdatasync=1", "--ioengine=psync")


def neighbour(run):
    run.create(run.random.choice(PROTECTED))
    run.fill("--rw=write", "--bs=256k", "--size=100%")
    run.serve("real")
    run.fio("--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync", "--thinktime=2ms",
            name="app", device=True)
    # A copy that comes and goes, under a name of its own.
    other = run.folder / "backup"
    shutil.copy(shutil.which("fio"), other)
    kind = run.random.choice(["read", "write"])
    run.loads.append(subprocess.Popen(
        [other, "--name=b", f"--filename={run.loop}", "--time_based", f"--runtime={RUNTIME}",
         f"--rw={kind}", "--bs=512k", f"--iodepth={run.random.choice([8, 16])}", "--direct=1",
         "--ioengine=libaio", "--thinktime=300ms", "--thinktime_blocks=200"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


def full_without_trim(run):
    little_spare(run)
    run.fill("--rw=randwrite", "--bs=4k", "--io_size=1g", "--size=100%", "--norandommap")
    run.serve("real")
    run.mount()
    free = shutil.disk_usage(run.folder / "fs").free
    size = int(free * 0.93) >> 20 << 20
    path = run.folder / "fs/app.0.0"
    run.command("fallocate", "-l", str(size), path)
    run.fio(f"--size={size}", "--rw=randwrite", "--bs=4k", "--direct=1", "--ioengine=libaio",
            f"--iodepth={run.random.choice([4, 16])}", path=path)


def misaligned(run):
    run.create(run.random.choice(PROTECTED[:2]))
    run.fill("--rw=randwrite", "--bs=4k", "--io_size=1g", "--size=100%", "--norandommap")
    run.serve("real")
    run.fio("--rw=randwrite", f"--bs={run.random.choice(['2k', '3k', '4k'])}", "--blockalign=512",
            "--iodepth=8", "--direct=1", "--ioengine=libaio", device=True)


def nothing(run):
    """A healthy drive with a load that leaves it room."""
    run.accepted = {"one_at_a_time", None}
    run.create(run.random.choice(PROTECTED))
    run.fill("--rw=write", "--bs=256k", "--size=100%")
    run.serve("real")
    kind = run.random.randrange(4)
    if kind == 0:
        run.fio("--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio", "--iodepth=2",
                "--rate_iops=1500", device=True)
    elif kind == 1:
        run.mount()
        run.fio("--size=64m", "--bs=8k", "--rw=randwrite", "--fsync=1", "--ioengine=psync",
                "--rate_iops=200")
    elif kind == 2:
        run.mount()
        run.fio("--size=128m", "--bs=64k", "--rw=rw", "--ioengine=psync", "--rate=8m")
    else:
        run.fio("--rw=randrw", "--rwmixread=70", "--bs=4k", "--direct=1", "--ioengine=libaio",
                "--iodepth=4", "--rate_iops=700", device=True)


def write_cache_off(run):
    run.create(override(run.random.choice(["consumer-sata-1tb", "tlc-client-nvme-1tb"]),
                        f"[buffer]\nwrite_cache = {value('false')}\n"))
    run.serve("real")
    run.setting("write_cache", "write through")
    run.mount()
    commits(run, run.random.choice(["--fsync=1", "--sync=1"]))


CAUSES = {
    "volatile_buffer": volatile_buffer, "reclaim": reclaim, "slc_full": slc_full,
    "map": map_misses, "link": link, "reads_behind_writes": reads_behind_writes,
    "slow_media": slow_media, "doubled_flushes": doubled_flushes, "cgroup_limit": cgroup_limit,
    "host_queue": host_queue, "one_at_a_time": one_at_a_time, "neighbour": neighbour,
    "full_without_trim": full_without_trim, "misaligned": misaligned,
    "write_cache_off": write_cache_off, "nothing": nothing,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ssdlab")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1, help="of each cause")
    parser.add_argument("--only")
    parser.add_argument("--counters", action="store_true")
    parser.add_argument("--out")
    given = parser.parse_args()
    out = open(given.out, "a") if given.out else None
    right = wrong = 0
    for number in range(given.runs):
        for cause, plant in CAUSES.items():
            if given.only and cause not in given.only.split(","):
                continue
            run = Run(given.ssdlab, given.seed * 1000 + number, cause)
            try:
                plant(run)
                report = run.watch(given.counters)
            finally:
                run.end()
            answer = report["answer"]
            found = answer.get("findings", [])
            first = found[0]["cause"] if found else None
            if answer["kind"] == "too_little":
                first = "too_little"
            is_right = first in run.accepted
            right, wrong = right + is_right, wrong + (not is_right)
            line = {"cause": cause, "seed": given.seed * 1000 + number, "answer": first,
                    "right": is_right, "findings": found, "why": answer.get("why"),
                    "figures": report["figures"], "step": report["step"],
                    "lost_events": report["lost_events"],
                    "seen_in_part": report["seen_in_part"]}
            if out:
                out.write(json.dumps(line) + "\n")
                out.flush()
            others = [(f["cause"], f["factor"] and round(f["factor"], 1), f["certainty"])
                      for f in found]
            print(f"{'ok   ' if is_right else 'WRONG'} {cause}: {first} {others} "
                  f"{found[0]['why'] if found else answer.get('why')}", flush=True)
    print(f"{right} of {right + wrong} right")


if __name__ == "__main__":
    main()
