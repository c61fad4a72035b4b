#!/usr/bin/env bash
# Do verdicts obey their laws by every profile? Measures modelled drives by all three profiles and
# holds the answers of every role against the laws (crates/judge/src/qualify/laws.rs), and each
# profile against the next: `bash tests/laws.sh target/release/ssdlab SECONDS [NUMBER]`. The drives
# are dealt in turn into 13 slices, and the slice is that of NUMBER (of landings): 13 has no factor
# in common with the eight landings of a turn, so that every slice gets its turn. Its drives are
# taken until the time is over, at least two, each time from another one on; `all` instead of
# SECONDS takes every drive, which is hours (tests/verdicts.sh does that and writes the table).
set -euo pipefail
ssdlab=$(realpath "$1")
seconds=$2
top=$(realpath "$(dirname "$0")/..")
cd "$top"
number=${3:-$(wc -l <tests/landings)}
slices=13
verdicts=$(dirname "$ssdlab")/examples/verdicts
mkdir -p "${TMPDIR:-$top/target}"
work=$(mktemp -d "${TMPDIR:-$top/target}/laws.XXXXXX")
trap 'rm -rf "$work"' EXIT
names=$(cd drives && ls ./*.toml | sed 's|^\./||; s|\.toml$||' | grep -vx known)
slice=$((number % slices))
[ "$seconds" != all ] || slices=1 slice=0
drives=$(awk -v slices="$slices" -v slice="$slice" 'NR % slices == slice % slices' <<<"$names")
count=$(wc -l <<<"$drives")
# Where the time ends the slice, the next round begins with another of its drives.
start=$((number / slices % count))
order=$(tail -n "+$((start + 1))" <<<"$drives" && head -n "$start" <<<"$drives")
measured=0
for drive in $order; do
  [ "$measured" -lt 2 ] || [ "$seconds" = all ] || [ "$SECONDS" -lt "$seconds" ] || break
  for profile in quick standard full; do
    code=0
    "$ssdlab" qualify "drive:$drive" --role slog --profile "$profile" --no-reference --quiet \
      --out "$work/$profile-$drive" >"$work/screen" 2>&1 || code=$?
    [ "$code" -le 1 ] || [ "$code" = 3 ] || { cat "$work/screen"; exit "$code"; }
  done
  measured=$((measured + 1))
  echo "measured: $drive ($SECONDS s so far)"
done
echo "$measured of $count drives of slice $slice, of $(wc -l <<<"$names"), by three profiles"
"$verdicts" --laws "$work"/*-*/
