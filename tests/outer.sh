#!/usr/bin/env bash
# The outer ring of tests: what takes long, or needs more than Rust and small packages. Its groups are
# in tests/groups.sh; each installs what it needs, if this is root or sudo works without a password.
# Usage:
#   bash tests/outer.sh [NAME...]         runs these groups, or all (over half an hour)
#   bash tests/outer.sh --list            their names and seconds, what they ask, what touches them
#   bash tests/outer.sh --select FILE...  names of the groups that a change of these files touches
#   bash tests/outer.sh --landing         notes in tests/landings where the change at hand begins
#   bash tests/outer.sh --ci SECONDS      what continuous integration runs in that time
#   bash tests/outer.sh --plan SECONDS    prints that choice, and runs nothing
#
# The choice of --ci: first the groups whose turn it is, so that each runs at least once in eight
# landings. Then those that the landing touches: groups whose own files it changes before groups whose
# other files it changes, and of these, more changed files before fewer. A group that takes longer
# than the time that remains is named as not run.
# A landing is what tests/landings says: its last line is the commit from which the change at hand
# began, and the number of lines gives the turn. SSDLAB_BASE names another commit. If there is no such
# commit before this one, every group counts as touched.
# Exit code 1 when a group fails (the others still run), and when CI is set and something is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/tools.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
. tests/steps.sh
. tests/groups.sh
landings=tests/landings
# Files that every group uses.
shared="tests/outer.sh tests/groups.sh tests/tools.sh tests/steps.sh tests/skips.sh"

# Files on standard input. A line for each group that they touch: 1 (own files) or 2 (others), how
# many of the files, name. In order: what is touched most directly comes first.
touched() {
  local files name
  mapfile -t files
  for name in "${names[@]}"; do
    matches 1 "$name" "${own_paths[$name]}" ||
      matches 2 "$name" "${tested_paths[$name]} $shared" || true
  done | sort -s -k 1,1n -k 2,2nr
}
matches() { # 1 or 2, group, paths; `files` is the caller's
  local file path count=0
  for file in "${files[@]}"; do
    for path in $3; do
      # A folder ends with a slash.
      case $file in "$path" | "${path%/}"/*) count=$((count + 1)) && break ;; esac
    done
  done
  [ "$count" -gt 0 ] && echo "$1 $count $2"
}

# The commit from which the landing at hand began; nothing if it is not in the history.
base() {
  local commit=${SSDLAB_BASE:-$(tail -n 1 "$landings" | cut -d ' ' -f 1)}
  git merge-base --is-ancestor "$commit" HEAD 2>/dev/null && git rev-parse "$commit" || true
}
# Names in the order in which they run, a line each, with the reason.
choose() {
  local commit turn name level count
  commit=$(base)
  turn=$(($(wc -l <"$landings") % 8))
  for name in "${names[@]}"; do
    [ "${turns[$name]}" != "$turn" ] || echo "$name its turn ($turn of 0 to 7)"
  done
  if [ -z "$commit" ]; then
    for name in "${names[@]}"; do echo "$name the landing's first commit is not known"; done
  else
    while read -r level count name; do
      case $level in
        1) echo "$name $count of its own files changed since ${commit:0:8}" ;;
        2) echo "$name $count of the files that it tests changed since ${commit:0:8}" ;;
      esac
    done < <(git diff --name-only "$commit" HEAD | touched)
  fi
}

failures=()
# Runs one group. A failure does not keep the others from running.
run() { # name
  local code=0 began=$EPOCHREALTIME
  echo
  echo "== outer: $1 (${questions[$1]})"
  # A shell of its own in the background, where `set -e` works. It must not read the list of groups.
  ("run_$1") </dev/null &
  wait $! || code=$?
  [ "$code" = 0 ] || { failures+=("$1") && echo "FAILED: outer: $1 (exit code $code)"; }
  note "outer: $1" "$(seconds "$began" "$EPOCHREALTIME")"
}
# Runs, or with `plan` prints, what `choose` says, as far as the seconds reach.
choice() { # seconds, run or plan
  local began=$SECONDS budget=$1 name why spent=0 seen=" "
  local skipped=()
  while read -r name why; do
    [[ $seen != *" $name "* ]] || continue
    seen+="$name "
    [ "$2" = plan ] || spent=$((SECONDS - began))
    if [ "${known_seconds[$name]}" -gt $((budget - spent)) ]; then
      skipped+=("$name (${known_seconds[$name]} s; $why)")
      continue
    fi
    echo "chosen: $name: $why; about ${known_seconds[$name]} s"
    if [ "$2" = run ]; then run "$name"; else spent=$((spent + known_seconds[$name])); fi
  done < <(choose)
  for name in "${names[@]}"; do
    [[ $seen == *" $name "* ]] || echo "not chosen: $name: not touched, and it is not its turn"
  done
  for why in "${skipped[@]}"; do echo "NOT RUN, no time left: $why"; done
}
finish_all() {
  table
  skips
  [ ${#failures[@]} = 0 ] || { echo "FAILED: ${failures[*]}" && exit 1; }
  echo "the outer ring passed"
}
list() {
  local name
  for name in "${names[@]}"; do
    printf '%-14s %4d s  %s\n' "$name" "${known_seconds[$name]}" "${questions[$name]}"
    printf '%24s%s\n' "" "${own_paths[$name]}; ${tested_paths[$name]}"
  done
}
# The commit at which the main branch was when the change at hand began.
landing() {
  local commit
  commit=$(git merge-base HEAD "${1:-origin/main}")
  if [ "$(tail -n 1 "$landings" | cut -d ' ' -f 1)" = "$commit" ]; then
    echo "noted already: $commit"
  else
    echo "$commit $(git log -1 --format=%cs "$commit")" >>"$landings"
    tail -n 1 "$landings"
  fi
}

case ${1:-} in
  --list) list ;;
  --select)
    shift
    printf '%s\n' "$@" | touched | cut -d ' ' -f 3
    ;;
  --landing) landing "${2:-}" ;;
  --plan) choice "$2" plan ;;
  --ci)
    choice "$2" run
    finish_all
    ;;
  *)
    for name; do
      [ -n "${questions[$name]:-}" ] || { echo "no group \`$name\`: ${names[*]}" >&2 && exit 2; }
    done
    [ $# -gt 0 ] || set -- "${names[@]}"
    for name; do run "$name"; done
    finish_all
    ;;
esac
