#!/usr/bin/env bash
# Builds the program for other machines and systems with the libraries that rustup has, runs it
# there, and compares what it prints and writes with the program of this machine: `musl` in a root
# of BusyBox alone, `aarch64` under qemu-user, `windows` under Wine; `release` is the release build of
# this machine. The others are built in the dev profile. Without what it needs, a part says so in a
# line that begins with SKIPPED.
# Usage: bash tests/cross.sh path/of/ssdlab [musl|aarch64|windows|release]...
set -euo pipefail
ssdlab=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
target=$(realpath "${CARGO_TARGET_DIR:-target}")
. tests/skips.sh
work=$(mktemp -d "$target/cross.XXXXXX")
cleanup() {
  [ ! -d "$work/wine" ] || WINEPREFIX=$work/wine /usr/lib/wine/wineserver64 --kill --wait || true
  rm -rf "$work"
}
trap cleanup EXIT
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0

# Simulations are short here, compiling is what takes long.
PLAIN=()
for crate in ssd base bench load drives life twin; do
  PLAIN+=(--config "profile.dev.package.ssdlab-$crate.opt-level=0")
done

# The program for the target $1; what else it takes is in $2 and on.
build() {
  local triple=$1 tool
  shift
  for tool in rustup "$@"; do
    command -v "$tool" >/dev/null || { skip "$triple" "$tool is not installed" && return 1; }
  done
  rustup target add "$triple" >/dev/null 2>&1 ||
    { skip "$triple" "rustup has no library for it here" && return 1; }
  CARGO_TARGET_DIR=$target/cross cargo build --quiet --locked --target "$triple" -p ssdlab \
    "${PLAIN[@]}"
}
# What the program does by the command that follows, in files of a folder.
use_it() {
  local to=$1
  shift
  mkdir "$to"
  cp examples/drives/small.toml "$to/"
  (cd "$to"
    "$@" list drives --json
    "$@" simulate --drive small.toml --load zipf:1.2 --until 2x --quiet --json --out simulated
    "$@" run --profile jesd219-enterprise --runtime 1s --target drive:small.toml --quiet \
      --format json --out run
    "$@" qualify drive:small.toml --role slog --profile quick --no-reference --quiet \
      --out qualified || [ $? = 1 ]
    "$@" reproduce zil.pattern --quiet --json --out reproduced
    # When it was run, and what it took.
    sed -i -E '/"(started_at|timestamp|timestamp_ms|time|wall_ns|cpu_[a-z_]+|[a-z]+_cpu)":/d' \
      */run.json run/fio.json run/result.json) | grep -vE '"(wall_ns|cpu_[a-z_]+)":' >"$to/printed"
}
# The same output and files as of this machine's program; the command runs that of $1.
compare() {
  local name=$1
  shift
  "$@" --version
  [ -d "$work/here" ] || use_it "$work/here" "$ssdlab"
  use_it "$work/$name" "$@"
  # A system may end the lines that it prints in its own way, and have its own slashes.
  sed -i 's/\r$//; s|\\|/|g' "$work/$name/printed"
  diff -r "$work/here" "$work/$name"
  echo "ok: $name: $(find "$work/here" -type f | wc -l) files, the same bytes as on this machine"
}

musl() {
  local triple=x86_64-unknown-linux-musl
  CC_x86_64_unknown_linux_musl=musl-gcc build "$triple" musl-gcc || return 0
  compare musl "$target/cross/$triple/debug/ssdlab"
}
aarch64() {
  local triple=aarch64-unknown-linux-gnu
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    build "$triple" aarch64-linux-gnu-gcc qemu-aarch64 || return 0
  compare aarch64 qemu-aarch64 -L /usr/aarch64-linux-gnu "$target/cross/$triple/debug/ssdlab"
}
release() { compare release "$target/release/ssdlab"; }
windows() {
  local triple=x86_64-pc-windows-gnu wine=/usr/lib/wine/wine64
  [ -x "$wine" ] || { skip windows "wine64 is not installed" && return; }
  build "$triple" x86_64-w64-mingw32-gcc || return 0
  local folder=$target/cross/$triple/debug
  # Wine 8 lacks a library of Windows 10, from which programs have their random numbers.
  x86_64-w64-mingw32-gcc -shared -o "$folder/bcryptprimitives.dll" -x c - -ladvapi32 <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG count);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) {
  return SystemFunction036(bytes, (ULONG)count);
}
C
  export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml=
  compare windows "$wine" "$folder/ssdlab.exe"
  # What needs Linux says so.
  ! "$wine" "$folder/ssdlab.exe" serve drive >"$work/said" 2>&1
  grep -q 'serve` needs Linux' "$work/said"
}
[ $# -gt 0 ] || set -- musl aarch64 windows
for what in "$@"; do "$what"; done
