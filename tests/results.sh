#!/usr/bin/env bash
# Checks that other people's tools read results: run directories in DuckDB, pandas and Polars, metrics
# in an OpenMetrics parser and promtool, JSON against its schemas, logs in fio-plot; and recomputes
# the SNIA suite on two drives from its CSV: `bash tests/results.sh target/release/ssdlab`.
set -euo pipefail
ssdlab=$(realpath "$1")
top=$(realpath "$(dirname "$0")/..")
. "$top/tests/skips.sh"
mkdir -p "${TMPDIR:-$PWD/target}"
work=$(mktemp -d "${TMPDIR:-$PWD/target}/results.XXXXXX")
trap 'rm -rf "$work"' EXIT
python=python3
venv=${SSDLAB_VENV:-${CARGO_TARGET_DIR:-$top/target}/venv}
[ ! -x "$venv/bin/python" ] || python=$(realpath -s "$venv/bin/python")
cd "$work"
mkdir schemas
for name in run result qualification snia; do
  "$ssdlab" list schemas "$name" >"schemas/$name.json"
done
ln -s "$top/examples/grafana/ssdlab.json" dashboard.json
passed=0
failed=0
ok() { passed=$((passed + 1)); echo "ok: $*"; }
bad() { failed=$((failed + 1)); echo "FAILED: $*" >&2; }
reads() { # Python module, what is shown; the program comes from standard input
  if ! "$python" -c "import $1" 2>/dev/null; then
    skip "results: $1" "not installed"
  elif "$python" - 2>reads.log; then ok "$2"; else bad "$2: $(tail -3 reads.log)"; fi
}

# In the background: the whole suite of SNIA on two drives, of both classes.
{
  "$ssdlab" snia drive:intel-dc-s3700-400gb --to 256MiB --quiet --out snia
  "$ssdlab" snia drive:tlc-client-nvme-1tb --class client --to 256MiB --quiet --out snia-client
} >suites.log 2>&1 &
suites=$!
cat >j.fio <<'JOB'
[global]
filename=x
direct=1
ioengine=io_uring
time_based
[fill]
rw=write
bs=1m
runtime=1
[mixed]
stonewall
rw=randrw
rwmixread=70
bs=4k
iodepth=8
runtime=6
JOB
mkdir runs
"$ssdlab" run j.fio --quiet --out runs/drive --target drive:consumer-sata-1tb >/dev/null
"$ssdlab" run j.fio --quiet --out runs/null --target null:64MiB >/dev/null
"$ssdlab" qualify drive:intel-dc-s3700-400gb --role slog --no-reference --quiet \
  --out runs/verdict --json >qualification.json || [ $? = 1 ] || [ $? = 3 ]
"$ssdlab" report runs/drive --openmetrics drive.prom \
  --fio-logs logs/randrw-iodepth-8-numjobs-1 >/dev/null 2>&1
"$ssdlab" report runs/verdict --openmetrics verdict.prom >/dev/null 2>&1

reads duckdb "DuckDB reads run directories by one glob, and Parquet alike" <<'PY'
import duckdb
for glob in ("runs/drive/*.csv", "runs/null/*.csv", "runs/verdict/*.csv", "runs/*/*.csv"):
    table = duckdb.sql(f"SELECT * FROM '{glob}'")
    columns, rows = table.columns, table.fetchall()
    parquet = duckdb.sql(f"SELECT * FROM '{glob.replace('csv', 'parquet')}'")
    assert rows and columns == parquet.columns, (glob, len(rows))
    of_parquet = parquet.fetchall()
    assert sorted(map(repr, rows)) == sorted(map(repr, of_parquet)), glob
    assert {"phase", "t_s", "read_count", "write_p999_ns", "nand_bytes_written"} <= set(columns)
    assert {"write_mean_ns": "DOUBLE", "write_count": "BIGINT"}.items() <= dict(
        zip(columns, map(str, duckdb.sql(f"SELECT * FROM '{glob}'").types))).items()
assert duckdb.sql("SELECT sum(count) FROM 'runs/drive/histograms/*.csv'").fetchall()[0][0] > 0
PY
reads pandas "pandas reads run directories in one line" <<'PY'
import glob, pandas
table = pandas.concat(map(pandas.read_csv, glob.glob("runs/*/*.csv")))
assert len(table) > 3 and table.write_count.sum() > 0
PY
reads polars "Polars reads a run directory in one line" <<'PY'
import polars
table = polars.read_csv("runs/drive/*.csv")
parquet = polars.read_parquet("runs/drive/series.parquet")
assert table.height > 0 and table.equals(parquet), (table.schema, parquet.schema)
PY
reads prometheus_client "OpenMetrics and Prometheus parsers read the metrics" <<'PY'
import json, re
from prometheus_client.openmetrics.parser import text_string_to_metric_families as new
from prometheus_client.parser import text_string_to_metric_families as old
seen = set()
for name in ("drive.prom", "verdict.prom"):
    text = open(name).read()
    families = list(new(text))
    assert len(families) > 4 and len(list(old(text))) == len(families), name
    seen |= {family.name for family in families}
