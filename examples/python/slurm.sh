#!/bin/bash
# A sweep as a Slurm array: every task computes its part, all of them write one data set.
#
#   sbatch --array=0-63 examples/python/slurm.sh points
#
# A task that was killed or ran out of time is submitted again, alone or with all others: what is in
# the data set is not computed twice. Without Slurm, the same by hand:
#
#   for n in 0 1 2 3; do SLURM_ARRAY_TASK_ID=$n SLURM_ARRAY_TASK_COUNT=4 bash slurm.sh points & done
#SBATCH --job-name=ssdlab
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=01:00:00
set -euo pipefail
out=${1:?the directory of the data set}
exec python3 "$(dirname "$0")/sweep.py" "$out" \
  --part "${SLURM_ARRAY_TASK_ID:-0}" --of "${SLURM_ARRAY_TASK_COUNT:-1}" \
  --processes "${SLURM_CPUS_PER_TASK:-1}"
