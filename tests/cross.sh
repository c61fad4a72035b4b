#!/usr/bin/env bash
# Checks for Windows the crates that need no Linux, with the library that rustup has; builds for
# aarch64 Linux and runs that program under qemu-user. `windows` takes a minute and is part of
# tests/all.sh. `aarch64` is not: it takes some ten minutes and three gigabytes, and needs root,
# debootstrap and the network; the root with Debian's rustc-web is kept in the target folder.
# Without what it needs, a part says so in a line that begins with SKIPPED.
# Usage: bash tests/cross.sh [aarch64|windows]...
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
target=$(realpath "${CARGO_TARGET_DIR:-target}")
root=$target/cross-root
built=/build # inside, as is the source
source=/src
. tests/skips.sh
mounted=()
cleanup() { for place in "${mounted[@]}"; do umount "$place"; done; }
trap cleanup EXIT
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"; }

# A Debian root with the compiler that Debian keeps for browsers, and libraries for aarch64.
make_root() {
  local mirror=http://deb.debian.org/debian suite=bookworm
  debootstrap --variant=minbase "$suite" "$root" "$mirror"
  for of in "debian $suite" "debian $suite-updates" "debian-security $suite-security"; do
    echo "deb http://deb.debian.org/${of% *} ${of#* } main"
  done >"$root/etc/apt/sources.list"
  inside dpkg --add-architecture arm64
  inside apt-get update -q
  inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends rustc-web \
    cargo-web libstd-rust-web-dev:arm64 gcc libc6-dev gcc-aarch64-linux-gnu \
    libc6-dev-arm64-cross qemu-user ca-certificates
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  touch "$root/.made"
}
bound() { mount --bind "$1" "$root/$2" && mounted+=("$root/$2"); }
enter() {
  [ -e "$root/.made" ] || { rm -rf "$root" && make_root; }
  mkdir -p "$root/src" "$root/cargo/registry"
  mount -t proc proc "$root/proc" && mounted+=("$root/proc")
  bound "$top" src
  bound "${CARGO_HOME:-$HOME/.cargo}/registry" cargo/registry
}
cargo_inside() { # arguments of cargo
  inside CARGO_HOME=/cargo CARGO_TARGET_DIR="$built" CARGO_INCREMENTAL=0 \
    CARGO_PROFILE_DEV_DEBUG=0 CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    bash -c 'cd ${0} && exec cargo "$@"' "$source" "$@"
}

aarch64() {
  [ "$(id -u)" = 0 ] || { skip aarch64 "needs root" && return; }
  enter
  local arm=aarch64-unknown-linux-gnu
  cargo_inside build --locked -p ssdlab --bin ssdlab --target "$arm"
  local run=(inside qemu-aarch64 -L / "$built/$arm/debug/ssdlab")
  "${run[@]}" --version
  # The same bytes as on this machine.
  "${run[@]}" drives list --json >"$target/aarch64.json"
  "$target/debug/ssdlab" drives list --json | cmp - "$target/aarch64.json"
  "${run[@]}" simulate --drive "$source/examples/drives/small.toml" --until 1x --quiet --json \
    --out "$built/simulated" --replace >"$target/aarch64.json"
  "$target/debug/ssdlab" simulate --drive "$top/examples/drives/small.toml" --until 1x --quiet --json \
    --out "$target/simulated" --replace >"$target/native.json"
  cmp "$target/native.json" "$target/aarch64.json"
  echo "ok: aarch64 under qemu-user: the same bytes of a simulation"
}
# The simulator, the articles' figures and the reports.
windows() {
  local crates=() crate gnu=x86_64-pc-windows-gnu
  for crate in $PORTABLE; do crates+=(-p "$crate"); done
  if ! command -v rustup >/dev/null || ! rustup target add "$gnu" >/dev/null 2>&1; then
    skip windows "rustup, or its library for Windows, is not to be had"
    return
  fi
  CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$target/windows cargo check --quiet --locked --target "$gnu" \
    "${crates[@]}"
  echo "ok: these crates compile for Windows: $PORTABLE"
}
PORTABLE="ssdlab-base ssdlab-ssd ssdlab-view ssdlab-crash ssdlab-fio ssdlab-load ssdlab-drives
  ssdlab-bench ssdlab-life ssdlab-hosts ssdlab-twin ssdlab-articles"
[ $# -gt 0 ] || set -- aarch64 windows
for what in "$@"; do "$what"; done
