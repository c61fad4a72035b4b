#!/usr/bin/env python3
"""What does fio do with a target that holds something?

Usage: fio_overwrites.py [DIRECTORY], where files are made. For each kind of content of the tests of
claims (KINDS of crates/bench/src/device/claim/tests_contents.rs), fio is told to write 4 KiB over
it, in a file and on a loop device, which has no serial number. Then over what is in use: a mounted
loop device, the file behind it, and the same with --allow_mounted_write=1. Printed is whether the
bytes changed and what fio said. Needs root and loop devices. Exits with 1 when fio is not as
docs/methods.md says: it writes over every kind in silence, and refuses only a mounted block device.
"""

import ast
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "../crates/bench/src/device/claim/tests_contents.rs")
LENGTH = 256 << 20


def kinds():
    text = open(SOURCE).read()
    count = int(re.search(r"const KINDS: \[\(&str, i64, &\[u8\]\); (\d+)\]", text)[1])
    body = text[text.index("const KINDS"):]
    body = body[body.index("= [") + 3:body.index("\n];")]
    found = re.findall(r'\(\s*"([^"]*)",\s*(-?[0-9a-fA-Fx_]+),\s*(b"(?:[^"\\]|\\.)*"),?\s*\)', body)
    assert len(found) == count, f"{len(found)} of {count} kinds are read"
    # Rust's \0 is Python's \x00, whatever digit follows.
    value = lambda text: ast.literal_eval(re.sub(r"\\0", r"\\x00", text))
    return [(name, int(offset.replace("_", ""), 0), value(text)) for name, offset, text in found]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def fio(target, offset, *more):
    """fio's exit code, and its messages: lines before its report."""
    done = run("fio", "--name=w", f"--filename={target}", "--rw=write", "--bs=4k", "--size=4k",
               f"--offset={offset}", "--output-format=terse", "--end_fsync=1", *more)
    said = [line for line in (done.stdout + done.stderr).splitlines() if line and ";" not in line]
    return done.returncode, said


def attach(path):
    done = run("losetup", "-f", "--show", path)
    if done.returncode:
        sys.exit(f"no loop device: {done.stderr}")
    return done.stdout.strip()


def holding(path, offset, data):
    with open(path, "wb") as file:
        file.truncate(LENGTH)
        file.seek(offset if offset >= 0 else LENGTH + offset)
        file.write(data)


def overwritten(directory, offset, data, on_loop):
    """Whether fio wrote over the content, and what it said."""
    path = os.path.join(directory, "held")
    holding(path, offset, data)
    place = offset if offset >= 0 else LENGTH + offset
    target = attach(path) if on_loop else path
    try:
        code, said = fio(target, place // 4096 * 4096)
    finally:
        if on_loop:
            run("losetup", "-d", target)
    with open(path, "rb") as file:
        file.seek(place)
        return code == 0 and file.read(len(data)) != data, said


def block(path):
    """The 4 KiB in the middle."""
    with open(path, "rb") as file:
        file.seek(LENGTH // 2)
        return file.read(4096)


def in_use(directory):
    """What fio does with a mounted loop device and with the file behind it."""
    path, folder = os.path.join(directory, "image"), os.path.join(directory, "mnt")
    rows = []
    for title, more in (("a mounted loop device", []),
                        ("a mounted loop device, --allow_mounted_write=1",
                         ["--allow_mounted_write=1"]),
                        ("the file behind a mounted loop device", [])):
        holding(path, 0, b"")
        run("mkfs.ext4", "-q", "-F", path)
        os.makedirs(folder, exist_ok=True)
        device = attach(path)
        try:
            mounted = run("mount", device, folder)
            if mounted.returncode:
                sys.exit(f"mount: {mounted.stderr}")
            before = block(path)
            target = path if title.startswith("the file") else device
            # Its exit code is 0 when it refuses, too.
            _, said = fio(target, LENGTH // 2, *more)
        finally:
            run("umount", folder)
            run("losetup", "-d", device)
        rows.append((title, block(path) != before, said))
    return rows


def main():
    base = sys.argv[1] if len(sys.argv) > 1 else "."
    version = run("fio", "--version").stdout.strip()
    failed = []
    with tempfile.TemporaryDirectory(dir=base) as directory:
        listed = kinds()
        for on_loop, name in ((False, "a file"), (True, "a loop device, no serial number")):
            results = [(kind, *overwritten(directory, offset, data, on_loop))
                       for kind, offset, data in listed]
            written = sum(1 for _, done, _ in results if done)
            silent = sum(1 for _, done, said in results if done and not said)
            print(f"{version}: {name}: {written} of {len(listed)} kinds written, {silent} of them "
                  "without a word")
            failed += [f"{name}: {kind}: {said}" for kind, done, said in results
                       if not done or said]
        for (title, done, said), expected in zip(in_use(directory), (False, True, True)):
            print(f"{version}: {title}: {'written' if done else 'refused'}",
                  *([f"({said[-1]})"] if said else []))
            if done != expected:
                failed.append(f"{title}: {said}")
    print(*failed, sep="\n")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
