#!/usr/bin/env bash
# Holds what every command prints with --json against its schema in `ssdlab list schemas`: `bash
# tests/schemas.sh target/release/ssdlab`. Each line below is a schema, the exit codes that are no
# error, and a command. A command with --json that is neither here nor in `elsewhere` is an error.
# Needs Python's jsonschema, or says so in a line that begins with SKIPPED.
set -euo pipefail
ssdlab=$(realpath "$1")
top=$(realpath "$(dirname "$0")/..")
. "$top/tests/skips.sh"
mkdir -p "${TMPDIR:-$PWD/target}"
work=${SCHEMAS_WORK:-$(mktemp -d "${TMPDIR:-$PWD/target}/schemas.XXXXXX")}
[ -n "${SCHEMAS_WORK:-}" ] || trap 'rm -rf "$work"' EXIT
python=python3
venv=${SSDLAB_VENV:-${CARGO_TARGET_DIR:-$top/target}/venv}
[ ! -x "$venv/bin/python" ] || python=$(realpath -s "$venv/bin/python")
if ! "$python" -c 'import jsonschema' 2>/dev/null; then
  skip schemas "jsonschema is not installed"
  exit 0
fi
cd "$work"
cp -r "$top/examples" .
samples=$top/crates/judge/tests/samples/smart
small="--drive examples/drives/small.toml"

# What the commands below read.
"$ssdlab" create kept --drive consumer-sata-1tb --size 64MiB >/dev/null
"$ssdlab" simulate $small --until 1x --save saved.ssd --quiet --out saving >/dev/null
"$ssdlab" run examples/slog.fio --target drive:consumer-sata-1tb --fill 2 --quiet --out a >/dev/null
"$ssdlab" run examples/slog.fio --target drive:consumer-sata-1tb-plp --fill 2 --quiet --out b \
  >/dev/null
"$ssdlab" age patriot-wildfire-120gb --until 200GB --quiet --out lived >/dev/null

