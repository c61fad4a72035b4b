#!/usr/bin/env bash
# Measures how far 1,000 other connections slow one client of `ssdlab serve` down: 500 that have
# ended their handshake and are idle, and 500 that have not: silent, or with half an option sent,
# a byte of it every few seconds. fio's nbd engine, 4K random writes on a unix socket at queue
# depths 1 and 32; rounds without and with the crowd alternate. Medians; exits with 1 if the client
# keeps less than 80 % of its rate.
# Usage: bash benches/crowd.sh [path of ssdlab] [rounds] [seconds of each]
set -euo pipefail
cd "$(dirname "$0")/.."
ssdlab=${1:-}
rounds=${2:-7} seconds=${3:-3}
if [ -z "$ssdlab" ]; then
  cargo build --release --quiet
  ssdlab=target/release/ssdlab
fi
command -v fio >/dev/null || { echo "fio is not installed" >&2; exit 2; }
work=$(mktemp -d)
server="" crowd=""
finish() {
  for pid in $crowd $server; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap finish EXIT
cat >"$work/crowd.py" <<'PY'
import resource, socket, struct, sys, time

path, ready = sys.argv[1:]
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
go = b"IHAVEOPT" + struct.pack(">II", 7, 6) + bytes(6)


def connect():
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(path)
    return stream


def greeted():
    stream = connect()
    assert stream.recv(18, socket.MSG_WAITALL)[:8] == b"NBDMAGIC"
    stream.sendall(b"\0\0\0\3")
    return stream


idle, open_ = [], []
for n in range(500):
    stream = greeted()
    stream.sendall(go)
    kind = 3
    while kind == 3:
        kind, length = struct.unpack(">8x4xII", stream.recv(20, socket.MSG_WAITALL))
        if length:
            stream.recv(length, socket.MSG_WAITALL)
    assert kind == 1, hex(kind)
    idle.append(stream)
while True:
    # The server disconnects those that take too long; others take their places.
    for n in range(len(open_), 500):
        stream = connect() if n % 3 == 0 else greeted()
        if n % 3 == 1:
            stream.sendall(go[: n % 20])
        open_.append(stream)
    open(ready, "w").close()
    time.sleep(3)
    left = []
    for n, stream in enumerate(open_):
        try:
            if n % 3 == 1:
                stream.sendall(b"\0")
            stream.recv(100, socket.MSG_DONTWAIT)
        except BlockingIOError:
            left.append(stream)
        except OSError:
            pass
    open_ = left
PY
"$ssdlab" serve "drive:${SSDLAB_DRIVE:-consumer-sata-1tb}" --size 1GiB --nbd "unix:$work/nbd" \
  >"$work/out" 2>"$work/log" &
server=$!
for _ in $(seq 200); do grep -q ^ready "$work/out" && break; sleep 0.05; done
ticks() { awk '{print $14 + $15}' "/proc/$server/stat"; }
one() { # depth, name of the state
  local before after
  before=$(ticks)
  fio --name=x --ioengine=nbd --uri="nbd+unix:///drive?socket=$work/nbd" --rw=randwrite --bs=4k \
    --iodepth="$1" --size=1G --time_based --runtime="$seconds" --randseed=1 \
    --output-format=json --output="$work/fio.json" >/dev/null
  after=$(ticks)
  python3 - "$work/fio.json" "$1" "$2" "$((after - before))" <<'PY' >>"$work/all"
import json, os, sys
path, depth, state, ticks = sys.argv[1:]
text = open(path).read()
done = json.loads(text[text.index("{\n"):])["jobs"][0]["write"]
cpu = int(ticks) / os.sysconf("SC_CLK_TCK") * 1e6 / done["total_ios"]
print(depth, state, done["iops"], cpu)
PY
}
fio --name=fill --ioengine=nbd --uri="nbd+unix:///drive?socket=$work/nbd" --rw=write --bs=128k \
  --iodepth=8 --size=1G >/dev/null
for round in $(seq "$rounds"); do
  order="alone crowd"
  [ $((round % 2)) = 1 ] || order="crowd alone"
  for state in $order; do
    if [ "$state" = crowd ]; then
      rm -f "$work/there"
      python3 "$work/crowd.py" "$work/nbd" "$work/there" &
      crowd=$!
      for _ in $(seq 400); do [ -e "$work/there" ] && break; sleep 0.05; done
      [ -e "$work/there" ] || { echo "the crowd did not get in" >&2; exit 2; }
    fi
    for depth in 1 32; do one "$depth" "$state"; done
    sed -n "s/^VmRSS:[^0-9]*/$state /p" "/proc/$server/status" >>"$work/size"
    if [ "$state" = crowd ]; then
      kill "$crowd" && wait "$crowd" 2>/dev/null || true
      crowd=""
    fi
  done
done
cat "$work/log"
python3 - "$work/all" "$work/size" <<'PY'
import statistics, sys
from collections import defaultdict
sizes = defaultdict(list)
for line in open(sys.argv[2]):
    state, size, _ = line.split()
    sizes[state].append(int(size))
alone, crowd = (statistics.median(sizes[state]) for state in ("alone", "crowd"))
print(f"memory of the server: alone {alone / 1024:.0f} MiB, with 1,000 others {crowd / 1024:.0f} MiB")
found = defaultdict(list)
for line in open(sys.argv[1]):
    depth, state, iops, cpu = line.split()
    found[depth, state].append((float(iops), float(cpu)))
worst = 1
for depth in ("1", "32"):
    (alone, cpu_alone), (crowd, cpu_crowd) = (
        [statistics.median(column) for column in zip(*found[depth, state])]
        for state in ("alone", "crowd")
    )
    worst = min(worst, crowd / alone)
    print(
        f"QD{depth:3} alone {alone:7.0f} IOPS, {cpu_alone:5.1f} us of CPU each; "
        f"with 1,000 others {crowd:7.0f}, {cpu_crowd:5.1f} us: {crowd / alone:.2f}"
    )
sys.exit(worst < 0.8)
PY
