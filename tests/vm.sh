#!/usr/bin/env bash
# Virtual machines: QEMU without KVM, a guest with Debian's kernel.
# 1. `ssdlab conform`: what QEMU 7.2 promises its guests and what reaches the drive; the FUA that its
#    NVMe drops must be found, and our vhost-user-blk must keep everything; QEMU's storage daemon
#    between them breaks every promise, and so does a layer in the guest that drops flushes.
# 2. Power cuts under SQLite on ext4, on a drive served as vhost-user-blk: an honest drive loses
#    nothing, one that ignores flushes is found out.
# 3. The server killed under a writing guest, which goes on: nothing that was durable is lost.
# 4. A guest that boots from such a drive, before and after a power cut.
# 5. NVMe passthrough by Linux's driver to QEMU's drive: what was sent, refused and failed.
# 6. `ssdlab watch` on NVMe: its counts by tracepoints and eBPF against QEMU's, dm-crypt, a clock set
#    back, a kernel that is locked down.
# 7. `ssdlab pull` rehearsed: a machine that loses its power, a drive that is unplugged.
# Usage: bash tests/vm.sh [path of ssdlab] [cuts]
# SSDLAB_VM=all tests every device model with every cache mode, over NBD and as a file, every
# program of examples/conform/through.sh, and ublk where it is installed.
# SSDLAB_GUEST_KERNEL is a folder with boot/vmlinuz-* and lib/modules/*; otherwise Debian's is
# downloaded into the build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skips.sh
target=${CARGO_TARGET_DIR:-target}
ssdlab=${1:-} cuts=${2:-8}
if [ -z "$ssdlab" ]; then
  cargo build --quiet -p ssdlab
  ssdlab=$target/debug/ssdlab
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

missing() { # tools
  local tool
  for tool in "$@"; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || { echo "$tool" && return; }
  done
}
lacks=$(missing qemu-system-x86_64 mkfs.ext4 busybox sqlite3 python3)
if [ -n "$lacks" ]; then
  skip "virtual machines" "$lacks is not installed"
  exit
fi

# The kernel and the modules of disks and ext4 out of Debian's package, which is not installed.
fetch() { # folder
  local package
  package=$(apt-cache depends linux-image-amd64 | awk '/Depends:/ { print $2; exit }') &&
    mkdir -p "$1" && (cd "$1" && apt-get -q download "$package" >/dev/null 2>&1) &&
    dpkg-deb --fsys-tarfile "$1"/*.deb | tar -x -C "$1" --wildcards './boot/vmlinuz-*' \
      './lib/modules/*/kernel/drivers/'{block,nvme,virtio,scsi,ata,md,dax}'/*' \
      './lib/modules/*/kernel/'{fs/ext4,fs/jbd2,lib,crypto,arch/x86/crypto,block}'/*' \
      './lib/modules/*/kernel/fs/mbcache.ko' './lib/modules/*/kernel/net/core/failover.ko' \
      './lib/modules/*/kernel/drivers/net/'{virtio_net,net_failover}.ko && rm "$1"/*.deb
}
kernels=${SSDLAB_GUEST_KERNEL:-$target/guest-kernel}
network="$kernels/lib/modules/*/kernel/drivers/net/virtio_net.ko"
if [ -z "${SSDLAB_GUEST_KERNEL:-}" ] && ! compgen -G "$network" >/dev/null && ! fetch "$kernels"; then
  rm -rf "$kernels"
  skip "virtual machines" "the package of a kernel cannot be had"
  exit
fi
kernel=$(compgen -G "$kernels/boot/vmlinuz-*" | head -n 1)
modules=$(compgen -G "$kernels/lib/modules/*" | head -n 1)

conform() { # expected exit code, arguments
  local want=$1 code=0
  shift
  "$ssdlab" conform --kernel "$kernel" --modules "$modules" "$@" -- qemu-system-x86_64 \
    >"$work/report" || code=$?
  cat "$work/report"
  [ "$code" = "$want" ] || { echo "FAILED: exit code $code, not $want" && exit 1; }
}
if [ "${SSDLAB_VM:-}" = all ]; then
  conform 1
  conform 1 --file
else
  conform 1 --cache writeback
fi
grep -q '^| vhost-user-blk' "$work/report"
grep -q 'BROKEN nvme.*NVMe write with FUA: in the drive' "$work/report"
if grep '^BROKEN' "$work/report" | grep -v 'cache=unsafe' | grep -v '^BROKEN nvme'; then
  echo "FAILED: promises that QEMU is known to keep"
  exit 1
