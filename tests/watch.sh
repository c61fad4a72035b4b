#!/usr/bin/env bash
# `ssdlab watch`: planted causes; as a service: metrics in a real Prometheus, its alerts, each
# expression of the dashboard, the dashboard in Grafana's own types; the rights of the unit and the
# container's profile of calls, in every mode, and that no more is allowed:
# `bash tests/watch.sh target/debug/ssdlab`.
# Needs root, /dev/fuse, loop devices, tracefs and fio; Prometheus from Debian (its program alone).
set -euo pipefail
ssdlab=$(realpath "$1")
top=$(realpath "$(dirname "$0")/..")
. "$top/tests/skips.sh"
kept=${CARGO_TARGET_DIR:-$top/target}
find_tool() { command -v "$1" || { [ -x "$kept/$1" ] && realpath "$kept/$1"; } || true; }
promtool=$(find_tool promtool) prometheus=$(find_tool prometheus)
rules=$top/crates/watch/prometheus packaging=$top/crates/watch/packaging
work=$(mktemp -d "${TMPDIR:-$kept}/watch.XXXXXX")
passed=0 failed=0 pids=() loop=
ok() { passed=$((passed + 1)); echo "ok: $*"; }
bad() { failed=$((failed + 1)); echo "FAILED: $*" >&2; }
holds() { # what, command
  local what=$1
  shift
  if "$@" >check.log 2>&1; then ok "$what"; else bad "$what: $(tail -5 check.log)"; fi
}
fails() { # what, command
  local what=$1
  shift
  if "$@" >check.log 2>&1; then bad "$what"; else ok "$what"; fi
}
finish() {
  [ ${#pids[@]} = 0 ] || { kill "${pids[@]}" && wait "${pids[@]}"; } 2>/dev/null || true
  [ -z "$loop" ] || losetup -d "$loop" 2>/dev/null || true
  [ -z "${served:-}" ] || { kill "$served" 2>/dev/null && wait "$served" || true; }
  cd / && rm -rf "$work"
}
trap finish EXIT
cd "$work"

if [ -z "$promtool" ]; then
  skip "watch: rules" "promtool is not installed"
else
  holds "promtool accepts the alerts" "$promtool" check rules "$rules/alerts.yml"
  holds "each alert fires at its limit, and names the cause" \
    "$promtool" test rules "$rules/alerts_test.yml"
  # Canary: a rule that does not parse.
  sed 's/>= 1.5/>= >= 1.5/' "$rules/alerts.yml" >broken.yml
  fails "promtool refuses a broken rule" "$promtool" check rules broken.yml
fi
with_types=$kept/venv/bin/python
if "$with_types" -c 'import grafana_foundation_sdk' 2>/dev/null; then
  dashboards() { "$with_types" -B "$top/tests/live/grafana.py" "$@"; }
  holds "dashboards are read by Grafana's own types" \
    dashboards "$rules/dashboard.json" "$top/examples/grafana/ssdlab.json"
  sed 's/"gridPos"/"grid"/' "$rules/dashboard.json" >broken.json
  fails "Grafana's types do not know a wrong key" dashboards broken.json
else
  skip "watch: dashboards" "grafana-foundation-sdk is not installed"
fi
names() { python3 -B -c "$1" "$packaging" | sort -u; }
names 'import json, sys
for rule in json.load(open(sys.argv[1] + "/seccomp.json"))["syscalls"]: print(*rule["names"], sep="\n")
' >profile.names
sed -n 's/^SystemCallFilter=//p' "$packaging/ssdlab-watch@.service" | tr ' ' '\n' | sort >unit.names
holds "unit and container allow the same calls" diff profile.names unit.names
if ! command -v systemd-analyze >/dev/null; then
  skip "watch: unit" "systemd-analyze is not installed"
else
  sed "s|/usr/bin/ssdlab|$ssdlab|" "$packaging/ssdlab-watch@.service" >ssdlab-watch@.service
  verify() { systemd-analyze verify --man=no "$work/ssdlab-watch@.service" 2>&1 | tee verify.log; [ ! -s verify.log ]; }
  holds "systemd accepts the unit" verify
  # 2.0 as written; without its list of calls 3.0 and more.
  holds "systemd rates the unit's exposure at 2.1 of 10 at most" \
    systemd-analyze security --offline=true --threshold=21 "$work/ssdlab-watch@.service"
fi

if [ "$(id -u)" != 0 ] || [ ! -e /dev/fuse ] || ! command -v fio losetup >/dev/null; then
  skip "watch: live" "needs root, /dev/fuse, loop devices and fio"
  echo "watch: $passed passed, $failed failed"
  exit $((failed > 0))
fi
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
# A drive whose flushes take milliseconds, and a program that waits for each.
"$ssdlab" create drive --drive consumer-sata-1tb --size 64MiB >/dev/null
mkdir mnt
"$ssdlab" serve drive --fuse mnt/drive --pace real >serve.log 2>&1 &
served=$!
for _ in $(seq 100); do [ ! -e mnt/drive ] || break; sleep 0.1; done
loop=$(losetup -f --show --direct-io=on mnt/drive)
fio --name=log --filename="$loop" --size=16m --rw=write --bs=4k --fdatasync=1 --time_based \
  --runtime=600 >fio.log 2>&1 &
pids+=($!)

# The rights of the unit: nobody, with two capabilities, under the profile.
chmod 755 "$work"
cp "$ssdlab" "$packaging/seccomp.json" "$top/tests/live/under_seccomp.py" .
chmod 755 ssdlab
caps=perfmon,+dac_read_search
confined() {
  setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --inh-caps=-all,+$caps \
    --ambient-caps=-all,+$caps --bounding-set=-all,+$caps \
    python3 -B under_seccomp.py seccomp.json "$@"
}
mode() { # what, a word of the output, exit codes, arguments
  local what=$1 word=$2 codes=$3 code=0
  shift 3
  confined "$work/ssdlab" watch "$@" >mode.out 2>mode.log || code=$?
  if [[ " $codes " = *" $code "* ]] && grep -q -- "$word" mode.out && ! grep -q "not permitted" mode.out
  then ok "confined: $what"; else bad "confined: $what ($code): $(tail -3 mode.log mode.out)"; fi
}
mkdir -m 777 records
mode "tracepoints name the volatile buffer" "volatile buffer" 1 "$loop" --for 4s --plain
grep -q "^by block tracepoints" mode.out || bad "tracepoints were there: $(cat mode.out)"
mode "counters" "/sys/block counters" "0 1 3" "$loop" --for 2s --counters --plain
mode "recording" "volatile buffer" 1 "$loop" --for 4s --plain --record records/one.gz
mode "reading a recording" "volatile buffer" 1 records/one.gz
mode "events" '"event":"report"' 1 "$loop" --for 3s --events
mode "the limits of a role" "etcd" "0 1 3" "$loop" --for 3s --role etcd --plain
# What is not on the list is refused: each would succeed for root without it.
under() { python3 -B under_seccomp.py seccomp.json "$@"; }
opens() { # flags
  cat <<PY
import os, sys
try:
    os.open("$loop", $1)
except OSError as error:
    sys.exit(error.strerror)
PY
}
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
for flags in os.O_WRONLY os.O_RDWR "os.O_WRONLY|os.O_CREAT" "os.O_RDWR|os.O_CREAT|os.O_EXCL"; do
  fails "the drive is not opened with $flags" under "$python" -c "$(opens "$flags")"
  [ "$flags" = "os.O_RDWR|os.O_CREAT|os.O_EXCL" ] ||
    holds "  and root alone may" "$python" -c "$(opens "$flags")"
done
holds "the drive may be opened to read" under "$python" -c "$(opens os.O_RDONLY)"
fails "no file is removed" under "$python" -c "import os; os.remove('records/one.gz')"
fails "nothing is synced" under "$python" -c "import os; os.fsync(1)"

# At a high rate the kernel's programs take over after the first second, which here is the last: what
# was seen until then is the answer.
truncate -s 16m fast.image
fast=$(losetup -f --show fast.image)
fio --name=fast --filename="$fast" --rw=randread --bs=4k --time_based --runtime=20 --direct=1 \
  --ioengine=libaio --iodepth=16 --thread >fast.log 2>&1 &
fast_load=$!
sleep 2
keeps_what_was_seen() {
  local code=0
  "$ssdlab" watch "$fast" --for 1s -q --json >fast.json || code=$?
  [ "$code" -le 3 ] && python3 -B -c 'import json
report = json.load(open("fast.json"))
assert report["figures"]["seconds"] > 0.5, report["figures"]["seconds"]
assert report["figures"]["reads"]["device"]["count"] > 10000, report["figures"]["reads"]
assert report["answer"]["kind"] != "too_little", report["answer"]'
}
holds "a switch of sources in the last second loses nothing" keeps_what_was_seen
kill "$fast_load" 2>/dev/null && wait "$fast_load" || true
losetup -d "$fast"

# As a service, and scraped.
port=$((20000 + RANDOM % 20000))
confined "$work/ssdlab" watch "$loop" --quiet --exporter ":$port" >exporter.out 2>exporter.log &
pids+=($!)
scrape() { python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode(), end="")' "$1"; }
for _ in $(seq 100); do scrape "http://127.0.0.1:$port/metrics" >metrics.txt 2>/dev/null && break; sleep 0.1; done
if [ -n "$promtool" ]; then
  check_metrics() { "$promtool" check metrics <metrics.txt 2>&1 | tee lint.log; [ ! -s lint.log ]; }
  holds "promtool accepts the metrics" check_metrics
fi
listens=$(python3 - "$port" <<'PY'
import sys
for line in open("/proc/net/tcp").read().splitlines()[1:]:
    address, state = line.split()[1], line.split()[3]
    if state == "0A" and int(address.split(":")[1], 16) == int(sys.argv[1]):
        print(address.split(":")[0])
PY
)
holds "it listens on loopback alone" [ "$listens" = 0100007F ]
if [ -z "$prometheus" ]; then
  skip "watch: Prometheus" "prometheus is not installed"
else
  # The alerts as they are, but without their wait.
  sed 's/for: [0-9]*m/for: 0s/' "$rules/alerts.yml" >alerts.yml
  cat >prometheus.yml <<YML
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [alerts.yml]
scrape_configs:
  - job_name: ssdlab
    static_configs: [{targets: ["127.0.0.1:$port"]}]
YML
  web=$((port + 1))
  "$prometheus" --config.file=prometheus.yml --storage.tsdb.path=data \
    --web.listen-address="127.0.0.1:$web" >prometheus.log 2>&1 &
  pids+=($!)
  if python3 -B "$top/tests/live/scraped.py" "http://127.0.0.1:$web" "$rules/dashboard.json" "$loop" \
    >scraped.log 2>&1
  then cat scraped.log; passed=$((passed + $(grep -c ^ok scraped.log)))
  else bad "Prometheus: $(tail -5 scraped.log prometheus.log)"; fi
fi

# Three causes that show at any speed of this machine; tests/live/blind.py plants eighteen.
planted() {
  python3 -B "$top/tests/live/blind.py" "$ssdlab" --seed 7 \
    --only volatile_buffer,doubled_flushes,one_at_a_time >blind.log && cat blind.log &&
    grep -q "^tracepoints: 3 of 3" blind.log
}
if command -v mkfs.xfs mkfs.ext4 >/dev/null && python3 -c 'import sqlite3' 2>/dev/null; then
  holds "planted causes are named by tracepoints" planted
else
  skip "watch: planted causes" "xfsprogs or Python's sqlite3 is not installed"
fi
echo "watch: $passed passed, $failed failed"
exit $((failed > 0))
