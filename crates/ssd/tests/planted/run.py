#!/usr/bin/env python3
"""Plant the errors of errors.toml one at a time and report the test that finds each.

    crates/ssd/tests/planted/run.py [NAME ...]     all errors, or those whose names contain NAME
    crates/ssd/tests/planted/run.py --list
    crates/ssd/tests/planted/run.py --page         planted/README.md, from the results
    crates/ssd/tests/planted/run.py --check        can each be planted, is that page up to date?

Works in a copy of the crate (in PLANTED_DIR, or a temporary directory), one build directory for all
errors. Each error is a replacement of one text in one file; the text must occur exactly once. The
tests run in the order of TARGETS (PLANTED_TARGETS: others) until one fails. Exit code 1 when an
error is not found, or when the tests fail without one. What finds each error is kept in found.json.
Run by hand or at night: about a minute for each error (a target that takes longer than
PLANTED_SECONDS, 300 without it, counts as one that finds it); --check takes no time and is part of
tests/all.sh.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
CRATE = HERE.parent.parent
ROOT = CRATE.parent.parent
FOUND = HERE / "found.json"
PAGE = HERE / "README.md"
TARGETS = ["--test=cuts", "--test=recovery", "--lib", "--test=durability", "--test=timing",
           "--test=wear", "--test=mapping", "--test=model", "--test=golden", "--test=gears",
           "--test=swarm", "--test=accounts", "--test=edges"]
TARGETS = os.environ.get("PLANTED_TARGETS", "").split() or TARGETS
MUTANTS = r"""
## Mutants

A seed's choice of all mutants of `ftl` and `drive`, built once and run by shares in the outer ring, is
in [mutants/README.md](../mutants/README.md). Before it, two samples were run by hand.

`cargo mutants` (27.1.0) makes 2,680 mutants of `ftl/page` and `drive/power`; all of them would take
more than a day. Two samples were run. A mutant counts as found when a test fails or takes longer than
its limit.

| | viable | found at first | found now | survive |
|---|---:|---:|---:|---:|
| 5 of 27, the first 54 of 100 (5 do not compile) | 49 | 36 | 45 | 4 |
| 11 of 54, all 50 (1 does not compile) | 49 | 34 | 45 | 4 |
| both | 98 | 70 | **90** | **8, 8 %** |

The aim is fewer than 10 %. The 28 that were not found at first:

| mutant | what it changes | |
|---|---|---|
| `delete field at` in `PowerDrive::cut` | the report says that every cut was at time 0 | found by `cuts` |
| `-` to `+` in `DataDrive::run` | how long a call took | found by `cuts` |
| `+` to `*` in `compact` | buffered data is lost when the buffer's ring fills up with trimmed writes | found by `cuts` |
| `!=` to `==` in `Oracle::after_recovery` | a broken promise is reported again after each later cut | found by `cuts` |
| `wants_idle_merge` is `false` | a map of extents does not merge in idle time | found by `merges`; that map has gone |
| `has_idle_work` is `true` | the drive has a next event for idle work that it does not have | found by `timing` |
| `<` to `>` in `secure_erase` | the mode, and so the size, of free superblocks after an erase | found by `durability` |
| `is_overdue` is `true` | parts of the map are written in units that are not full | found by `recovery` |
| `>=` to `<` in `prefetch_behind` | a prefetch for a slot on media panics | found by `gears` |
| `patrol_is_due` is `true` | as `has_idle_work` | found by `timing` |
| `take_before` is one empty slot; `/` to `%` in `held` | the content kept before a cut | found by `cuts` |
| `take_events` is empty | no change of the media is stored | found by `cuts` |
| `worn_out` is `(0, 1, false)` | the blocks announced as retired | found by `cuts` |
| `>` to `==` in `lose_map`; `/` to `%` in `shear` | what two faults lose | found by `cuts` |
| `==` to `!=` in `next_completion` | while a cut is aimed, a call returns before its command completes | found by `cuts` |
| `fits` is `true`; `+=` to `*=` in `write_journal` | a journal page has more entries than fit | found by `recovery` |
| `*` to `+` in `superblock` | the slots of a superblock in its view | found by `durability` |
| `-` to `/` in `place_rows` | whole rows are not placed at once | survives: same result; `benches/instructions.sh` finds it, `rows` needs 284 M instructions, not 89 M |
| `>` to `==` in `take_unfilled` | a full superblock is continued where no free one is left | survives: only many cuts in a row get there, and 100,000 cuts of honest drives pass with it |
| `>` to `>=` in `wants_idle_reclaim` | candidates of 0 superblocks | no effect: with as much stale data as is asked for beside it there is a victim |
| `<` to `<=` in `write_zeroes` | a part of 0 bytes is written | no effect; that comparison is gone |
| `<` to `>` in `check_map` | what is prefetched | no effect on results; that comparison is gone |
| `<` to `<=` in `take_each` | one pass over no addresses | no effect |
| `*` to `/` in `look` | how far the map is prefetched | no effect on results |
| `-` to `/` in `take_superblocks` | the limit of a frontier's number in a spare area | no effect: a drive writes only numbers of its frontiers |

