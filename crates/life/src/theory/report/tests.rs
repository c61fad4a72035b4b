use super::*;

fn row(policy: &str, expected: f64, measured: f64) -> TheoryRow {
    TheoryRow {
        group: "uniform".into(),
        policy: policy.into(),
        load: "80/20, \"hot\"".into(),
        frontiers: FrontierSplit::Shared,
        op: 7.0,
        np: 32,
        n: 1000,
        r: 2,
        k: 1,
        alpha_eff: 1.06,
        expected,
        source: ExpectationSource::ClosedForm,
        measured,
        tolerance: 0.005,
        ci: 0.001,
    }
}

fn about() -> TheoryReportInfo {
    TheoryReportInfo {
        subject: "the <reference>".into(),
        protocol: vec!["Filled at random.".into()],
        command: "ssdlab theory".into(),
    }
}

#[test]
fn a_row_agrees_up_to_its_tolerance() {
    assert!(row("greedy", 2.0, 2.0099).agrees());
    assert!(row("greedy", 2.0, 1.9901).agrees());
    assert!(!row("greedy", 2.0, 2.0101).agrees());
    assert!(!row("greedy", 2.0, f64::NAN).agrees());
    assert!(!row("greedy", f64::INFINITY, f64::INFINITY).agrees());
}

#[test]
fn the_csv_has_every_row_with_fields_quoted_where_needed() {
    let text = csv(&[row("greedy", 2.0, 2.01), row("fifo", 4.0, 4.0)]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0].split(',').count(), 17);
    let expected = "uniform,fifo,\"80/20, \"\"hot\"\"\",shared,7,32,1000,2,1,1.06,4,closed form,4,\
                    0,0.005,0.001,true";
    assert_eq!(lines[2], expected);
}

#[test]
fn the_page_says_what_misses_and_needs_nothing_else() {
    let page = html(&about(), &[row("greedy", 2.0, 2.2), row("fifo", 4.0, 4.0)]);
    assert!(page.contains("FAIL") && page.contains("1 of 2 values within their tolerance"));
    assert!(page.contains("Outside the tolerance") && page.contains("+10.00 miss"));
    assert!(page.contains("the &lt;reference&gt;") && !page.contains("<reference>"));
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("NaN"));
    assert!(html(&about(), &[row("fifo", 4.0, 4.0)]).contains("PASS"));
    assert!(html(&about(), &[]).contains("Nothing was measured"));
}

#[test]
fn values_that_are_no_numbers_are_a_miss_and_not_drawn() {
    let page = html(&about(), &[row("greedy", f64::INFINITY, 2.0)]);
    assert!(page.contains("FAIL") && !page.contains("<svg viewBox=\"0 0 540"));
}

#[test]
fn page_and_csv_are_written_side_by_side() {
    let dir = tempfile::tempdir().expect("a directory");
    let page = write(dir.path(), &about(), &[row("fifo", 4.0, 4.0)]).expect("written");
    assert!(page.exists() && dir.path().join(CSV_FILE).exists());
    let error = write(&dir.path().join("none"), &about(), &[]).expect_err("no such place");
    assert!(error.to_string().contains("theory.csv"), "{error}");
}
