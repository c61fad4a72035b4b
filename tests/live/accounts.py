#!/usr/bin/env python3
"""Real targets held back by limiters, most of them other people's, and whether `ssdlab volumes
account` says what they are.

A seed draws subjects: accounts (qemu's throttle group, volumes that our server serves at their own
pace), plain limits (control groups, nbdkit's rate filter, qemu, our server), nothing that limits, and
drives with a cliff that our server serves at their own pace. Times are real. What was drawn and what
was found go to FILE.jsonl, a line a subject; the last lines printed are the score.

Required: the kind right in 95 %, rate and refill within 5 %, burst and credit within 10 %; no drive is
called an account or a limit.

Usage: accounts.py SSDLAB [--seed N] [--runs N] [--lanes N] [--only LIMITER,...] [--out FILE.jsonl]
Needs root, /dev/fuse, loop devices, qemu-storage-daemon, nbdkit, nbdfuse, fio.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BYTES = 256 << 20
BLOCK = 4096
GROUPS_V1 = Path("/sys/fs/cgroup/blkio")
GROUPS_V2 = Path("/sys/fs/cgroup")
# Drives that fall once they are full, each of another kind: name, size.
DRIVES = [
    ("consumer-sata-1tb", "1GiB"),
    ("intel-dc-s3700-100gb", "1GiB"),
    ("crucial-p1-1tb", "2GiB"),
    ("patriot-wildfire-120gb", "1GiB"),
    ("intel-320-160gb", "1GiB"),
    ("qlc-client-nvme-1tb", "2GiB"),
]
# Tiers of Azure that burst: GiB, operations a second; the burst is 3,500 for 30 minutes.
PREMIUM = [(32, 120), (64, 240), (128, 500)]


class Subject:
    """One target, its limiter and what is true of it."""

    def __init__(self, ssdlab, seed, number):
        self.ssdlab, self.number = ssdlab, number
        self.random = random.Random(f"accounts {seed} {number}")
        self.folder = Path(tempfile.mkdtemp(prefix="ssdlab-accounts-", dir="/dev/shm"))
        self.servers, self.undo, self.group = [], [], None
        self.target, self.words = None, ["--overwrite"]

    def ratio(self, low, high):
        return low * (high / low) ** self.random.random()

    def start(self, *words, path=None):
        log = open(self.folder / "log", "a")
        self.servers.append(subprocess.Popen([str(word) for word in words], stdout=log, stderr=log))
        for _ in range(200):
            time.sleep(0.05)
            if path is None or (path.exists() and path.stat().st_size > 0):
                return
        raise RuntimeError((self.folder / "log").read_text())

    def image(self, bytes=BYTES):
        path = self.folder / "image"
        with open(path, "wb") as file:
            for _ in range(bytes >> 20):
                file.write(bytes_of_a_mib())
        return path

    def loop(self, path):
        device = command("losetup", "-f", "--show", "--direct-io=on", path, check=False).stdout
        if not device:
            device = command("losetup", "-f", "--show", path).stdout
        self.target = device.strip()
        self.words = ["--destroy", str(path)]
        self.undo.append(lambda: command("losetup", "-d", self.target, check=False))

    def qemu(self, *settings):
        """qemu's throttle group in front of a file, exported by FUSE."""
        image, export = self.image(), self.folder / "export"
        export.touch()
        throttle = ["--object", ",".join(["throttle-group,id=t", *settings]), "--blockdev",
                    "driver=throttle,node-name=n,throttle-group=t,file=f"] if settings else []
        node = "n" if settings else "f"
        self.start("qemu-storage-daemon", "--blockdev",
                   f"driver=file,node-name=f,filename={image},aio=threads", *throttle, "--export",
                   f"type=fuse,id=e,node-name={node},mountpoint={export},writable=on", path=None)
        time.sleep(0.5)
        self.loop(export)

    def serve(self, name, *words):
        (self.folder / "mnt").mkdir(exist_ok=True)
        path = self.folder / "mnt/served"
        self.start(self.ssdlab, "serve", name, "--fuse", path, *words, path=path)
        return path

    def limit_group(self, files):
        """A control group, version 1 or 2: {(read or write, iops or bps): limit}."""
        number = Path(f"/sys/block/{Path(self.target).name}/dev").read_text().strip()
        is_v1 = GROUPS_V1.is_dir()
        group = (GROUPS_V1 if is_v1 else GROUPS_V2) / f"ssdlab-accounts-{os.getpid()}-{self.number}"
        if not is_v1:
            (GROUPS_V2 / "cgroup.subtree_control").write_text("+io")
        group.mkdir()
        self.undo.append(group.rmdir)
        for (way, unit), limit in files.items():
            if is_v1:
                (group / f"blkio.throttle.{way}_{unit}_device").write_text(f"{number} {limit}")
            else:
                (group / "io.max").write_text(f"{number} {way[0]}{unit}={limit}")
        self.group = group

    def account(self):
        line = [self.ssdlab, "volumes", "account", self.target, *self.words, "--brief", "--longest",
                "30s", "--seed", self.number, "--json", "-q"]
        enter = None
        if self.group:
            enter = (self.group / "cgroup.procs").as_posix()
            line = ["sh", "-c", f'echo $$ > {enter}; exec "$@"', "sh", *line]
        begun = time.monotonic()
        done = subprocess.run([str(word) for word in line], text=True, capture_output=True,
                              timeout=300, check=False)
        if done.returncode not in (0, 1, 3):
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout), time.monotonic() - begun

    def end(self):
        for server in self.servers:
            server.send_signal(signal.SIGTERM)
        for undo in reversed(self.undo):
            try:
                undo()
            except OSError:
                pass
        for server in self.servers:
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
        for path in ("export", "mnt", "nbd"):
            command("umount", "-l", self.folder / path, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def command(*words, check=True):
    return subprocess.run([str(word) for word in words], check=check, text=True,
                          capture_output=True)


def bytes_of_a_mib():
    return bytes(range(256)) * 4096


def truth(kind, unit=None, base=None, burst=None, credit=None):
    return {"kind": kind, "unit": unit, "base": base, "burst": burst, "credit": credit}


# Limiters by name. Each sets the target up and says what is true of it.

def qemu_account(subject, unit):
    name = "iops" if unit == "operations" else "bps"
    base = int(subject.ratio(150, 600) if unit == "operations" else subject.ratio(1e6, 3e6))
    burst = int(base * subject.ratio(1.8, 5))
    lasts_s = subject.random.uniform(18, 30)
    seconds = max(2, round(lasts_s * (burst - base) / burst))
    subject.qemu(f"x-{name}-total={base}", f"x-{name}-total-max={burst}",
                 f"x-{name}-total-max-length={seconds}")
    # Its bucket holds `seconds` of the burst and leaks at the base.
    return truth("account", unit, base, burst, burst * seconds)


def qemu_account_operations(subject):
    return qemu_account(subject, "operations")


def qemu_account_bytes(subject):
    return qemu_account(subject, "bytes")


def served_account(subject):
    if subject.random.random() < 0.5:
        gib = subject.random.randrange(60, 400)
        name, base, burst = "gp2", max(100, 3 * gib), 3000
        credit = 54_000
    else:
        gib, base = subject.random.choice(PREMIUM)
        name, burst = "premium-ssd", 3500
        credit = (burst - base) * 18
    subject.target = subject.serve(f"volume:{name},size={gib},credit=1")
    return truth("account", "operations", base, burst, credit)


def group_operations(subject):
    subject.loop(subject.image())
    rate = int(subject.ratio(200, 3000))
    subject.limit_group({(way, "iops"): rate for way in ("read", "write")})
    return truth("limit", "operations", rate)


def group_bytes(subject):
    subject.loop(subject.image())
    rate = int(subject.ratio(1e6, 10e6))
    subject.limit_group({(way, "bps"): rate for way in ("read", "write")})
    return truth("limit", "bytes", rate)


def nbdkit(subject, *words):
    (subject.folder / "nbd").mkdir()
    socket, path = subject.folder / "socket", subject.folder / "nbd/file"
    subject.start("nbdkit", "-f", "-U", socket, *words[:1], "memory", BYTES, *words[1:])
    for _ in range(100):
        if socket.exists():
            break
        time.sleep(0.05)
    path.touch()
    subject.start("nbdfuse", "-C", "1", path, "--unix", socket, path=path)
    subject.undo.append(lambda: command("fusermount3", "-u", path, check=False))
    subject.loop(path)


def nbdkit_bytes(subject):
    rate = int(subject.ratio(1e6, 8e6))
    nbdkit(subject, "--filter=rate", f"rate={8 * rate}")
    return truth("limit", "bytes", rate)


def qemu_limit(subject):
    rate = int(subject.ratio(200, 2500))
    subject.qemu(f"x-iops-total={rate}")
    return truth("limit", "operations", rate)


def served_limit(subject):
    iops = subject.random.randrange(3000, 4000)
    subject.target = subject.serve(f"volume:gp3,size=20,iops={iops}")
    return truth("limit", "operations", iops)


def free_loop(subject):
    subject.loop(subject.image())
    return truth("none")


def free_qemu(subject):
    subject.qemu()
    return truth("none")


def drive(subject):
    name, size = subject.random.choice(DRIVES)
    folder = subject.folder / "drive"
    command(subject.ssdlab, "create", folder, "--drive", name, "--size", size)
    path = subject.serve(folder, "--pace", "fast")
    fill = ["fio", "--name=fill", f"--filename={path}", "--direct=1", "--ioengine=libaio",
            "--iodepth=16", "--size=100%"]
    command(*fill, "--rw=write", "--bs=256k")
    if subject.random.random() < 0.5:
        # Half of them have fallen already.
        command(*fill, "--rw=randwrite", "--bs=64k", "--io_size=1g", "--norandommap")
    server = subject.servers.pop()
    server.send_signal(signal.SIGTERM)
    server.wait(60)
    subject.loop(subject.serve(folder, "--pace", "real"))
    return {**truth("drive"), "drive": name}


LIMITERS = [qemu_account_operations, qemu_account_bytes, served_account, group_operations,
            group_bytes, nbdkit_bytes, qemu_limit, served_limit, free_loop, free_qemu, drive]
# Of 20 subjects: how many of each.
WEIGHTS = [4, 2, 3, 2, 1, 1, 1, 1, 1, 1, 3]


def is_right(true, finding):
    kind = finding["kind"]
    if true["kind"] in ("account", "limit"):
        return kind == true["kind"] and finding["unit"] == true["unit"]
    return kind not in ("account", "limit")


def errors(true, finding):
    """Relative errors of what was found, where there is a truth."""
    found = {"base": "base", "burst": "burst", "credit": "credit", "refill": "base"}
    known = {}
    for name, key in found.items():
        if finding[name] and true[key]:
            known[name] = finding[name]["value"] / true[key] - 1
    return known


def look(ssdlab, seed, number, limiters):
    subject = Subject(ssdlab, seed, number)
    line = {"seed": seed, "number": number, "limiter": limiters[number].__name__}
    try:
        line["true"] = limiters[number](subject)
        evidence, line["took_s"] = subject.account()
        finding = evidence["finding"]
        line["right"] = is_right(line["true"], finding)
        line["errors"] = errors(line["true"], finding) if line["right"] else {}
        line["finding"], line["record"] = finding, evidence["record"]
    except (RuntimeError, subprocess.SubprocessError, OSError) as error:
        line["failed"] = str(getattr(error, "stderr", None) or error)
    finally:
        subject.end()
    said = line.get("failed") or (f"{line['finding']['kind']}: " + ", ".join(
        f"{name} {100 * error:+.1f} %" for name, error in line["errors"].items()))
    mark = "ok   " if line.get("right") else "WRONG"
    print(f"{mark} {number} {line['limiter']} {line.get('true')} -> {said}", flush=True)
    return line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ssdlab")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--lanes", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    args = parser.parse_args()
    drawn = random.Random(f"limiters {args.seed}")
    only = set(filter(None, args.only.split(",")))
    limiters = []
    while len(limiters) < args.runs:
        # Each in its share, in an order of the seed.
        round_of = [one for one, weight in zip(LIMITERS, WEIGHTS) for _ in range(weight)]
        drawn.shuffle(round_of)
        limiters += round_of
    numbers = [number for number in range(args.runs)
               if not only or limiters[number].__name__ in only]
    file = open(args.out, "w") if args.out else None

    def looked(number):
        line = look(os.path.abspath(args.ssdlab), args.seed, number, limiters)
        if file:
            file.write(json.dumps(line) + "\n")
            file.flush()
        return line

    with ThreadPoolExecutor(args.lanes) as pool:
        lines = list(pool.map(looked, numbers))
    judged = [line for line in lines if "right" in line]
    right = sum(line["right"] for line in judged)
    largest = {name: max((abs(line["errors"].get(name, 0)) for line in judged), default=0)
               for name in ("base", "burst", "credit", "refill")}
    allowed = {"base": 0.05, "burst": 0.10, "credit": 0.10, "refill": 0.05}
    beyond = [name for name in largest if largest[name] > allowed[name]]
    called = [line for line in judged if line["true"]["kind"] == "drive" and not line["right"]]
    times = sorted(line["took_s"] for line in judged)
    print(f"seed {args.seed}: kind right in {right} of {len(judged)}, {len(lines) - len(judged)} "
          f"could not be set up; drives called an account or a limit: {len(called)}")
    print("largest errors: " + ", ".join(f"{name} {100 * error:.1f} %"
                                         for name, error in largest.items()))
    if times:
        print(f"a subject took {times[len(times) // 2]:.0f} s (median), {times[-1]:.0f} s at most")
    sys.exit(0 if judged and right >= 0.95 * len(judged) and not beyond and not called else 1)


if __name__ == "__main__":
    main()
