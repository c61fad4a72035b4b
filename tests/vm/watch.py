"""`ssdlab watch` in a guest with Debian's kernel and an NVMe drive, without KVM. Usage:

    python3 tests/vm/watch.py SSDLAB KERNEL MODULES

What `watch` counts by tracepoints and by eBPF is held against QEMU's trace of the commands that the
drive got; a dm-crypt device is found above the drive; a clock that is set back changes nothing; and in
a kernel that is locked down what is left counts right. Prints a line for each answer; exit code 1 when
one is not the expected one.
"""

import json
import pathlib
import re
import sys
import tempfile
import time

import cuts
import passthrough
from passthrough import FLUSH, READ, TRIM, WRITE

HERE = pathlib.Path(__file__).parent
MODULES = ["nvme", "crc32c_generic", "ext4", "dm_mod", "dm_crypt", "xts", "ecb", "aes_generic"]
MAIN = passthrough.MAIN
DRIVE = "/dev/nvme0n1"
PERF, EBPF = "block tracepoints (perf)", "histograms in the kernel (eBPF)"
#: 32 hexadecimal digits for each half of XTS.
KEY = "0123456789abcdef" * 4


class Guest(passthrough.Guest):
    """The guest of passthrough.py, watched."""

    def watched(self, load, seconds, more="", target=DRIVE):
        """Runs a load while it is watched: the report, and the commands that the drive got."""
        line = f"ssdlab watch {target} --for {seconds}s -q --json {more} >w 2>e & watch=$!; sleep 2; "
        line += f"{load}; wait $watch; echo; tr -d '\\n' <w; cat e >&2"
        before = self.commands(MAIN)
        _, said = self.run(line)
        now = self.commands(MAIN)
        found = re.search(r"^\{.*\}", said, re.M)
        if not found:
            print(said)
        return json.loads(found[0]) if found else {}, {op: now[op] - before[op] for op in now}


def sources(report):
    """Names of the sources that were used, and why others were not."""
    state = {source["name"]: source["missing"] for source in report["sources"]}
    return [name for name in state if state[name] is None], state


def fio(name, lines):
    return f"fio --name={name} --filename={DRIVE} --direct=1 --ioengine=libaio --size=32m {lines} >f"


def counts(guest, answers, source):
    """Every command that the drive got, and no other, is in the figures."""
    load = "; ".join([
        fio("r", "--rw=randread --bs=4k --iodepth=4 --number_ios=300"),
        fio("w", "--rw=write --bs=16k --number_ios=100 --fsync=4"),
        fio("t", "--rw=trim --bs=64k --number_ios=20"),
    ])
    report, got = guest.watched(load, 10, f"--source {source}")
    figures = report.get("figures", {})
    names = {"reads": READ, "writes": WRITE, "flushes": FLUSH, "discards": TRIM}
    seen = {op: figures[name]["device"]["count"] for name, op in names.items()} if figures else {}
    right = bool(seen) and all(seen[op] == got.get(op, 0) for op in seen) and seen[READ] >= 300
    lost = report.get("lost_events")
    answers.check(f"counts, {source}", f"watch {seen}, the drive {got}, lost {lost}", right)
    used = sources(report)[0] if report else []
    name = {"perf": PERF, "ebpf": EBPF}[source]
    answers.check(f"source, {source}", used, name in used)


def clock(guest, answers):
    """The clock of the day is set back by years."""
    load = "(sleep 1; date -s 2020-01-01 >d) & " + fio("c", "--rw=randread --bs=4k --number_ios=200")
    report, got = guest.watched(load, 6)
    seconds = len(report.get("seconds", []))
    reads = report["figures"]["reads"]["device"] if report else {}
    right = 6 <= report.get("watched_s", 0) < 8 and seconds >= 6
    right &= reads.get("count") == got.get(READ) and reads.get("max_ns", 0) < 6e9
    answers.check("clock set back", f"{report.get('watched_s')} s, {reads}", right)


def encrypted(guest, answers):
    """dm-crypt above the drive, which a guest without KVM does slowly."""
    sectors = passthrough.MIB * 64 // 512
    table = f"0 {sectors} crypt aes-xts-plain64 {KEY} 0 {DRIVE} 0"
    # The identifier as cryptsetup gives it.
    code, said = guest.run(f"dmsetup create secret -u CRYPT-PLAIN-secret --table '{table}'")
    if code != 0:
        answers.check("dm-crypt", said, False)
        return
    load = fio("e", "--rw=write --bs=256k --number_ios=100").replace(DRIVE, "/dev/dm-0")
    report, _ = guest.watched(load, 8, target="/dev/dm-0")
    stack = report.get("settings", {}).get("stack", [])
    layers = report.get("layers", [])
    findings = report.get("answer", {}).get("findings", [])
    causes = [finding["cause"] for finding in findings]
    right = any("crypt" in layer["kind"] for layer in stack)
    right &= report.get("drive", {}).get("device") == "nvme0n1"
    answers.check("dm-crypt is above it", f"{stack}, {layers}", right)
    answers.check("dm-crypt takes the time", causes, causes[:1] == ["layer_above"])


def locked_down(guest, answers):
    """What the kernel refuses is said with its reason, and what is left counts as many reads as the
    drive got."""
    place = "/sys/kernel/security"
    _, said = guest.run(
        f"mount -t securityfs security {place}; echo confidentiality >{place}/lockdown; "
        f"cat {place}/lockdown")
    answers.check("the kernel is locked down", said, "[confidentiality]" in said)
    for source in ["perf", "ebpf"]:
        load = fio("l", "--rw=randread --bs=4k --number_ios=300")
        report, got = guest.watched(load, 8, f"--source {source}")
        used, state = sources(report)
        reads = report["figures"]["reads"]["device"]["count"]
        refused = state[PERF] if source == "perf" else state[EBPF]
        right = reads == got.get(READ, 0) and "/sys/block counters" in used
        right &= (refused is None) or report["figures"]["only_means"] or PERF in used
        answers.check(f"locked down, {source}", f"{reads} reads; refused: {refused}", right)


def booted(folder, kernel, image, tools, words):
    guest = Guest(folder, kernel, image, tools, words)
    guest.until("booted")
    return guest


def main():
    ssdlab, kernel, modules = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    began = time.monotonic()
    answers = passthrough.Answers()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        image = cuts.initrd(folder, modules, MODULES, [], HERE / "passthrough_guest.sh")
        tools = passthrough.tools(folder, ssdlab, ["fio", "dmsetup"])
        guest = booted(folder, kernel, image, tools, "")
        for source in ["perf", "ebpf"]:
            counts(guest, answers, source)
        clock(guest, answers)
        encrypted(guest, answers)
        guest.say("end")
        guest.child.wait(timeout=60)
        guest = booted(folder, kernel, image, tools, "lsm=lockdown")
        locked_down(guest, answers)
        guest.say("end")
        guest.child.wait(timeout=60)
    print(f"watch in a guest: {answers.wrong} wrong answers, {time.monotonic() - began:.0f} s")
    sys.exit(answers.wrong > 0)


if __name__ == "__main__":
    main()
