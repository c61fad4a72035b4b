#!/usr/bin/env bash
# Is a column cut on a page? Makes one page of each kind and measures it in headless Chromium at 400,
# 1,000 and 1,600 px, light and dark: `bash tests/pages.sh target/release/ssdlab [--show DIR]`.
# --show leaves pictures in DIR.
set -euo pipefail
ssdlab=$(realpath "$1")
top=$(realpath "$(dirname "$0")/..")
. "$top/tests/skips.sh"
browser=
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
  browser=${browser:-$(command -v "$name" || true)}
done
[ -n "$browser" ] || { skip pages "no Chromium is installed"; exit 0; }
mkdir -p "${TMPDIR:-$top/target}"
work=$(mktemp -d "${TMPDIR:-$top/target}/pages.XXXXXX")
trap 'rm -rf "$work"' EXIT
pictures=$work/pictures
show=()
[ "${2:-}" != --show ] || { pictures=$(realpath -m "$3") && show=(--show); }
cd "$work"
# A verdict is an exit code.
verdict() { "$ssdlab" "$@" --quiet >/dev/null || [ $? = 1 ] || [ $? = 3 ]; }
verdict qualify drive:consumer-sata-1tb --role slog --out fleet/volatile
verdict qualify drive:intel-dc-s3700-400gb --role etcd --no-reference --out fleet/protected
printf '[w]\nrw=randwrite\nbs=4k\nfsync=1\nsize=64m\nruntime=5\ntime_based\n' >j.fio
for drive in consumer-sata-1tb consumer-sata-1tb-plp; do
  "$ssdlab" run j.fio --quiet --target "drive:$drive" --out "fleet/run-$drive" >/dev/null
done
mkdir -p "fleet/a run that was never finished"
"$ssdlab" compare --fleet fleet --html fleet.html >/dev/null
"$ssdlab" compare fleet/run-* --html compare.html >/dev/null
verdict diagnose drive:consumer-sata-1tb --capacity 512MiB --symptom slow-durable-writes --out slow
"$ssdlab" simulate --drive "$top/examples/drives/small.toml" --until 2x --quiet --out life >/dev/null
"$ssdlab" reproduce zil.physics --out figures --quiet >/dev/null
"$ssdlab" ledger page --out ledger >/dev/null
python3 "$top/tests/ledger_page.py" "$browser" ledger/index.html
python3 "$top/tests/pages.py" "$browser" "$pictures" fleet.html compare.html \
  fleet/volatile/report.html fleet/protected/report.html fleet/run-consumer-sata-1tb/report.html \
  slow/report.html life/report.html figures/index.html ledger/index.html ledger/score.html \
  ledger/crucial-t500-2000.html "${show[@]}"
