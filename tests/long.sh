#!/usr/bin/env bash
# The longer forms of tests in Rust whose number of cases is a choice: drives drawn at random, power
# cuts, recoveries, kills, damages, and every case of the theory.
# Usage: bash tests/long.sh [FACTOR]   FACTOR times the cases of `cargo test` (4)
set -euo pipefail
cd "$(dirname "$0")/.."
factor=${1:-4}
one() { # what, how many, test program, filter
  echo "-- $1=$2, ${*:3}"
  env "$1=$2" cargo test --quiet --workspace --test "${@:3}"
}
# Cuts on other drives than yesterday's; a failure names its drive and seed.
export SSDLAB_SEEDS=${SSDLAB_SEEDS:-$(date +%s)}
echo "seeds of the cuts: SSDLAB_SEEDS=$SSDLAB_SEEDS"
# The first thousand are those of `cargo test`.
one SSDLAB_SWARM "1000..$((1000 + 1000 * factor))" swarm
one SSDLAB_CUTS $((30000 * factor)) cuts
one SSDLAB_RECOVERIES $((6000 * factor)) recovery
one SSDLAB_THEORY full theory
# All of these two suites takes a quarter of an hour each; by hand, SSDLAB_THEORY=full.
one SSDLAB_THEORY usual theory_drive
one SSDLAB_THEORY usual theory_reference
echo "-- SSDLAB_RACES=300, claims of a device against mkfs and mount"
SSDLAB_RACES=300 cargo test --quiet -p ssdlab-bench --lib races
one SSDLAB_KILLS $((6 * factor)) drive_dir a_killed_process
one SSDLAB_DAMAGES $((400 * factor)) drive_dir_damage
