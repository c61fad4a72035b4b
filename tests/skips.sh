# Sourced by the scripts: `skip NAME REASON` says that a check did not run, in the same words as
# the tests in Rust, and appends them to the file that SSDLAB_SKIPS names, which tests/all.sh counts.
skip() {
  echo "SKIPPED: $1: $2"
  if [ -n "${SSDLAB_SKIPS:-}" ]; then echo "SKIPPED: $1: $2" >>"$SSDLAB_SKIPS"; fi
}
