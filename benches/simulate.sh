#!/usr/bin/env bash
# The speed of the drive, in one run: both gears on the benchmark's drive (300 GB, 28 % OP) beside
# the memory ceiling, a drive that fits in cache, forks, saved files, and how cost and memory grow.
# Wants 8 GiB of memory, a quarter of an hour, and an otherwise idle machine. "quick" as first
# argument takes small drives, to see that it runs.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(cargo metadata --format-version 1 --no-deps |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
cargo build --release --quiet --example counting --example speed --example fork \
  --example crash_fork
large=75000000 large_size=300GB curve="16 64 256" writes=40000000
if [ "${1:-}" = quick ]; then
  large=1000000 large_size=4GB curve="1 2 4" writes=2000000
fi
# A file in memory, where there is one: the rates are then the program's, not the disk's.
files=${TMPDIR:-$built}
if [ -d /dev/shm ] && [ -w /dev/shm ]; then files=/dev/shm; fi
echo "== counting gear: random overwrites beside the memory ceiling (7 M/s and 60 % wanted)"
"$built/release/examples/counting" "$large" "$writes"
echo "== counting gear, a drive that fits in cache (18 M/s wanted)"
"$built/release/examples/counting" 160000 "$writes"
echo "== timed gear, QD32 (2 M commands/s wanted, 3 M on 64 GiB; reads twice that; 10 B a sector)"
"$built/release/examples/speed" "$large_size"
echo "== fork (300 ms and 100 us wanted), save and load (500 MB/s wanted), files in $files"
"$built/release/examples/fork" "$large_size" "$files"
echo "== one cut of a campaign, on a full crash-test drive that remembers (fork: 100 us wanted)"
"$built/release/examples/crash_fork"
echo "== how cost grows: the same by size"
for gib in $curve; do
  echo "-- $gib GiB, counting"
  "$built/release/examples/counting" "$((gib * 262144))" "$writes"
  echo "-- $gib GiB, timed"
  "$built/release/examples/speed" "${gib}GiB"
done
