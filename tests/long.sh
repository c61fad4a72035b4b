#!/usr/bin/env bash
# The longer forms of tests in Rust whose number of cases is a choice: drives drawn at random, power
# cuts, recoveries, kills, damages, and every case of the theory.
# Usage: bash tests/long.sh [FACTOR]   FACTOR times the cases of `cargo test` (4)
set -euo pipefail
cd "$(dirname "$0")/.."
factor=${1:-4}
one() { # what, how many, package, test program and filter
  echo "-- $1=$2, $3 ${*:4}"
  env "$1=$2" cargo test --quiet -p "$3" --test "${@:4}"
}
# The first thousand are those of `cargo test`.
one SSDLAB_SWARM "1000..$((1000 + 1000 * factor))" ssdlab-ssd swarm
one SSDLAB_CUTS $((6000 * factor)) ssdlab-ssd cuts
one SSDLAB_RECOVERIES $((6000 * factor)) ssdlab-ssd recovery
one SSDLAB_THEORY full ssdlab-ssd theory
one SSDLAB_THEORY full ssdlab-life theory_drive
one SSDLAB_THEORY full ssdlab-life theory_reference
one SSDLAB_KILLS $((6 * factor)) ssdlab-drives drive_dir a_killed_process
one SSDLAB_DAMAGES $((400 * factor)) ssdlab-drives drive_dir_damage
