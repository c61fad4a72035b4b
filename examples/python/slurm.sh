#!/bin/bash
# A sweep as a Slurm array: every task computes its part, all of them write one data set.
#
#   sbatch --array=0-63 examples/python/slurm.sh examples/python/sweep.py points
#
# Slurm runs a copy of this script from a folder of its own, so the sweep is an argument; paths
# are those of the folder that `sbatch` was called in.
#
# A task that was killed or ran out of time is submitted again, alone or with all others: what is in
# the data set is not computed twice. Without Slurm, the same by hand:
#
#   for n in 0 1 2 3; do SLURM_ARRAY_TASK_ID=$n SLURM_ARRAY_TASK_COUNT=4 \
#     bash examples/python/slurm.sh examples/python/sweep.py points & done
#SBATCH --job-name=ssdlab
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=01:00:00
set -euo pipefail
sweep=${1:?the sweep, such as examples/python/sweep.py} out=${2:?the directory of the data set}
exec python3 "$sweep" "$out" \
  --part "${SLURM_ARRAY_TASK_ID:-0}" --of "${SLURM_ARRAY_TASK_COUNT:-1}" \
  --processes "${SLURM_CPUS_PER_TASK:-1}"
