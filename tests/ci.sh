#!/usr/bin/env bash
# From a bare Debian root to the verdict on a program of one's own, and the steps of the workflow
# file examples/ci/crashtest.yml, executed one by one: `bash tests/ci.sh target/release/ssdlab
# [cuts]`. The root is that of tests/packages.sh. Needs root, debootstrap, FUSE and loop devices.
set -euo pipefail
ssdlab=$(realpath "$1") cuts=${2:-40}
cd "$(dirname "$0")/.."
. tests/skips.sh
target=$(realpath "${CARGO_TARGET_DIR:-target}")
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || [ ! -e /dev/fuse ] ||
  [ ! -e /dev/loop-control ]; then
  skip "continuous integration in a bare root" "needs root, debootstrap, FUSE and loop devices"
  exit
fi
root=$target/debian-root
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
work=$(mktemp -d "$target/ci.XXXXXX")
mounted=()
unmount() {
  local at
  for at in "${mounted[@]}"; do umount -R -l "$at"; done
  mounted=()
}
trap 'unmount; rm -rf --one-file-system "$work"' EXIT
[ -e "$root/.made" ] || { rm -rf "$root" && debootstrap --variant=minbase "$suite" "$root" \
  >"$work/debootstrap.log" 2>&1 && touch "$root/.made"; } || {
  skip "continuous integration in a bare root" "debootstrap failed: $(tail -1 "$work/debootstrap.log")"
  exit
}
cp -a "$root" "$work/root"
root=$work/root
for at in proc sys dev; do
  mount --rbind "/$at" "$root/$at"
  mount --make-rslave "$root/$at"
  mounted+=("$root/$at")
done
bad() { echo "FAILED: $*" >&2 && exit 1; }

# A repository with a program of its own, as a user of the workflow has it.
home=$root/srv/me
mkdir -p "$home"
printf '#!/bin/sh\nexec sh "$SSDLAB_CWD/append-log.sh"\n' >"$home/my-app.in"
cp examples/crashtest/append-log.sh "$home/"
printf 'my-app:\n\tcp my-app.in my-app && chmod +x my-app\n' >"$home/Makefile"
cp "$ssdlab" "$root/srv/ssdlab"
tar -czf "$root/srv/ssdlab.tar.gz" -C "$root/srv" ssdlab && rm "$root/srv/ssdlab"
# What a hosted machine has and a bare root has not. Nothing is downloaded here: curl takes the
# archive from a path, make knows the one rule.
shim() { printf '#!/bin/sh\n%s\n' "$2" >"$root/usr/local/sbin/$1" && chmod +x "$root/usr/local/sbin/$1"; }
shim sudo 'exec "$@"'
shim modprobe 'exit 1'
shim curl 'for last; do :; done; exec cat "${last#file://}"'
shim make 'cp my-app.in "$1" && chmod +x "$1"'

# The workflow's own text: each `run:` of it is a script, in order.
python3 - "$work" "$cuts" <<'PY'
import pathlib, re, sys
work, cuts = sys.argv[1:]
lines = pathlib.Path("examples/ci/crashtest.yml").read_text().splitlines()
steps, at = [], 0
while at < len(lines):
    found = re.match(r"( *)(?:- )?run: (.*)", lines[at])
    at += 1
    if not found:
        continue
    if found[2] != "|":
        steps.append(found[2])
        continue
    inner = []
    while at < len(lines) and (not lines[at].strip() or lines[at].startswith(found[1] + "  ")):
        inner.append(lines[at].strip())
        at += 1
    steps.append("\n".join(inner))
assert len(steps) == 4, steps
for number, step in enumerate(steps):
    step, changed = re.subn(r"--cuts \d+", f"--cuts {cuts}", step)
    pathlib.Path(f"{work}/step-{number}").write_text(step + "\n")
PY
run() { # number of a step, environment
  cp "$work/step-$1" "$root/step"
  chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin USER=root \
    HOME=/root SSDLAB_URL=file:///srv/ssdlab.tar.gz "${@:2}" \
    sh -c 'cd /srv/me && exec bash -e /step'
}
began=$(date +%s)
run 0 || bad "the step that installs"
run 1 || bad "the step that builds"
code=0
run 2 >"$work/said" 2>&1 || code=$?
cat "$work/said"
[ "$code" = 1 ] || bad "a program that loses records: exit code $code, not 1"
# The first records of their files, of which the cuts have met one or more.
grep -qE 'acknowledged: `record (9|17|25)`' "$work/said" || bad "the lost record is not named"
run 3 || bad "the step that keeps what was found"
[ -s "$home/crashtest/campaign.json" ] || bad "nothing to keep: $(ls "$home/crashtest")"
echo "ok: from a bare root to the lost record in $(($(date +%s) - began)) s"
rm -r "$home/crashtest"
run 2 MENDED=1 >"$work/said" 2>&1 || { cat "$work/said" && bad "the mended program"; }
grep -E 'passed|clean' "$work/said" || bad "no verdict: $(tail -3 "$work/said")"
echo "ok: the mended program, $cuts cuts"
