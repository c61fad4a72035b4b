#!/usr/bin/env bash
# Do databases fare as their authors say? Runs the settings of crates/power/presets/databases.toml
# under `ssdlab crashtest`, on honest and on lying drives: see tests/known/known.py. Needs root, /dev/fuse
# and loop devices.
# Exit codes: 0 as published; 1 not; 2 the test could not do its work.
# Usage: bash tests/known.sh [path of ssdlab]
#   SSDLAB_KNOWN=all  every setting; without it those that CI runs, with fewer cuts of lying drives
#   SSDLAB_CUTS=60    cuts of each setting and drive
#   SSDLAB_SEED=1     seed of the cuts
#   SSDLAB_ONLY=WORD  settings whose name contains WORD
#   SSDLAB_RESULTS=FILE  append the results to FILE, one JSON object a line
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skips.sh
leave() {
  skip "known answers of databases" "$1"
  exit 0
}
[ "$(id -u)" = 0 ] || leave "needs root"
[ -w /dev/fuse ] || leave "/dev/fuse does not exist"
losetup -f >/dev/null 2>&1 || leave "no loop device is available"
command -v mkfs.ext4 >/dev/null 2>&1 || leave "mkfs.ext4 is not installed"
target=${CARGO_TARGET_DIR:-target}
ssdlab=${1:-}
if [ -z "$ssdlab" ]; then
  cargo build --quiet --release -p ssdlab
  ssdlab=$target/release/ssdlab
fi
# The modules of the databases are in the build folder, as tests/all.sh installs them.
python=$target/venv/bin/python
[ -x "$python" ] || python=python3
"$python" -B tests/known/selftest.py >/dev/null 2>&1 || {
  echo "RIG FAILED: $python tests/known/selftest.py"
  exit 2
}
work=$(mktemp -d)
chmod 711 "$work"
finish() {
  if [ -n "${SSDLAB_RESULTS:-}" ] && [ -e "$work/results.jsonl" ]; then
    cat "$work/results.jsonl" >>"$SSDLAB_RESULTS"
  fi
  rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
choice=(--ci)
[ "${SSDLAB_KNOWN:-}" != all ] || choice=()
"$python" -B tests/known/known.py --ssdlab "$ssdlab" --work "$work" --cuts "${SSDLAB_CUTS:-60}" \
  --seed "${SSDLAB_SEED:-1}" --only "${SSDLAB_ONLY:-}" "${choice[@]}"
