#!/usr/bin/env python3
"""Planted causes of slowness on this machine, and whether `ssdlab watch` names them.

A modelled drive is served at its own pace as a file, a loop device stands on it, real programs use
it, and one cause is planted in the drive or in the host. `watch` sees what any kernel shows.

Each run is watched twice at the same time: by tracepoints, and by counters alone. What was planted,
the seed and both answers go to FILE.jsonl, a line a run; the last lines printed are the score.

Usage: blind.py SSDLAB [--seed N] [--runs N] [--healthy N] [--only CAUSE,...] [--out FILE.jsonl]
Needs root, /dev/fuse, loop devices, fio, sqlite3, mkfs.ext4, mkfs.xfs, tracefs.
"""

import argparse
import fcntl
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
# Blocks of a plane that leave an S3500 of 80 GB 6 to 7 % of spare; it has 2,816.
LITTLE_SPARE = [2530, 2545, 2560]
# A program of cells of four bits takes so long.
SLOW_PROGRAMS = str(["2500 us"] * 2).replace("'", '"')
QLC = ["crucial-p1-1tb", "qlc-client-nvme-1tb"]
# Microseconds of reading a page of each bit of MLC.
SLOW_READS = [str([f"{us} us"] * 2).replace("'", '"') for us in (300, 350, 400)]
LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4C80, 0x4C81
WATCHED = 10
RUNTIME = WATCHED + 6


SQLITE = """
import sqlite3
database = sqlite3.connect("db{number}", isolation_level=None)
database.execute("PRAGMA journal_mode={mode}")
database.execute("PRAGMA synchronous=FULL")
database.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, x)")
while True:
    database.execute("INSERT INTO t (x) VALUES (hex(randomblob(200)))")
"""
LOG = """
import os
log = os.open("log{number}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
while True:
    os.write(log, bytes({size}))
    os.fdatasync(log)
"""


def override(base, lines):
    """A drive file that differs from one of the catalogue."""
    return f'name = "planted"\ntitle = "planted"\nbase = "{base}"\n' + lines


def quoted(text):
    return f'"{text}"'


def value(text):
    return f'{{ value = {text}, kind = "assumed", source = "planted" }}'


class Run:
    """One drive, one host, one cause."""

    next_loop = 1000

    def __init__(self, ssdlab, seed, cause):
        self.ssdlab, self.cause = ssdlab, cause
        self.random = random.Random(f"{seed} {cause}")
        self.folder = Path(tempfile.mkdtemp(prefix="ssdlab-live-"))
        self.loop = None
        self.server = None
        self.loads = []
        self.undo = []
        self.accepted = {cause}
        self.host = None

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
        # A device of its own number: counters of an earlier one would go on.
        with open("/dev/loop-control") as control:
            while True:
                number = Run.next_loop
                Run.next_loop += 1
                try:
                    fcntl.ioctl(control, LOOP_CTL_ADD, number)
                    break
                except FileExistsError:
                    pass  # An earlier run that was killed left it.
        self.loop = f"/dev/loop{number}"
        self.command("losetup", "--direct-io=on", self.loop, self.folder / "mnt/drive")

    def hang_up(self):
        if self.loop:
            self.command("losetup", "-d", self.loop, check=False)
            number = int(self.loop.removeprefix("/dev/loop"))
            # Whoever lists block devices may have it open.
            for _ in range(50):
                try:
                    with open("/dev/loop-control") as control:
                        fcntl.ioctl(control, LOOP_CTL_REMOVE, number)
                    break
                except OSError:
                    time.sleep(0.1)
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

    def mount(self, options=None, kind=None):
        kind = kind or self.random.choice(["ext4", "ext4", "xfs"])
        if kind == "xfs":
            self.command("mkfs.xfs", "-q", "-K", self.loop)
        else:
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

    def commit(self):
        """Programs that make small things durable, one after the other."""
        host = self.random.choice(["fio", "sqlite", "log"])
        self.host = host
        for number in range(self.random.randint(1, 4)):
            if host == "fio":
                self.fio("--size=32m", f"--bs={self.random.choice(['4k', '8k', '16k'])}",
                         "--rw=write", "--ioengine=psync", name=f"app{number}",
                         *[self.random.choice(["--fsync=1", "--fdatasync=1", "--sync=1"])])
            elif host == "sqlite":
                mode = self.random.choice(["wal", "delete"])
                self.python(SQLITE.format(number=number, mode=mode))
            else:
                size = self.random.choice([512, 2300, 4096])
                self.python(LOG.format(number=number, size=size))

    def setting(self, name, text):
        path = Path(f"/sys/block/{Path(self.loop).name}/queue/{name}")
        before = path.read_text().strip()
        if "[" in before:
            before = before.split("[")[1].split("]")[0]
        path.write_text(text)
        self.undo.append(lambda: path.write_text(before))

    def requests(self):
        """Reads and writes of the device so far."""
        fields = Path(f"/sys/block/{Path(self.loop).name}/stat").read_text().split()
        return int(fields[0]) + int(fields[4])

    def watch(self):
        """Reports by tracepoints and by counters of the same seconds."""
        # Programs take their time to begin.
        before, steady = self.requests(), 0
        for _ in range(400):
            time.sleep(0.1)
            count = self.requests()
            steady = steady + 1 if count > before else 0
            before = count
            if steady == 5:
                break
        else:
            raise RuntimeError("no request reaches the device")
        time.sleep(1)
        line = [self.ssdlab, "watch", self.loop, "--for", f"{WATCHED}s", "-q", "--json"]
        watches = [subprocess.Popen(words, text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE) for words in (line, [*line, "--counters"])]
        reports = []
        for watch in watches:
            out, error = watch.communicate()
            if watch.returncode not in (0, 1, 3):
                raise RuntimeError(error)
            reports.append(json.loads(out))
        return reports

    def end(self):
        for load in self.loads:
            load.terminate()
            load.wait()
        for undo in reversed(self.undo):
            undo()
        self.hang_up()
        shutil.rmtree(self.folder, ignore_errors=True)