samples = [s for f in new(open("drive.prom").read()) if f.name == "ssdlab_run_iops" for s in f.samples]
iops = {(int(s.labels["phase"]), s.labels["op"]): s.value for s in samples}
jobs = json.load(open("runs/drive/result.json"))["jobs"]
assert iops == {(job["phase"], op["op"]): op["iops"] for job in jobs for op in job["ops"]}, iops
dashboard = "dashboard.json"
used = set(re.findall(r"ssdlab_\w+", open(dashboard).read()))
# A run this short has no rounds.
assert used - seen <= {"ssdlab_run_steady_state"}, used - seen
PY
promtool=$(command -v promtool || true)
kept=${CARGO_TARGET_DIR:-$top/target}/promtool
[ -n "$promtool" ] || [ ! -x "$kept" ] || promtool=$(realpath "$kept")
if [ -z "$promtool" ]; then
  skip "results: promtool" "not installed"
else
  for file in drive.prom verdict.prom; do
    if "$promtool" check metrics <"$file" >promtool.log 2>&1 && [ ! -s promtool.log ]
    then ok "promtool accepts $file"; else bad "promtool on $file: $(tail -3 promtool.log)"; fi
  done
  # Canary: a counter without help whose value is text.
  if printf 'ssdlab_total{a="b"} many\n' | "$promtool" check metrics >/dev/null 2>&1
  then bad "promtool accepts text as a value"; fi
fi
wait "$suites" || bad "the SNIA suites: $(tail -3 suites.log)"
reads jsonschema "JSON is what its schema says" <<'PY'
import copy, json
from jsonschema import Draft202012Validator as Validator
def of(name):
    schema = json.load(open(f"schemas/{name}.json"))
    Validator.check_schema(schema)
    return Validator(schema)
pairs = [("run", "runs/drive/run.json"), ("run", "runs/verdict/run.json"), ("run", "runs/null/run.json"),
    ("result", "runs/drive/result.json"), ("result", "runs/null/result.json"),
    ("qualification", "qualification.json"), ("snia", "snia/snia.json"),
    ("snia", "snia-client/snia.json")]
for name, path in pairs:
    value = json.load(open(path))
    errors = [f"{path}: {e.json_path}: {e.message[:200]}" for e in of(name).iter_errors(value)]
    assert not errors, errors[:3]
    # Canary: a file in which a key has another name is refused.
    for key in value:
        broken = copy.deepcopy(value)
        broken[key + "_"] = broken.pop(key)
        assert not of(name).is_valid(broken), (path, key)
PY
if python3 -B "$top/tests/snia.py" snia snia-client >snia.log 2>&1
then ok "the eight SNIA tests on two drives, recomputed from the CSV"
else bad "SNIA tests by hand: $(tail -1 snia.log)"; fi
fio_plot=$(command -v fio-plot || true)
[ -n "$fio_plot" ] || [ ! -x "$venv/bin/fio-plot" ] || fio_plot=$(realpath -s "$venv/bin/fio-plot")
if [ -z "$fio_plot" ]; then
  skip "results: fio-plot" "not installed"
elif mkdir plot && cp logs/*.2.log plot/ && for f in plot/*.2.log; do mv "$f" "${f%.2.log}.1.log"; done &&
  "$fio_plot" -i plot -T ssdlab -r randrw -f read -g -t iops -d 8 -n 1 -o logs.png >plot.log 2>&1 &&
  [ -s logs.png ]
then ok "fio-plot plots the logs"; else bad "fio-plot on logs: $(tail -3 plot.log)"; fi
# Logs of single commands, by fio's own script, which needs python3-six.
cat >each.fio <<'JOB'
[each]
rw=randread
size=1g
iodepth=8
number_ios=5000
write_bw_log
write_lat_log
JOB
"$ssdlab" run each.fio --quiet --out runs/each --target drive:consumer-sata-1tb >/dev/null
fio2gnuplot=$(command -v fio2gnuplot || true)
if [ -z "$fio2gnuplot" ]; then
  skip "results: fio2gnuplot" "not installed"
# Its help ends with exit code 1.
elif { "$fio2gnuplot" -h >six.log 2>&1 || true; ! grep -q -- --keep six.log; }; then
  skip "results: fio2gnuplot" "does not start: $(tail -1 six.log)"
elif (cd runs/each && [ "$(wc -l <each_lat.1.log)" = 5000 ] && "$fio2gnuplot" -b >g.log 2>&1 &&
  # It leaves the first millisecond away.
  [ "$(awk 'END { print $2 }' result.average)" = \
    "$(awk -F, '$1 > 0 { sum += $2; n++ } END { print int(sum / n) }' each_bw.1.log)" ])
then ok "fio2gnuplot averages the logs of single commands"
else bad "fio2gnuplot: $(tail -3 runs/each/g.log; tail -1 runs/each/result.average)"; fi
if [ -n "$fio_plot" ]; then
  mkdir plot-each
  for kind in bw lat clat; do
    cp runs/each/each_$kind.1.log "plot-each/randread-iodepth-8-numjobs-1_$kind.1.log"
  done
  "$fio_plot" -i plot-each -T ssdlab -r randread -f read -g -t bw lat -d 8 -n 1 -o each.png \
    >each.log 2>&1 && [ -s each.png ] && ok "fio-plot plots the logs of single commands" ||
    bad "fio-plot on logs of single commands: $(tail -3 each.log)"
fi
echo "results: $passed passed, $failed failed"
[ "$failed" = 0 ]
