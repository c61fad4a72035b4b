#!/usr/bin/env bash
# Sets up what is missing and runs every test. `bash tests/all.sh` from a clean clone.
# Needs Rust 1.88 or later; Debian's packages are installed when they are missing and this is root
# (or sudo works without a password). Tests that need root, loop devices or a missing tool say so.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need cc build-essential
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
[ -d /usr/lib/postgresql ] || command -v initdb >/dev/null 2>&1 || missing+=(postgresql)
python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
if [ ${#missing[@]} -gt 0 ]; then
  as_root=""
  [ "$(id -u)" = 0 ] || as_root="sudo -n"
  echo "installing: ${missing[*]}"
  if ! { $as_root apt-get update -q && $as_root apt-get install -y -q "${missing[@]}"; }; then
    echo "could not install ${missing[*]}: tests that need them will say so" >&2
  fi
fi

step() { echo; echo "== $*"; }
step format
cargo fmt --all --check
step lint
cargo clippy --workspace --all-targets --quiet -- -D warnings
step "unit, model, law, theory, golden and end-to-end tests"
cargo test --workspace --quiet
step "other people's tools read what we write"
cargo build --release --quiet
bash tests/outside.sh target/release/ssdlab
step "other people's clients use what we serve"
cargo build --release --quiet -p ssdlab-serve --example serve_memory
bash tests/serve.sh target/release/examples/serve_memory target/release/ssdlab
step "databases on a drive whose power is cut"
bash tests/databases.sh target/release/ssdlab
step "the commands of README and guides"
bash tests/docs.sh target/release/ssdlab
echo
echo "all tests passed"
