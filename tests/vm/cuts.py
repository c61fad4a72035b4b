"""Power cuts under SQLite on ext4 in a guest of QEMU, on a drive served as vhost-user-blk.

The guest stays alive: the drive's power is cut inside a flush, the guest sees I/O errors and
unmounts, the power comes back, the guest mounts again and looks for every row whose INSERT had
been answered. Usage:

    python3 tests/vm/cuts.py SSDLAB KERNEL MODULES [--cuts N] [--restarts N] [--fault NAME]

Prints a line for each loss, and a summary as the last line. Exit code 1 when the verdict is not
the expected one: losses on an honest drive, or none on one with a fault.
"""

import argparse
import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
MODULES = ["virtio_pci", "virtio_blk", "crc32c_generic", "ext4"]
PROGRAMS = ["sqlite3", "mke2fs"]
QEMU = "qemu-system-x86_64"


def needs(path):
    """The names of modules that a module needs."""
    found = re.search(rb"\0depends=([^\0]*)", path.read_bytes())
    return [name.replace("-", "_") for name in found[1].decode().split(",") if name] if found else []


def initrd(folder, modules, names=MODULES, programs=PROGRAMS, init=HERE / "guest.sh"):
    """The image that the guest boots: modules of the kernel, programs, and its first process."""
    root = folder / "root"
    for place in ["dev", "proc", "sys", "run", "lib64", "usr/bin", "usr/sbin", "usr/modules"]:
        (root / place).mkdir(parents=True)
    files = {path.stem.replace("-", "_"): path for path in modules.rglob("*.ko")}
    order = []

    def add(name):
        if name in files and name not in order:
            for needed in needs(files[name]):
                add(needed)
            shutil.copy(files[name], root / "usr/modules" / name)
            order.append(name)

    for name in names:
        add(name)
    (root / "usr/modules/order").write_text("".join(f"{name}\n" for name in order))
    shutil.copy(shutil.which("busybox"), root / "usr/bin/busybox")
    shutil.copy(init, root / "init")
    (root / "init").chmod(0o755)
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    for program in programs:
        where = shutil.which(program, path=path)
        shutil.copy(where, root / "usr/sbin" / pathlib.Path(where).name)
        for library in re.findall(r"(/\S+)", subprocess.check_output(["ldd", where], text=True)):
            to = root / library.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, to)
    image = folder / "initrd"
    with open(image, "wb") as out:
        names = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
        pack = ["busybox", "cpio", "-o", "-H", "newc"]
        quiet = subprocess.DEVNULL
        subprocess.run(pack, cwd=root, input=names, stdout=out, stderr=quiet, check=True)
    return image


class Server:
    """`ssdlab serve` on a drive directory."""

    def __init__(self, ssdlab, folder, fault, seed, more=()):
        self.socket, self.control = folder / "disk", folder / "control"
        self.command = [ssdlab, "serve", folder / "drive", "--vhost-user", self.socket]
        self.command += ["--control", self.control, "--seed", str(seed)]
        self.command += ["--fault", fault] if fault else []
        self.command += more
        self.start()

    def start(self):
        self.child = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        self.said = []
        for line in self.child.stdout:
            self.said.append(line)
            if line.strip() == "ready":
                return
        sys.exit("the server has not started: " + "".join(self.said))

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        return self.child.communicate(timeout=60)[0]

    def ask(self, **question):
        with socket.socket(socket.AF_UNIX) as switch:
            switch.connect(str(self.control))
            switch.sendall(json.dumps(question).encode() + b"\n")
            answer = json.loads(switch.makefile().readline())
        if not answer["ok"]:
            sys.exit(f"the switch: {answer['error']}")
        return answer["status"]


