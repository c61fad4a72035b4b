#!/usr/bin/env bash
# Measures every drive of the catalogue by every profile of `qualify` and writes drives/verdicts.csv:
#   bash tests/verdicts.sh DIR [PROFILE...]
# DIR keeps the run directories: what is there is not measured again. Hours of CPU for all; quick is 1
# to 130 s a drive, standard 10 to 100 s, full minutes. The table holds what has been measured, the
# quick figures that are kept (drives/references.jsonl) and, of drives that were not measured again,
# the rows that it had: their number and what changed is said;
# crates/judge/tests/verdicts.rs holds its law: the longer profile may decide what the shorter leaves
# open, and nothing else. In the end, every verdict of every role is held against the laws of verdicts
# (crates/judge/src/qualify/laws.rs); the script fails where one is contradicted.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=$1
shift
[ $# -gt 0 ] || set -- quick standard full
cargo build --release --quiet -p ssdlab
cargo build --release --quiet -p ssdlab-judge --example verdicts
ssdlab=$PWD/target/release/ssdlab
mkdir -p "$runs"
for profile; do
  for file in drives/*.toml; do
    drive=$(basename "$file" .toml)
    [ "$drive" = known ] && continue # the table of real drives
    run=$runs/$profile-$drive
    [ -e "$run/qualification.json" ] && continue
    echo "$profile $drive"
    code=0
    "$ssdlab" qualify "drive:$drive" --role slog --profile "$profile" --no-reference --quiet \
      --replace --out "$run" >"$run.txt" || code=$?
    [ "$code" -le 1 ] || [ "$code" = 3 ] || { cat "$run.txt"; exit "$code"; }
  done
done
table=$(target/release/examples/verdicts --merge drives/verdicts.csv "$runs"/*-*/)
{ head -1 <<<"$table"; tail -n +2 <<<"$table" | LC_ALL=C sort; } >drives/verdicts.csv
target/release/examples/verdicts --laws "$runs"/*-*/
