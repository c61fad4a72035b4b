#!/usr/bin/env python3
"""What file systems leave after a power cut of what POSIX does not promise; tests/file_systems.sh.

Each file system and option gets a campaign of `ssdlab crashtest` with inside.py as its workload. The
table has, by question, at how many cuts the weaker answer was found. EXPECTED says what the rules of
`ssdlab_crash::FileSystemRules` allow: where they promise, the count must be 0; where they allow and
a column says `found`, the campaign must have found it.
"""

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Whether an outcome of the check is the weaker answer, by column.
QUESTIONS = {
    "rename": lambda o: o["rename"] != "whole",
    "new": lambda o: o["new_lost"] > 0,
    "early": lambda o: o["early_lost"] > 0,
    "order": lambda o: not o["in_order"],
    "grown": lambda o: o["grown_zeroes"],
}
HEADS = {
    "rename": "rename over a file, no fsync: not whole",
    "new": "fsync of a new file: its name is gone",
    "early": "an earlier name is gone after it",
    "order": "names out of order",
    "grown": "a grown file has zeroes",
}
MIB = {"ext4": 64, "xfs": 512, "btrfs": 256}
# "never": the rules promise it. "found": they do not, and the campaign shows it. "may": they do not.
ORDERED = {"new": "never", "early": "never", "order": "never"}
EXPECTED = [
    ("ext4", "", {**ORDERED, "rename": "found", "grown": "may"}),
    ("ext4", "dioread_lock", {**ORDERED, "rename": "never", "grown": "never"}),
    ("ext4", "nodelalloc", {**ORDERED, "rename": "may", "grown": "found"}),
    ("ext4", "nodelalloc,dioread_lock", {**ORDERED, "rename": "may", "grown": "found"}),
    ("ext4", "noauto_da_alloc", {**ORDERED, "rename": "found", "grown": "may"}),
    ("ext4", "data=journal", {**ORDERED, "rename": "never", "grown": "never"}),
    ("ext4", "data=writeback", {**ORDERED, "rename": "may", "grown": "may"}),
    ("xfs", "", {**ORDERED, "rename": "found", "grown": "may"}),
    ("btrfs", "", {"new": "may", "early": "found", "order": "may", "rename": "may", "grown": "may"}),
]


def campaign(args, kind, options):
    """Outcomes of one campaign, or why it has no outcomes."""
    name = kind + (f"-{options.replace(',', '-').replace('=', '-')}" if options else "")
    out, outcomes = os.path.join(args.work, name), os.path.join(args.work, name + ".jsonl")
    inside = f"{sys.executable} -B '{HERE}/inside.py'"
    words = [args.ssdlab, "crashtest", "--workload", f"{inside} fill {kind} '{options}'",
             "--check", f"{inside} verify {kind} '{options}' '{outcomes}'", "--size",
             f"{MIB[kind]}MiB", "--after-mark", "begin", "--consistency-only", "--cuts",
             str(args.cuts), "--seed", str(args.seed), "--age", "new", "--on", "any", "--quiet",
             "--out", out]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == 2:
        return None, (done.stderr or done.stdout).strip()
    lines = [json.loads(line) for line in open(outcomes)]
    lines = [line for line in lines if not line["cut"].startswith("control")]
    if done.returncode:
        print(done.stdout)
    return lines, "" if done.returncode == 0 else "a promise of every file system was broken"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ssdlab", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--cuts", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    known = open("/proc/filesystems").read().split()
    wrong, rows = [], []
    kernel = os.uname().release.split("-")[0]
    print(f"Linux {kernel}, {args.cuts} cuts each\n")
    print("| file system | " + " | ".join(HEADS.values()) + " |")
    print("|---|" + "---:|" * len(HEADS), flush=True)
    for kind, options, expected in EXPECTED:
        title = kind + (f", `{options}`" if options else ", its defaults")
        if args.only and args.only not in title:
            continue
        if kind not in known:
            print(f"SKIPPED: {title}: this kernel does not know it")
            continue
        lines, problem = campaign(args, kind, options)
        if problem:
            wrong.append(f"{title}: {problem}")
        if not lines:
            wrong.append(f"{title}: no outcomes")
            continue
        counts = {name: sum(map(weaker, lines)) for name, weaker in QUESTIONS.items()}
        seen = sorted({line["rename"] for line in lines} - {"whole"})
        cells = [f"{counts[name]} of {len(lines)}" for name in HEADS]
        cells[0] += f" ({', '.join(seen)})" if seen else ""
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
        for name, rule in expected.items():
            if rule == "never" and counts[name]:
                wrong.append(f"{title}: {HEADS[name]}: {counts[name]} cuts; the rules promise none")
            if rule == "found" and not counts[name]:
                wrong.append(f"{title}: {HEADS[name]}: not found; the rules allow it")
    print("\n".join(["", *wrong]) if wrong else "\nas the rules say")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
