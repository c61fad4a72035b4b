#!/bin/bash
# A sweep as a Slurm array: every task computes its part, all of them write one data set.
#
#   sbatch --array=0-63 examples/python/slurm.sh examples/python/sweep.py points 64
#
# Slurm runs a copy of this script from a folder of its own, so the sweep is an argument; paths
# are those of the folder that `sbatch` was called in.
#
# The last argument is the number of tasks of the whole sweep. A task that was killed or ran out of
# time is submitted again, alone (`--array=7`) or with all others: what is in the data set is not
# computed twice. Without Slurm, the same by hand:
#
#   for n in 0 1 2 3; do SLURM_ARRAY_TASK_ID=$n \
#     bash examples/python/slurm.sh examples/python/sweep.py points 4 & done
#SBATCH --job-name=ssdlab
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=01:00:00
set -euo pipefail
sweep=${1:?the sweep, such as examples/python/sweep.py} out=${2:?the directory of the data set}
tasks=${3:?the number of tasks of the whole sweep}
exec python3 "$sweep" "$out" \
  --part "${SLURM_ARRAY_TASK_ID:-0}" --of "$tasks" \
  --processes "${SLURM_CPUS_PER_TASK:-1}"
