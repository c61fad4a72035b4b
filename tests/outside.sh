#!/usr/bin/env bash
# Do other people's tools accept what ssdlab writes? fio's job files run here and in fio; its JSON
# has fio's keys; DISKSPD's XML is well formed; completions and man pages load.
set -euo pipefail
ssdlab=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-$PWD/target}/outside.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
passed=0
failed=0
ok() { passed=$((passed + 1)); echo "ok: $*"; }
bad() { failed=$((failed + 1)); echo "FAILED: $*" >&2; }

cat > j.fio <<'JOB'
[global]
direct=1
ioengine=io_uring
size=16m
filename=data.bin
time_based
runtime=1

[mixed]
rw=randrw
rwmixread=70
bs=4k
iodepth=8
JOB
"$ssdlab" run j.fio --quiet --out run --format fio-json > ours.json
if command -v fio >/dev/null; then
  truncate -s 16m data.bin
  fio --output-format=json j.fio > theirs.json
  rm -f data.bin
  if python3 - <<'PY'
import json, sys
ours, theirs = (json.load(open(n)) for n in ("ours.json", "theirs.json"))
def keys(value, path=""):
    if isinstance(value, dict):
        for k, v in value.items():
            yield f"{path}/{k}"
            yield from keys(v, f"{path}/{k}")
wanted = set(keys(theirs["jobs"][0]))
have = set(keys(ours["jobs"][0]))
# What depends on the run, not on the format: percentiles of what did not happen, options as given.
missing = sorted(k for k in wanted - have if "percentile" not in k and "job options" not in k)
if missing:
    sys.exit(f"keys of fio's JSON that ours lacks: {missing}")
job = ours["jobs"][0]
assert job["read"]["total_ios"] > 0 and job["write"]["total_ios"] > 0
PY
  then ok "fio's JSON: every key that fio writes"; else bad "fio's JSON"; fi
else
  echo "skipped: fio is not here"
fi
"$ssdlab" run --quiet --out dsk --target null:64MiB -- diskspd -b4k -r -w30 -Su -L -D -d1 -W0 -Rxml x > /dev/null
if command -v xmllint >/dev/null; then
  if xmllint --noout dsk/diskspd.xml; then ok "DISKSPD's XML is well formed"; else bad "DISKSPD's XML"; fi
else
  echo "skipped: xmllint is not here"
fi
for shell in bash zsh fish; do "$ssdlab" completions "$shell" > "c.$shell"; done
if bash -n c.bash; then ok "bash completions load"; else bad "bash completions"; fi
"$ssdlab" man man
if [ -s man/ssdlab.1 ] && [ -s man/ssdlab-qualify.1 ]; then ok "man pages"; else bad "man pages"; fi
if python3 -c 'import csv; r = list(csv.DictReader(open("run/series.csv"))); assert r and float(r[0]["length_s"]) > 0'
then ok "series.csv reads as CSV"; else bad "series.csv"; fi

fio_plot=$(command -v fio-plot || true)
if [ -z "$fio_plot" ] && python3 -m venv venv 2> /dev/null && venv/bin/pip install -q fio-plot; then
  fio_plot=venv/bin/fio-plot
fi
if [ -n "$fio_plot" ]; then
  mkdir plot && cp ours.json plot/randrw-8-1.json
  if "$fio_plot" -i plot -T ssdlab -r randrw -f read -l -d 8 -n 1 -o plot.png > plot.log 2>&1 && [ -s plot.png ]
  then ok "fio-plot plots it"; else bad "fio-plot: $(tail -3 plot.log)"; fi
else
  echo "skipped: fio-plot is not here and could not be installed"
fi
echo "outside: $passed passed, $failed failed"
[ "$failed" = 0 ]