# What each cause is planted by. The name is that of `answer.findings[].cause`.

def volatile_buffer(run):
    run.create(run.random.choice(VOLATILE))
    run.serve("real")
    run.mount()
    run.commit()


def little_spare(run):
    blocks = run.random.choice(LITTLE_SPARE)
    run.create(override("intel-dc-s3500-80gb", f"[nand]\nblocks_per_plane = {value(blocks)}\n"))
    run.fill("--rw=write", "--bs=256k", "--size=100%")
    run.fill("--rw=randwrite", "--bs=4k", "--io_size=800m", "--size=100%", "--norandommap")
    run.serve("real")
    # After power-on it frees whole superblocks before it takes the first write.
    run.command("fio", "--name=first", f"--filename={run.loop}", "--direct=1", "--rw=randwrite",
                "--bs=4k", "--ioengine=libaio", "--iodepth=16", "--number_ios=2000")


def reclaim(run):
    little_spare(run)
    run.fio("--rw=randwrite", "--bs=4k", f"--iodepth={run.random.choice([4, 16, 32])}",
            "--direct=1", "--ioengine=libaio", device=True)


def slc_full(run):
    run.create(run.random.choice(QLC), "4GiB")
    run.serve("real")
    run.fio("--rw=write", f"--bs={run.random.choice(['128k', '256k', '1m'])}", "--iodepth=4",
            "--direct=1", "--ioengine=libaio", device=True)


def map_misses(run):
    # Of the whole drive: a drive of 1 GiB has its share of it.
    dram = run.random.choice(["8 MiB", "16 MiB", "24 MiB"])
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
                        f"[nand]\nread_first = {value('false')}\n"
                        f"program = {value(SLOW_PROGRAMS)}\n"))
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
    # On a volatile drive the flush that has work takes so long that the other does not matter.
    run.create(run.random.choice(PROTECTED))
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
        run.python(LOG.format(number=0, size=run.random.choice([512, 2300, 4096])))


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
         "--ioengine=libaio", "--thinktime=100ms", "--thinktime_blocks=200"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


def full_without_trim(run):
    little_spare(run)
    run.mount(kind="ext4")
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
    run.commit()


def throttling(run):
    """A bare module in a warm place: it becomes too warm within the watch."""
    capacity = run.random.choice(["0.6 J/K", "0.8 J/K", "1.0 J/K"])
    run.create(override("tlc-client-nvme-1tb-no-fan",
                        f"[heat]\ncapacity = {value(quoted(capacity))}\n"
                        f"ambient = {value(quoted('70 C'))}\n"))
    run.fill("--rw=write", "--bs=256k", "--size=100%")
    run.serve("real")
    run.fio("--rw=randread", f"--bs={run.random.choice(['64k', '128k'])}", "--direct=1",
            "--ioengine=libaio", f"--iodepth={run.random.choice([4, 8])}", device=True)


