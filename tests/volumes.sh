#!/usr/bin/env bash
# Are accounts told from drives? All 120 subjects, drawn by seed, in virtual time; and what `volumes
# fit` buys beside every setting there is: `bash tests/volumes.sh`. With the path of ssdlab, as root:
# the same on real targets held back by control groups, nbdkit, qemu and our server, and what `watch`
# says of a served volume; a quarter of an hour on an idle machine, and worth nothing on a busy one.
set -euo pipefail
cd "$(dirname "$0")/.."
BLIND_VOLUMES=all cargo test --quiet -p ssdlab-judge --test volumes -- --nocapture
[ -z "${1:-}" ] || {
  python3 -B tests/live/accounts.py "$1" --runs "${2:-20}"
  python3 -B tests/live/volume.py "$1"
}
