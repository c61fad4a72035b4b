#!/usr/bin/env bash
# What does fio's verification find on twelve lying drives, with its state file and without, and what
# do the contract and `pull run` find? fio itself must say of kept disks what is stated for it. Needs
# fio 3.33 to 3.38, and /dev/fuse for the column of `pull run`: see tests/fio_verify.py.
# Usage: bash tests/fio_verify.sh PATH-TO-SSDLAB [OPTION...]
set -euo pipefail
[ $# -gt 0 ] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 1; }
ssdlab=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
. tests/skips.sh
case $(fio --version 2>/dev/null) in
  fio-3.3[3-8]*) ;;
  *) skip "fio's verification on lying drives" "fio 3.33 to 3.38 is not installed" && exit 0 ;;
esac
[ -w /dev/fuse ] || skip "pull run on lying drives" "/dev/fuse does not exist"
python3 -B tests/fio_verify.py "$ssdlab" "$@"
