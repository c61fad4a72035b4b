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
one() { # depth, name of the state
  fio --name=x --ioengine=nbd --uri="nbd+unix:///drive?socket=$work/nbd" --rw=randwrite --bs=4k \
    --iodepth="$1" --size=1G --time_based --runtime="$seconds" --randseed=1 \
    --output-format=json --output="$work/fio.json" >/dev/null
  python3 - "$work/fio.json" "$1" "$2" <<'PY' >>"$work/all"
import json, sys
path, depth, state = sys.argv[1:]
text = open(path).read()
print(depth, state, json.loads(text[text.index("{\n"):])["jobs"][0]["write"]["iops"])
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
    if [ "$state" = crowd ]; then
      grep -E '^(VmRSS|Threads)' "/proc/$server/status" | tr '\n' ' ' >"$work/size"
      kill "$crowd" && wait "$crowd" 2>/dev/null || true
      crowd=""
    fi
  done
done
echo "server with the crowd: $(cat "$work/size")"
cat "$work/log"
python3 - "$work/all" <<'PY'
import statistics, sys
from collections import defaultdict
found = defaultdict(list)
for line in open(sys.argv[1]):
    depth, state, iops = line.split()
    found[depth, state].append(float(iops))
worst = 1
for depth in ("1", "32"):
    alone, crowd = (statistics.median(found[depth, state]) for state in ("alone", "crowd"))
    worst = min(worst, crowd / alone)
    print(f"QD{depth:3} alone {alone:8.0f} IOPS, with 1,000 others {crowd:8.0f}: {crowd / alone:.2f}")
sys.exit(worst < 0.8)
PY
