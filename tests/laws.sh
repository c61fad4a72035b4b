#!/usr/bin/env bash
# Do verdicts obey their laws by every profile? Measures modelled drives by all three profiles and
# holds the answers of every role against the laws (crates/judge/src/qualify/laws.rs), and each
# profile against the next: `bash tests/laws.sh target/release/ssdlab SECONDS [SEED]`. The drives come
# in an order that the seed gives (the number of landings) and are taken until the time is over, at
# least two; `all` instead of SECONDS takes every drive, which is hours (tests/verdicts.sh does that
# and writes the table).
set -euo pipefail
ssdlab=$(realpath "$1")
seconds=$2
top=$(realpath "$(dirname "$0")/..")
cd "$top"
seed=${3:-$(wc -l <tests/landings)}
verdicts=$(dirname "$ssdlab")/examples/verdicts
work=$(mktemp -d "${TMPDIR:-$top/target}/laws.XXXXXX")
trap 'rm -rf "$work"' EXIT
names=$(cd drives && ls ./*.toml | sed 's|^\./||; s|\.toml$||' | grep -vx known)
order=$(while read -r name; do
  echo "$(cksum <<<"$seed $name" | cut -d ' ' -f 1) $name"
done <<<"$names" | sort -n | cut -d ' ' -f 2)
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
echo "$measured of $(wc -l <<<"$names") drives by three profiles, seed $seed"
"$verdicts" --laws "$work"/*-*/
