#!/usr/bin/env bash
# Counts the instructions of the hot paths (benches/hot) and compares them with the kept baseline,
# benches/instructions.txt: exits with 1 if a path needs over 3 % more. Counts do not depend on how
# busy the machine is, but they do on the compiler: with another rustc than the baseline's, nothing
# is compared, and the script says so in a line that begins with SKIPPED.
# Needs valgrind. After a change that is worth its instructions, write the baseline again:
#   bash benches/instructions.sh update
# Usage: bash benches/instructions.sh [update]
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skips.sh
baseline=benches/instructions.txt
paths=(counting rows timed generator run trace nbd)
command -v valgrind >/dev/null || { skip instructions "valgrind is not installed"; exit 0; }

cargo build --release --quiet -p ssdlab-hot
hot=${CARGO_TARGET_DIR:-target}/release/ssdlab-hot
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count() { # path
  valgrind --tool=callgrind --callgrind-out-file="$work/out-$1" --collect-atstart=no \
    --toggle-collect='ssdlab_hot::measured*' "$hot" "$1" 2>"$work/log-$1" ||
    { cat "$work/log-$1" >&2; return 1; }
  local found
  found=$(sed -n 's/.*Collected : \([0-9]*\)$/\1/p' "$work/log-$1")
  # Fewer are none: the measured function was not recognised.
  [ "${found:-0}" -gt 1000000 ] || { echo "$1: no instructions counted" >&2; return 1; }
  echo "$1 $found"
}
compiler=$(rustc --version)
export -f count
export hot work
{
  echo "compiler $compiler"
  # Two at a time: counts do not depend on it.
  printf '%s\n' "${paths[@]}" | xargs -P 2 -I{} bash -c 'count {} >"$work/count-{}"'
  for path in "${paths[@]}"; do cat "$work/count-$path"; done
} >"$work/now"
if [ "${1:-}" = update ]; then
  cp "$work/now" "$baseline"
  cat "$baseline"
  exit
fi
made_with=$(sed -n 's/^compiler //p' "$baseline")
awk '
  $1 == "compiler" { next }
  FNR == NR { kept[$1] = $2; next }
  !($1 in kept) { printf "%-10s has no baseline\n", $1; failed = 1; next }
  {
    more = 100 * ($2 / kept[$1] - 1)
    printf "%-10s %12d instructions, baseline %12d, %+6.2f %%%s\n", $1, $2, kept[$1], more,
      (more > 3 ? "  TOO MANY" : "")
    if (more > 3) failed = 1
  }
  END { exit failed }' "$baseline" "$work/now" || failed=1
if [ "$made_with" != "$compiler" ]; then
  skip instructions "the baseline is of $made_with, this is $compiler"
elif [ -n "${failed:-}" ]; then
  echo "A path needs over 3 % more instructions than $baseline says." >&2
  exit 1
fi
