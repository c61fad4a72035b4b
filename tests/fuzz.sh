#!/usr/bin/env bash
# Fuzzes the parsers of foreign bytes; the targets are in crates/fuzz.
#
#   bash tests/fuzz.sh                    all targets, 2 s each, as tests/all.sh does
#   bash tests/fuzz.sh --seconds 60 NAME  one target, longer, another seed with --seed 2
#   bash tests/fuzz.sh --hours 8 NAME     libFuzzer, guided by coverage, on stable Rust; needs a
#                                         C++ compiler. Inputs with new coverage gather in
#                                         target/fuzz-corpus/NAME
#   bash tests/fuzz.sh --merge NAME       keeps the smallest inputs that cover as much in
#                                         crates/fuzz/corpus/NAME
#   bash tests/fuzz.sh --replay FILE NAME runs one input
#
# SSDLAB_FUZZ names the program if it is built; otherwise this builds it.
# An input that breaks a target is left in target/fuzz-findings. Add it to the tests of its parser.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
export RUST_BACKTRACE=${RUST_BACKTRACE:-0}

# Builds the engine with coverage of every branch and runs it on $name with the arguments given.
libfuzzer() {
  local host flags
  host=$(rustc -vV | sed -n 's/^host: //p')
  flags="--cfg fuzzing"
  flags+=" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
  flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
  flags+=" -Cllvm-args=-sanitizer-coverage-pc-table"
  flags+=" -Cllvm-args=-sanitizer-coverage-trace-compares"
  RUSTFLAGS="$flags" cargo build --quiet --profile test -p ssdlab-fuzz --bin ssdlab-fuzz \
    --target "$host"
  SSDLAB_FUZZ_TARGET=$name "$target/$host/debug/ssdlab-fuzz" "$@"
}

case "${1:-}" in
  --hours)
    seconds=$(awk -v hours="$2" 'BEGIN { print int(hours * 3600) }')
    name=$3
    corpus=$target/fuzz-corpus/$name
    mkdir -p "$corpus" "$target/fuzz-findings" "crates/fuzz/corpus/$name"
    cargo run --quiet --profile test -p ssdlab-fuzz -- "$name" --write-seeds "$corpus"
    libfuzzer "$corpus" "crates/fuzz/corpus/$name" -max_total_time="$seconds" -timeout=10 \
      -malloc_limit_mb=1024 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="$target/fuzz-findings/$name-"
    ;;
  --merge)
    name=$2
    kept=crates/fuzz/corpus/$name
    merged=$(mktemp -d)
    trap 'rm -rf "$merged"' EXIT
    mkdir -p "$kept"
    # The first folder holds the seeds, whose coverage need not be kept again.
    cargo run --quiet --profile test -p ssdlab-fuzz -- "$name" --write-seeds "$merged"
    libfuzzer -merge=1 -use_counters=0 -max_len=1024 "$merged" "$kept" "$target/fuzz-corpus/$name"
    rm -f "$merged"/seed-* "$kept"/*
    mv -t "$kept" "$merged"/*
    ;;
  *)
    build=(cargo run --quiet --profile test -p ssdlab-fuzz --)
    [ -z "${SSDLAB_FUZZ:-}" ] || build=("$SSDLAB_FUZZ")
    exec "${build[@]}" --findings "$target/fuzz-findings" "$@"
    ;;
esac