# tests/results.sh checks qualify, snia and run, tests/vm.sh checks conform, which needs a guest.
elsewhere="conform qualify snia run"
commands() {
  cat <<LIST
drives-list 0 list drives --json
drives-show 0 drives show consumer-sata-1tb --json
drives-show 0 drives show tlc-client-nvme-1tb --json
drives-known 0 drives known --json
drives-known 0 drives known INTEL --json
drives-validate 0,1 drives validate intel-dc-s3700-200gb --capacity 1GiB --json
drives-validate 0,1 drives validate tlc-client-nvme-1tb --capacity 1GiB --json
policies 0 list policies --json
profiles 0 list profiles --json
crashtest-presets 0 crashtest presets --json
trace 0 trace show examples/traces/zfs-2010-emulation-5-datasets.csv.gz --json
reproduce-list 0 reproduce --list --json
reproduce 0,1 reproduce zil.physics s2d.endurance.dwpd --quiet --out figures --json
simulation 0 simulate $small --until 1x --quiet --out s1 --json
simulation 0 simulate $small --until 2s --read-pct 30 --quiet --out s2 --json
grid 0 simulate $small --until 1x --sweep ftl.victim=greedy,fifo --quiet --out s3 --json
check-drive 0 check kept --json
check-file 0 check saved.ssd --json
ledger-score 0 ledger score --json
volumes-list 0 volumes list --json
volumes-show 0 volumes show gp2,size=100 --json
volumes-account 0,1,3 volumes account volume:gp2,size=100 --at 800 --quiet --json
volumes-fit 0,1,3 volumes fit examples/traces/zfs-2010-emulation-5-datasets.csv.gz --role etcd --json
inspect 0 inspect lived drive:consumer-sata-1tb --json
inspect 0,1,3 inspect $(ls "$samples"/*.json | head -12 | tr '\n' ' ') --json
result 0 report a --json
compare 0 compare a b --json
fleet 0 compare --fleet a b --json
symptom 0,1,3 diagnose drive:consumer-sata-1tb --symptom slow-durable-writes --out symptom --json
diagnosis 0,1,3 diagnose drive:consumer-sata-1tb --all-loads --json
black-box 0,1,3 diagnose drive:consumer-sata-1tb --black-box --all-loads --json
watch 1 watch examples/traces/watch-volatile-buffer.gz --model drive:samsung-980-1tb --json
watch 0,1,3 watch examples/traces/watch-volatile-buffer.gz --role ceph-wal --json
watch-event 0,1,3 watch examples/traces/watch-volatile-buffer.gz --events
fingerprint 0,1,3 fingerprint drive:consumer-sata-1tb --quiet --out print --json
twin 0 twin fit examples/twin.csv --capacity 960GB --latency examples/latency.csv --quiet --out twin --json
life 0 age patriot-wildfire-120gb --until 100GB --quiet --out life --json
endurance 0 endurance intel-710-100gb --capacity 1GiB --money --price 649 --quiet --json
mirror 0 endurance --mirror intel-710-100gb intel-710-100gb --seeds 1 --json
zil-parameters 0 host zil --parameters --json
tier 0,1 host tier consumer-sata-1tb --duration 2s --quiet --out tier --json
months 0,1 host months intel-dc-s3700-200gb --days 7 --quiet --out months --json
oltp 0,1 host oltp intel-dc-s3700-200gb --months 1 --quiet --out oltp --json
crashtest-fio 1 crashtest fio examples/crashtest/verify.fio --cuts 6 --quiet --fault ignores-flush --json
prediction 0 twin predict twin --load uniform --json
prediction 0 twin predict twin --load zipf:0.8 --rate 40k --rate 90% --json
theory 0 theory --quiet --out theory --json
LIST
}
number=0
mkdir -p said
one() { # number, schema, exit codes, command
  local to code=0 began=$EPOCHREALTIME
  to=said/$1.$2
  shift 2
  "$ssdlab" "${@:2}" >"$to.json" 2>"$to.log" </dev/null || code=$?
  echo "$code $1" >"$to.code"
  awk -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", to - from }' >"$to.time"
}
while read -r line; do
  number=$((number + 1))
  one "$(printf %02d "$number")" $line &
  # Two at a time.
  [ $((number % 2)) != 0 ] || wait
done < <(commands)
wait
# One after the other: a drive that is served, its power cut and armed to be cut.
"$ssdlab" serve kept --nbd unix:nbd.sock --control switch.sock >serve.log 2>&1 &
served=$!
for _ in $(seq 100); do [ ! -S switch.sock ] || break; sleep 0.1; done
while read -r line; do
  number=$((number + 1))
  one "$(printf %02d "$number")" $line --control switch.sock
done <<LIST
power 0 power status --json
power 0 power cut-when --json --flush 1000
power 0 power disarm --json
power 0 power off --json
power 0 power on --json
LIST
kill "$served"
wait "$served" || true
# A drive that ignores flushes, as a file: what programs lose under it, and pulls of its power.
if [ "$(id -u)" = 0 ] && [ -e /dev/fuse ]; then
  said() { number=$((number + 1)) && one "$(printf %02d "$number")" "$@"; }
  mkdir mnt
  "$ssdlab" serve kept --fuse mnt/drive --control pull.sock --fault ignores-flush >pull.log 2>&1 &
  served=$!
  for _ in $(seq 100); do [ ! -e mnt/drive ] || break; sleep 0.1; done
  power() { echo "'$ssdlab' power $1 --control pull.sock"; }
  said pull 0,1,3 pull run mnt/drive --overwrite --size 16MiB --ledger ledger --off "$(power off)" \
    --on "$(power on)" --pulls 3 --write-for 200ms --settle 0s --back 20s --json
  said pull 0,1,3 pull status --ledger ledger --json
  said pull-check 0,1 pull check mnt/drive --ledger ledger --json
  job=$top/examples/crashtest/verify.fio
  said pull-fio 0,1 pull fio "$job" --target mnt/drive --overwrite --states states --off "$(power off)" \
    --on "$(power on)" --pulls 1 --write-for 200ms --settle 0s --back 20s --json
  said pull-fio-look 0,1 pull fio "$job" --target mnt/drive --verify-only --states states/pull-0001 --json
  kill "$served"
  wait "$served" || true
  lossy="--size 64MiB --cuts 6 --quiet --fault ignores-flush --after-mark 3"
  said crashtest 1 crashtest --workload "sh $top/examples/crashtest/values-fill.sh" \
    --check "sh $top/examples/crashtest/values-verify.sh" $lossy --out scripts --json
  token=$("$python" -c 'import json; print(json.loads(open("scripts/results.jsonl").readline())["token"])')
  said crashtest-replay 0,1 crashtest --out scripts --replay "$token" --json
  said crashtest 0,1 crashtest run --cuts 4 --quiet --mount none --check true --consistency-only --out program --json \
    -- sh -c 'echo done'
else
  skip "schemas of crashtest and pull" "needs root and /dev/fuse"
fi
"$python" -B "$top/tests/schemas.py" "$ssdlab" said "$elsewhere"
