#!/usr/bin/env bash
# Checks that third-party tools accept ssdlab's output: a fio job file runs in ssdlab and in fio;
# the JSON has fio's keys; DISKSPD's XML is well formed; completions and man pages load; blkparse
# reads blktrace records.
set -euo pipefail
ssdlab=$(realpath "$1")
. "$(dirname "$0")/skips.sh"
mkdir -p "${TMPDIR:-$PWD/target}"
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
# Keys that depend on the run, not on the format: percentiles of absent commands, options as given.
missing = sorted(k for k in wanted - have if "percentile" not in k and "job options" not in k)
if missing:
    sys.exit(f"keys of fio's JSON that ours lacks: {missing}")
job = ours["jobs"][0]
assert job["read"]["total_ios"] > 0 and job["write"]["total_ios"] > 0
PY
  then ok "fio's JSON: every key that fio writes"; else bad "fio's JSON"; fi
else
  skip "outside: fio" "not installed"
fi
"$ssdlab" run --quiet --out dsk --target null:64MiB -- diskspd -b4k -r -w30 -Su -L -D -d1 -W0 -Rxml x > /dev/null
if command -v xmllint >/dev/null; then
  if xmllint --noout dsk/diskspd.xml; then ok "DISKSPD's XML is well formed"; else bad "DISKSPD's XML"; fi
else
  skip "outside: xmllint" "not installed"
fi
for shell in bash zsh fish; do "$ssdlab" completions "$shell" > "c.$shell"; done
if bash -n c.bash; then ok "bash completions load"; else bad "bash completions"; fi
"$ssdlab" man man
if [ -s man/ssdlab.1 ] && [ -s man/ssdlab-qualify.1 ]; then ok "man pages"; else bad "man pages"; fi
if python3 -c 'import csv; r = list(csv.DictReader(open("run/series.csv"))); assert r and float(r[0]["length_s"]) > 0'
then ok "series.csv reads as CSV"; else bad "series.csv"; fi

# One trace is written as blktrace records and as blkparse text. blkparse must print the records as
# that text, and its output must read back as the same trace.
if command -v blkparse >/dev/null; then
  python3 - > made.csv <<'PY'
import random
draw = random.Random(7)
us = lambda ns: f"{ns // 1000}" + (f".{ns % 1000:03}" if ns % 1000 else "")
print("t_us,op,offset,length,done_us,fua,preflush")
now = 0
for n in range(500):
    # A trace that is read begins at time 0.
    now += draw.randrange(1, 90_000) if n else 0
    op = draw.choices(["read", "write", "trim"], [4, 5, 1])[0]
    length = draw.choice([4096, 1 << 20, 1 << 30] if op == "trim" else [512, 4096, 12288, 131072])
    fua, before = (int(op == "write" and draw.random() < 0.2) for _ in range(2))
    offset = draw.randrange(1 << 31) * 512
    if n % 10 == 9:
        # blktrace does not distinguish concurrent flushes, so each is alone.
        op, offset, length, fua, before = "flush", 0, 0, 0, 0
    done = now + draw.randrange(3_000, 400_000)
    print(f"{us(now)},{op},{offset},{length},{us(done)},{fua},{before}")
    now = done if op == "flush" else now
PY
  "$ssdlab" trace convert made.csv made.blktrace.0 --to blktrace 2> convert.log
  "$ssdlab" trace convert made.csv made.txt --to blkparse 2>> convert.log
  blkparse -q -i made > printed.all 2> blkparse.log
  # blkparse prints its header to standard output, too.
  grep -v '^Input file' printed.all > printed.txt
  "$ssdlab" trace convert printed.txt back.csv 2>> convert.log
  if python3 - <<'PY' && cmp made.csv back.csv
def rows(name):
    for line in open(name):
        words = line.split()
        # Brackets hold the process of an issue, which our records lack, or the error of a
        # completion.
        yield words if words[5] == "C" else [w for w in words if not w.startswith("[")]
ours, theirs = (list(rows(n)) for n in ("made.txt", "printed.txt"))
assert len(ours) == 1000 and len(theirs) == 1000, (len(ours), len(theirs))
different = [pair for pair in zip(ours, theirs) if pair[0] != pair[1]]
assert not different, different[:3]
PY
  then ok "blkparse prints our records event by event"; else bad "blkparse: $(cat blkparse.log)"; fi
else
  skip "outside: blkparse" "package blktrace is not installed"
fi

fio_plot=$(command -v fio-plot || true)
if [ -z "$fio_plot" ] && python3 -m venv venv 2> /dev/null && venv/bin/pip install -q fio-plot; then
  fio_plot=venv/bin/fio-plot
fi
if [ -n "$fio_plot" ]; then
  mkdir plot && cp ours.json plot/randrw-8-1.json
  if "$fio_plot" -i plot -T ssdlab -r randrw -f read -l -d 8 -n 1 -o plot.png > plot.log 2>&1 && [ -s plot.png ]
  then ok "fio-plot plots the JSON"; else bad "fio-plot: $(tail -3 plot.log)"; fi
else
  skip "outside: fio-plot" "not installed and could not be installed"
fi
echo "outside: $passed passed, $failed failed"
[ "$failed" = 0 ]