class Guest:
    """A guest of QEMU without KVM."""

    def __init__(self, kernel, image, disk, queues=2):
        self.child = subprocess.Popen(
            f"{QEMU} -nodefaults -no-user-config -no-reboot -display none -serial stdio -m 512M "
            f"-machine pc,accel=tcg -smp {queues} "
            "-object memory-backend-memfd,id=m,size=512M,share=on -numa node,memdev=m "
            f"-kernel {kernel} -initrd {image} -chardev socket,id=c,path={disk},reconnect=1 "
            f"-device vhost-user-blk-pci,chardev=c,num-queues={queues} -append".split()
            + ["rdinit=/init console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.bytes, self.log = b"", []

    def say(self, text):
        self.child.stdin.write(text.encode() + b"\n")
        self.child.stdin.flush()

    def next(self, within=300):
        """The next line for us."""
        until = time.monotonic() + within
        while True:
            line, found, rest = self.bytes.partition(b"\n")
            if found:
                self.bytes = rest
                text = line.decode(errors="replace").strip()
                self.log = self.log[-30:] + [text]
                if text.startswith("@"):
                    return text[1:]
                continue
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.child.stdout], [], [], left)[0]:
                sys.exit("the guest is silent; the last was:\n" + "\n".join(self.log))
            more = os.read(self.child.stdout.fileno(), 65536)
            if not more:
                sys.exit("the guest has ended; the last was:\n" + "\n".join(self.log))
            self.bytes += more

    def until(self, word):
        """Reads to a line that begins with `word`; returns the last row acknowledged, and it."""
        acked = None
        while True:
            line = self.next()
            if line.startswith("ack "):
                acked = int(line[4:])
            elif line.startswith(word):
                return acked, line


def arguments():
    """A parser of what every campaign takes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("ssdlab")
    parser.add_argument("kernel")
    parser.add_argument("modules", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def main():
    parser = arguments()
    parser.add_argument("--cuts", type=int, default=10)
    parser.add_argument("--restarts", type=int, default=0)
    parser.add_argument("--fault")
    parser.add_argument("--drive", default="consumer-sata-1tb")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(campaign(args, pathlib.Path(folder)))


def campaign(args, folder):
    began = time.monotonic()
    rng = random.Random(args.seed)
    create = [args.ssdlab, "create", folder / "drive", "--drive", args.drive, "--size", "128MiB"]
    subprocess.run(create, check=True, stdout=subprocess.DEVNULL)
    server = Server(args.ssdlab, folder, args.fault, args.seed)
    guest = Guest(args.kernel, initrd(folder, args.modules), server.socket)
    print(guest.until("queues")[1], flush=True)
    guest.say("make")
    guest.until("made")
    row, cuts, lost, rows = 0, 0, 0, 0
    for number in range(args.cuts):
        at = {"nth": rng.randint(3, 14), "side": rng.choice(["inside", "inside", "before"])}
        server.ask(do="cut-when", at={"flush": at})
        guest.say(f"run {row} 1000000")
        acked, _ = guest.until("stopped")
        status = server.ask(do="status")
        assert not status["powered"], "the guest has stopped before the cut"
        server.ask(do="on")
        guest.say("check")
        _, line = guest.until("found")
        highest, count, verdict = line.split(" ", 3)[1:]
        cuts += 1
        highest, count = int(highest), int(count)
        expected = row - 1 if acked is None else acked
        rows += expected - row + 1
        if highest < expected or count != highest + 1 or verdict != "ok":
            lost += 1
            print(f"cut {number}: row {expected} was acknowledged, {line}", flush=True)
            if verdict != "ok" or count != highest + 1:
                # What is damaged stays so: the rest begins with a new file system.
                guest.say("make")
                guest.until("made")
                highest = -1
        row = highest + 1
        if cuts % 25 == 0:
            print(f"{cuts} cuts, {lost} with losses, {rows} rows", file=sys.stderr, flush=True)
    for number in range(args.restarts):
        row = restart(guest, server, row)
    broken = server.ask(do="status")["promises_broken"]
    guest.say("end")
    guest.child.wait(timeout=60)
    notes = server.stop()
    print(notes.strip())
    took = time.monotonic() - began
    name = args.fault or "honest"
    print(
        f"{name}: {cuts} cuts, {rows} rows acknowledged, {lost} cuts with losses, "
        f"{broken} promises of the drive broken, {args.restarts} restarts, {took:.0f} s"
    )
    return (lost == 0) == bool(args.fault) or (broken == 0) == bool(args.fault)


def restart(guest, server, row):
    """Stops the server in order while the guest writes, and starts it again: nothing fails."""
    end = row + 30
    guest.say(f"run {row} {end}")
    while not guest.next().startswith("ack"):
        pass
    server.stop()
    server.start()
    acked, _ = guest.until("stopped")
    guest.say("check")
    _, line = guest.until("found")
    if acked != end - 1 or line.split()[1:] != [str(end - 1), str(end), "ok"]:
        sys.exit(f"after a restart of the server: row {acked} of {end} was acknowledged, {line}")
    return end


if __name__ == "__main__":
    main()