def discards(run):
    """A program that deletes large files on a file system that discards at once."""
    run.create(run.random.choice(PROTECTED), "4GiB")
    run.serve("real")
    run.mount("discard", "ext4")
    run.command("fio", "--name=app", f"--directory={run.folder / 'fs'}", "--size=128m",
                "--rw=write", "--bs=256k", "--end_fsync=1")
    run.fio("--size=128m", "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=psync",
            "--thinktime=1ms")
    run.python(f"""
import os
while True:
    for i in range(8):
        f = os.open("t%d" % i, os.O_RDWR | os.O_CREAT)
        os.posix_fallocate(f, 0, {run.random.choice([64, 128])} << 20)
        os.close(f)
    for i in range(8):
        os.unlink("t%d" % i)
    os.sync()
""")


CAUSES = {
    "volatile_buffer": volatile_buffer, "reclaim": reclaim, "slc_full": slc_full,
    "map": map_misses, "link": link, "reads_behind_writes": reads_behind_writes,
    "slow_media": slow_media, "doubled_flushes": doubled_flushes, "cgroup_limit": cgroup_limit,
    "host_queue": host_queue, "one_at_a_time": one_at_a_time, "neighbour": neighbour,
    "full_without_trim": full_without_trim, "misaligned": misaligned,
    "write_cache_off": write_cache_off, "throttling": throttling, "discards": discards,
    "nothing": nothing,
}
# What is not the drive's matter, and not the way's to it.
HOST = {"doubled_flushes", "cgroup_limit", "host_queue", "one_at_a_time", "neighbour",
        "full_without_trim", "misaligned", "discards", "layer_above"}


class Answer:
    """What a report says first."""

    def __init__(self, report, accepted):
        answer = report["answer"]
        self.findings = answer.get("findings", [])
        self.first = self.findings[0]["cause"] if self.findings else None
        if answer["kind"] == "too_little":
            self.first = "too_little"
        self.why = self.findings[0]["why"] if self.findings else answer.get("why")
        self.is_right = self.first in accepted
        self.is_sure = bool(self.findings) and self.findings[0]["certainty"] == "shown"
        self.json = {
            "answer": self.first, "right": self.is_right, "sure": self.is_sure,
            "findings": self.findings, "why": self.why, "figures": report["figures"],
            "step": report["step"], "lost_events": report["lost_events"],
            "seen_in_part": report["seen_in_part"],
        }

    def words(self):
        others = [(f["cause"], f["factor"] and round(f["factor"], 1), f["certainty"])
                  for f in self.findings]
        return f"{'ok   ' if self.is_right else 'WRONG'} {self.first} {others} {self.why}"


def score(lines):
    for source in ("tracepoints", "counters"):
        planted = [line for line in lines if line["cause"] != "nothing"]
        healthy = [line for line in lines if line["cause"] == "nothing"]
        right = sum(line[source]["right"] for line in planted)
        sure = sum(line[source]["sure"] and not line[source]["right"] for line in lines)
        host = [line for line in planted if line["cause"] in HOST]
        not_drive = sum(line[source]["answer"] in HOST for line in host)
        accused = sum(not line[source]["right"] for line in healthy)
        print(f"{source}: {right} of {len(planted)} planted causes first; wrong and sure {sure} of "
              f"{len(lines)}; not the drive {not_drive} of {len(host)}; healthy accused {accused} "
              f"of {len(healthy)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ssdlab")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1, help="of each cause")
    parser.add_argument("--healthy", type=int, help="of `nothing`, if not --runs")
    parser.add_argument("--only")
    parser.add_argument("--out")
    given = parser.parse_args()
    out = open(given.out, "a") if given.out else None
    healthy = given.runs if given.healthy is None else given.healthy
    lines = []
    for number in range(max(given.runs, healthy)):
        for cause, plant in CAUSES.items():
            if given.only and cause not in given.only.split(","):
                continue
            if number >= (healthy if cause == "nothing" else given.runs):
                continue
            seed = given.seed * 1000 + number
            run = Run(given.ssdlab, seed, cause)
            try:
                plant(run)
                reports = run.watch()
            finally:
                run.end()
            seen, counted = (Answer(report, run.accepted) for report in reports)
            lines.append({"cause": cause, "seed": seed, "host": run.host,
                          "tracepoints": seen.json, "counters": counted.json})
            if out:
                out.write(json.dumps(lines[-1]) + "\n")
                out.flush()
            print(f"{cause} {seed} {run.host or ''}\n  {seen.words()}\n  {counted.words()}",
                  flush=True)
    score(lines)


if __name__ == "__main__":
    main()
