#!/usr/bin/env bash
# Changes of ftl and drive by rule: the share of this landing, or with SSDLAB_MUTANTS=all every share.
# Usage: bash tests/mutants.sh [LANDING]
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/tools.sh
landing=${1:-$(wc -l <tests/landings)}
# The group's turn comes every eighth landing, and each time with another share.
share=(--share $((landing + landing / 8)))
[ "${SSDLAB_MUTANTS:-}" != all ] || share=()
MUTANTS_DIR=$target/mutants python3 -B crates/ssd/tests/mutants/run.py "${share[@]}"
