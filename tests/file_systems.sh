#!/usr/bin/env bash
# What do ext4 (by its options), XFS and btrfs leave after a power cut of what POSIX does not promise,
# and is it what the rules of `ssdlab_crash::FileSystemRules` say? A campaign of `ssdlab crashtest`
# for each, on this kernel; prints the table of docs/power-cuts.md. Needs root, /dev/fuse and loop
# devices. Exit codes: 0 as the rules say; 1 not.
# Usage: bash tests/file_systems.sh [path of ssdlab]
#   SSDLAB_CUTS=120   cuts of each
#   SSDLAB_SEED=1     seed of the cuts
#   SSDLAB_ONLY=WORD  those whose title contains WORD
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skips.sh
leave() {
  skip "rules of file systems" "$1"
  exit 0
}
[ "$(id -u)" = 0 ] || leave "needs root"
[ -w /dev/fuse ] || leave "/dev/fuse does not exist"
losetup -f >/dev/null 2>&1 || leave "no loop device is available"
ssdlab=${1:-}
if [ -z "$ssdlab" ]; then
  cargo build --quiet -p ssdlab
  ssdlab=${CARGO_TARGET_DIR:-target}/debug/ssdlab
fi
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP
python3 -B tests/file_systems/campaign.py --ssdlab "$(realpath "$ssdlab")" --work "$work" \
  --cuts "${SSDLAB_CUTS:-120}" --seed "${SSDLAB_SEED:-1}" --only "${SSDLAB_ONLY:-}"
# What fio does to the contents that our claims refuse (docs/methods.md, section 9).
python3 -B tests/fio_overwrites.py "${CARGO_TARGET_DIR:-target}"
