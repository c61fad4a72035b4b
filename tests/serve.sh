#!/usr/bin/env bash
# Runs third-party clients against the front ends: libnbd (nbdsh, nbdinfo, nbdcopy), qemu, fio, and
# a loop device on the FUSE file; first on the smallest store, in memory, then on `ssdlab serve`
# with a drive directory. A missing tool is skipped and reported. With `inner`, as tests/all.sh calls
# it, qemu is not asked for.
# Usage: bash tests/serve.sh [path of the example serve_memory] [path of ssdlab] [inner]
set -euo pipefail
cd "$(dirname "$0")/.."
server=${1:-} ssdlab=${2:-} ring=${3:-}
if [ -z "$server" ]; then
  cargo build --quiet -p ssdlab-serve --example serve_memory
  server=${CARGO_TARGET_DIR:-target}/debug/examples/serve_memory
fi
if [ -z "$ssdlab" ]; then
  cargo build --quiet -p ssdlab
  ssdlab=${CARGO_TARGET_DIR:-target}/debug/ssdlab
fi
work=$(mktemp -d)
sock=$work/nbd uri="nbd+unix:///drive?socket=$work/nbd"
mkdir "$work/mnt" "$work/fs"
loop="" pid=""
finish() {
  if mountpoint -q "$work/fs"; then umount "$work/fs"; fi
  if [ -n "$loop" ]; then losetup -d "$loop" || true; fi
  exec 9>&- || true
  if [ -n "$pid" ]; then wait "$pid" || true; fi
  if mountpoint -q "$work/mnt"; then umount -l "$work/mnt"; fi
  rm -rf "$work"
}
trap finish EXIT
failed=0
# Functions run here without `set -e`, so their commands are joined with &&.
have() { command -v "$1" >/dev/null 2>&1; }
. tests/skips.sh
check() {
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    echo "ok       $name"
  else
    echo "FAILED   $name"
    sed 's/^/         /' "$work/log" | tail -20
    failed=1
  fi
}

start() { # [FUSE folder]
  mkfifo "$work/stdin"
  "$server" 256 "$sock" "$work/control" "$@" <"$work/stdin" >"$work/out" 2>&1 &
  pid=$!
  exec 9>"$work/stdin"
  for _ in $(seq 200); do
    grep -q ^ready "$work/out" && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  cat "$work/out"
  return 1
}
can_fuse=""
if [ -w /dev/fuse ] && [ "$(id -u)" = 0 ]; then can_fuse=yes; fi
if [ -n "$can_fuse" ]; then start "$work/mnt"; else start; fi

nbdsh_() { PYTHONPATH=/usr/lib/python3/dist-packages nbdsh "$@"; }
if have nbdsh && nbdsh_ -c 'pass' 2>/dev/null; then
  check "nbdsh: flags, contexts, bad requests, flush on another connection" \
    nbdsh_ -c "uri, control = '$uri', '$work/control'" -c - <tests/serve_nbdsh.py
else
  skip nbdsh "python3-libnbd is not installed"
fi
map_() { nbdinfo --map "$uri" && nbdinfo --map=ssdlab:durability "$uri"; }
copy_() {
  head -c 40000000 /dev/urandom >"$work/a" &&
    truncate -s 256M "$work/a" &&
    nbdcopy --flush "$work/a" "$uri" && nbdcopy "$uri" "$work/b" && cmp "$work/a" "$work/b" &&
    [ "$(du -k "$work/b" | cut -f1)" -lt 100000 ] # the holes are still holes
}
if have nbdinfo && have nbdcopy; then
  check "nbdinfo" nbdinfo "$uri"
  check "nbdinfo --list" nbdinfo --list "nbd+unix:///?socket=$sock"
  check "nbdcopy both ways, compared" copy_
  check "nbdinfo --map" map_
else
  skip "nbdinfo, nbdcopy" "libnbd-bin is not installed"
fi
qemu_io_() {
  qemu-io -f raw "$uri" -c 'write -P 7 1M 1M' -c 'read -P 7 1M 1M' -c 'write -f -P 8 1536 512' \
    -c 'read -P 8 1536 512' -c 'write -z 1M 64k' -c 'read -P 0 1M 64k' -c 'discard 0 1M' \
    -c 'write -zu 8M 8M' -c flush -c 'read 0 64M' -c map >"$work/q" 2>&1 || { cat "$work/q" && return 1; }
  cat "$work/q"
  ! grep -Eiq 'error|failed|pattern verification' "$work/q"
}
qemu_compare_() {
  qemu-img convert -n -f raw -O raw "$work/a" "$uri" &&
    qemu-img compare -f raw -F raw "$work/a" "$uri"
}
if [ "$ring" != inner ] && have qemu-io && have qemu-img; then
  check "qemu-io" qemu_io_
  [ -e "$work/a" ] || { head -c 9000000 /dev/urandom >"$work/a" && truncate -s 256M "$work/a"; }
  check "qemu-img convert, compare" qemu_compare_
