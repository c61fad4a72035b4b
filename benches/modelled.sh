#!/usr/bin/env bash
# Measures the speed of the model: article s2d's half hours in the whole program, then the bare
# model (commands a second at several sizes, and memory per mapped sector). Quote ratios and
# medians.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet
cargo build --release --quiet -p ssdlab-drives --example speed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() {
  local name=$1 drive=$2 cache=$3
  target/release/ssdlab run --quiet --json --size 100GiB --fill 205 --idle 10m --out "$work/$name" \
    -- diskspd.exe -t8 -b4k -r4k -o1 -w30 "$cache" -D -L -d1800 -Rxml "drive:$drive" |
    python3 -c '
import json, sys
r = json.load(sys.stdin)
n = sum(o["count"] for j in r["jobs"] for o in j["ops"])
ns = r["wall_ns"]
print(f"{sys.argv[1]:14} {n:>10} commands in {ns / 1e9:6.2f} s, {ns / n:4.0f} ns each")' "$name"
}
for round in 1 2 3; do
  run "buffered-$round" consumer-sata-1tb -Su
  run "through-$round" consumer-sata-1tb -Suw
done
for gib in 16 64 256; do
  echo "-- $gib GiB"
  target/release/examples/speed "${gib}GiB"
done
