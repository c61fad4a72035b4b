"""A rehearsal of `ssdlab pull` on a machine that loses its power, and on a drive that is unplugged.

`pull run` works in a guest of QEMU, on a drive of ours served as vhost-user-blk; its ledger is kept
outside, over TCP. Usage:

    python3 tests/vm/pull.py SSDLAB KERNEL MODULES [--pulls N]

1. The machine loses its power: QEMU is killed while the guest writes, and the drive's power is cut.
   The guest is started again and goes on with `--host-lost-power`.
2. The drive alone is unplugged by the monitor, with its power cut, and comes back under another
   name: `--off` and `--on` ask the host. It is found again by its serial number.

Of an honest drive nothing may be lost, and every pull must count; one that ignores flushes must be
found out both ways. Prints a line for each answer; exit code 1 when one is not the expected one.
"""

import json
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time

import cuts
from passthrough import Answers

HERE = pathlib.Path(__file__).parent
MODULES = cuts.MODULES + ["virtio_net"]
DRIVE = "consumer-sata-1tb"


class Guest(cuts.Guest):
    """A guest with a network and a monitor."""

    def __init__(self, args, image, folder, disk):
        self.monitor = folder / "monitor"
        self.monitor.unlink(missing_ok=True)
        self.plugged = 0
        self.child = subprocess.Popen(
            f"{cuts.QEMU} -nodefaults -no-user-config -no-reboot -display none -serial stdio "
            "-m 768M -machine pc,accel=tcg -smp 2 "
            "-object memory-backend-memfd,id=m,size=768M,share=on -numa node,memdev=m "
            f"-kernel {args.kernel} -initrd {image} -chardev socket,id=c,path={disk},reconnect=1 "
            f"-device vhost-user-blk-pci,chardev=c,num-queues=2,id=disk0 "
            "-netdev user,id=n -device virtio-net-pci,netdev=n,romfile= "
            f"-qmp unix:{self.monitor},server=on,wait=off -append".split()
            + ["rdinit=/init console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.bytes, self.log = b"", []
        self.until("booted")

    def ask(self, *commands, until=None):
        """Runs commands of QEMU's monitor; waits for an event."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.monitor))
            lines = monitor.makefile("rw")
            lines.readline()
            for command in [{"execute": "qmp_capabilities"}, *commands]:
                lines.write(json.dumps(command) + "\n")
                lines.flush()
                answer = json.loads(lines.readline())
                while "event" in answer:
                    until = None if answer["event"] == until else until
                    answer = json.loads(lines.readline())
                if "error" in answer:
                    sys.exit(f"{command}: {answer['error']['desc']}")
            while until:
                until = None if json.loads(lines.readline()).get("event") == until else until

    def pull_the_plug(self):
        self.child.kill()
        self.child.wait()

    def unplug(self):
        gone = {"execute": "device_del", "arguments": {"id": f"disk{self.plugged}"}}
        self.ask(gone, until="DEVICE_DELETED")

    def plug(self):
        """The drive again; what took its name meanwhile is another."""
        self.plugged += 1
        other = {"driver": "virtio-blk-pci", "drive": "other", "id": "other", "serial": "OTHER"}
        node = {"driver": "null-co", "node-name": "other", "size": 64 << 20, "read-zeroes": True}
        disk = {"driver": "vhost-user-blk-pci", "chardev": "c", "num-queues": 2}
        disk["id"] = f"disk{self.plugged}"
        commands = [{"execute": "device_add", "arguments": disk}]
        if self.plugged == 1:
            commands[:0] = [
                {"execute": "blockdev-add", "arguments": node},
                {"execute": "device_add", "arguments": other},
            ]
        self.ask(*commands)

    def pull(self, line, on_line):
        """Runs a command that writes, until it ends or `on_line` says so: exit code or `None`."""
        self.say(line)
        said = []
        while True:
            text = self.next()
            if text.startswith("exit "):
                return int(text[5:]), said
            said.append(text)
            if on_line(text):
                return None, said


class Rehearsal:
    """A drive, its server and its ledger."""

    def __init__(self, args, image, folder, fault):
        folder.mkdir()
        self.args, self.image, self.folder = args, image, folder
        create = [args.ssdlab, "create", folder / "drive", "--drive", DRIVE, "--size", "64MiB"]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL)
        self.server = cuts.Server(args.ssdlab, folder, fault, args.seed)
        self.rng = random.Random(args.seed)
        self.ledger = folder / "ledger"
        keeper = [args.ssdlab, "pull", "ledger", "--listen", "127.0.0.1:0", "--file", self.ledger]
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.keeper = subprocess.Popen(keeper, text=True, **quiet)
        self.port = self.keeper.stdout.readline().rsplit(":", 1)[1].strip()
        self.keeper.stdout.readline()
        self.guest = None

    def command(self, serial, more):
        return (
            f"ssdlab pull run /dev/vda --serial '{serial}' --ledger tcp:10.0.2.2:{self.port} "
            f"--size 8MiB --write-for 2s --keep-going --settle 1s {more}"
        )

    def boot(self):
        self.guest = guest = Guest(self.args, self.image, self.folder, self.server.socket)
        guest.say("echo $(cat /sys/block/vda/serial)")
        serial = guest.next()
        guest.until("exit")
        return guest, serial

    def host(self, pulls):
        """The guest loses its power `pulls` times; what the last start of it says."""
        for number in range(pulls + 1):
            guest, serial = self.boot()
            more = "--host-lost-power" if number else ""
            more += f" --pulls {number}" if number == pulls else ""
            is_written = lambda text: "away now" in text
            code, said = guest.pull(self.command(serial, more), is_written)
            if code is not None:
                guest.say("end")
                guest.child.wait(timeout=60)
                return code, said
            time.sleep(self.rng.uniform(2, 4))
            guest.pull_the_plug()
            self.server.ask(do="off")
            self.server.ask(do="on")
        return None, said

    def hot(self, pulls):
        """The drive alone is unplugged."""
        guest, serial = self.boot()

        def switch(text):
            if text == "off":
                self.server.ask(do="off")
                guest.unplug()
            elif text == "on":
                self.server.ask(do="on")
                guest.plug()

        more = f"--pulls {pulls} --off 'echo @off >/dev/ttyS0' --on 'echo @on >/dev/ttyS0'"
        code, said = guest.pull(self.command(serial, more), switch)
        guest.say("end")
        guest.child.wait(timeout=60)
        return code, said

    def record(self):
        """What the ledger says outside."""
        status = [self.args.ssdlab, "pull", "status", "--ledger", self.ledger, "--json"]
        return json.loads(subprocess.run(status, stdout=subprocess.PIPE, text=True).stdout)

    def end(self):
        if self.guest:
            self.guest.pull_the_plug()
        self.keeper.terminate()
        self.keeper.wait()
        self.server.stop()


def main():
    parser = cuts.arguments()
    parser.add_argument("--pulls", type=int, default=2)
    args = parser.parse_args()
    began, answers = time.monotonic(), Answers()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        image = cuts.initrd(folder, args.modules, MODULES, [args.ssdlab], HERE / "pull_guest.sh")
        for way in ["host", "hot"]:
            for fault in [None, "ignores-flush"]:
                what = f"{way}, {fault or 'honest'}"
                rehearsal = Rehearsal(args, image, folder / what.replace(", ", "-"), fault)
                try:
                    code, said = getattr(rehearsal, way)(args.pulls)
                    record = rehearsal.record()
                finally:
                    rehearsal.end()
                seen = f"exit {code}, {record['counted']} of {record['pulls']} pulls count, "
                seen += f"{record['lost']} sectors lost"
                right = record["counted"] == record["pulls"] == args.pulls
                right &= (record["lost"] > 0) == bool(fault) and code == (1 if fault else 3)
                answers.check(what, seen if right else "\n".join([seen, *said]), right)
    print(f"{4 * args.pulls} pulls in {time.monotonic() - began:.0f} s")
    sys.exit(answers.wrong > 0)


if __name__ == "__main__":
    main()
