"""Do databases fare as their authors say? Runs the settings of databases.toml under `ssdlab crashtest`.

    known.py --ssdlab PATH --work EMPTY_DIR [--cuts N] [--seed N] [--only WORD] [--ci] [--way WAY]
    known.py --table FILE...
    known.py --agree KERNEL_FILE PRELOAD_FILE

Each setting runs on an honest drive, where the program must keep or lose what its authors say and
the drive must not be blamed, and on a drive that ignores flushes, which must be blamed, and no
program whose authors promise to keep everything. Results are appended to EMPTY_DIR/results.jsonl;
--table prints such files as the table of the guide. --way preload runs them on crash disks that a
preloaded library feeds; --agree compares the results of both ways.
Exit codes: 0 as published, 1 not, 2 the test could not do its work.
"""

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
PRESETS = HERE.parent.parent / "crates" / "power" / "presets"
EXAMPLES = HERE.parent.parent / "examples" / "crashtest"
LIE = "ignores-flush"
# A drive that lies breaks its word at nearly every cut.
CI_LYING_CUTS = 12
RIG_FAILED = 2


class RigFailed(Exception):
    """The test could not do its work."""


def rows():
    """Yields every setting of the table, with what it has of its database."""
    for key, base in tomllib.loads((PRESETS / "databases.toml").read_text()).items():
        for row in base["row"]:
            yield {**{name: value for name, value in base.items() if name != "row"}, **row,
                   "database": key}


def is_there(needed):
    """Returns whether a program or a module of Python is installed."""
    if needed == "initdb" and list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        return True
    return shutil.which(needed) is not None or importlib.util.find_spec(needed) is not None


def as_published(row, lies, found):
    """Returns whether counts of cuts are as the authors say. A drive that lies excuses nobody who
    would lose on an honest one."""
    lost, damaged, drive = found["lost"], found["damaged"], found["drive"]
    keeps = lost + damaged == 0
    if lies:
        return drive > 0 and (keeps or row["published"] != "keeps")
    if drive > 0:
        return False
    least = max(1, row.get("share", 0) * found["cuts"])
    return {"keeps": keeps, "loses": lost >= least and damaged == 0,
            "damages": not keeps or row.get("rare", False)}[row["published"]]


def scripts(row):
    """Returns workload and check of a setting."""
    if row["database"] == "sqlite":
        return f"sh {EXAMPLES / 'sqlite-fill.sh'}", f"sh {EXAMPLES / 'sqlite-verify.sh'}"
    task = f"{sys.executable} -B {PRESETS / 'stores.py'} {{}} {row['database']} {row['setting']}"
    return task.format("fill"), task.format("check")


def campaign(args, row, lies):
    """Runs one setting on one drive; returns the counts."""
    cuts = CI_LYING_CUTS if args.ci and lies else args.cuts
    out = args.work / "campaign"
    shutil.rmtree(out, ignore_errors=True)
    env = {**os.environ, **row.get("env", {})}
    if args.way == "preload":
        # The preset's python3 is the one that has the modules.
        env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
        command = [args.ssdlab, "crashtest", "run", "--way", "preload", "--preset",
                   f"{row['database']}:{row['setting']}"]
    else:
        workload, check = scripts(row)
        command = [args.ssdlab, "crashtest", "--after-mark", "begin", "--workload", workload,
                   "--check", check, "--size", row.get("size", "64MiB")]
    command += ["--json", "--quiet", "--cuts", cuts, "--seed", args.seed, "--jobs", args.jobs,
                "--minimise", "0", "--out", out]
    command += ["--fault", LIE] if lies else []
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, env=env)
    if done.returncode not in (0, 1):
        raise RigFailed(done.stderr.strip()[-500:])
    results = json.loads(done.stdout)["results"]
    if len(results) != cuts:
        raise RigFailed(f"{len(results)} cuts, not {cuts}")
    found = {"cuts": cuts, "lost": 0, "damaged": 0, "drive": 0, "passed": 0}
    return {**found, **Counter(map(kind, results))}


def kind(result):
    """Returns what a line of results is counted as."""
    if result["verdict"] != "application":
        return result["verdict"]
    return "lost" if ": lost: " in result["why"] else "damaged"


