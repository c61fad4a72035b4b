"""A guest that boots from a drive of ours: firmware, loader, kernel and initrd are read from it
over vhost-user-blk, before and after a power cut. Usage:

    python3 tests/vm/boot.py SSDLAB KERNEL MODULES

The loader is syslinux on a FAT file system that fills the drive, copied there over NBD.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import cuts

MIB = 64
CONFIG = """DEFAULT linux
LABEL linux
  LINUX vmlinuz
  INITRD initrd
  APPEND rdinit=/init console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check
"""


class Booted(cuts.Guest):
    """A guest without a kernel of its own."""

    def __init__(self, disk):
        self.child = subprocess.Popen(
            f"{cuts.QEMU} -nodefaults -no-user-config -no-reboot -display none -serial stdio "
            "-m 512M -machine pc,accel=tcg -object memory-backend-memfd,id=m,size=512M,share=on "
            f"-numa node,memdev=m -chardev socket,id=c,path={disk},reconnect=1 "
            "-device vhost-user-blk-pci,chardev=c,bootindex=0".split(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.bytes, self.log = b"", []


def image(folder, kernel, modules):
    """A disk that SeaBIOS boots."""
    disk = folder / "image"
    disk.write_bytes(b"")
    with open(disk, "r+b") as file:
        file.truncate(MIB << 20)
    config = folder / "syslinux.cfg"
    config.write_text(CONFIG)
    subprocess.run(["/usr/sbin/mkfs.vfat", "-h", "0", disk], check=True, stdout=subprocess.DEVNULL)
    for source, name in [(kernel, "vmlinuz"), (cuts.initrd(folder, modules), "initrd")]:
        subprocess.run(["mcopy", "-i", disk, source, f"::{name}"], check=True)
    subprocess.run(["mcopy", "-i", disk, config, "::syslinux.cfg"], check=True)
    subprocess.run(["syslinux", "--install", disk], check=True)
    return disk


def main():
    ssdlab, kernel, modules = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        create = [ssdlab, "create", folder / "drive", "--drive", "consumer-sata-1tb"]
        create += ["--size", f"{MIB}MiB"]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL)
        filling = ["--nbd", f"unix:{folder}/nbd"]
        server = cuts.Server(ssdlab, folder, None, 1, filling)
        source, to = image(folder, kernel, modules), f"nbd+unix:///?socket={folder}/nbd"
        subprocess.run(["nbdcopy", "--flush", source, to], check=True)
        for boot in ["first", "after a power cut"]:
            guest = Booted(server.socket)
            _, line = guest.until("queues")
            print(f"booted from the drive, {boot}: {line}", flush=True)
            guest.say("end")
            guest.child.wait(timeout=60)
            server.ask(do="off")
            server.ask(do="on")
        server.stop()
    print(f"booted twice in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
