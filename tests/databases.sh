#!/usr/bin/env bash
# Runs SQLite and PostgreSQL on ext4 and xfs on a served drive whose power is cut inside flushes.
# After each cut the file system and the database check themselves, and their contents are compared
# with a witness of the acknowledged transactions, kept outside the drive. Needs root, /dev/fuse and
# loop devices.
# Exit codes: 0 every result is correct; 1 an unexpected loss, or a canary that found nothing; 2 the
# test could not do its work, which says nothing about any drive.
# Usage: bash tests/databases.sh [path of ssdlab]
#   SSDLAB_CUTS=200  cuts for each combination (2)
#   SSDLAB_ONLY=WORD combinations whose name contains WORD, such as postgres, xfs, ignores-flush
#   SSDLAB_RESULTS=FILE  append the results to FILE, one JSON object a line
set -euo pipefail
cd "$(dirname "$0")/.."
python3 -B tests/databases/selftest.py 2>/dev/null || {
  echo "RIG FAILED: python3 tests/databases/selftest.py"
  exit 2
}
. tests/skips.sh
leave() {
  skip "databases on a served drive" "$1"
  exit 0
}
have() { command -v "$1" >/dev/null 2>&1; }
[ "$(id -u)" = 0 ] || leave "needs root"
[ -w /dev/fuse ] || leave "/dev/fuse does not exist"
losetup -f >/dev/null 2>&1 || leave "no loop device is available"
have mkfs.ext4 || leave "mkfs.ext4 is not installed"
python3 -c 'import sqlite3' 2>/dev/null || leave "python3 with sqlite3 is not installed"
have mkfs.xfs || skip "databases on xfs" "xfsprogs is not installed"
have initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null ||
  skip "databases: PostgreSQL" "not installed"

ssdlab=${1:-}
if [ -z "$ssdlab" ]; then
  cargo build --quiet --release -p ssdlab
  ssdlab=${CARGO_TARGET_DIR:-target}/release/ssdlab
fi
work=$(mktemp -d)
# PostgreSQL runs as another user and must be able to enter this folder.
chmod 711 "$work"
child=""
# The program cleans up after itself; this covers the case that it was killed.
finish() {
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null || true
    wait "$child" || true
  fi
  local folder loop
  for folder in "$work"/*/; do
    if mountpoint -q "${folder}fs"; then umount -l "${folder}fs" || true; fi
    for loop in $(losetup -j "${folder}fuse/drive" 2>/dev/null | cut -d: -f1); do
      # Held open while it is looked at again: its number may be somebody else's by now.
      { losetup -j "${folder}fuse/drive" | grep -q "^$loop:" && losetup -d "$loop"; } <"$loop" || true
    done
    if [ -e "${folder}serve.pid" ]; then kill "$(cat "${folder}serve.pid")" 2>/dev/null || true; fi
    if grep -q " ${folder}fuse " /proc/mounts; then umount -l "${folder}fuse" || true; fi
  done
  if [ -n "${SSDLAB_RESULTS:-}" ] && [ -e "$work/results.jsonl" ]; then
    cat "$work/results.jsonl" >>"$SSDLAB_RESULTS"
  fi
  rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
python3 -B tests/databases --ssdlab "$ssdlab" --work "$work" --cuts "${SSDLAB_CUTS:-2}" \
  --only "${SSDLAB_ONLY:-}" &
child=$!
code=0
wait "$child" || code=$?
child=""
exit "$code"
