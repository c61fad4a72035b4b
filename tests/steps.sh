# Sourced by tests/all.sh and tests/outer.sh: steps whose times are printed, one after the other or
# in the background, and the count of skipped checks. `$work` is a folder for their logs.
export SSDLAB_SKIPS=$work/skips
: >"$SSDLAB_SKIPS"
step_names=() step_times=()
declare -A step_pids=() step_logs=()

seconds() { awk -v from="$1" -v to="$2" 'BEGIN { printf "%.1f", to - from }'; }
note() { # name, seconds
  step_names+=("$1")
  step_times+=("$2")
  echo "== $1: $2 s"
}
# Runs a command. With `set -e` its failure ends the script.
step() { # name, command
  local name=$1 began=$EPOCHREALTIME
  shift
  echo
  echo "== $name"
  "$@"
  note "$name" "$(seconds "$began" "$EPOCHREALTIME")"
}
# Runs a command in the background; `finish` waits for it and prints what it said.
start() { # name, command
  local name=$1 log
  shift
  log=$work/log-${#step_logs[@]}
  step_logs[$name]=$log
  (
    set -e
    began=$EPOCHREALTIME
    trap 'seconds "$began" "$EPOCHREALTIME" >"$log-time"' EXIT
    "$@"
  ) >"$log" 2>&1 &
  step_pids[$name]=$!
}
finish() { # name
  local code=0
  wait "${step_pids[$1]}" || code=$?
  unset "step_pids[$1]"
  echo
  echo "== $1 (in the background)"
  cat "${step_logs[$1]}"
  note "$1" "$(cat "${step_logs[$1]}-time")"
  return "$code"
}
table() {
  local at
  echo
  echo "== times"
  for at in "${!step_names[@]}"; do printf '%8s s  %s\n' "${step_times[at]}" "${step_names[at]}"; done
  printf '%8s s  all, wall time\n' "$(seconds "$all_began" "$EPOCHREALTIME")"
}
# Prints what was skipped. When CI is set, one is enough to fail.
skips() {
  local count
  count=$(wc -l <"$SSDLAB_SKIPS")
  cat "$SSDLAB_SKIPS"
  echo "$count skipped"
  [ -z "${CI:-}" ] || [ "$count" = 0 ]
}
all_began=$EPOCHREALTIME
