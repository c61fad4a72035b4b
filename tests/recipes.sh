#!/usr/bin/env bash
# Do the recipes of CONTRIBUTING.md hold? Each has an example in tests/recipes/, a patch. It is applied
# to a copy of the tracked files; then the format, the rules of the house (tidy, which also compares
# the files that changed with those that the recipe names) and the nearest tests run on the copy.
# Usage: bash tests/recipes.sh [NAME...]   these recipes, or all
# Needs bash, git and Rust. The copy has a build folder of its own: cargo takes crates of another
# workspace with the same names for built when their files are older.
# Exit code 1 when a recipe fails (the others still run).
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/tools.sh
top=$PWD
copy=$target/recipes
built=$target/recipes-built
log=$target/recipes.log
trap 'rm -rf "$copy"' EXIT

# Recipes of higher crates come first: what is built of the lower ones serves all of them.
names=(figure role nbd-command fio-option drive policy fault)
nearest_figure() {
  passes -p ssdlab-articles --lib -- figures:: published printed every_figure
}
nearest_role() {
  passes -p ssdlab-judge --lib -- qualify::roles
}
nearest_nbd-command() {
  passes -p ssdlab-serve --lib --test protocol
}
nearest_fio-option() {
  passes -p ssdlab-load --lib -- fio
}
nearest_drive() {
  passes -p ssdlab-drives --test catalogue --test counts_in_documents
  passes -p ssdlab-judge --lib -- kept_drives
}
nearest_policy() {
  passes -p ssdlab-ssd --lib --test guides -- polic
}
nearest_fault() {
  passes -p ssdlab-ssd --test guides --test cuts --test recovery -- fault zeroed refused
  passes -p ssdlab-crash --test disk -- every_fault
  passes -p ssdlab-power --test crashtest -- every_named_fault
}

# Runs tests of the copy; a name that no test has any longer is a failure.
passes() { # arguments of cargo test
  cargo test --quiet "$@" | tee "$copy.passed"
  grep -q ' [1-9][0-9]* passed' "$copy.passed" || { echo "no test is called so: $*" && return 1; }
}
# The second and third step of the recipe of a drive are commands.
adopt() {
  local file
  file=$(git ls-files --others --modified drives | grep 'toml$')
  mv "$file" .
  cargo build --quiet -p ssdlab
  "$built/debug/ssdlab" drives adopt "${file##*/}" --quiet
  rm "${file##*/}"
  UPDATE_COUNTS=1 cargo test --quiet -p ssdlab-drives --test counts_in_documents
}
check() { # name
  local patch=tests/recipes/$1.patch
  git apply --3way "$patch" || {
    echo "$patch no longer applies: see above which file has moved. Make it again: git apply" \
      "--reject $patch; do by hand what is in the files *.rej; git add -N .; git diff -U1 > $patch"
    return 1
  }
  git reset -q
  [ "$1" != drive ] || adopt
  # Tidy compares with the recipe what has changed by now, commands included.
  git add -A
  git diff --cached -U1 -- . ':!tests/recipes' >"$patch"
  cargo fmt --all --check
  passes -p ssdlab-tidy -- --skip examples_fit_the_files_that_they_change
  "nearest_$1"
}

[ $# -gt 0 ] || set -- "${names[@]}"
for name; do
  [[ " ${names[*]} " == *" $name "* ]] || { echo "no recipe \`$name\`: ${names[*]}" >&2 && exit 2; }
done
rm -rf "$copy"
commit=$(git -c user.name=x -c user.email=x@example.org stash create)
git clone -q --shared --no-checkout . "$copy"
cd "$copy"
git checkout -q --detach "${commit:-$(git -C "$top" rev-parse HEAD)}"
export CARGO_TARGET_DIR=$built
failed=()
for name; do
  began=$SECONDS code=0
  # A shell of its own in the background, where `set -e` works.
  (check "$name") >"$log" 2>&1 &
  wait $! || code=$?
  # What is a warning here is an error in continuous integration.
  ! grep -q '^warning' "$log" || code=1
  if [ "$code" = 0 ]; then
    files=$(git diff --cached --name-only -- . ':!tests/recipes' | wc -l)
    echo "ok: $name: $files files, $((SECONDS - began)) s"
  else
    failed+=("$name")
    cat "$log"
    echo "FAILED: the recipe $name"
  fi
  git reset -q --hard
  git clean -fdq
done
[ ${#failed[@]} = 0 ] || { echo "FAILED: ${failed[*]}" && exit 1; }