elif [ "$ring" != inner ]; then
  skip "qemu-io, qemu-img" "qemu-utils is not installed"
fi
if have fio && fio --enghelp 2>/dev/null | grep -qw nbd; then
  check "fio nbd engine, verify=crc32c" fio --name=v --ioengine=nbd --uri="$uri" --rw=randwrite \
    --bs=512,4k,64k --bsrange=512-64k --bs_unaligned=0 --iodepth=32 --size=32M \
    --verify=crc32c --do_verify=1 --verify_fatal=1 --verify_state_save=0 --randseed=5 --fsync=64
else
  skip "fio nbd engine" "fio is missing or built without it"
fi

loop_() {
  [ "$(stat -c %s "$work/mnt/drive")" = $((256 << 20)) ] &&
    loop=$(losetup -f --show --direct-io=on "$work/mnt/drive") &&
    [ "$(blockdev --getsize64 "$loop")" = $((256 << 20)) ] &&
    mkfs.ext4 -q -F "$loop" &&
    mount "$loop" "$work/fs" &&
    head -c 5000000 /dev/urandom >"$work/fs/file" &&
    sync "$work/fs/file" &&
    cp "$work/fs/file" "$work/c" &&
    fstrim "$work/fs" &&
    umount "$work/fs" &&
    e2fsck -fn "$loop" &&
    mount "$loop" "$work/fs" &&
    cmp "$work/fs/file" "$work/c" &&
    umount "$work/fs"
}
if [ -z "$can_fuse" ]; then
  skip "FUSE file" "needs root and /dev/fuse"
elif ! losetup -f >/dev/null 2>&1 || ! have mkfs.ext4; then
  skip "loop device" "no loop device, or no mkfs.ext4"
else
  check "FUSE file, loop device, ext4, fstrim, fsck" loop_
  loop=$(losetup -j "$work/mnt/drive" | cut -d: -f1 | head -1)
  if [ -n "$loop" ]; then losetup -d "$loop" && loop=""; fi
fi

exec 9>&-
wait "$pid" && code=0 || code=$?
pid=""
check "the server exited with 0" test "$code" = 0
check "client notes list the flushes" grep -q 'flushes per write' "$work/out"

# The same clients on a modelled drive in a directory, with its power switch.
drive=$work/drive
serve_drive() { # further arguments
  # The server before this one was ready, too, and its log may still be there when it is looked at.
  : >"$work/out"
  "$ssdlab" serve "$drive" --nbd "unix:$sock" --control "$work/control" "$@" \
    >"$work/out" 2>"$work/err" &
  pid=$!
  for _ in $(seq 400); do
    grep -q ^ready "$work/out" && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  cat "$work/out" "$work/err"
  return 1
}
end_drive() { kill "$pid" && wait "$pid" && pid="" && grep -q ^closed "$work/out"; }
power_() { "$ssdlab" power "$@" --control "$work/control"; }
"$ssdlab" create "$drive" --drive consumer-sata-1tb --size 256MiB 2>/dev/null
if [ -n "$can_fuse" ]; then serve_drive --fuse "$work/mnt/drive"; else serve_drive; fi
if have nbdsh && nbdsh_ -c 'pass' 2>/dev/null; then
  check "drive: nbdsh" nbdsh_ -c "uri, control = '$uri', '$work/control'" -c - <tests/serve_nbdsh.py
else
  skip "drive: nbdsh" "python3-libnbd is not installed"
fi
if have nbdinfo && have nbdcopy; then
  check "drive: nbdcopy both ways, compared" copy_
  check "drive: nbdinfo --map" map_
  # Flushed data survives a cut: the drive reads as the copy made before it.
  after_cut_() {
    power_ off && ! nbdcopy "$uri" "$work/b" && power_ on &&
      nbdcopy "$uri" "$work/b" && cmp "$work/a" "$work/b" && power_ status --json
  }
  check "drive: the copy is there after a power cut" after_cut_
else
  skip "drive: nbdinfo, nbdcopy" "libnbd-bin is not installed"
fi
if [ "$ring" != inner ] && have qemu-io && have qemu-img; then
  check "drive: qemu-io" qemu_io_
  check "drive: qemu-img convert, compare" qemu_compare_
elif [ "$ring" != inner ]; then
  skip "drive: qemu-io, qemu-img" "qemu-utils is not installed"
