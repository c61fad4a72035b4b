"""Builds the tests in Rust and runs their programs, some at a time; `cargo test` runs one after the
other, so that a long test at the end of one leaves a core idle.

    python3 tests/run_tests.py [--jobs N] [--skip TEST]... -- [ARGUMENTS OF cargo test]

Prints a line for each program, and the output of one that fails or skips something. Programs that
took longest last time begin first. Documentation tests are another step.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

# Seconds of the longest programs, so that they begin first in a clean clone too.
LONG = {}


def build(arguments):
    """Returns the test programs: (name, path, folder of the package)."""
    command = ["cargo", "test", "--no-run", "--message-format=json-render-diagnostics", *arguments]
    programs = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as cargo:
        for line in cargo.stdout:
            message = json.loads(line)
            is_test = message["reason"] == "compiler-artifact" and message["profile"]["test"]
            if is_test and message["executable"]:
                folder = Path(message["manifest_path"]).parent
                kind, target = message["target"]["kind"][0], message["target"]["name"]
                name = f"{folder.name} {target if kind == 'test' else kind}"
                programs.append((name, message["executable"], folder))
    if cargo.returncode != 0:
        sys.exit(cargo.returncode)
    return programs


def run(program, skips):
    """Runs one test program as cargo does, in the folder of its package."""
    name, path, folder = program
    environment = dict(os.environ, CARGO_MANIFEST_DIR=str(folder))
    arguments = [word for skip in skips for word in ("--skip", skip)]
    began = time.monotonic()
    done = subprocess.run([path, *arguments], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    return name, done.returncode, done.stdout, time.monotonic() - began


def main():
    """Builds and runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("arguments", nargs="*", help="of cargo test")
    args = parser.parse_args()
    programs = build(args.arguments)
    times = Path(os.environ.get("CARGO_TARGET_DIR", "target"), "test-times.json")
    seconds = dict(LONG)
    if times.exists():
        seconds.update(json.loads(times.read_text()))
    programs.sort(key=lambda program: -seconds.get(program[0], 0))
    passed, failed = 0, []
    with ThreadPoolExecutor(args.jobs) as pool:
        for task in as_completed([pool.submit(run, program, args.skip) for program in programs]):
            name, code, output, taken = task.result()
            seconds[name] = round(taken, 1)
            counts = [int(count) for count in re.findall(r"(\d+) passed", output)]
            passed += sum(counts)
            mark = "ok    " if code == 0 else "FAILED"
            print(f"{mark} {taken:6.1f} s  {name}: {sum(counts)} passed", flush=True)
            if code != 0:
                failed.append(name)
                print(output, flush=True)
    times.write_text(json.dumps(seconds, indent=0, sort_keys=True))
    print(f"tests in Rust: {passed} passed in {len(programs)} programs", flush=True)
    if failed:
        sys.exit(f"FAILED: {', '.join(failed)}")


if __name__ == "__main__":
    main()
