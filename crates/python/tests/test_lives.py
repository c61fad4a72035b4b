"""Do lives in Python give what the command line gives, and do results behave as Python's do?"""

import json
import pickle
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
import ssdlab
from conftest import SMALL, run_cli


def test_a_life_is_the_one_of_the_command_line(cli: str, tmp_path: Path) -> None:
    args = ["simulate", "--drive", SMALL, "--load", "hotcold:80/20", "--set", "op=28%"]
    run_cli(cli, *args, "--until", "2x", "--quiet", "--out", str(tmp_path / "life"))
    small = ssdlab.Drive(SMALL, {"op": "28%"})
    life = ssdlab.simulate(small, "hotcold:80/20", until="2x")
    ours = json.loads(life.to_json())
    assert ours == json.loads((tmp_path / "life" / "result.json").read_text())
    assert life.to_html() == (tmp_path / "life" / "report.html").read_text()
    series = (tmp_path / "life" / "series.csv").read_text().splitlines()
    assert series[0].split(",") == life.samples.names
    assert len(series) == len(life.samples) + 1


def test_defaults_are_those_of_the_command_line(cli: str, tmp_path: Path) -> None:
    for until in ("4x", "20ms"):
        args = ["--until", until, "--json", "--quiet", "--out", str(tmp_path / until)]
        theirs = run_cli(cli, "simulate", "--drive", SMALL, *args)
        ours = ssdlab.simulate(SMALL, until=until)
        assert json.loads(ours.to_json()) == json.loads(theirs)


def test_a_result_has_every_field_of_its_file() -> None:
    life = ssdlab.simulate(SMALL, until="20ms", read_pct=50)
    renamed = {"format", "version", "block", "utilisation", "checks", "valid_shares"}
    for name in set(json.loads(life.to_json())) - renamed:
        assert hasattr(life, name), name
    assert life.latency["read"].count + life.latency["write"].count == life.commands


def test_results_pickle_with_their_pages() -> None:
    life = ssdlab.simulate(SMALL, until="1x")
    again = pickle.loads(pickle.dumps(life))
    assert again == life and again.samples == life.samples
    assert again.to_html() == life.to_html() and again.summary() == life.summary()
    assert "<iframe" in life._repr_html_() and "uPlot" in life._repr_html_()


def test_drives_are_plain_data() -> None:
    small = ssdlab.Drive(SMALL)
    changed = small.with_settings({"ftl.victim": "fifo"}, op="28%")
    assert pickle.loads(pickle.dumps(changed)) == changed != small
    assert len({small, changed, ssdlab.Drive(SMALL)}) == 2
    assert ssdlab.simulate(changed, until="1x").settings == ("ftl.victim=fifo", "op=28%")
    assert "28" in f"{changed.over_provisioning:.2f}" and "victim" in changed.to_toml()
    table = ssdlab.table(ssdlab.drives())
    assert len(table) == len(ssdlab.drives()) > 40 and "interface" in table.names


def test_errors_say_what_to_do() -> None:
    for call in (
        lambda: ssdlab.Drive("consumer-sata-1tv"),
        lambda: ssdlab.simulate(SMALL, "zipf"),
        lambda: ssdlab.simulate(SMALL, until="30m", gear="counting"),
        lambda: ssdlab.simulate(SMALL, block="3"),
        lambda: ssdlab.Drive(SMALL, {"bananas": 1}),
        lambda: ssdlab.life(SMALL, until="never"),
        lambda: ssdlab.qualify("drive:none-such"),
        lambda: ssdlab.trace("no-such-trace.csv"),
        lambda: ssdlab.CrashDisk(faults=["ignores-all"]),
        lambda: ssdlab.serve("no-such-directory"),
    ):
        with pytest.raises(ssdlab.Error) as caught:
            call()
        assert caught.value.hint and "hint: " in str(caught.value)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(ssdlab.Error, match="so until cannot be one") as caught:
        ssdlab.simulate(SMALL, until="30m", gear="counting")
    assert "--" not in str(caught.value)