def run(args):
    """Runs what was chosen; returns the exit code."""
    code, ran = 0, 0
    for row in rows():
        name = f"{row['name']}, {row['setting']}"
        if (args.ci and not row.get("ci")) or args.only.lower() not in name.lower():
            continue
        ran += 1
        if not is_there(row["needs"]):
            skip(name, f"{row['needs']} is not installed")
            continue
        for lies in (False, True):
            if args.ci and lies and row["published"] != "keeps":
                continue
            begun = time.monotonic()
            try:
                found = campaign(args, row, lies)
            except RigFailed as error:
                print(f"RIG FAILED {name}: {error}", flush=True)
                code = RIG_FAILED
                continue
            is_right = as_published(row, lies, found)
            code = code or int(not is_right)
            line = {"database": row["name"], "setting": row["setting"], "seed": args.seed,
                    "on": LIE if lies else "honest",
                    "published": row["published"], "is_right": is_right, **found,
                    "seconds": round(time.monotonic() - begun, 1)}
            with open(args.work / "results.jsonl", "a", encoding="utf-8") as results:
                results.write(json.dumps(line) + "\n")
            print(f"{'ok' if is_right else 'FAILED':<8}{name}, {line['on']} drive, published:"
                  f" {row['published']}: {found['cuts']} cuts, {found['lost']} lost,"
                  f" {found['damaged']} damaged, {found['drive']} the drive's fault;"
                  f" {line['seconds']} s", flush=True)
    if ran == 0:
        print(f"RIG FAILED no setting has `{args.only}` in its name")
    return RIG_FAILED if ran == 0 else code


def skip(name, why):
    """Says that a part cannot run here, as tests/skips.sh does."""
    text = f"SKIPPED: known answers, {name}: {why}"
    print(text, flush=True)
    if "SSDLAB_SKIPS" in os.environ:
        with open(os.environ["SSDLAB_SKIPS"], "a", encoding="utf-8") as skips:
            skips.write(text + "\n")


def table(paths):
    """Prints the results of all files as a table: cuts with a loss, of all seeds together."""
    found = {}
    for path in paths:
        for text in Path(path).read_text().splitlines():
            line = json.loads(text)
            place = found.setdefault((line["database"], line["setting"]), {})
            place.setdefault(line["on"], Counter()).update(
                {key: line[key] for key in ("cuts", "lost", "damaged", "drive")})
    yield "| database, setting | its authors | honest drive | drive that ignores flushes |"
    yield "|---|---|---|---|"
    for row in rows():
        name = (row["name"], row["setting"])
        if name not in found:
            continue
        honest, lying = found[name]["honest"], found[name][LIE]
        said = f"{honest['lost']} lost" if honest["lost"] else "nothing lost"
        said += f", {honest['damaged']} damaged" if honest["damaged"] else ""
        yield (f"| {name[0]}, `{name[1]}` | [{row['published']}]({row['source']}): {row['says']} |"
               f" {said} at {honest['cuts']} cuts | {lying['drive']} of {lying['cuts']} cuts |")


def agree(kernel, preload):
    """Compares two files of results, row by row; returns the exit code."""
    def read(path):
        found = {}
        for text in Path(path).read_text().splitlines():
            line = json.loads(text)
            place = (line["database"], line["setting"], line["on"])
            found.setdefault(place, Counter()).update(
                {key: line[key] for key in ("cuts", "lost", "damaged", "drive")})
        return found

    def verdict(row, lies, counts):
        right = as_published(row, lies, counts)
        return "blamed" if lies and right else row["published"] if right else "not as published"
    first, second, compared, differ = read(kernel), read(preload), 0, 0
    for row in rows():
        for on in ("honest", LIE):
            place = (row["name"], row["setting"], on)
            if place not in first or place not in second:
                continue
            row_once = {**row, "share": 0}
            ways = [verdict(row_once, on == LIE, found[place]) for found in (first, second)]
            compared += 1
            differ += ways[0] != ways[1]
            counts = "; ".join(
                f"{way} {found[place]['lost']} lost, {found[place]['damaged']} damaged,"
                f" {found[place]['drive']} the drive's of {found[place]['cuts']}"
                for way, found in (("kernel", first), ("preload", second)))
            print(f"{'ok' if ways[0] == ways[1] else 'DIFFER':<8}{', '.join(place)}: {counts}")
    print(f"{compared} compared, {differ} differ")
    return int(differ > 0 or compared == 0)


def main():
    """Runs, or prints a table."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ssdlab", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--cuts", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="settings whose name contains WORD")
    parser.add_argument("--ci", action="store_true", help="the settings marked so")
    parser.add_argument("--way", default="kernel", choices=["kernel", "preload"])
    parser.add_argument("--table", nargs="+", metavar="FILE")
    parser.add_argument("--agree", nargs=2, metavar="FILE")
    args = parser.parse_args()
    if args.table:
        print("\n".join(table(args.table)))
        return 0
    if args.agree:
        return agree(*args.agree)
    args.ssdlab, args.work = args.ssdlab.resolve(), args.work.resolve()
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
