#!/usr/bin/env python3
"""Change the code of `ftl` and `drive` by rule, many places one at a time, and see which test notices.

    crates/ssd/tests/mutants/run.py [NAME ...]      all mutants, or those whose names contain NAME
    crates/ssd/tests/mutants/run.py --share N       the share of landing N, one eighth
    crates/ssd/tests/mutants/run.py --survivors     those that survived the last time, and new ones
    crates/ssd/tests/mutants/run.py --list          the mutants; nothing runs
    crates/ssd/tests/mutants/run.py --page          mutants/README.md, from the results
    crates/ssd/tests/mutants/run.py --check         is that page up to date, is every survivor explained?

`ssdlab-tidy mutants` chooses the mutants by a seed and writes all of them into one copy of the crate,
each behind a switch, so that one build serves all. A mutant that does not compile is dropped. Every
test then runs once without a mutant and notes which switches it reaches and how long it takes. A
mutant runs against the tests that reach it, the fastest first, until one fails, or takes eight times
as long and more than 20 s. What lives through all of them must be in survivors.toml with the reason:
otherwise the exit code is 1. Except for a share, what found each mutant is kept in found.json.
MUTANTS_DIR names the copy's folder (otherwise a temporary one), MUTANTS_JOBS how many mutants run at
once.
"""

import collections
import concurrent.futures
import importlib.machinery
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent.parent
planted = importlib.machinery.SourceFileLoader("planted", str(HERE.parent / "planted/run.py")).load_module()
FOUND = HERE / "found.json"
SURVIVORS = HERE / "survivors.toml"
PAGE = HERE / "README.md"
SEED, ONE_IN, SHARES = 1, 24, 8
SECONDS_MIN, TIMES_MAX = 20, 8
BYTES_MAX = 6 << 30
# Targets that ask about files outside the crate.
LEFT_OUT = ["guides"]
# Fewer cuts and drives than the tests take of themselves, always from the same seed.
SIZES = {"SSDLAB_SWARM": "300", "SSDLAB_CUTS": "6000",
         "PROPTEST_RNG_SEED": "1", "PROPTEST_FAILURE_PERSISTENCE": "off", "RUST_BACKTRACE": "0"}

Mutant = collections.namedtuple("Mutant", "id share file line name")
Test = collections.namedtuple("Test", "target program name seconds reaches")