def test_other_threads_run_meanwhile_and_progress_is_heard() -> None:
    heard: list[float] = []
    counted = [0]
    over = threading.Event()

    def count() -> None:
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    ssdlab.simulate(SMALL, until="40x", progress=lambda done, text: heard.append(done))
    over.set()
    thread.join()
    assert counted[0] > 20
    assert heard and all(0.0 <= done <= 1.0 for done in heard)


def test_ctrl_c_stops_a_life_and_leaves_what_there_is() -> None:
    # A shell starts what it puts into the background with the signal ignored.
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        stopped_by_ctrl_c()
    finally:
        signal.signal(signal.SIGINT, earlier)


def stopped_by_ctrl_c() -> None:
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as caught:
        ssdlab.simulate("consumer-sata-1tb", until="1000x")
    assert time.monotonic() - began < 30
    partial = caught.value.partial  # type: ignore[attr-defined]
    assert isinstance(partial, ssdlab.Simulation) and partial.stopped


def test_an_error_of_the_progress_function_stops_the_life() -> None:
    def wrong(done: float, text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError):
        ssdlab.simulate("consumer-sata-1tb", until="1000x", progress=wrong)


def test_a_whole_life(tmp_path: Path, cli: str) -> None:
    aged = ssdlab.life(SMALL, until="50%", fast=True, save=tmp_path / "drive.ssd")
    assert aged.life_left_pct <= 50 and not aged.failures
    assert aged.samples["host_bytes"][-1] == aged.host_bytes
    assert pickle.loads(pickle.dumps(aged)) == aged
    theirs = run_cli(cli, "age", SMALL, "--until", "50%", "--fast", "--json", "--quiet",
                     "--out", str(tmp_path / "old"))
    assert json.loads(theirs) == aged.facts
    health = subprocess.run([cli, "inspect", str(tmp_path / "drive.ssd")], capture_output=True)
    assert health.returncode == 0


def test_theory_is_what_was_published() -> None:
    from ssdlab import theory

    # Xiang and Kurkoski 2012, and the limit of a random victim.
    assert theory.random(1.25) == pytest.approx(5.0)
    waf = theory.fifo(1.25)
    rho = 1 / 1.25
    # Their fixed point: with p the share of valid pages, p = exp(-(1 - p) / rho).
    valid = 1 - 1 / waf
    assert valid == pytest.approx(2.718281828459045 ** (-(1 - valid) / rho), rel=1e-9)
    assert theory.greedy(1.25, 4096) == pytest.approx(waf, rel=0.01)
    assert theory.d_choices(1.25, 64, 1) == pytest.approx(theory.random(1.25), rel=1e-6)
    assert theory.fifo_hot_cold(1.25, 0.5, 0.5) == pytest.approx(waf)


def test_a_trace_is_described_as_by_the_command_line(cli: str, repository: Path) -> None:
    path = repository / "examples/traces/zfs-2010-emulation-5-datasets.csv.gz"
    ours = ssdlab.trace(path)
    theirs = json.loads(run_cli(cli, "trace", "show", "--json", str(path)))
    assert ours.facts == theirs
    assert ours.pattern["kib_written"] == [row["kib_written"] for row in theirs["trace"]["rows"]]


def test_a_verdict_on_a_model_and_on_a_file(tmp_path: Path, cli: str) -> None:
    verdict = ssdlab.qualify(ssdlab.Drive(SMALL), "slog")
    assert verdict.outcome in {"PASS", "FAIL", "UNKNOWN"} and verdict.findings
    assert len(verdict.table()) == len(verdict.findings)
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    assert verdict.answer in " ".join(verdict.summary().split()) and "<iframe" in verdict._repr_html_()
    run_cli(cli, "qualify", f"drive:{SMALL}", "--role", "slog", "--no-reference", "--quiet",
            "--out", str(tmp_path / "run"), exits={0, 1, 3})
    assert ssdlab.Qualification.read(tmp_path / "run").answer == verdict.answer
    precious = tmp_path / "precious"
    precious.write_bytes(b"x" * 4096)
    with pytest.raises(ssdlab.Error):
        ssdlab.qualify(precious, "slog")
    assert precious.read_bytes() == b"x" * 4096
