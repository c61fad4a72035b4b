#!/usr/bin/env python3
"""Plant the errors of errors.toml one at a time and report the test that finds each.

    crates/ssd/tests/planted/run.py [NAME ...]     all errors, or those whose names contain NAME
    crates/ssd/tests/planted/run.py --list

Works in a copy of the crate (in PLANTED_DIR, or a temporary directory), one build directory for all
errors. Each error is a replacement of one text in one file; the text must occur exactly once. The
tests run in the order of TARGETS (PLANTED_TARGETS: others) until one fails. Exit code 1 when an
error is not found, or when the tests fail without one. Run by hand or at night: about a minute for
each error.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
CRATE = HERE.parent.parent
ROOT = CRATE.parent.parent
TARGETS = ["--test=recovery", "--test=cuts", "--lib", "--test=durability", "--test=timing",
           "--test=wear", "--test=mapping", "--test=model", "--test=golden", "--test=gears",
           "--test=swarm"]
TARGETS = os.environ.get("PLANTED_TARGETS", "").split() or TARGETS
SECONDS_MAX = 300


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
    env = dict(os.environ, CARGO_TARGET_DIR=str(to / "target"), CARGO_PROFILE_DEV_DEBUG="0")
    tests = to / "crates" / "ssd" / "tests"
    for target in TARGETS:
        name = target.removeprefix("--test=")
        if name != "--lib" and not list(tests.glob(f"{name}.rs")) + list(tests.glob(f"{name}/")):
            continue
        command = ["cargo", "test", "--offline", "-q", "-p", "ssdlab-ssd", target]
        try:
            run = subprocess.run(command, cwd=to, env=env, capture_output=True, text=True,
                                 timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return f"{target}: does not end within {SECONDS_MAX} s"
        if run.returncode == 0:
            continue
        if re.search(r"^error(\[|: could not compile)", run.stderr, re.M):
            return "does not compile: " + run.stderr[:2000]
        failed = re.findall(r"^    ([a-z0-9_:]+)$", run.stdout, re.M)
        return f"{target}: {', '.join(dict.fromkeys(failed)) or 'aborted'}"
    return None


def main():
    errors = tomllib.loads((HERE / "errors.toml").read_text())["error"]
    names = [arg for arg in sys.argv[1:] if not arg.startswith("-")]
    errors = [e for e in errors if not names or any(name in e["name"] for name in names)]
    if "--list" in sys.argv:
        for error in errors:
            print(f"{error['name']}: {error['means']}")
        return 0
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
        if not found or found.startswith("does not compile"):
            missed.append(error["name"])
        print(f"{error['name']:40} {found or 'LIVED'}", flush=True)
    if not given:
        shutil.rmtree(to)
    print(f"{len(errors)} errors, {len(missed)} not found" + "".join(f"\n  {m}" for m in missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
