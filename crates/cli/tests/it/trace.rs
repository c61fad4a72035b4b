//! Does `trace show` say of the two recorded traces exactly what a few lines of Python say, does
//! `convert` keep it, and is bad input refused in words?

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Recomputes everything from the file, from the definitions, sharing nothing with the lab.
const REFERENCE: &str = r#"
import csv, gzip, json, sys
ev = [(float(r["t_us"]), r["op"], int(r["offset"]), int(r["length"]), float(r["done_us"]))
      for r in csv.DictReader(gzip.open(sys.argv[1], "rt"))]
ev.sort(key=lambda e: e[0])
io = [e for e in ev if e[1] in ("read", "write")]
def row(part, start, random):
    n, size = len(part), [e[3] for e in part]
    kib = lambda op: sum(e[3] for e in part if e[1] == op) // 1024
    ran = 100 * random // n
    return dict(start_ns=start, random_pct=ran, sequential_pct=100 - ran, count=n, min=min(size),
                max=max(size), mean=sum(size) // n, kib_read=kib("read"), kib_written=kib("write"))
intervals, last, random = {}, None, 0
for e in sorted(io, key=lambda e: e[4]):
    part = intervals.setdefault(int(e[4] // 1e6), [[], 0])
    part[0].append(e); part[1] += e[2] != last; random += e[2] != last
    last = e[2] + e[3]
rows = [row(p[0], k * 10**9, p[1]) for k, p in sorted(intervals.items())]
seeks = {}
for a, b in zip(io, io[1:]):
    d = b[2] // 512 - (a[2] // 512 + a[3] // 512)
    v = 0 if d == 0 else (1 if d > 0 else -1) * 2 ** (len(bin(abs(d))) - 3)
    seeks[v] = seeks.get(v, 0) + 1
def powers(values):
    h = {}
    for v in values:
        f = 0 if v == 0 else 2 ** (v.bit_length() - 1)
        h[f] = h.get(f, 0) + 1
    return [dict([("from", f), ("count", h[f])]) for f in sorted(h)]
blocks = lambda e: range(e[2] // 4096, (e[2] + e[3] - 1) // 4096 + 1)
w, r, back = {}, set(), 0
for e in io:
    for b in blocks(e):
        if e[1] == "write": w[b] = w.get(b, 0) + 1
        else: r.add(b); back += b in w
hot = sorted(w.values(), reverse=True)
total = sum(hot)
ops = [dict(op=op, count=len(p), bytes=sum(e[3] for e in p), min=min(e[3] for e in p),
            max=max(e[3] for e in p), sizes=powers([e[3] for e in p]))
       for op in ("read", "write", "trim", "flush") for p in [[e for e in ev if e[1] == op]] if p]
print(json.dumps(dict(
    commands=len(ev), span_ns=int(max(max(e[0], e[4]) for e in ev) * 1000), ops=ops, rows=rows,
    whole=row(io, 0, random), random=random, seeks=[[k, seeks[k]] for k in sorted(seeks)],
    gaps_ns=powers([round((b[0] - a[0]) * 1000) for a, b in zip(ev, ev[1:])]),
    reuse=dict(sampled_1_in=1, blocks=len(set(w) | r), blocks_read=len(r), blocks_written=len(w),
        block_writes=total, block_reads=sum(len(blocks(e)) for e in io if e[1] == "read"),
        rewrites=total - len(w), reads_back=back,
        hottest_pct=[100 * sum(hot[:-(-len(hot) * p // 100)]) / total for p in (20, 10, 1)]),
    mean_ns=[1000 * sum(e[4] - e[0] for e in ev if e[1] == o["op"]) / o["count"] for o in ops])))
"#;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces")
}

fn ssdlab(args: &[&str]) -> Output {
    let output = Command::cargo_bin("ssdlab")
        .expect("built")
        .args(args)
        .output();
    let output = output.expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    output
}

fn show(path: &Path) -> Value {
    let path = path.to_string_lossy();
    let output = ssdlab(&["trace", "show", "--json", &path]);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_recorded_traces_are_described_as_python_describes_them() {
    let python = std::process::Command::new("python3")
        .arg("--version")
        .output();
    if python.is_err() {
        return ssdlab_skips::skip("python3 is not installed, so there is nothing to compare with");
    }
    for name in ["zfs-2.1.11-log-1-dataset", "zfs-2.1.11-log-5-datasets"] {
        let path = examples().join(format!("{name}.csv.gz"));
        let reference = std::process::Command::new("python3")
            .args(["-c", REFERENCE])
            .arg(&path)
            .output()
            .expect("python runs");
        assert!(reference.status.success(), "{reference:?}");
        let expected: Value = serde_json::from_slice(&reference.stdout).expect("JSON");
        let ours = &show(&path)["trace"];
        let expected = expected.as_object().expect("an object");
        for (key, value) in expected.iter().filter(|(key, _)| *key != "mean_ns") {
            assert_eq!(&ours[key], value, "{name}: {key}");
        }
        let means = expected["mean_ns"].as_array().expect("a list");
        for (ours, mean) in ours["latencies"]
            .as_array()
            .expect("a list")
            .iter()
            .zip(means)
        {
            let (ours, mean) = (ours["mean_ns"].as_f64(), mean.as_f64());
            let (ours, mean) = (ours.unwrap_or(0.0), mean.unwrap_or(1.0));
            assert!(
                (ours / mean - 1.0).abs() < 1e-9,
                "{name}: {ours} for {mean}"
            );
        }
    }
}

#[test]
fn the_recorded_traces_are_as_random_as_their_source_says() {
    // docs/hosts.md: 65 % and 94 %.
    for (name, percent) in [("1-dataset", 65.0), ("5-datasets", 94.0)] {
        let trace = &show(&examples().join(format!("zfs-2.1.11-log-{name}.csv.gz")))["trace"];
        let random = trace["random"].as_f64().unwrap_or(0.0);
        let count = trace["whole"]["count"].as_f64().unwrap_or(1.0);
        assert!((100.0 * random / count - percent).abs() < 1.0, "{name}");
    }
}

#[test]
fn a_converted_trace_shows_the_same_where_the_format_holds_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let from = examples().join("zfs-2.1.11-log-5-datasets.csv.gz");
    let original = show(&from)["trace"].clone();
    let timed = ["csv", "blkparse", "blktrace", "biosnoop", "msr"];
    let of_issues = ["fio-iolog-3", "fio-iolog-2", "spc", "disksim", "mqsim"];
    for format in timed.iter().chain(&of_issues).copied() {
        let to = dir.path().join(format);
        let (from, out) = (from.to_string_lossy(), to.to_string_lossy());
        let output = ssdlab(&["trace", "convert", &from, &out, "--to", format]);
        assert!(output.status.success(), "{output:?}");
        let converted = show(&to);
        assert_eq!(converted["format"], format);
        let trace = &converted["trace"];
        for key in ["seeks", "reuse", "extent"] {
            assert_eq!(trace[key], original[key], "{format}: {key}");
        }
        if timed.contains(&format) {
            assert_eq!(trace["rows"], original["rows"], "{format}");
        }
        // Formats of reads and writes alone lose the flushes.
        if !["msr", "spc", "disksim", "mqsim"].contains(&format) {
            assert_eq!(trace["commands"], original["commands"], "{format}");
        }
        let again = ssdlab(&["trace", "convert", &from, &out, "--to", format]);
        assert_eq!(again.status.code(), Some(2), "{format}: written over");
    }
}

#[test]
fn fio_replays_a_converted_trace_to_the_last_byte() {
    let dir = tempfile::tempdir().expect("a directory");
    let from = examples().join("zfs-2.1.11-log-5-datasets.csv.gz");
    let trace = show(&from)["trace"].clone();
    for version in ["fio-iolog-2", "fio-iolog-3"] {
        let log = dir.path().join(version);
        let (from, log) = (from.to_string_lossy(), log.to_string_lossy());
        assert!(
            ssdlab(&["trace", "convert", &from, &log, "--to", version])
                .status
                .success()
        );
        let fio = std::process::Command::new("fio")
            .args([
                "--name=x",
                "--ioengine=null",
                "--size=8g",
                "--replay_no_stall=1",
            ])
            .args(["--output-format=json", &format!("--read_iolog={log}")])
            .output();
        let Ok(output) = fio else {
            return ssdlab_skips::skip("fio is not installed");
        };
        let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let job = &result["jobs"][0];
        for (place, op) in [(0, "read"), (1, "write")] {
            let ours = &trace["ops"][place];
            assert_eq!(job[op]["total_ios"], ours["count"], "{version}: {op}");
            assert_eq!(job[op]["io_bytes"], ours["bytes"], "{version}: {op}");
        }
        assert_eq!(
            job["sync"]["total_ios"], trace["ops"][2]["count"],
            "{version}"
        );
    }
}

#[test]
fn the_table_fits_80_columns() {
    let path = examples().join("zfs-2.1.11-log-1-dataset.csv.gz");
    let output = ssdlab(&["trace", "show", "--rows", "all", &path.to_string_lossy()]);
    let text = String::from_utf8(output.stdout).expect("text");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(text.contains("%RAN %SEQ"), "{text}");
}

/// A fio iolog without waits was said to have 200G commands a second.
#[test]
fn a_trace_without_times_has_no_rates() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("iolog");
    let lines: String = (0..200)
        .map(|n| format!("f write {} 4096\nf sync 0 0\n", n * 8192))
        .collect();
    std::fs::write(
        &path,
        format!("fio version 2 iolog\nf add\nf open\n{lines}f close\n"),
    )
    .expect("written");
    let text = ssdlab(&["trace", "show", &path.to_string_lossy()]);
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("400 commands, no times recorded"), "{text}");
    assert!(
        !text.contains("/s)") && !text.contains("Time between"),
        "{text}"
    );
    let write = text.lines().find(|line| line.starts_with("write "));
    assert!(write.is_some_and(|line| line.ends_with(" -")), "{text}");
    // One row of the pattern: of all.
    let counted = text.lines().filter(|line| line.contains(" 200 "));
    assert_eq!(counted.filter(|line| line.contains("whole")).count(), 1);
    let trace = &show(&path)["trace"];
    assert_eq!(trace["span_ns"], Value::Null);
    assert_eq!(trace["gaps_ns"], Value::Null);
    assert_eq!(trace["rows"], Value::Array(Vec::new()));
    assert_eq!(trace["whole"]["count"], 200);
    // One wait is a time.
    let waits = format!("fio version 2 iolog\nf add\nf open\nf wait 100\n{lines}f close\n");
    let waits = waits.replace("f write 8192 ", "f wait 300\nf write 8192 ");
    std::fs::write(&path, waits).expect("written");
    assert_eq!(show(&path)["trace"]["span_ns"], 200_000_000);
}

#[test]
fn bad_traces_and_words_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).expect("written");
        path.to_string_lossy().into_owned()
    };
    let good = file("good", b"t_us,op,offset,length,done_us\n0,read,0,512,1\n");
    let cases: [(&[&str], &str); 8] = [
        (&["show", &file("empty", b"")], "the file is empty"),
        (&["show", &file("binary", &[0, 159, 1, 2])], "not a trace"),
        (&["show", "no-such-file"], "reading no-such-file"),
        (&["show", &good, "--interval", "0s"], "--interval 0"),
        (&["show", &good, "--rows", "few"], "--rows cannot be"),
        (&["show", &good, "--format", "tape"], "no trace format"),
        (
            &["show", &good, "--bad-share", "200%"],
            "--bad-share cannot",
        ),
        (
            &["convert", &good, "out", "--to", "tape"],
            "no trace format",
        ),
    ];
    for (args, message) in cases {
        let output = ssdlab(&[&["trace"], args].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
        assert!(stderr.contains("hint:"), "{args:?}: {stderr}");
    }
    assert!(!Path::new("out").exists());
}

/// Does a damaged trace say where it is damaged, and can the rest be used?
#[test]
fn damaged_traces_are_named_by_line_and_nothing_is_lost() {
    let dir = tempfile::tempdir().expect("a directory");
    let head = "t_us,op,offset,length,done_us\n";
    let good: String = (0..1000)
        .map(|n| format!("{},write,{},4096,{}\n", 10 * n, 4096 * n, 10 * n + 5))
        .collect();
    let cut = &good[..good.len() - 6];
    let bad = |line: &str| format!("{head}{good}{line}\n");
    let show = |text: &[u8]| {
        let path = dir.path().join("t.csv");
        std::fs::write(&path, text).expect("written");
        let output = ssdlab(&["trace", "show", &path.to_string_lossy()]);
        let (out, err) = (output.stdout, output.stderr);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&out), text(&err))
    };
    // A thousandth of the lines is within the share that may be bad: the rest is shown.
    for (line, why) in [
        (
            "1,write,18446744073709551615,4096,2",
            "line 1002: byte 18446744073709551615 lies beyond",
        ),
        ("1,write,99999999999999999999,4096,2", "is no offset"),
        (
            "9999,write,0,4096,1",
            "line 1002: it completes before it was issued",
        ),
        ("-5,write,0,4096,1", "is no time"),
    ] {
        let (code, shown, said) = show(bad(line).as_bytes());
        assert_eq!(code, Some(0), "{line}: {said}");
        assert!(
            said.contains("1 of 1002 lines were left out"),
            "{line}: {said}"
        );
        assert!(said.contains(why), "{line}: {said}");
        assert!(shown.contains("1,000 commands"), "{line}: {shown}");
    }
    let (code, shown, said) = show(format!("{head}{cut}").as_bytes());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("may have been cut short"), "{said}");
    assert!(shown.contains("999 commands"), "{shown}");
    let mut binary = format!("{head}{good}").into_bytes();
    binary.extend([0xff, 0xfe, 0, 1, b'\n']);
    let (code, shown, said) = show(&binary);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("it is not text"), "{said}");
    assert!(shown.contains("1,000 commands"), "{shown}");
    // More than the share is an error, and nothing is shown.
    let (code, shown, said) = show(format!("{head}{}", "9,write,0,4096,1\n".repeat(50)).as_bytes());
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("50 of 51 lines cannot be read") && shown.is_empty(),
        "{said}"
    );
    assert!(said.contains("hint:"), "{said}");
}

