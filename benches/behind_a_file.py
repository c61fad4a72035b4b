#!/usr/bin/env python3
"""Catalogue drives behind a file or NBD at real pace: measured by fio, fitted by a twin, predicted.

Usage: python3 benches/behind_a_file.py [--nbd] SSDLAB WORK_DIR DRIVE:SLOWER...

Each drive, made smaller (512 MiB), is served as a FUSE file (or over NBD, one connection), new for
every load, and its virtual time passes SLOWER times slower than real time. fio fills it in order and writes three capacities at
random: uniform, zipf:0.8, and 80 % to a fifth. The twin gets the rate in order and the uniform one;
the last quarter counts. Nothing of a drive's configuration is read. Needs root, fio, and a machine
with nothing else to do: half a minute to a minute a load.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SIZE = 512 << 20
OVERWRITES = 3
LOADS = {
    "uniform": "",
    "zipf:0.8": "random_distribution=zipf:0.8",
    "hotcold:80/20": "random_distribution=zoned:80/20:20/80",
}


NBD = "--nbd" in sys.argv


def measured(ssdlab: str, work: Path, drive: str, slower: int, load: str) -> "tuple[float, float]":
    """Rates in order and at the end of the load, B/s of virtual time."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "mount").mkdir(parents=True)
    serve = [ssdlab, "serve", f"drive:{drive}", "--size", str(SIZE), "--pace", "real"]
    serve += ["--slower", str(slower)]
    serve += ["--nbd", f"unix:{work}/nbd"] if NBD else ["--fuse", str(work / "mount" / "drive")]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    way = f"ioengine=libaio\ndirect=1\nfilename={work}/mount/drive"
    if NBD:
        way = f"ioengine=nbd\nuri=nbd+unix:///?socket={work}/nbd"
    job = f"""[global]
{way}
size={SIZE}
iodepth=32
[fill]
rw=write
bs=128k
[load]
stonewall
rw=randwrite
bs=4k
io_size={OVERWRITES * SIZE}
norandommap=1
{LOADS[load]}
write_bw_log={work}/load
log_avg_msec=200
"""
    (work / "job.fio").write_text(job)
    try:
        assert server.stdout is not None
        while "ready" not in (line := server.stdout.readline()):
            assert line, "the server has ended"
        fio = ["fio", "job.fio", "--output-format=json", "--output=fio.json"]
        subprocess.run(fio, check=True, cwd=work)
    finally:
        server.terminate()
        server.wait()
    text = (work / "fio.json").read_text()
    fill = json.loads(text[text.index("{\n"):])["jobs"][0]["write"]["bw_bytes"]
    return fill * slower, last_quarter(work) * slower


def last_quarter(work: Path) -> float:
    """Rate of the last quarter of the bytes, B/s."""
    logs = [name for name in os.listdir(work) if re.fullmatch(r"load_bw\.\d+\.log", name)]
    rows = [line.split(",") for line in (work / logs[0]).read_text().splitlines()]
    ends = [0] + [int(row[0]) for row in rows]
    parts = [(b - a) * int(row[1]) * 1.024 for a, b, row in zip(ends, ends[1:], rows)]
    done, first = 0.0, 0
    while done < 0.75 * sum(parts):
        done += parts[first]
        first += 1
    return 1000 * sum(parts[first:]) / (ends[-1] - ends[first])


def main() -> None:
    ssdlab, work, *drives = (given for given in sys.argv[1:] if given != "--nbd")
    for drive, slower in (given.split(":") for given in drives):
        found = {
            load: measured(ssdlab, Path(work), drive, int(slower), load) for load in LOADS
        }
        order, uniform = found["uniform"]
        print(f"{drive}: in order {order / 1e6:.0f}, uniform {uniform / 1e6:.1f} MB/s", flush=True)
        table = Path(work) / "table.csv"
        rates = f"sequential,,{max(order, uniform) / 1e6:.3f}\n"
        rates += f"uniform,{OVERWRITES},{uniform / 1e6:.3f}\n"
        table.write_text("load,overwrites,write_mbs\n" + rates)
        twin = str(Path(work) / "twin")
        fit = [ssdlab, "twin", "fit", str(table), "--capacity", "1GiB", "--out", twin, "-q"]
        done = subprocess.run(fit, capture_output=True, text=True)
        if done.returncode:
            print("  not fitted:", (done.stderr or done.stdout).strip().splitlines()[0])
            continue
        predict = [ssdlab, "twin", "predict", twin, "--overwrites", str(OVERWRITES), "--json"]
        predict += [part for load in list(LOADS)[1:] for part in ("--load", load)]
        said = subprocess.run(predict, capture_output=True, text=True, check=True).stdout
        for row in json.loads(said):
            truth, (low, rate, high) = found[row["load"]["pattern"]][1], row["rate"]
            print(
                f"  {row['load']['pattern']}: {rate / 1e6:.1f} for {truth / 1e6:.1f} MB/s, "
                f"{100 * (rate / truth - 1):+.1f} %, null {100 * (uniform / truth - 1):+.1f} %, "
                f"90 %: {low / 1e6:.1f} to {high / 1e6:.1f}",
                flush=True,
            )


main()
