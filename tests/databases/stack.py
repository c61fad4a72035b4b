"""The layers below a database: a served drive, a loop device, a file system.

Everything is in one work directory; `Stack.close` leaves no mount, no loop device, no process.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

SERVE_WAIT_S = 60
DETACH_WAIT_S = 120


class Failed(Exception):
    """Finding: file system or database is damaged; the text describes the damage."""


class RigFailed(Exception):
    """Failure of the test itself: a tool is missing, hangs, or refuses a request. It says nothing
    about any drive or database."""


# Statuses with which a command reports damage; any other means that it could not do its work.
# mount: 32. e2fsck: a sum that includes 1 or 2 (repaired) or 4 (not repaired); 8 alone: operational
# error; 16 and more: misuse. xfs_repair -n: 1. psql: 3, a statement failed.
DAMAGED = {"mount": {32}, "e2fsck": set(range(1, 16)) - {8}, "xfs_repair": {1}, "psql": {3}}
# Messages of mount(8) with the same status although the file system is not damaged.
RIGS_FAULT = ("already mounted", "mount point does not exist", "unknown filesystem type",
              "is not a block device", "permission denied", "must be superuser",
              "special device", "failed to setup loop device")
COMMAND_WAIT_S = 300


def run(*command, check=True, timeout=COMMAND_WAIT_S, **more):
    """Runs a command, quietly. A status other than 0 is damage if it is in `DAMAGED`; otherwise it
    is a fault of the rig, as is a command that is missing or hangs."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=timeout, **more)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RigFailed(f"{' '.join(command)}: {error}") from error
    if check and done.returncode != 0:
        said = (done.stdout + done.stderr).strip()[-2000:]
        words = f"{' '.join(command)}: status {done.returncode}: {said}"
        is_damage = done.returncode in DAMAGED.get(Path(command[0]).name, ())
        if is_damage and not any(fault in said for fault in RIGS_FAULT):
            raise Failed(words)
        raise RigFailed(words)
    return done


def is_mounted(folder):
    """Returns whether `folder` is a mount point. It does not stat: the device may be dead."""
    with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
        return any(line.split(" ")[1] == str(folder) for line in mounts)


class Server:
    """`ssdlab serve` on a drive directory, as a FUSE file, with its switch."""

    def __init__(self, ssdlab, work, drive, size, fault=None, seed=1):
        self.ssdlab, self.work = ssdlab, Path(work)
        self.folder, self.control = self.work / "fuse", self.work / "switch"
        self.file = self.folder / "drive"
        self.log = self.work / "serve.log"
        directory = self.work / "drive"
        self.folder.mkdir()
        run(ssdlab, "create", directory, "--drive", drive, "--size", size)
        command = [ssdlab, "serve", directory, "--fuse", self.file, "--control", self.control]
        command += ["--seed", str(seed)] + (["--fault", fault] if fault else [])
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log)
        (self.work / "serve.pid").write_text(str(self.process.pid))
        until = time.monotonic() + SERVE_WAIT_S
        while "\nready\n" not in self.log.read_text():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RigFailed(f"ssdlab serve does not start: {self.log.read_text()}")
            time.sleep(0.02)

    def power(self, *words):
        """Runs `ssdlab power`; returns the status in its answer."""
        done = run(self.ssdlab, "power", *words, "--json", "--control", self.control)
        answer = json.loads(done.stdout.splitlines()[-1])
        return answer["status"]

    def is_on(self):
        """Returns whether the drive has power."""
        return self.power("status")["powered"]

    def stop(self):
        """Shuts the server down in order; returns its closing notes."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if is_mounted(self.folder):
            run("umount", "-l", self.folder, check=False)
        (self.work / "serve.pid").unlink(missing_ok=True)
        text = self.log.read_text()
        return text.split("\nready\n", 1)[-1]


class Stack:
    """Loop device and file system on a served drive."""

    def __init__(self, server, kind):
        self.server, self.kind = server, kind
        self.mount_at = server.work / "fs"
        self.mount_at.mkdir(exist_ok=True)
        self.loop = None

    def attach(self):
        """Attaches the served file as a block device."""
        done = run("losetup", "-f", "--show", "--direct-io=on", self.server.file)
        self.loop = done.stdout.strip()

    def make(self):
        """Makes an empty file system."""
        self.attach()
        if self.kind == "ext4":
            run("mkfs.ext4", "-q", "-F", self.loop)
        else:
            run("mkfs.xfs", "-q", "-f", self.loop)
        self.detach()

    def mount(self):
        """Attaches and mounts; the journal is replayed."""
        self.attach()
        run("mount", "-t", self.kind, self.loop, self.mount_at)

    def check(self):
        """Runs the file system's own check. The journal must have been replayed, and the file
        system must not be mounted."""
        if self.kind == "ext4":
            run("e2fsck", "-fn", self.loop)
        else:
            run("xfs_repair", "-n", self.loop)

    def unmount(self):
        """Unmounts, lazily if necessary."""
        if not is_mounted(self.mount_at):
            return
        if run("umount", self.mount_at, check=False).returncode != 0:
            run("umount", "-l", self.mount_at)

    def detach(self):
        """Removes everything above the served file; returns when the loop device is gone."""
        self.unmount()
        if self.loop is None:
            return
        run("losetup", "-d", self.loop, check=False)
        until = time.monotonic() + DETACH_WAIT_S
        while run("losetup", "-j", self.server.file).stdout.strip():
            if time.monotonic() > until:
                raise RigFailed(f"{self.loop} is not released")
            time.sleep(0.01)
        self.loop = None


def kill_and_wait(process, at_most_s=10):
    """Kills a process of this test."""
    if process.poll() is None:
        process.kill()
    process.wait(at_most_s)


def drop_input(process):
    """Closes the input of a process that has ended, whatever is left unread."""
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()


def give_to(path, user):
    """Makes a folder's owner the user that a database runs as."""
    os.chown(path, user.pw_uid, user.pw_gid)
