#!/usr/bin/env bash
# Measures the speed-up of a sweep on all cores: 1,000 small drives on one thread and on all, three
# times each; the ratio of medians is the speed-up, and the results must be the same bytes. Needs an
# otherwise idle machine. "quick" as first argument uses 40 drives.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet
built=$(cargo metadata --format-version 1 --no-deps |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cores=$(nproc)
seeds=$(seq -s, 1 50)
if [ "${1:-}" = quick ]; then seeds=1,2; fi
sweep() {
  "$built/release/ssdlab" simulate --quiet --drive examples/drives/small.toml --until 4x \
    --sweep ftl.victim=greedy,fifo,d-choices:4,cost-benefit --sweep op=7%,12%,20%,28%,50% \
    --sweep "seed=$seeds" --jobs "$1" --out "$work/$1" --replace > /dev/null
}
for round in 1 2 3; do
  for jobs in 1 "$cores"; do
    begin=$(date +%s.%N)
    sweep "$jobs"
    end=$(date +%s.%N)
    echo "$jobs $begin $end" >> "$work/times"
    awk -v b="$begin" -v e="$end" -v j="$jobs" -v r="$round" \
      'BEGIN { printf "round %d, %d jobs: %.2f s\n", r, j, e - b }'
  done
done
cmp "$work/1/sweep.csv" "$work/$cores/sweep.csv"
cmp "$work/1/result.json" "$work/$cores/result.json"
python3 - "$work/times" "$cores" <<'PY'
import statistics, sys
rows = [line.split() for line in open(sys.argv[1])]
median = lambda jobs: statistics.median(float(e) - float(b) for j, b, e in rows if j == jobs)
one, all_ = median("1"), median(sys.argv[2])
print(f"same bytes; speed-up {one / all_:.2f} of {sys.argv[2]} (medians {one:.2f} s and {all_:.2f} s)")
PY
