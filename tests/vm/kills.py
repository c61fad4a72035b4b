"""The server killed under a guest that writes, on a drive served as vhost-user-blk.

Two programs in the guest write blocks with numbers into a file on ext4, and say each number after
its fsync has returned. The server is killed with SIGKILL, every second time while requests wait,
and started again on the same directory and socket; QEMU connects again and the guest goes on. At
the end every number must be there. Usage:

    python3 tests/vm/kills.py SSDLAB KERNEL MODULES [--kills N] [--older]

One guest writes to a drive with a protected buffer, one to a drive with a volatile cache that the
guest has turned off. The second then turns the cache on: a write that it has not flushed at a kill
must be gone, although a flush after it succeeds, or this test could not find losses. With --older,
the server goes on after the last kill with the directory as it was at the first, and losses must
be found. Exit code 1 if the verdict is not the expected one.
"""

import concurrent.futures
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cuts

DRIVES = [("protected", "consumer-sata-1tb-plp"), ("off", "consumer-sata-1tb")]
# What `put` writes over block 0.
UNFLUSHED = 999999


class Served:
    """A new drive, its server, and a guest."""

    def __init__(self, args, folder, image, drive):
        folder.mkdir()
        create = [args.ssdlab, "create", folder / "drive", "--drive", drive, "--size", "128MiB"]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL)
        self.drive, self.copy = folder / "drive", folder / "copy"
        self.server = cuts.Server(args.ssdlab, folder, None, 1)
        self.guest = cuts.Guest(args.kernel, image, self.server.socket)
        self.acked = set()

    def ask(self, what, answer):
        """Says something to the guest, and returns the rest of its answer."""
        self.guest.say(what)
        return self.guest.until(answer)[1][len(answer) :].strip()

    def kill(self):
        self.server.child.kill()
        self.server.child.communicate()

    def write(self, more):
        """Reads until so many more numbers are durable, or the guest has written all."""
        enough = len(self.acked) + more
        while len(self.acked) < enough:
            line = self.guest.next()
            if line == "written":
                return
            self.acked.add(int(line.removeprefix("durable ")))

    def lost(self):
        """The numbers that were durable and are gone."""
        self.there = {int(n) for n in self.ask("look", "there").split()}
        return sorted(self.acked - self.there)

    def end(self):
        self.guest.say("end")
        self.guest.child.wait(timeout=60)
        self.server.stop()


def campaign(args, served, rng):
    """Kills the server while the guest writes. Returns the numbers that are lost."""
    end = 30 * (args.kills + 1)
    served.guest.say(f"write 0 {end}")
    for number in range(args.kills):
        served.write(rng.randint(5, 25))
        if number % 2 == 0:
            # Requests pile up, and are in flight at the kill.
            served.server.child.send_signal(signal.SIGSTOP)
            time.sleep(0.2)
        served.kill()
        if args.older and number == 0:
            shutil.copytree(served.drive, served.copy)
        if args.older and number == args.kills - 1:
            shutil.rmtree(served.drive)
            served.copy.rename(served.drive)
        served.server.start()
    served.write(end + 1)
    if len(served.acked) < end and not args.older:
        sys.exit(f"{len(served.acked)} of {end} writes succeeded")
    return served.lost()


def unflushed(served):
    """Whether a write that was not flushed is gone after a kill."""
    served.ask("cache back", "cache write back")
    served.ask(f"put {UNFLUSHED}", "put")
    served.kill()
    served.server.start()
    served.ask("flush", "flushed")
    served.lost()
    return UNFLUSHED not in served.there


def main():
    parser = cuts.arguments()
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--older", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(run(args, pathlib.Path(folder)))


def run(args, folder):
    began, wrong = time.monotonic(), 0
    image = cuts.initrd(folder, args.modules)
    guests = {cache: Served(args, folder / cache, image, drive) for cache, drive in DRIVES}

    def one(cache):
        guests[cache].guest.until("queues")
        guests[cache].ask("make", "made")
        if cache == "off":
            guests[cache].ask("cache through", "cache write through")
        return campaign(args, guests[cache], random.Random(f"{args.seed} {cache}"))

    with concurrent.futures.ThreadPoolExecutor() as pool:
        for (cache, served), lost in zip(guests.items(), pool.map(one, guests)):
            wrong += bool(lost) != args.older
            said = f"{args.kills} kills, {len(served.acked)} durable writes"
            print(f"cache {cache}: {said}, {len(lost)} lost {lost[:20]}", flush=True)
    if not args.older and not unflushed(guests["off"]):
        wrong += 1
        print("a write that was not flushed is there after a kill: this test finds no losses")
    for served in guests.values():
        served.end()
    print(f"killed {2 * args.kills + 1} times in {time.monotonic() - began:.0f} s")
    return wrong > 0


if __name__ == "__main__":
    main()
