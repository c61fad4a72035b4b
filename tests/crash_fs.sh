#!/usr/bin/env bash
# Storage engines from crates.io on crash disks, and crash disks in the simulators turmoil, shuttle
# and madsim: `bash tests/crash_fs.sh [engines|simulators]`. Cargo fetches the engines; copies of
# their sources get other imports (the rules are in tests/crash_fs/imports.sed, and nothing else is
# changed). What is planted is a copy of such a copy without one sync.
set -euo pipefail
top=$(realpath "$(dirname "$0")/..")
target=$(realpath "${CARGO_TARGET_DIR:-$top/target}")
work=$target/crash-fs
own=$top/tests/crash_fs
what=${1:-all}
mkdir -p "$work"

# A package of tests/crash_fs, with the path of this repository in its manifest.
package() { # name
  mkdir -p "$work/$1"
  cp -r "$own/$1/." "$work/$1/"
  sed -i "s|@top@|$top|" "$work/$1/Cargo.toml"
}

# The source of a crate of the registry, as cargo has unpacked it.
source_of() { # crate-version
  sed 's/"manifest_path"/\n&/g' "$work/metadata.json" |
    sed -n "s|^\"manifest_path\":\"\([^\"]*/$1\)/Cargo.toml\".*|\1|p" | head -n 1
}

# A copy with other imports. One that is the same as before keeps its times: nothing is compiled twice.
copy() { # crate-version, folder
  local source new=$work/new
  source=$(source_of "$1")
  [ -n "$source" ] || { echo "cargo did not fetch $1" >&2 && exit 1; }
  rm -rf "$new"
  cp -r "$source" "$new"
  find "$new/src" -name '*.rs' -exec sed -E -i -f "$own/imports.sed" {} +
  sed -i '/^\[lints/,/^$/d' "$new/Cargo.toml"
  printf '\n[dependencies.ssdlab-crash-fs]\npath = "%s/crates/crash-fs"\nfeatures = ["compat"]\n' \
    "$top" >>"$new/Cargo.toml"
  changed=$(diff -r "$source/src" "$new/src" | grep -c '^>') || true
  others=$(diff -r "$source/src" "$new/src" | grep '^>' | grep -Evc "$imports") || true
  echo "$1: $changed lines of $(find "$source/src" -name '*.rs' -exec cat {} + | wc -l) name" \
    "another module, $others lines are changed otherwise"
  [ "$others" = 0 ] || exit 1
  mkdir -p "$work/sources"
  diff -rq "$new" "$work/sources/$2" >/dev/null 2>&1 ||
    { rm -rf "$work/sources/$2" && mv "$new" "$work/sources/$2"; }
}
# A copy of a copy, with a change, under another name.
plant() { # folder, new folder, file, rule of sed
  rm -rf "$work/new"
  cp -r "$work/sources/$1" "$work/new"
  sed -E -i "$4" "$work/new/$3"
  ! cmp -s "$work/new/$3" "$work/sources/$1/$3" || { echo "$2: nothing was changed" >&2 && exit 1; }
  sed -i "0,/^name = \"$1\"/s||name = \"$2\"|" "$work/new/Cargo.toml"
  diff -rq "$work/new" "$work/sources/$2" >/dev/null 2>&1 ||
    { rm -rf "$work/sources/$2" && mv "$work/new" "$work/sources/$2"; }
}
imports='ssdlab_crash_fs::(std|compat)::'

engines() {
  mkdir -p "$work/fetch/src"
  sed '/^\[patch/,/^$/d; /^\[dependencies.fjall_planted/,/^$/d; /^ssdlab-crash-fs\|path = /d' "$own/engines/Cargo.toml" >"$work/fetch/Cargo.toml"
  : >"$work/fetch/src/lib.rs"
  (cd "$work/fetch" && cargo metadata --quiet --format-version 1 >"$work/metadata.json")
  copy fjall-3.1.13 fjall
  copy lsm-tree-3.1.10 lsm-tree
  copy sfa-1.0.0 sfa
  copy sled-0.34.7 sled
  plant fjall fjall-planted src/journal/writer.rs \
    's/self\.file\.get_mut\(\)\.sync_(all|data)\(\)/Ok::<(), std::io::Error>(())/'
  # As where there is no sync_file_range: the other branch of the same source.
  plant sled sled-fsync src/pagecache/iobuf.rs 's/target_os = "linux"/target_os = "none"/'
  package engines
  # As cargo compiles what comes from the registry itself.
  (cd "$work/engines" && RUSTFLAGS="--cap-lints allow" CARGO_TARGET_DIR=$work/target \
    cargo build --quiet --bins)
  local engine
  for engine in redb fjall sled; do
    # Panics of an engine on a disk that was cut are what is looked for.
    "$work/target/debug/$engine" 2>"$work/$engine.log" || { tail "$work/$engine.log" && exit 1; }
  done
}



simulators() {
  (cd "$top" && cargo run --quiet -p ssdlab-crash-fs --example turmoil)
  package shuttle
  (cd "$work/shuttle" && CARGO_TARGET_DIR=$work/target cargo build --quiet)
  "$work/target/debug/on-shuttle" 2>"$work/shuttle.log" || { cat "$work/shuttle.log" && exit 1; }
  package madsim
  (cd "$work/madsim" && RUSTFLAGS="--cfg madsim" CARGO_TARGET_DIR=$work/target-madsim \
    cargo build --quiet)
  "$work/target-madsim/debug/on-madsim"
}

[ "$what" = simulators ] || engines
[ "$what" = engines ] || simulators
