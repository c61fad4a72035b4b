#!/usr/bin/env bash
# The inner ring of tests: sets up what is missing and runs it: `bash tests/all.sh` from a clean clone,
# 12 minutes on two cores. Needs Rust 1.88 or later; other tools are small packages of Debian, which
# are installed if this is root or sudo works without a password. tests/outer.sh has the rest.
# A test that cannot run here says so in a line that begins with SKIPPED; all of them are counted at
# the end, and when CI is set, one is enough to fail.
# Everything is built once, in the dev profile: the program that scripts run is the one of the tests
# in Rust. Only instruction counts need a release build, of what they count.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/tools.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
. tests/steps.sh
. tests/groups.sh

small_tools() {
  tools fio:fio nbdcopy:libnbd-bin nbdsh:python3-libnbd valgrind:valgrind sqlite3:sqlite3 \
    mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs losetup:util-linux python3:python3 smartctl:smartmontools \
    nvme:nvme-cli busybox:busybox-static openssl:openssl xz:xz-utils zstd:zstd
}
ssdlab=$target/debug/ssdlab
documentation_tests() { cargo test --workspace --quiet --doc; }
# In CI the power is cut on other drives each time; a failure names its drive and seed.
rust_tests() {
  local seeds=${SSDLAB_SEEDS:-0}
  [ -z "${CI:-}" ] || seeds=${SSDLAB_SEEDS:-$(date +%s)}
  echo "seeds of the cuts: SSDLAB_SEEDS=$seeds"
  SSDLAB_SEEDS=$seeds SSDLAB_THEORY=short python3 -B tests/run_tests.py "${qemu_tests[@]/#/--skip=}" \
    "${long_tests[@]/#/--skip=}" -- --workspace --tests
}

# Nothing compiles without a linker, so its package comes first.
command -v cc >/dev/null || step "linker" install build-essential
start "tools" small_tools
step "format" cargo fmt --all --check
step "lint" cargo clippy --workspace --all-targets --quiet -- -D warnings
finish "tools"
step "planted errors can be planted" python3 -B crates/ssd/tests/planted/run.py --check
step "surviving mutants are explained" python3 -B crates/ssd/tests/mutants/run.py --check
step "the choice of outer groups" bash tests/choice.sh
step "tests in Rust, built" cargo test --workspace --tests --quiet --no-run
step "programs, built" program
step "graph of crates and modules" "$target/debug/ssdlab-tidy" graph
start "instruction counts of hot paths" bash benches/instructions.sh
step "unit, model, law, theory, golden and end-to-end tests" rust_tests
start "the commands of README and guides" bash tests/docs.sh "$ssdlab"
step "examples in the documentation of the crates" documentation_tests
SSDLAB_FUZZ=$target/debug/ssdlab-fuzz step "fuzz targets, bounded" bash tests/fuzz.sh
step "clients of libnbd, and fio, use what we serve" \
  bash tests/serve.sh "$target/debug/examples/serve_memory" "$ssdlab" inner
SSDLAB_ONLY="ext4 wal full flush" \
  step "SQLite on a drive whose power is cut" bash tests/databases.sh "$ssdlab"
finish "instruction counts of hot paths"
finish "the commands of README and guides"
table
step "skipped checks" skips
echo
echo "all tests passed"
