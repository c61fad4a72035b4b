"""NVMe passthrough against Linux's driver and QEMU's emulated drive, in a guest without KVM. Usage:

    python3 tests/vm/passthrough.py SSDLAB KERNEL MODULES

The guest runs fio jobs with `ioengine=io_uring_cmd` on `/dev/ng0n1`. What the drive got is counted
from QEMU's trace of its commands, FUA from the kernel's own trace, and the bytes are looked up in
the image outside when the guest has stopped. Namespaces that are mounted, carry a file system or
are formatted with metadata must be refused, and a failing drive must be reported by its status.
Prints a line for each answer; exit code 1 when one is not the expected one.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import cuts

HERE = pathlib.Path(__file__).parent
MIB = 1 << 20
MODULES = ["nvme", "crc32c_generic", "ext4"]
PROGRAMS = ["fio", "smartctl", "setpriv"]
SERIAL = "PASS0001"
#: Opcodes of the NVM command set, as QEMU's trace has them.
FLUSH, WRITE, READ, TRIM = 0x0, 0x1, 0x2, 0x9
#: Namespaces of the first controller.
MAIN, LARGE, METADATA, FAILING, FORMATTED, PROTECTED, ZONED = range(1, 8)
#: The namespace of the second, which Linux calls the first none the less.
TOOLS = 9
#: Where the failing namespace fails, in sectors of 512 bytes.
BAD_READ, BAD_WRITE = 40960, 61440
PATTERN = b"passthrough!"
TRACING = "/sys/kernel/tracing"


def tools(folder, ssdlab, programs=PROGRAMS):
    """An image with the programs and the libraries that they need."""
    root = folder / "tools"
    for name in ["dev", "proc", "sys", "tmp", "usr/bin", "lib64"]:
        (root / name).mkdir(parents=True)
    path = "/usr/sbin:/sbin:/usr/bin:/bin"
    found = [shutil.which(name, path=path) for name in [*programs, "busybox"]]
    for program in [ssdlab] + [program for program in found if program]:
        shutil.copy(program, root / "usr/bin")
        said = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
        for library in re.findall(r"(/\S+)", said):
            to = root / library.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, to)
    image = folder / "tools.img"
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
    blank(image, size // MIB * MIB * 5 // 4 + 32 * MIB)
    file_system(image, "-O", "^has_journal", "-d", root)
    return image


def file_system(image, *more):
    program = shutil.which("mke2fs", path="/usr/sbin:/sbin:/usr/bin")
    subprocess.run([program, "-q", "-F", "-t", "ext4", *more, image], check=True)


def blank(path, size):
    with open(path, "wb") as file:
        file.truncate(size)


def job_file(name, lines, target="/dev/ng0n1"):
    """The command that makes NAME.fio."""
    text = f"[{name}];ioengine=io_uring_cmd;cmd_type=nvme;filename={target};{lines};"
    return f"printf '%s' '{text}' | tr ';' '\\n' >{name}.fio"


def on_one_processor():
    """Keeps QEMU on one: on two, QEMU 7.2 now and then misses a doorbell that its NVMe drive shares
    with the guest, and commands of fio and of ssdlab wait for the driver's timeout."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


