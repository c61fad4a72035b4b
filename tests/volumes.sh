#!/usr/bin/env bash
# Are accounts told from drives? All 120 subjects, drawn by seed, in virtual time; and what `volumes
# fit` buys beside every setting there is: `bash tests/volumes.sh`.
set -euo pipefail
cd "$(dirname "$0")/.."
BLIND_VOLUMES=all cargo test --quiet -p ssdlab-judge --test volumes -- --nocapture