fi
# As JSON, by its schema.
conform 0 --model vhost-user-blk --json
python=$target/venv/bin/python
[ -x "$python" ] || python=python3
if "$python" -c 'import jsonschema' 2>/dev/null; then
  "$ssdlab" list schemas conform >"$work/schema"
  "$python" - "$work/schema" "$work/report" <<'PY'
import json, sys
from jsonschema import Draft202012Validator as Validator
schema, report = (json.load(open(path)) for path in sys.argv[1:])
Validator.check_schema(schema)
errors = [f"{e.json_path}: {e.message[:200]}" for e in Validator(schema).iter_errors(report)]
assert not errors, errors[:3]
assert len(report["disks"]) == 1 and len(report["disks"][0]["cells"]) > 10, report
report["disks"][0]["colour"] = "red"
assert not Validator(schema).is_valid(report), "the schema accepts another key"
print("ok: conform prints what its schema says")
PY
else
  skip "schema of conform" "jsonschema is not installed"
fi
# What others make of the drive: QEMU's storage daemon announces no write cache and has one.
through() { # program, expected exit code, the last line
  local code=0
  "$ssdlab" conform --kernel "$kernel" --modules "$modules" -- sh examples/conform/through.sh "$1" \
    '{kernel}' '{initrd}' '{append}' '{drive}' >"$work/report" || code=$?
  [ "$code" = "$2" ] && [ "$(tail -n 1 "$work/report")" = "$3" ] ||
    { cat "$work/report" && echo "FAILED: $1: exit code $code" && exit 1; }
  echo "ok: conform through $1: $3"
}
if command -v qemu-storage-daemon >/dev/null; then
  through vhost-user-blk 1 "promises kept 0, broken 12"
  [ "${SSDLAB_VM:-}" != all ] || through vhost-user-blk-writethrough 0 "promises kept 12, broken 0"
else
  skip "QEMU's storage daemon" "it is not installed"
fi
# What a program in the guest makes of its disk.
layer() { # the last line, command, module
  local code=0
  "$ssdlab" conform --kernel "$kernel" --modules "$modules" --model virtio-blk --cache none \
    --layer "$2" --layer-module "$3" -- qemu-system-x86_64 >"$work/report" || code=$?
  [ "$(tail -n 1 "$work/report")" = "$1" ] ||
    { cat "$work/report" && echo "FAILED: $2: exit code $code" && exit 1; }
  echo "ok: conform on $2: $1"
}
if command -v qemu-nbd >/dev/null; then
  layer "promises kept 10, broken 0" 'qemu-nbd --cache=writeback -f raw -c /dev/nbd0 {disk}' nbd
  layer "promises kept 0, broken 10" 'qemu-nbd --cache=unsafe -f raw -c /dev/nbd0 {disk}' nbd
else
  skip "a layer in the guest" "qemu-nbd is not installed"
fi
if [ "${SSDLAB_VM:-}" = all ]; then
  # `cargo install rublk`, and a kernel later than Debian 12's 6.1.
  if command -v rublk >/dev/null && compgen -G "$modules/kernel/drivers/block/ublk_drv.ko*"; then
    layer "promises kept 10, broken 0" 'rublk add loop -f {disk}' ublk_drv
  else
    skip "ublk" "rublk, or a kernel with ublk (SSDLAB_GUEST_KERNEL), is not installed"
  fi
  for program in qemu-nbd nbdkit nbdkit-cache; do
    command -v "${program%-cache}" >/dev/null || { skip "$program" "it is not installed" && continue; }
    through "$program" 0 "promises kept 11, broken 0"
  done
fi
python3 -B tests/vm/cuts.py "$ssdlab" "$kernel" "$modules" --cuts "$cuts" --restarts 2
python3 -B tests/vm/cuts.py "$ssdlab" "$kernel" "$modules" --cuts 3 --fault ignores-flush
python3 -B tests/vm/kills.py "$ssdlab" "$kernel" "$modules"
python3 -B tests/vm/pull.py "$ssdlab" "$kernel" "$modules"
lacks=$(missing syslinux mcopy mkfs.vfat nbdcopy)
if [ -n "$lacks" ]; then
  skip "a guest that boots from a drive" "$lacks is not installed"
else
  python3 -B tests/vm/boot.py "$ssdlab" "$kernel" "$modules"
fi
lacks=$(missing fio smartctl setpriv)
if [ -n "$lacks" ]; then
  skip "NVMe passthrough in a guest" "$lacks is not installed"
else
  python3 -B tests/vm/passthrough.py "$ssdlab" "$kernel" "$modules"
fi
lacks=$(missing fio dmsetup)
if [ -n "$lacks" ]; then
  skip "watch in a guest" "$lacks is not installed"
else
  python3 -B tests/vm/watch.py "$ssdlab" "$kernel" "$modules"
fi