class Guest(cuts.Guest):
    """A guest with two NVMe drives: one with namespaces to be tested, one with the tools."""

    def __init__(self, folder, kernel, image, tools, more=""):
        self.trace = folder / "trace"
        words = f"{cuts.QEMU} -nodefaults -no-user-config -no-reboot -display none -serial stdio"
        words += f" -m 512M -machine pc,accel=tcg -smp 1 -kernel {kernel} -initrd {image}"
        words += f" -trace pci_nvme_io_cmd -D {self.trace} -device nvme,id=c0,serial={SERIAL}"
        for nsid, more in [
            (MAIN, ""),
            (LARGE, ",logical_block_size=4096,physical_block_size=4096"),
            (METADATA, ",ms=8"),
            (FAILING, ""),
            (FORMATTED, ""),
            (PROTECTED, ""),
            (ZONED, ",zoned=on,zoned.zone_size=4M"),
        ]:
            words += f" -device nvme-ns,bus=c0,drive=d{nsid},nsid={nsid}{more}"
            if nsid == FAILING:
                continue
            blank(folder / f"d{nsid}", 64 * MIB)
            words += f" -drive if=none,id=d{nsid},format=raw,discard=unmap,file={folder}/d{nsid}"
            words += ",readonly=on" if nsid == PROTECTED else ""
        file_system(folder / f"d{FORMATTED}")
        blank(folder / "failing", 64 * MIB)
        words += f" -drive if=none,id=d{FAILING},format=raw,file.driver=blkdebug"
        words += f",file.image.filename={folder}/failing"
        for number, (event, sector) in enumerate([("read", BAD_READ), ("write", BAD_WRITE)]):
            words += f",file.inject-error.{number}.event=none"
            words += f",file.inject-error.{number}.iotype={event}"
            words += f",file.inject-error.{number}.sector={sector}"
            words += f",file.inject-error.{number}.errno=5"
        words += f" -drive if=none,id=tools,format=raw,readonly=on,file={tools}"
        words += f" -device nvme,id=c1,serial=TOOLS -device nvme-ns,bus=c1,drive=tools,nsid={TOOLS}"
        words += " -append"
        self.child = subprocess.Popen(
            words.split()
            + [f"rdinit=/init console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check {more}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=on_one_processor,
        )
        self.bytes, self.log = b"", []

    def run(self, line):
        """The exit code of a command, and what it has said."""
        self.say(line)
        said = []
        while True:
            answer = self.next()
            if answer.startswith("| "):
                said.append(answer[2:])
            elif answer.startswith("exit "):
                return int(answer[5:]), "\n".join(said)

    def job(self, name, lines, target="/dev/ng0n1", more=f"--serial {SERIAL}"):
        """Runs a job with ssdlab: exit code, what was said, and the result if there is one."""
        self.run(job_file(name, lines, target))
        code, said = self.run(f"ssdlab run {name}.fio -q --json --out {name} {more} >r; c=$?; "
                              "cat r | tr -d '\\n'; exit $c")
        found = re.search(r"^\{.*\}", said, re.M)
        return code, said, json.loads(found[0]) if found else None

    def counted(self, nsid, job):
        """What `job()` gives, and the commands that the drive got of it, by opcode."""
        before = self.commands(nsid)
        result = job()
        now = self.commands(nsid)
        return result, {op: now[op] - before[op] for op in sorted(now) if now[op] > before[op]}

    def commands(self, nsid):
        pattern = re.compile(r"pci_nvme_io_cmd cid \d+ nsid 0x([0-9a-f]+) sqid \d+ opc 0x(\w+)")
        count = collections.Counter()
        for line in self.trace.read_text(errors="replace").splitlines():
            found = pattern.search(line)
            if found and int(found[1], 16) == nsid:
                count[int(found[2], 16)] += 1
        return count


class Answers:
    """What was seen beside what was expected."""

    def __init__(self):
        self.wrong = 0

    def check(self, what, seen, right):
        print(f"{'ok' if right else 'WRONG'}: {what}: {seen}", flush=True)
        self.wrong += not right


def counters(result):
    phase = result["phases"][0]["counters"]
    names = ["reads", "writes", "fua_writes", "flushes", "trims", "host_bytes_written"]
    return {name: phase["after"][name] - phase["before"][name] for name in names}


def done(result):
    return {op["op"]: op["count"] for job in result["jobs"] for op in job["ops"]}


def loads(guest, answers):
    """Jobs whose commands are counted on both sides."""
    guest.run(f"echo 4096 >{TRACING}/buffer_size_kb; "
              f"echo 1 >{TRACING}/events/nvme/nvme_setup_cmd/enable")
    pattern = f'buffer_pattern="{PATTERN.decode()}"'
    for name, nsid, lines, expected in [
        ("seqwrite", MAIN, f"rw=write;bs=4k;size=1m;offset=8m;{pattern}", {WRITE: 256}),
        ("fua", MAIN, "rw=randwrite;bs=8k;size=1m;sync=1;offset=16m;iodepth=4", {WRITE: 128}),
        ("fsync", MAIN, "rw=write;bs=4k;size=1m;offset=20m;fsync=4", {FLUSH: 64, WRITE: 256}),
        ("trim", MAIN, "rw=trim;bs=64k;size=512k;offset=8m", {TRIM: 8}),
        ("verified", MAIN, "rw=randwrite;bs=4k;size=4m;offset=32m;iodepth=16;verify=crc32c",
         {WRITE: 1024, READ: 1024}),
        ("blocks", LARGE, "rw=randrw;bs=4k;size=4m;iodepth=8", None),
        ("largest", MAIN, "rw=write;bs=512k;size=8m;offset=40m;iodepth=4", {WRITE: 16}),
    ]:
        target = f"/dev/ng0n{nsid}"
        # Beside the job's reads the drive gets those that look for signatures.
        (code, said, result), got = guest.counted(nsid, lambda: guest.job(name, lines, target))
        if result is None:
            answers.check(name, f"exit {code}\n{said}", False)
            continue
        own, ops = counters(result), done(result)
        sent = {WRITE: own["writes"], FLUSH: own["flushes"], TRIM: own["trims"]}
        sent = {op: count for op, count in sent.items() if count}
        seen = {op: count for op, count in got.items() if op != READ}
        right = code == 0 and sent == seen and got.get(READ, 0) >= own["reads"]
        wanted = expected or {WRITE: ops["write"]}
        right &= seen == {op: n for op, n in wanted.items() if op != READ}
        right &= own["reads"] == wanted.get(READ, ops.get("read", 0))
        if name == "fua":
            _, forced = guest.run(f"grep -c 'nvme_cmd_write.*ctrl=0x4000' {TRACING}/trace")
            right &= own["fua_writes"] == 128 and forced == "128"
            name = f"fua, {forced} with FUA in the kernel's trace"
        answers.check(name, f"exit {code}, the drive got {got}, counted {own}, done {ops}", right)


def filled(guest, answers):
    """A tenth of the target, in the largest commands that it takes, before a job that reads."""
    more = f"--serial {SERIAL} --fill 10"
    load = lambda: guest.job("filled", "rw=randread;bs=4k;size=64k", f"/dev/ng0n{LARGE}", more)
    (code, said, result), got = guest.counted(LARGE, load)
    right = code == 0 and got[WRITE] == 12 and counters(result)["reads"] == 16
    answers.check("filled", f"exit {code}, the drive got {got}" if result else said, right)


def refusals(guest, answers):
    """What must not be done, with the reason."""
    write, read = "rw=write;bs=4k;size=64k", "rw=randread;bs=4k;size=64k"
    for name, lines, target, more, words in [
        ("unconfirmed", write, "/dev/ng0n1", "", "nothing was confirmed"),
        ("wrong", write, "/dev/ng0n1", "--serial TOOLS", "does not name it"),
        ("signature", write, "/dev/ng0n5", "", "ext4"),
        ("mounted", write, "/dev/ng1n1", "--serial TOOLS", "mounted"),
        ("metadata", write, "/dev/ng0n3", f"--serial {SERIAL}", "bytes of metadata"),
        ("unread", read, "/dev/ng0n3", "", "bytes of metadata"),
        ("block", write, "/dev/nvme0n1", f"--serial {SERIAL}", "name /dev/ng0n1"),
        ("null", read, "/dev/null", "", "another character device"),
        ("large", "rw=read;bs=1m;size=8m", "/dev/ng0n1", "", "512 KiB at most"),
        ("small", "rw=read;bs=512;size=8k", "/dev/ng0n2", "", "multiples of 4096"),
        ("buffered", read, "/dev/ng0n1", "--buffered", "no page cache"),
    ]:
        nsid = int(target[-1]) if target.startswith("/dev/ng0") else 0
        job = (name, lines, target, more)
        (code, said, result), got = guest.counted(nsid, lambda job=job: guest.job(*job))
        right = code == 2 and words in said and "hint: " in said and result is None
        right &= not {WRITE, TRIM, FLUSH} & got.keys()
        answers.check(f"refused, {name}", said.replace("\n", " / "), right)
    guest.run("chmod 666 /dev/ng0n1")
    guest.run(job_file("user", read))
    # By its path: busybox has a setpriv of its own.
    code, said = guest.run("/usr/bin/setpriv --reuid 1 --regid 1 --clear-groups "
                           "ssdlab run user.fio -q --out user")
    answers.check("refused, a user", said.replace("\n", " / "), code == 2 and "6.2" in said)
    # Held against others while it writes.
    long = "rw=write;bs=4k;size=8m;time_based;runtime=4"
    guest.run(f"{job_file('long', long)}; ssdlab run long.fio -q --out long --serial {SERIAL} &")
    code, said = guest.run(f"sleep 2; ssdlab run long.fio -q --out second --serial {SERIAL}")
    answers.check("refused, held", said.replace("\n", " / "), code == 2 and "in use" in said)
    guest.run("wait; while pidof ssdlab; do usleep 100000; done")
    # The file system reads its own namespace, too.
    reads = lambda: guest.job("others", read, "/dev/ng1n1", "")
    (code, said, result), got = guest.counted(TOOLS, reads)
    right = code == 0 and counters(result)["reads"] == 16 and got[READ] >= 16
    answers.check("reads beside a mount", f"exit {code}, the drive got {got}", right)


def failures(guest, answers):
    """The drive's own word is shown, and the run fails."""
    for name, nsid, lines, words in [
        ("unread", FAILING, f"rw=read;bs=4k;offset={BAD_READ // 2}k;size=64k",
         "NVMe status 2h/81h, Unrecovered Read Error"),
        ("unwritten", FAILING, f"rw=write;bs=4k;offset={BAD_WRITE // 2}k;size=64k",
         "NVMe status 2h/80h, Write Fault"),
        ("protected", PROTECTED, "rw=write;bs=4k;size=64k", "NVMe status 2h/80h, Write Fault"),
        ("zone", ZONED, "rw=write;bs=4k;offset=1m;size=64k",
         "NVMe status 1h/bch, Zone Invalid Write"),
    ]:
        code, said, _ = guest.job(f"bad{name}", lines, f"/dev/ng0n{nsid}")
        said = " / ".join(line for line in said.splitlines() if not line.startswith("{"))
        answers.check(f"failed, {name}", f"exit {code}, {said}", code == 2 and words in said)


def beside_fio(guest, answers):
    """fio's own engine sends the same commands."""
    for rw in ["write", "read"]:
        lines = f"rw={rw};bs=16k;size=1m;offset=24m;thread"
        _, ours = guest.counted(MAIN, lambda: guest.job(f"ours{rw}", lines))
        (code, said), theirs = guest.counted(
            MAIN, lambda: guest.run(f"fio --output=said ours{rw}.fio; c=$?; cat said; exit $c")
        )
        seen = f"ours {ours}, fio's {theirs}"
        op = WRITE if rw == "write" else READ
        right = code == 0 and ours.get(op) == theirs.get(op) == 64
        answers.check(f"beside fio, {rw}", seen if code == 0 else f"{seen}: {said}", right)


def in_image(folder, answers):
    """What lies in the image when the guest has stopped."""
    bytes = (folder / f"d{MAIN}").read_bytes()
    block = (PATTERN * 400)[:4096]
    trimmed, kept = bytes[8 * MIB : 8 * MIB + MIB // 2], bytes[8 * MIB + MIB // 2 : 9 * MIB]
    right = kept == block * 128
    answers.check("the image, written", f"{kept[:24]}...", right)
    answers.check("the image, trimmed", f"{trimmed[:8]}...", not any(trimmed))
    right = not any(bytes[9 * MIB : 16 * MIB]) and not any(bytes[48 * MIB :])
    answers.check("the image, elsewhere", "nothing was written" if right else "bytes", right)


def main():
    ssdlab, kernel, modules = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    began = time.monotonic()
    answers = Answers()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        init = HERE / "passthrough_guest.sh"
        image = cuts.initrd(folder, modules, MODULES, [], init)
        guest = Guest(folder, kernel, image, tools(folder, ssdlab))
        _, line = guest.until("booted")
        print(f"{line}, after {time.monotonic() - began:.0f} s", flush=True)
        loads(guest, answers)
        filled(guest, answers)
        refusals(guest, answers)
        failures(guest, answers)
        beside_fio(guest, answers)
        code, said = guest.run("ssdlab inspect /dev/ng0n1 --json | tr -d '\\n'")
        answers.check("inspect", said[:200], code == 0 and SERIAL in said)
        guest.say("end")
        guest.child.wait(timeout=60)
        in_image(folder, answers)
    took = time.monotonic() - began
    print(f"NVMe passthrough: {answers.wrong} wrong answers, {took:.0f} s")
    sys.exit(answers.wrong > 0)


if __name__ == "__main__":
    main()
