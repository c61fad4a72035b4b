"""A sweep that a cluster runs: 1,000 points of a small drive.

python sweep.py OUT                               all points, on this machine's cores
python sweep.py OUT --part 3 --of 64              one task of an array (slurm.sh)
python sweep.py OUT --scheduler tcp://HOST:8786   on a Dask cluster
"""

import argparse
import os
from pathlib import Path

import ssdlab

SPACE = {
    "drive": Path(__file__).parent.parent / "drives" / "small.toml",
    "load": ["uniform", "sequential", "hotcold:80/20", "hotcold:90/10", "zipf:0.99"],
    "op": ["7%", "12%", "20%", "28%", "50%"],
    "block": ["4k", "16k"],
    "seed": list(range(1, 21)),
    "until": "4x",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--scheduler")
    args = parser.parse_args()
    part = (args.part, args.of)
    if args.scheduler:
        from distributed import Client

        with Client(args.scheduler) as client:
            found = ssdlab.sweep(SPACE, out=args.out, on=client.get_executor(), part=part)
    else:
        found = ssdlab.sweep(SPACE, out=args.out, on=args.processes, part=part)
    print(f"{found.done} of {found.points} points in {found.out}, {found.computed} of them now")


if __name__ == "__main__":
    main()
