#!/usr/bin/env bash
# Does a campaign under the preload library find what it is to find, and say what the kernel's way
# says? Are the C and Go libraries what their pages say? Needs neither root nor FUSE nor loop devices.
# Exit codes: 0 so; 1 not; 2 the test could not do its work.
# Usage: bash tests/preload.sh PATH_OF_SSDLAB
#   SSDLAB_CUTS=2000  cuts of each engine in Go
#   SSDLAB_KNOWN=all  every setting of every database that is installed
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/skips.sh
ssdlab=$(realpath "$1")
folder=$(dirname "$ssdlab")
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
failed=0
miss() {
  echo "FAILED $*"
  failed=1
}
here=$PWD

# A log with one missing sync is found, the mended one is clean: as the guide says.
run() { # name, cuts, words before the program
  local name=$1 cuts=$2
  shift 2
  "$ssdlab" crashtest run --quiet --way preload --cuts "$cuts" --out "$work/$name" "$@" -- \
    sh "$here/examples/crashtest/append-log.sh" >"$work/$name.txt" 2>&1
}
code=0
run planted 200 --found 'cat log-*' || code=$?
[ "$code" = 1 ] || miss "the missing sync: exit code $code: $(tail -n 3 "$work/planted.txt")"
grep -q 'lost: 1 of .* acknowledged: `record ' "$work/planted.txt" || miss "no lost record is named"
grep -q 'not durable then: 1 write of log-.* (never synced)' "$work/planted.txt" ||
  miss "the missing sync is not named"
MENDED=1 run mended 1000 --found 'cat log-*' || miss "mended: $(tail -n 5 "$work/mended.txt")"
# One cut again by its token, and a campaign that goes on.
token=$(sed -n 's/.*replay: //p' "$work/planted.txt" | head -n 1)
code=0
"$ssdlab" crashtest --out "$work/planted" --replay "$token" >"$work/again.txt" 2>&1 || code=$?
[ "$code" = 1 ] && grep -q "$token" "$work/again.txt" || miss "the replay of $token ends with $code"
sed -i '$d' "$work/planted/results.jsonl"
"$ssdlab" crashtest --quiet --out "$work/planted" --resume >"$work/resumed.txt" 2>&1 || true
diff "$work/planted.txt" "$work/resumed.txt" >/dev/null || miss "a resumed campaign differs"
# What the library cannot see is refused, not passed.
cat >"$work/silent.py" <<'PY'
import ctypes, os
libc = ctypes.CDLL(None)
fd = os.open("file", os.O_CREAT | os.O_WRONLY)
libc.syscall(1, fd, b"one", 3)  # write, past every library
print("one", flush=True)
PY
code=0
"$ssdlab" crashtest run --quiet --way preload --out "$work/unseen" --found 'cat file' -- \
  python3 "$work/silent.py" >"$work/unseen.txt" 2>&1 || code=$?
[ "$code" = 2 ] && grep -q 'did not see all' "$work/unseen.txt" || miss "an unseen write: $code"

# Databases fare as their authors say, and as over the kernel.
python=${CARGO_TARGET_DIR:-target}/venv/bin/python
[ -x "$python" ] || python=python3
choice=(--ci)
[ "${SSDLAB_KNOWN:-}" != all ] || choice=()
mkdir "$work/known"
"$python" -B tests/known/known.py --way preload --ssdlab "$ssdlab" --work "$work/known" --cuts 60 \
  "${choice[@]}" || failed=$?
"$python" -B tests/known/known.py --agree tests/known/results.jsonl "$work/known/results.jsonl" ||
  failed=1

# The library for C: header as the source has it, a log in C, and Go.
if command -v cbindgen >/dev/null 2>&1; then
  sh crates/crash-c/header.sh "$work/header.h"
  cmp "$work/header.h" crates/crash-c/include/ssdlab_crash.h || miss "the header is an old one"
else
  skip "the header of the C library" "cbindgen is not installed"
fi
sh crates/crash-c/install.sh "$folder/libssdlab_crash.so" "$work/prefix"
export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig LD_LIBRARY_PATH=$work/prefix/lib
if command -v gcc >/dev/null 2>&1 && command -v pkg-config >/dev/null 2>&1; then
  # shellcheck disable=SC2046
  gcc -std=c11 -Wall -Wextra -Werror crates/crash-c/tests/log.c \
    $(pkg-config --cflags --libs ssdlab-crash) -o "$work/log"
  "$work/log" || miss "the log in C"
  code=0
  "$work/log" missing || code=$?
  [ "$code" = 1 ] || miss "the log in C without a sync: exit code $code"
  SSDLAB_PRELOAD=$(pkg-config --variable=preload ssdlab-crash)
  export SSDLAB_PRELOAD
  code=0
  run installed 200 --found 'cat log-*' || code=$?
  [ "$code" = 1 ] || miss "the installed library: $code: $(tail -n 3 "$work/installed.txt")"
else
  skip "the C library by a C compiler" "gcc or pkg-config is not installed"
fi
if command -v go >/dev/null 2>&1; then
  (
    cd crates/crash-c/go/engines
    export GOFLAGS=-mod=mod
    go mod download 2>/dev/null || exit 77
    sh hooks.sh "$work/hooks"
    go test -count=1 -modfile "$work/hooks/go.mod" -v ./... | grep -v '^=== '
  ) || { [ $? = 77 ] && skip "bbolt and pebble" "their modules cannot be had"; } || failed=1
else
  skip "bbolt and pebble" "go is not installed"
fi
exit "$failed"