/// A trace that reaches beyond its target is refused before anything is written.
#[test]
fn a_trace_beyond_its_target_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let trace = dir.path().join("far.csv");
    let text = "t_us,op,offset,length,done_us\n0,write,4611686018427387904,4096,2\n";
    std::fs::write(&trace, text).expect("written");
    let out = dir.path().join("run");
    let output = ssdlab(&[
        "run",
        "--trace",
        &trace.to_string_lossy(),
        "--target",
        "drive:consumer-sata-1tb",
        "--out",
        &out.to_string_lossy(),
    ]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("reaches to byte 4611686018427392000"),
        "{said}"
    );
    assert!(said.contains("hint:"), "{said}");
    assert!(!out.exists());
}

/// Runs with results in a fresh directory; gives the output and the result.
fn run(args: &[&str]) -> (Output, Value) {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("run");
    let path = out.to_string_lossy().into_owned();
    let output = ssdlab(&[&["run", "--quiet", "--out", &path], args].concat());
    let result = std::fs::read(out.join("result.json")).unwrap_or_default();
    let result = serde_json::from_slice(&result).unwrap_or(Value::Null);
    (output, result)
}

#[test]
fn a_trace_is_replayed_command_for_command_and_twice_alike() {
    let trace = examples().join("zfs-2.1.11-log-5-datasets.csv.gz");
    let trace = trace.to_string_lossy();
    let args = ["--trace", &trace, "--target", "drive:consumer-sata-1tb"];
    let (output, first) = run(&args);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("at its recorded times"), "{text}");
    let counters = &first["phases"][0]["counters"]["after"];
    // As counted with `cut -d, -f2 | sort | uniq -c`.
    for (name, expected) in [("reads", 54), ("writes", 19_832), ("flushes", 13_148)] {
        assert_eq!(counters[name], expected, "{name}");
    }
    assert_eq!(first["phases"], run(&args).1["phases"]);
}