`place_rows` and the last six change no result; of the 91 others one survives. The first sample was
run by the command below. For the second, the mutants that `--shard 11/54` lists were built together, each
behind a switch, and run with a limit of 120 s for each test file, which `heat`, `image` and
`own_policy` were added to. One of them, `cut_inside_flush`, was planted by hand. The tests of other
crates were not run.

```text
cargo mutants --in-place -p ssdlab-ssd -f 'crates/ssd/src/ftl/page/*.rs' \
    -f 'crates/ssd/src/drive/power/*.rs' --shard 5/27 --sharding round-robin --timeout 240 \
    --baseline skip -- --lib --test cuts --test durability --test gears --test golden \
    --test mapping --test model --test recovery --test timing --test swarm --test wear --test theory
```
"""
SECONDS_MAX = int(os.environ.get("PLANTED_SECONDS", "300"))


def copy(to):
    """A workspace with this crate alone."""
    crate = to / "crates" / "ssd"
    shutil.copytree(CRATE, crate, dirs_exist_ok=True)
    manifest = (ROOT / "Cargo.toml").read_text()
    manifest = re.sub(r"members = .*", 'members = ["crates/ssd"]', manifest, count=1)
    manifest = re.sub(r"default-members = .*\n", "", manifest)
    # Only what this crate needs: paths to the others lead nowhere here.
    manifest = re.sub(r"ssdlab-.*path = .*\n", "", manifest)
    manifest = re.sub(r"\[profile\.[a-z]+\.package\.[\s\S]*?(?=\n\[|\Z)", "", manifest)
    (to / "Cargo.toml").write_text(manifest)
    shutil.copy(ROOT / "Cargo.lock", to)
    return crate


def first_failure(to):
    """The first failing test with its target; None: all pass."""
    env = dict(os.environ, CARGO_TARGET_DIR=str(to / "target"), CARGO_PROFILE_DEV_DEBUG="0",
               CARGO_PROFILE_DEV_OPT_LEVEL="1")
    tests = to / "crates" / "ssd" / "tests"
    for target in TARGETS:
        name = target.removeprefix("--test=")
        if name != "--lib" and not list(tests.glob(f"{name}.rs")) + list(tests.glob(f"{name}/")):
            continue
        command = ["cargo", "test", "--offline", "-q", "-p", "ssdlab-ssd", target]
        # A session of its own: the test program, which cargo starts, must end with it.
        run = subprocess.Popen(command, cwd=to, env=env, text=True, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            output, errors = run.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            return f"{target}: does not end within {SECONDS_MAX} s"
        if run.returncode == 0:
            continue
        if re.search(r"^error(\[|: could not compile)", errors, re.M):
            return "does not compile: " + errors[:2000]
        failed = re.findall(r"^    ([a-z0-9_:]+)$", output, re.M)
        return f"{target}: {', '.join(dict.fromkeys(failed)) or 'aborted'}"
    return None


def load():
    """What found each error, by name."""
    return json.loads(FOUND.read_text()) if FOUND.exists() else {}


def keep(name, found):
    """Notes what found an error."""
    FOUND.write_text(json.dumps({**load(), name: found}, indent=1, sort_keys=True) + "\n")


def page(errors):
    """The page of the results."""
    found = load()
    count = sum(bool(found.get(error["name"])) for error in errors)
    lines = ["# Planted errors", "",
             "Would the tests of the software SSD notice an error? Each of these was planted in a copy",
             "of `crates/ssd`, alone, and the tests ran until one failed. Made by",
             "`crates/ssd/tests/planted/run.py`, which also plants them again; the first failing target",
             f"is named, with its failing tests. {count} of {len(errors)} were found.", "",
             "| error | in | found by |", "|---|---|---|"]
    for error in errors:
        by = found.get(error["name"])
        by = "not run" if error["name"] not in found else f"`{by}`" if by else "**nothing**"
        where = error["file"].removeprefix("src/")
        lines.append(f"| {error['name']}: {error['means'].rstrip('.')} | `{where}` | {by} |")
    return "\n".join(lines) + "\n" + MUTANTS


def check(errors):
    """What is wrong with the errors or the page, without a run."""
    for error in errors:
        count = (CRATE / error["file"]).read_text().count(error["old"].strip("\n"))
        if count != 1:
            yield f"{error['name']}: its text is at {count} places in {error['file']}"
        if load().get(error["name"], "not run") is None:
            yield f"{error['name']}: nothing finds it"
    if not PAGE.exists() or PAGE.read_text() != page(errors):
        yield f"{PAGE.relative_to(ROOT)} is not what run.py --page writes"


def named(found):
    """A failing target and its tests, short enough for a table."""
    target, _, tests = found.partition(": ")
    first, *others = tests.split(", ")
    more = f" and {len(others)} more" if others else ""
    return f"{target.removeprefix('--test=').removeprefix('--')}: {first}{more}"


def main():
    errors = tomllib.loads((HERE / "errors.toml").read_text())["error"]
    names = [arg for arg in sys.argv[1:] if not arg.startswith("-")]
    errors = [e for e in errors if not names or any(name in e["name"] for name in names)]
    if "--list" in sys.argv:
        for error in errors:
            print(f"{error['name']}: {error['means']}")
        return 0
    if "--page" in sys.argv:
        PAGE.write_text(page(errors))
        return 0
    if "--check" in sys.argv:
        wrong = list(check(errors))
        print("\n".join(wrong) or f"{len(errors)} errors can be planted, none is known to live")
        return 1 if wrong else 0
    given = os.environ.get("PLANTED_DIR")
    to = pathlib.Path(given or tempfile.mkdtemp(prefix="planted-"))
    to.mkdir(parents=True, exist_ok=True)
    crate = copy(to)
    missed = []
    if not names:
        found = first_failure(to)
        print(f"{'no error':40} {found or 'all tests pass'}", flush=True)
        missed += ["no error"] if found else []
    for error in errors:
        path = crate / error["file"]
        good = path.read_text()
        old = error["old"].strip("\n")
        if good.count(old) != 1:
            print(f"{error['name']:40} PATCH: {good.count(old)} places in {error['file']}")
            missed.append(error["name"])
            continue
        path.write_text(good.replace(old, error["new"].strip("\n")))
        try:
            found = first_failure(to)
        finally:
            path.write_text(good)
        if found and found.startswith("does not compile"):
            missed.append(error["name"])
        else:
            keep(error["name"], found and named(found))
            missed += [] if found else [error["name"]]
        print(f"{error['name']:40} {found or 'LIVED'}", flush=True)
    if not given:
        shutil.rmtree(to)
    print(f"{len(errors)} errors, {len(missed)} not found" + "".join(f"\n  {m}" for m in missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