def generate(*arguments):
    """The mutants, which also are written when a folder is given."""
    command = ["cargo", "run", "--quiet", "-p", "ssdlab-tidy", "--", "mutants", str(SEED), str(ONE_IN)]
    lines = subprocess.run(command + list(map(str, arguments)), cwd=ROOT, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    return [Mutant(int(row[0]), int(row[1]), row[2], int(row[3]), row[4]) for row in rows]


def culprits(messages, copy):
    """The mutants that the compiler's errors are about."""
    ids = set()
    for message in messages:
        for span in message["spans"]:
            if span["is_primary"]:
                before = (copy / span["file_name"]).read_bytes()[:span["byte_end"]].decode()
                switches = re.findall(r"mutant::on\((\d+)\)", before)
                ids |= {int(switches[-1])} if switches else set()
    return ids


def build(copy):
    """Writes the mutants and builds the tests; the mutants, those dropped, the programs by target."""
    dropped = set()
    env = dict(os.environ, CARGO_TARGET_DIR=str(copy / "target"), CARGO_PROFILE_DEV_DEBUG="0",
               CARGO_INCREMENTAL="0", RUSTFLAGS="")
    command = ["cargo", "test", "--offline", "--no-run", "--quiet", "--message-format=json",
               "-p", "ssdlab-ssd", "--lib", "--tests"]
    while True:
        mutants = generate(copy, *sorted(dropped))
        run = subprocess.run(command, cwd=copy, env=env, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
        if run.returncode == 0:
            programs = {line["target"]["name"]: line["executable"] for line in lines
                        if line.get("executable") and line["profile"]["test"]
                        and line["target"]["name"] not in LEFT_OUT}
            return [m for m in mutants if m.id not in dropped], len(dropped), programs
        errors = [line["message"] for line in lines if line["reason"] == "compiler-message"
                  and line["message"]["level"] == "error"]
        more = culprits(errors, copy) - dropped
        if not more:
            sys.exit(f"the mutants do not compile:\n{run.stderr[-3000:]}" +
                     "".join(error["rendered"] for error in errors)[:5000])
        dropped |= more


def limited():
    """Limits of a test's process: a mutant may allocate without end."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES_MAX, BYTES_MAX))


def passes(crate, program, test, seconds, **switches):
    """Whether a test passes; None: it does not end in time."""
    env = dict(os.environ, **SIZES, **switches, CARGO_MANIFEST_DIR=str(crate))
    command = [program, "--exact", test, "--quiet", "--test-threads=1"]
    run = subprocess.Popen(command, cwd=crate, env=env, stdout=subprocess.DEVNULL, preexec_fn=limited,
                           stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return run.wait(timeout=seconds) == 0
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        return None


def trace(crate, programs, pool):
    """Every test with the mutants that it reaches and its seconds, the fastest first."""
    for path in crate.glob("trace-*"):
        path.unlink()

    def one(target, program, name):
        path = crate / f"trace-{target}-{name.replace(':', '-')}"
        began = time.monotonic()
        if not passes(crate, program, name, 1_200, SSDLAB_MUTANT_TRACE=str(path)):
            sys.exit(f"{target}: {name} fails without a mutant")
        seconds = time.monotonic() - began
        reaches = {int(line) for line in path.read_text().split()} if path.exists() else set()
        return Test(target, program, name, seconds, reaches)

    work = []
    for target, program in programs.items():
        listed = subprocess.run([program, "--list", "--format=terse"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        names = [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]
        work += [pool.submit(one, target, program, name) for name in names]
    return sorted((item.result() for item in work), key=lambda test: test.seconds)


def first_failure(crate, tests, mutant):
    """The first test that fails with a mutant, as `target: test`; None: all pass."""
    for test in tests:
        if mutant.id in test.reaches:
            limit = max(SECONDS_MIN, TIMES_MAX * test.seconds)
            outcome = passes(crate, test.program, test.name, limit, SSDLAB_MUTANT=str(mutant.id))
            if outcome is None:
                return f"{test.target}: {test.name}, by time"
            if not outcome:
                return f"{test.target}: {test.name}"
    return None


def reasons():
    """Why a mutant may live, by its name."""
    return {item["mutant"]: item for item in tomllib.loads(SURVIVORS.read_text()).get("survivor", [])}


def page(found):
    """The page of the results."""
    dropped, found = found["dropped"], found["mutants"]
    known = reasons()
    living = [name for name, by in found.items() if by is None]
    missed = [name for name in living if known.get(name, {}).get("kind", "missed") == "missed"]
    timed = sum(bool(by) and by.endswith("by time") for by in found.values())
    percent = 100 * len(missed) / len(found)
    targets = collections.Counter(by.split(":")[0].replace("ssdlab_ssd", "lib")
                                  for by in found.values() if by)
    files = collections.Counter(name.split(" ")[0] for name in found)
    lost = collections.Counter(name.split(" ")[0] for name in living)
    lines = ["# Mutants by rule", "",
             "Would the tests of the software SSD notice a small change anywhere in `ftl` and `drive`? A",
             f"seed takes one in {ONE_IN} of all possible mutants: another operator, a call or an arm of a match",
             "left out, a function that returns at once with a plain value. `run.py` beside this page says how",
             "they are built and run, and writes it. A new survivor fails the group `mutants` of the outer",
             f"ring, which takes one eighth at each landing. {dropped} more did not compile.", "",
             "| mutants | found | of these by time | same results | slower or faster only | missed |",
             "|---:|---:|---:|---:|---:|---:|"]
    kinds = collections.Counter(known.get(name, {}).get("kind", "missed") for name in living)
    lines += [f"| {len(found)} | {len(found) - len(living)} | {timed} | {kinds['same']} | {kinds['speed']} | "
              f"**{len(missed)}, {percent:.1f} %** |", "",
              "What found them first, the fastest tests running first:", "", "| target | mutants |", "|---|---:|"]
    lines += [f"| `{target}` | {count} |" for target, count in targets.most_common()]
    lines += ["", "| file | mutants | survive |", "|---|---:|---:|"]
    lines += [f"| `{name}` | {files[name]} | {lost[name] or ''} |" for name in sorted(files)]
    lines += ["", "## Survivors", "", "| mutant | | why |", "|---|---|---|"]
    for name in sorted(living):
        item = known.get(name, {"kind": "missed", "why": "not explained"})
        name = name.replace("|", "\\|")
        lines.append(f"| {name} | {item['kind']} | {item['why']} |")
    return "\n".join(lines) + "\n"


def check():
    """What is wrong with the results or the page, without a run."""
    found = json.loads(FOUND.read_text())
    living = {name for name, by in found["mutants"].items() if by is None}
    known = reasons()
    yield from (f"not explained: {name}" for name in living - set(known))
    yield from (f"explained, but does not survive: {name}" for name in set(known) - living)
    missed = sum(item["kind"] == "missed" for item in known.values())
    if missed * 10 >= len(found["mutants"]):
        yield f"{missed} of {len(found['mutants'])} are missed"
    if not PAGE.exists() or PAGE.read_text() != page(found):
        yield f"{PAGE.relative_to(ROOT)} is not what run.py --page writes"


def run_all(mutants, crate, tests, pool):
    """What found each mutant, by name."""
    work = {pool.submit(first_failure, crate, tests, mutant): mutant for mutant in mutants}
    found = {}
    for item in concurrent.futures.as_completed(work):
        mutant = work[item]
        found[mutant.name] = item.result()
        print(f"{mutant.name:90} {found[mutant.name] or 'LIVES'}", flush=True)
    return found


def main():
    arguments = sys.argv[1:]
    share = int(arguments[arguments.index("--share") + 1]) % SHARES if "--share" in arguments else None
    names = [] if share is not None else [arg for arg in arguments if not arg.startswith("-")]
    if "--survivors" in arguments:
        kept = json.loads(FOUND.read_text())["mutants"]
        names = [mutant.name for mutant in generate() if kept.get(mutant.name) is None]
    if "--page" in arguments:
        PAGE.write_text(page(json.loads(FOUND.read_text())))
        return 0
    if "--check" in arguments:
        wrong = list(check())
        print("\n".join(wrong) or "every survivor is explained")
        return 1 if wrong else 0
    if "--list" in arguments:
        print("\n".join(f"{m.share} {m.file}:{m.line} {m.name}" for m in generate()))
        return 0
    given = os.environ.get("MUTANTS_DIR")
    copy = pathlib.Path(given or tempfile.mkdtemp(prefix="mutants-"))
    copy.mkdir(parents=True, exist_ok=True)
    try:
        return run(copy, share, names)
    finally:
        if not given:
            shutil.rmtree(copy)


def run(copy, share, names):
    """Builds, traces, runs; the exit code."""
    began = time.monotonic()
    crate = planted.copy(copy)
    manifest = copy / "Cargo.toml"
    manifest.write_text(manifest.read_text() + "\n[profile.dev.package.ssdlab-ssd]\nopt-level = 2\n")
    mutants, dropped, programs = build(copy)
    built = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("MUTANTS_JOBS", os.cpu_count()))) as pool:
        tests = trace(crate, programs, pool)
        traced = time.monotonic()
        print(f"{len(mutants)} mutants, {dropped} do not compile, {len(tests)} tests; built in "
              f"{built - began:.0f} s, traced in {traced - built:.0f} s", flush=True)
        taken = [m for m in mutants if (share is None or m.share == share)
                 and (not names or any(name in m.name for name in names))]
        found = run_all(taken, crate, tests, pool)
    known = reasons()
    living = [name for name, by in found.items() if by is None]
    if share is None:
        before = json.loads(FOUND.read_text())["mutants"] if names else {}
        # Without those that are gone with their code.
        before = {m.name: before[m.name] for m in mutants if m.name in before}
        results = {"dropped": dropped, "mutants": dict(sorted({**before, **found}.items()))}
        FOUND.write_text(json.dumps(results, indent=1) + "\n")
    for name in found:
        if name in known and name not in living:
            print(f"found by now, to be taken off survivors.toml: {name}")
    new = [name for name in living if name not in known]
    print(f"{len(found)} mutants, {len(living)} survive, {len(new)} of them not explained, "
          f"in {time.monotonic() - traced:.0f} s" + "".join(f"\n  {name}" for name in new))
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