#[test]
fn a_profile_prepares_for_a_trace_and_a_small_target_needs_a_word() {
    let trace = examples().join("zfs-2.1.11-log-1-dataset.csv.gz");
    let trace = trace.to_string_lossy();
    let small = [
        "--target",
        "null:64MiB",
        "--trace",
        &trace,
        "--speed",
        "max",
    ];
    let (output, _) = run(&small);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--wrap"), "{stderr}");
    for fit in ["--wrap", "--scale"] {
        let (output, _) = run(&[&small[..], &[fit, "--profile", "fill"]].concat());
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{output:?}");
        assert!(stdout.contains("profile fill, then trace"), "{stdout}");
    }
}

#[test]
fn requests_that_contradict_themselves_are_refused() {
    let trace = examples().join("zfs-2.1.11-log-1-dataset.csv.gz");
    let trace = trace.to_string_lossy();
    let cases: [&[&str]; 6] = [
        &["--profile", "iometer"],
        &["--speed", "2"],
        &[
            "--trace",
            &trace,
            "--speed",
            "fast",
            "--target",
            "null:8GiB",
        ],
        &["--trace", &trace, "--wrap", "--scale"],
        &["--trace", &trace, "--", "diskspd", "-b4k", "x"],
        &["--iodepth", "4", "--", "diskspd", "-b4k", "x"],
    ];
    for args in cases {
        let (output, _) = run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(!stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_listed_profile_is_a_job_file_that_runs() {
    let list = ssdlab(&["list", "profiles", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).expect("JSON");
    assert!(list.as_array().is_some_and(|all| all.len() >= 20));
    let plain = String::from_utf8(ssdlab(&["list", "profiles"]).stdout).expect("text");
    assert!(
        plain.lines().all(|line| line.chars().count() <= 80),
        "{plain}"
    );
    let text = ssdlab(&["list", "profiles", "jesd219-enterprise"]).stdout;
    let dir = tempfile::tempdir().expect("a directory");
    let job = dir.path().join("job.fio");
    std::fs::write(&job, text).expect("written");
    let target = ["--target", "drive:consumer-sata-1tb"];
    let (from_file, result) = run(&[&[&*job.to_string_lossy()], &target[..]].concat());
    assert!(from_file.status.success(), "{from_file:?}");
    let (_, by_name) = run(&[&["--profile", "jesd219-enterprise"], &target[..]].concat());
    assert_eq!(result["phases"], by_name["phases"]);
}

/// `ssdlab trace convert ... 2>&1 | head` closes standard error early: that ended the program with
/// a panic's exit code, after whatever of its work happened to be done.
#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    let dir = tempfile::tempdir().expect("a directory");
    let from = examples().join("zfs-2.1.11-log-1-dataset.csv.gz");
    let to = dir.path().join("out.msr");
    for code in [0, 2] {
        let (nobody, closed) = std::io::pipe().expect("a pipe");
        drop(nobody);
        // The second time the file exists, which is an error.
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_ssdlab"))
            .args(["trace", "convert", "--to", "msr"])
            .args([&from, &to])
            .stderr(closed)
            .status()
            .expect("it runs");
        assert_eq!(status.code(), Some(code));
    }
}
