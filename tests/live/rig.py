"""What the scripts beside this one share: loop devices, loads, and a watch that is looked at."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

HERTZ = os.sysconf("SC_CLK_TCK")


def run(*words, check=True, **more):
    return subprocess.run([str(word) for word in words], check=check, text=True,
                          capture_output=True, **more)


class Loop:
    """A loop device over a new file."""

    def __init__(self, size, folder=None):
        self.folder = Path(tempfile.mkdtemp(prefix="ssdlab-live-", dir=folder))
        self.image = self.folder / "image"
        with open(self.image, "wb") as file:
            block = os.urandom(1 << 20)
            for _ in range(size >> 20):
                file.write(block)
        self.path = run("losetup", "-f", "--show", self.image).stdout.strip()
        self.name = Path(self.path).name
        time.sleep(0.5)

    def stat(self):
        return [int(word) for word in Path(f"/sys/block/{self.name}/stat").read_text().split()]

    def requests(self):
        stat = self.stat()
        return stat[0] + stat[4] + stat[11] + stat[15]

    def end(self):
        run("losetup", "-d", self.path, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def fio(device, seconds, *words, nice=-19):
    line = ["nice", "-n", str(nice), "fio", "--name=load", f"--filename={device}", "--direct=1",
            "--ioengine=libaio", "--thread", "--time_based", f"--runtime={seconds}", *words]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Watch:
    """A watch that runs; `document` ends it and reads its answer."""

    def __init__(self, ssdlab, target, *words, prefix=()):
        line = [*prefix, ssdlab, "watch", target, "--json", "-q", *words]
        self.process = subprocess.Popen([str(word) for word in line], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def cpu_seconds(self):
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / HERTZ

    def memory_mib(self, key="VmHWM"):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) / 1024
        return 0.0

    def document(self, stop=True):
        if stop:
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        if self.process.returncode not in (0, 1, 3):
            raise RuntimeError(f"exit {self.process.returncode}: {err}")
        return json.loads(out)