fi
fio_() {
  fio --name=v --ioengine=nbd --uri="$uri" --rw=randwrite --bsrange=512-64k --bs_unaligned=0 \
    --iodepth=32 --size=32M --verify=crc32c --do_verify=1 --verify_fatal=1 \
    --verify_state_save=0 --randseed=5 --fsync=64 "$@"
}
if have fio && fio --enghelp 2>/dev/null | grep -qw nbd; then
  check "drive: fio nbd engine, verify=crc32c" fio_
  # Write and flush everything, cut the power, then only verify.
  fio_cut_() {
    fio_ --end_fsync=1 && power_ off && power_ on && fio_ --verify_only
  }
  check "drive: fio verifies its flushed data after a power cut" fio_cut_
else
  skip "drive: fio nbd engine" "fio is missing or built without it"
fi
if [ -z "$can_fuse" ]; then
  skip "drive: FUSE file" "needs root and /dev/fuse"
elif ! losetup -f >/dev/null 2>&1 || ! have mkfs.ext4; then
  skip "drive: loop device" "no loop device, or no mkfs.ext4"
else
  check "drive: FUSE file, loop device, ext4, fstrim, fsck" loop_
  # Cut the power under a working ext4: it mounts again and is consistent.
  ext4_cut_() {
    mount "$loop" "$work/fs" && power_ cut-when --flush 4 --inside || return 1
    for n in $(seq 200); do
      cp "$work/c" "$work/fs/copy-$n" 2>/dev/null && sync "$work/fs/copy-$n" 2>/dev/null || break
    done
    power_ status --json | grep -q '"powered":false' || return 1
    umount "$work/fs" || umount -l "$work/fs"
    power_ on && sleep 0.2 && mount "$loop" "$work/fs" && cmp "$work/fs/file" "$work/c" &&
      umount "$work/fs" && e2fsck -fn "$loop"
  }
  loop=$(losetup -j "$work/mnt/drive" | cut -d: -f1 | head -1)
  check "drive: ext4 survives a cut inside a flush" ext4_cut_
  if mountpoint -q "$work/fs"; then umount -l "$work/fs"; fi
  if [ -n "$loop" ]; then losetup -d "$loop" && loop=""; fi
fi
check "drive: orderly shutdown" end_drive
cat "$work/out" "$work/err" >"$work/log"
if [ -n "$pid" ]; then kill -9 "$pid" || true; fi
pid=""
# A server that wants certificates, over a unix socket and TCP; then one that takes no writes.
if ! have openssl || ! have nbdsh || ! nbdsh_ -c 'pass' 2>/dev/null; then
  skip "drive: TLS" "openssl or python3-libnbd is not installed"
else
  for name in ours theirs; do
    bash crates/serve/tests/make_certificates.sh "$work/pki/$name" "$name" >"$work/log" 2>&1
  done
  mkdir "$work/pki/none" && cp "$work/pki/ours/ca-cert.pem" "$work/pki/none"
  serve_drive --nbd tcp:127.0.0.1:0 --tls require --tls-verify-peer \
    --tls-certificates "$work/pki/ours"
  port=$(sed -n 's/^nbd .*tcp:.*:\([0-9]*\)$/\1/p' "$work/out")
  for address in "$sock" "$port"; do
    check "drive: nbdsh with TLS at $(basename "$address")" nbdsh_ \
      -c "address, certificates = '$address', '$work/pki'" -c - <tests/serve_tls_nbdsh.py
  done
  # As the server itself says.
  line=$(sed -n "s/^  nbdinfo '\(nbds:.*\)'$/\1/p" "$work/out" | head -1)
  if have nbdinfo; then
    check "drive: nbdinfo with TLS" nbdinfo "${line/=DIR/=$work/pki/ours}"
  fi
  check "drive: the log names clients without a certificate" grep -q "TLS failed" "$work/err"
  check "drive: orderly shutdown with TLS" end_drive
fi
serve_drive --read-only
read_only_() {
  nbdsh_ -u "$uri" -c 'assert h.is_read_only() and not h.can_trim() and not h.can_zero()' \
    -c 'h.set_strict_mode(0)' -c 'import errno' -c '
for call in (lambda: h.pwrite(b"x" * 512, 0), lambda: h.trim(4096, 0), lambda: h.zero(4096, 0)):
    try:
        call()
    except nbd.Error as error:
        assert error.errnum == errno.EPERM, error
    else:
        raise AssertionError("written")
h.flush()
h.pread(4096, 0)'
}
if have nbdsh && nbdsh_ -c 'pass' 2>/dev/null; then
  check "drive: read-only" read_only_
else
  skip "drive: read-only" "python3-libnbd is not installed"
fi
check "drive: orderly shutdown read-only" end_drive
serve_drive --pace real --fault ignores-flush:500:3
check "drive: reopened at real pace with a fault" power_ status
check "drive: orderly shutdown again" end_drive
exit $failed
