#!/usr/bin/env bash
# Measures synchronous writes per second on a block device on a served drive, through the two setups
# that need no nbd module: a loop device on the FUSE file of `ssdlab serve`, and one on nbdfuse over
# NBD. nbdkit's memory behind nbdfuse, which models no drive, serves as comparison. One writer,
# 4 KiB at random offsets, fsync after each; interleaved rounds in one run, medians.
# Needs root, /dev/fuse, loop devices, fio, nbdfuse (libnbd-bin), nbdkit.
# Usage: bash benches/fuse.sh [path of ssdlab]     SSDLAB_ROUNDS=7 SSDLAB_SECONDS=3
set -euo pipefail
cd "$(dirname "$0")/.."
ssdlab=${1:-${CARGO_TARGET_DIR:-target}/release/ssdlab}
rounds=${SSDLAB_ROUNDS:-7} seconds=${SSDLAB_SECONDS:-3}
work=$(mktemp -d)
pids=() loops=() mounts=()
finish() {
  local each
  for each in "${loops[@]}"; do losetup -d "$each" || true; done
  for each in "${mounts[@]}"; do umount -l "$each" 2>/dev/null || true; done
  for each in "${pids[@]}"; do kill "$each" 2>/dev/null || true; done
  wait
  rm -rf --one-file-system "$work"
}
trap finish EXIT
wait_for() { # command
  for _ in $(seq 600); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.05
  done
  echo "timed out waiting for: $*" >&2
  return 1
}
has_size() { [ "$(stat -c %s "$1")" -gt 0 ]; }
attach() { # name, file
  local loop
  loop=$(losetup -f --show --direct-io=on "$2")
  loops+=("$loop")
  device[$1]=$loop
  names+=("$1")
}
nbdfuse_on() { # name, socket
  touch "$work/$1"
  nbdfuse "$work/$1" "nbd+unix:///?socket=$2" &
  pids+=($!)
  mounts+=("$work/$1")
  wait_for has_size "$work/$1"
  attach "$1" "$work/$1"
}
declare -A device rates
names=()
serve() { # name, drive, options
  local name=$1 drive=$2
  shift 2
  "$ssdlab" create "$work/drive-$name" --drive "$drive" --size 512MiB >/dev/null
  "$ssdlab" serve "$work/drive-$name" "$@" >"$work/log-$name" 2>&1 &
  pids+=($!)
  wait_for grep -q '^ready$' "$work/log-$name"
}
for drive in consumer-sata-1tb consumer-sata-1tb-plp; do
  mkdir "$work/mnt-$drive"
  serve "fuse-$drive" "$drive" --fuse "$work/mnt-$drive/drive"
  mounts+=("$work/mnt-$drive")
  attach "fuse-$drive" "$work/mnt-$drive/drive"
  serve "nbd-$drive" "$drive" --nbd "unix:$work/sock-$drive"
  nbdfuse_on "nbd-$drive" "$work/sock-$drive"
done
nbdkit -f -U "$work/sock-nbdkit" memory 512M &
pids+=($!)
wait_for test -S "$work/sock-nbdkit"
nbdfuse_on nbd-nbdkit-memory "$work/sock-nbdkit"

for round in $(seq "$rounds"); do
  for name in "${names[@]}"; do
    rate=$(fio --name=w --filename="${device[$name]}" --ioengine=psync --direct=1 --rw=randwrite \
      --bs=4k --size=64M --fsync=1 --time_based --runtime="$seconds" --randseed="$round" \
      --output-format=json | python3 -c 'import json, sys
text = sys.stdin.read()
print(round(json.loads(text[text.index("{"):])["jobs"][0]["write"]["iops"]))')
    rates[$name]+="$rate "
  done
done
median() { tr ' ' '\n' | grep . | sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
echo "4 KiB writes with fsync per second, medians of $rounds interleaved rounds of $seconds s"
for name in "${names[@]}"; do
  printf '%-32s %8s   (%s)\n' "$name" "$(median <<<"${rates[$name]}")" "${rates[$name]% }"
done
for drive in consumer-sata-1tb consumer-sata-1tb-plp; do
  fuse=$(median <<<"${rates[fuse-$drive]}") nbd=$(median <<<"${rates[nbd-$drive]}")
  awk -v f="$fuse" -v n="$nbd" -v d="$drive" \
    'BEGIN {printf "%s: the FUSE file is %.1f times as fast as nbdfuse (goal 5)\n", d, f / n}'
done
