#!/usr/bin/env bash
# Which of fio's own example job files are accepted, and which run on a modelled drive? Do those that
# fio can run give the same commands in both, and ten of them the same on a real file? Takes them
# from Debian's source package by a private apt configuration, since they are under the GPL and are
# not kept here, and compares the list with tests/fio_examples.md. With `update`, writes that page.
# Needs apt-get, Debian's archive key and the network; without them says so in a line that begins
# with SKIPPED. FIO_EXAMPLES names a directory that has the files already.
# Usage: bash tests/fio_examples.sh PATH-TO-SSDLAB [update]
set -euo pipefail
[ $# -gt 0 ] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 1; }
ssdlab=$(realpath "$1")
cd "$(dirname "$0")/.."
. tests/skips.sh
version=3.33
page=tests/fio_examples.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() {
  local key=/usr/share/keyrings/debian-archive-keyring.gpg
  local at="deb-src [signed-by=$key] http://deb.debian.org/debian bookworm main"
  command -v apt-get >/dev/null && [ -r "$key" ] || return 1
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/source"
  echo "$at" >"$work/sources.list"
  local options=(-qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update >/dev/null 2>&1 || return 1
  (cd "$work/source" && apt-get "${options[@]}" source --download-only fio) >/dev/null 2>&1 || return 1
  (cd "$work/source" && tar -xzf "fio_$version.orig.tar.gz") || return 1
  (cd "$work/source" && mv fio*"$version"/examples "$work/examples")
}

examples=${FIO_EXAMPLES:-}
if [ -z "$examples" ]; then
  fetch || { skip fio_examples "fio's source package cannot be fetched by apt-get"; exit 0; }
  examples=$work/examples
fi
cargo build --quiet --workspace --example fio_files --example fio_commands
programs=${CARGO_TARGET_DIR:-target}/debug/examples
{
  cat <<'HEAD'
# fio's own examples

The job files in `examples/` of fio 3.33 (Debian's source package 3.33-3), each read as it is.
`bash tests/fio_examples.sh` fetches them and makes this list again; with `update` it writes this
page. An accepted file was run, for a quarter of a second at most, on the first of these modelled
drives that it fits: 400 GB, 2 TB, and one with twice the channels of that. The variables
that some files read were set: FIO_DIR, GPU_DEV_IDS, FIO_RW=randread, FIO_IODEPTH=4, FIO_BS=4k.

- *no block I/O*: the file's engine sends no commands to a drive.
- *refused*: it does, and the reason is given.

HEAD
  "$programs/fio_files" "$examples"/*.fio
} >"$work/page"
if [ "${2:-}" = update ]; then
  cp "$work/page" "$page"
  tail -n 1 "$page"
elif diff -u "$page" "$work/page"; then
  tail -n 1 "$page"
else
  echo "$page is not what the files give; write it again: bash tests/fio_examples.sh SSDLAB update" >&2
  exit 1
fi
if command -v fio >/dev/null; then
  python3 tests/fio_side_by_side.py "$examples" "$programs/fio_commands"
  # Not in $work: there may be no direct I/O in /tmp.
  real=$(mktemp -d -p "${CARGO_TARGET_DIR:-target}")
  trap 'rm -rf "$work" "$real"' EXIT
  python3 tests/fio_real.py "$examples" "$ssdlab" "$real"
else
  skip "fio_side_by_side and fio_real" "fio is not installed"
fi
