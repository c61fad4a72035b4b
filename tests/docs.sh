#!/usr/bin/env bash
# Runs the commands of README and docs: every line of a ```console block that starts with
# "$ ssdlab", in order, in an empty directory per page. A line may end with "# exit N".
set -euo pipefail
ssdlab=$(realpath "$1")
mkdir -p "${TMPDIR:-$PWD/target}"
work=$(mktemp -d "${TMPDIR:-$PWD/target}/docs.XXXXXX")
trap 'rm -rf "$work"' EXIT
top=$PWD
count=0
for page in README.md docs/*.md; do
  dir=$(mktemp -d "$work/XXXXXX")
  cp -r examples "$dir/"
  while IFS= read -r line; do
    expected=0
    case "$line" in *"# exit "*) expected=${line##*"# exit "} ;; esac
    line=${line%%"# exit "*}
    status=0 began=$EPOCHREALTIME
    (cd "$dir" && PATH="$(dirname "$ssdlab"):$PATH" bash -c "${line#"$ "}") > "$work/log" 2>&1 || status=$?
    if [ "$status" != "$expected" ]; then
      echo "FAILED ($status, expected $expected): $page: $line" >&2
      tail -20 "$work/log" >&2
      exit 1
    fi
    count=$((count + 1))
    awk -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { printf "ok %5.1f s", to - from }'
    echo " $page: ${line:2:80}"
  done < <(awk '/^```console/{on=1; next} /^```/{on=0} on && /^\$ ssdlab/' "$top/$page")
done
echo "docs: $count passed, 0 failed"
