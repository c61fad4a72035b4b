#!/usr/bin/env bash
# Builds for aarch64 Linux and runs that program under qemu-user; checks for Windows the crates that
# need no Linux. Not part of tests/all.sh: it takes some ten minutes and three gigabytes. Needs root,
# debootstrap and the network; the root with Debian's rustc-web is kept in the target folder.
# Usage: bash tests/cross.sh [aarch64|windows]...
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
target=$(realpath "${CARGO_TARGET_DIR:-target}")
root=$target/cross-root
built=/build # inside, as is the source
source=/src
[ "$(id -u)" = 0 ] || { echo "needs root" >&2 && exit 2; }
mounted=()
cleanup() { for place in "${mounted[@]}"; do umount "$place"; done; }
trap cleanup EXIT
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"; }

# A Debian root with the compiler that Debian keeps for browsers, and libraries for aarch64. There is
# none for Windows: what needs one is checked against the library's source, which -Z build-std
# compiles; hence RUSTC_BOOTSTRAP.
make_root() {
  local mirror=http://deb.debian.org/debian suite=bookworm
  debootstrap --variant=minbase "$suite" "$root" "$mirror"
  for of in "debian $suite" "debian $suite-updates" "debian-security $suite-security"; do
    echo "deb http://deb.debian.org/${of% *} ${of#* } main"
  done >"$root/etc/apt/sources.list"
  inside dpkg --add-architecture arm64
  inside apt-get update -q
  inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends rustc-web \
    cargo-web rust-web-src libstd-rust-web-dev:arm64 gcc libc6-dev gcc-aarch64-linux-gnu \
    libc6-dev-arm64-cross gcc-mingw-w64-x86-64 qemu-user ca-certificates
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  touch "$root/.made"
}
[ -e "$root/.made" ] || { rm -rf "$root" && make_root; }
mkdir -p "$root/src" "$root/cargo/registry"
bound() { mount --bind "$1" "$root/$2" && mounted+=("$root/$2"); }
mount -t proc proc "$root/proc" && mounted+=("$root/proc")
bound "$top" src
bound "${CARGO_HOME:-$HOME/.cargo}/registry" cargo/registry
cargo_inside() { # arguments of cargo
  inside RUSTC_BOOTSTRAP=1 CARGO_HOME=/cargo CARGO_TARGET_DIR="$built" CARGO_INCREMENTAL=0 \
    CARGO_PROFILE_DEV_DEBUG=0 CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    bash -c 'cd ${0} && exec cargo "$@"' "$source" "$@"
}

aarch64() {
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
  local crates=()
  for crate in $PORTABLE; do crates+=(-p "$crate"); done
  cargo_inside check --locked -Z build-std=std,panic_unwind --target x86_64-pc-windows-gnu \
    "${crates[@]}"
  echo "ok: these crates compile for Windows: $PORTABLE"
}
PORTABLE="ssdlab-base ssdlab-ssd ssdlab-view ssdlab-crash ssdlab-load ssdlab-drives"
[ $# -gt 0 ] || set -- aarch64 windows
for what in "$@"; do "$what"; done
