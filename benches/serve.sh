#!/usr/bin/env bash
# Measures the speed of a served drive (`ssdlab serve --pace fast`, with the whole drive modelled):
# in memory (`drive:NAME`) against nbdkit's memory plugin, which persists as little; in a directory,
# which survives the process, against `nbdkit file` and, where it is installed, `qemu-nbd` with a
# write-back cache, on files of the same file system, which survive the same. fio's nbd engine on a unix socket, server on one core
# and client on the other, rounds interleaved in one run; medians, and the server's CPU time per
# request. 128K writes are measured twice: on drives that were only written in order, and after
# random writes, when a drive must relocate valid data, which nbdkit never does.
# Usage: bash benches/serve.sh [path of ssdlab] [rounds] [seconds of each]
set -euo pipefail
cd "$(dirname "$0")/.."
ssdlab=${1:-}
rounds=${2:-5} seconds=${3:-5}
if [ -z "$ssdlab" ]; then
  cargo build --release --quiet
  ssdlab=target/release/ssdlab
fi
for tool in fio nbdkit taskset; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 2; }
done
work=$(mktemp -d)
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap finish EXIT
"$ssdlab" create "$work/drive" --drive "${SSDLAB_DRIVE:-consumer-sata-1tb}" --size 1GiB 2>/dev/null
taskset -c 0 "$ssdlab" serve "$work/drive" --nbd "unix:$work/ssdlab" >"$work/out" &
pids+=($!)
taskset -c 0 nbdkit -f -U "$work/nbdkit" memory 1G &
pids+=($!)
taskset -c 0 "$ssdlab" serve "drive:${SSDLAB_DRIVE:-consumer-sata-1tb}" --size 1GiB \
  --nbd "unix:$work/memory" >"$work/out-memory" &
pids+=($!)
truncate -s 1G "$work/nbdkit-file" "$work/qemu-file"
taskset -c 0 nbdkit -f -U "$work/file" file "$work/nbdkit-file" &
pids+=($!)
has_qemu=$(command -v qemu-nbd || true)
if [ -n "$has_qemu" ]; then
  taskset -c 0 qemu-nbd -t -k "$work/qemu" -f raw --cache=writeback "$work/qemu-file" &
  pids+=($!)
fi
for _ in $(seq 100); do
  [ -S "$work/file" ] && [ -S "$work/ssdlab" ] && [ -S "$work/nbdkit" ] && [ -S "$work/memory" ] && break
  sleep 0.05
done
ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }
state=""
one() { # name pid rw bs depth export
  local before after
  before=$(ticks "$2")
  taskset -c 1 fio --name=x --ioengine=nbd --uri="nbd+unix:///${6:-}?socket=$work/$1" --rw="$3" \
    --bs="$4" --iodepth="$5" --size=1G --time_based --runtime="$seconds" --randseed=1 \
    --output-format=json --output="$work/fio.json" >/dev/null
  after=$(ticks "$2")
  python3 - "$work/fio.json" "$1" "$3$state" "$4" "$5" "$((after - before))" <<'PY' >>"$work/all"
import json, os, sys
path, name, rw, bs, depth, ticks = sys.argv[1:]
text = open(path).read()
job = json.loads(text[text.index("{\n"):])["jobs"][0]
side = max((job["read"], job["write"]), key=lambda s: s["total_ios"])
cpu = int(ticks) / os.sysconf("SC_CLK_TCK") * 1e6 / max(side["total_ios"], 1)
print(name, rw, bs, depth, side["iops"], side["bw_bytes"] / 1e6, cpu)
PY
}
each() {
  one nbdkit "${pids[1]}" "$@" ""
  one memory "${pids[2]}" "$@" drive
  one file "${pids[3]}" "$@" ""
  one ssdlab "${pids[0]}" "$@" drive
  [ -z "$has_qemu" ] || one qemu "${pids[4]}" "$@" ""
}
fill() { # fio's options
  local name
  for name in ssdlab nbdkit memory file ${has_qemu:+qemu}; do
    fio --name=fill --ioengine=nbd --uri="nbd+unix:///?socket=$work/$name" --size=1G "$@" >/dev/null
  done
}
# Write every byte twice, so that memory is allocated.
fill --rw=write --bs=128k --iodepth=8 --loops=2
for _ in $(seq "$rounds"); do
  each write 128k 8
  each read 128k 8
done
# Then write the same amount at random, until a drive has allocated its spare blocks and reclaims.
fill --rw=randwrite --norandommap --bs=4k --iodepth=32
for _ in $(seq "$rounds"); do
  each randwrite 4k 1
  each randread 4k 1
  each randwrite 4k 32
  each randread 4k 32
done
for _ in $(seq "$rounds"); do
  state=-between each randwrite 4k 32
  state=-after-random each write 128k 8
done
python3 - "$work/all" <<'PY'
import statistics, sys
from collections import defaultdict
found = defaultdict(list)
for line in open(sys.argv[1]):
    name, rw, bs, depth, *numbers = line.split()
    if rw.endswith("-between"):
        continue
    found[rw, bs, depth, name].append([float(n) for n in numbers])
print(f"{'load':28}{'server':17}{'IOPS':>9}{'MB/s':>8}{'CPU us':>8}{'ratio':>7}")
names = {"nbdkit": "nbdkit memory", "memory": "ours, memory", "file": "nbdkit file",
         "ssdlab": "ours, directory", "qemu": "qemu-nbd"}
# What each is compared with: it survives as much.
peers = {"nbdkit": "nbdkit", "memory": "nbdkit", "file": "file", "ssdlab": "file", "qemu": "file"}
for rw, bs, depth, name in found:
    row = [statistics.median(column) for column in zip(*found[rw, bs, depth, name])]
    peer = statistics.median(r[0] for r in found[rw, bs, depth, peers[name]])
    load = f"{rw} {bs} QD{depth}"
    print(f"{load:28}{names[name]:17}{row[0]:9.0f}{row[1]:8.0f}{row[2]:8.1f}{row[0] / peer:7.2f}")
PY
