"""Holds outputs against their schemas; each schema with a canary, and no command is forgotten.
Usage: python3 schemas.py PROGRAM OUTPUTS "COMMANDS CHECKED ELSEWHERE" """

import copy
import glob
import json
import os
import re
import subprocess
import sys

from jsonschema import Draft202012Validator as Validator

program, outputs, elsewhere = *sys.argv[1:3], sys.argv[3].split()
passed, failed = 0, []
# Documents that are printed a line each.
LINES = ["watch-event"]


def said(*command):
    return subprocess.run([program, *command], capture_output=True, text=True, check=True).stdout


names = re.findall(r"^([a-z-]+)  +\S", said("list", "schemas"), re.M)
everything = {name: json.loads(said("list", "schemas", name)) for name in names}


def broken(value):
    """The value with a key renamed in its first object, or another type."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict) or not first:
        return {"": value}
    value = copy.deepcopy(value)
    first = value[0] if isinstance(value, list) else value
    key = next(iter(first))
    first[key + "_"] = first.pop(key)
    return value


def check(path):
    name = os.path.basename(path).split(".")[1]
    code, allowed = open(path[:-4] + "code").read().split()
    if code not in allowed.split(","):
        return f"exit code {code}: {open(path[:-4] + 'log').read()[-300:]}"
    try:
        # Events are an object in each line.
        text = open(path).read()
        values = [text] if name not in LINES else text.splitlines()
        values = [json.loads(value) for value in values]
    except ValueError as error:
        return f"is no JSON: {error}"
    if name not in everything:
        return "has no schema"
    schema = everything[name]
    Validator.check_schema(schema)
    validator = Validator(schema)
    for value in values:
        errors = [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(value)]
        if errors:
            return "; ".join(errors[:3])
        if validator.is_valid(broken(value)):
            return "accepts a file with another key"
    return None if values else "is empty"


def with_json(command=()):
    """Every command whose help names --json."""
    text = subprocess.run([program, *command, "--help"], capture_output=True, text=True).stdout
    if command and re.search(r"^ +--json\b", text, re.M):
        yield " ".join(command)
    if not command or "<COMMAND>" in text or "Commands:" in text:
        # The program's own help has two commands in a line.
        names = re.findall(r"^  ([a-z][a-z-]+)  +\S" if command else r"  ([a-z]+)  +\S", text, re.M)
        for name in dict.fromkeys(names):
            if name != "help" and len(command) < 2:
                yield from with_json((*command, name))


for path in sorted(glob.glob(f"{outputs}/*.json")):
    trouble = check(path)
    shown = os.path.basename(path)[:-5]
    if trouble:
        failed.append(f"FAILED: {shown}: {trouble}")
    else:
        passed += 1
        print(f"ok: {shown} ({open(path[:-4] + 'time').read().strip()} s)")

with open(__file__.replace(".py", ".sh")) as script:
    listed = script.read()
for command in with_json():
    if not re.search(rf"^ *(said )?[a-z-]+ [0-9,]+ {command}( -|\b)", listed, re.M):
        if command.split()[0] not in elsewhere:
            failed.append(f"FAILED: `ssdlab {command} --json` has no schema in this test")
print("\n".join(failed), file=sys.stderr)
print(f"schemas: {passed} passed, {len(failed)} failed")
sys.exit(bool(failed))
