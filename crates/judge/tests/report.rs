//! Are the reports what was agreed, byte for byte; are the pages self-contained, well formed and
//! safe against hostile names; and do the terminal's tables stay within their 80 columns?
//!
//! The texts agreed are insta snapshots: `INSTA_UPDATE=always cargo test -p ssdlab-judge --test
//! report` rewrites `tests/snapshots/`, and the difference belongs in the review.

mod sample;

use ssdlab_base::check::SelfCheck;
use ssdlab_bench::analysis::WriteCliff;
use ssdlab_bench::record::RunEnding;
use ssdlab_bench::report::RunReport;
use ssdlab_bench::report::terminal;
use ssdlab_judge::qualify;
use ssdlab_judge::qualify::Qualification;

/// Everything that a file name or a model string could try.
const HOSTILE: &str =
    "</script><script>alert('x')</script>\"><img src=x onerror=\"y\">&amp; ' ü 漢字 \u{202e}";

#[test]
fn text_reports_are_as_agreed() {
    let (q, runs) = (sample::qualification(), sample::runs());
    let phases = [sample::phases(), sample::phases()];
    for (name, text) in [
        ("answer", qualify::terminal::answer(&q, 80)),
        ("verdict", qualify::terminal::verdict_summary(&q)),
        ("drives", qualify::terminal::comparison_table(&q)),
        ("run", terminal::run_summary(&runs[0])),
        ("runs", terminal::run_comparison(&runs)),
        ("phases", terminal::run_summary(&phases[0])),
        ("runs-phases", terminal::run_comparison(&phases)),
    ] {
        insta::assert_snapshot!(name, text);
    }
}

/// The answer stood on line 879.
#[test]
fn the_answer_fits_one_screen_at_any_width() {
    for (q, _) in [(sample::qualification(), ()), (hostile().0, ())] {
        for width in [40, 80, 160] {
            let text = qualify::terminal::answer(&q, width);
            let lines = text.lines().count();
            assert!(
                lines <= qualify::terminal::ANSWER_LINES_MAX,
                "{lines}: {text}"
            );
            let word = ["PASS", "FAIL", "UNKNOWN"];
            let first = text.lines().next().unwrap_or_default();
            assert!(word.iter().any(|word| first.contains(word)), "{first}");
        }
    }
}

/// The paragraph on virtual machines stood under two requirements.
#[test]
fn a_reason_is_printed_once() {
    let mut q = sample::qualification();
    let why = "This is a reason that two requirements share.";
    for finding in &mut q.target.verdict.findings[..2] {
        finding.outcome = qualify::QualifyOutcome::Unknown;
        finding.why = why.into();
    }
    let text = qualify::terminal::verdict_summary(&q);
    assert_eq!(text.matches("This is a reason").count(), 1, "{text}");
    assert!(text.contains("As above."), "{text}");
}

/// Of 58 phases nobody could say which was which; and a figure was broken from its unit.
#[test]
fn the_page_tells_a_phases_name_and_breaks_no_figure() {
    let page = ssdlab_bench::report::run_page(&[sample::phases()]);
    for text in ["2 r65-8k", "randrw 65/35 8 KiB, depth 32 x 4", "540 us"] {
        let joined = text.replace(' ', "\u{a0}");
        assert!(page.contains(&joined), "{text}");
        assert!(!page.contains(text), "{text} can be broken");
    }
}

/// The sample with every text replaced and numbers at their extremes.
fn hostile() -> (Qualification, Vec<RunReport>) {
    let mut q = sample::qualification();
    for drive in std::iter::once(&mut q.target).chain(&mut q.references) {
        let e = &mut drive.evidence;
        e.facts.name = HOSTILE.repeat(5);
        e.facts.model = Some(HOSTILE.into());
        e.facts.notes = vec![HOSTILE.into()];
        e.facts.capacity = u64::MAX;
        e.facts.rated_bytes_written = Some(u64::MAX);
        e.facts.warranty_years = Some(1e-300);
        e.rests_on = vec![HOSTILE.to_owned().into()];
        e.probes[0].method = HOSTILE.into();
        e.probes[1].per_second = f64::INFINITY;
        e.probes[1].device_writes = Some(f64::NAN);
        e.probes[1].max_ns = u64::MAX;
        e.sustained[0].title = HOSTILE.into();
        e.sustained[0].iops_end = f64::NAN;
        e.sustained[0].waf = Some(f64::NAN);
        drive.verdict.answer = HOSTILE.repeat(9);
        for f in &mut drive.verdict.findings {
            for text in [&mut f.title, &mut f.value, &mut f.limit, &mut f.why] {
                *text = HOSTILE.into();
            }
        }
        for m in &mut drive.verdict.mechanisms {
            m.sentence = "x".repeat(500);
        }
    }
    for _ in 0..4 {
        q.references.push(q.references[0].clone());
    }
    q.role = HOSTILE.into();
    q.incomplete = vec![HOSTILE.into()];
    let mut runs = sample::runs();
    runs.extend(sample::runs());
    runs.extend([sample::phases(), sample::phases()]);
    for run in &mut runs {
        for phase in &mut run.phase_names {
            (phase.name, phase.what) = (HOSTILE.repeat(5), HOSTILE.repeat(5));
        }
        run.title = HOSTILE.into();
        run.label = HOSTILE.into();
        run.command = HOSTILE.into();
        run.notes = vec![HOSTILE.into()];
        run.facts.name = HOSTILE.into();
        run.ending = RunEnding::Failed(HOSTILE.into());
        run.checks = vec![SelfCheck::new(HOSTILE, Err(HOSTILE.into()))];
        run.totals[0].max_ns = u64::MAX;
        run.totals[0].count = u64::MAX;
        run.totals[0].length_s = 1e-9;
        run.totals[1].mean_ns = f64::NAN;
        run.cliff = Some(WriteCliff {
            at_s: f64::NAN,
            after_bytes: u64::MAX,
            before: f64::INFINITY,
            after: -1.0,
            signal_to_noise: 0.0,
        });
    }
    (q, runs)
}

/// Columns that a terminal uses; the wide characters used here are the CJK ideographs.
fn columns(line: &str) -> usize {
    let wide = |c: char| ('\u{3000}'..'\u{a000}').contains(&c);
    line.chars().map(|c| 1 + usize::from(wide(c))).sum()
}

#[test]
fn no_line_exceeds_80_columns_or_holds_control_characters() {
    let (q, runs) = hostile();
    let (fair, fair_runs) = (sample::qualification(), sample::runs());
    let mut texts = vec![terminal::run_comparison(&runs)];
    for q in [&q, &fair] {
        texts.extend([
            ssdlab_judge::qualify::terminal::verdict_summary(q),
            ssdlab_judge::qualify::terminal::comparison_table(q),
        ]);
    }
    texts.extend(runs.iter().chain(&fair_runs).map(terminal::run_summary));
    let mut phases = sample::phases();
    texts.push(terminal::run_summary(&phases));
    phases.phase_names[0].what = HOSTILE.repeat(5);
    texts.push(terminal::run_summary(&phases));
    for line in texts.iter().flat_map(|text| text.lines()) {
        assert!(
            columns(line) <= ssdlab_view::text::WIDTH,
            "{}: {line}",
            columns(line)
        );
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(!line.contains("NaN") && !line.contains("inf"), "{line}");
    }
}

/// The page's tags and its text, without scripts and styles; panics when tags do not nest.
fn markup(page: &str) -> (String, String) {
    const VOID: [&str; 4] = ["meta", "input", "br", "!DOCTYPE"];
    let (mut open, mut rest) = (Vec::new(), page);
    let (mut tags, mut text) = (String::new(), String::new());
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        text += &rest[..at];
        tags += &rest[at..=end];
        rest = &rest[end + 1..];
        let name = tag.split_whitespace().next().unwrap_or("");
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "tags nest");
        } else if !VOID.contains(&name) {
            open.push(name);
        }
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("raw text is closed")..];
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    (tags, text + rest)
}

fn assert_sound(page: &str) {
    let (tags, text) = markup(page);
    let sorts = usize::from(page.contains("class=\"sortable\""));
    let stacks = usize::from(page.contains("class=\"scroll"));
    // The button of the theme, beside those of the charts.
    assert_eq!(tags.matches("<script").count(), 4 + sorts + stacks);
    for load in ["<link", "<img", "<iframe", "://"] {
        assert!(!tags.contains(load), "{load} in a tag");
    }
    // A cell carries the text of its head in quotes: what loads or runs is outside of them.
    let names: String = tags.split('"').step_by(2).collect();
    for name in [" src=", " href=", " on"] {
        assert!(!names.contains(name), "{name} in a tag");
    }
    for load in ["@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!page.contains(load), "{load} in the page");
    }
    assert!(page.contains("default-src 'none'"));
    for number in ["NaN", "inf ", "inf,"] {
        assert!(!text.contains(number), "{number} in the text");
    }
    let json = page.split("id=\"charts\">").nth(1).unwrap();
    let json = json.split("</script>").next().unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(json).is_ok());
}

#[test]
fn pages_are_well_formed_safe_and_self_contained() {
    let (q, runs) = hostile();
    for page in [
        ssdlab_judge::page::qualification_page(&sample::qualification()),
        ssdlab_judge::page::qualification_page(&q),
        ssdlab_bench::report::run_page(&sample::runs()),
        ssdlab_bench::report::run_page(&runs),
        ssdlab_bench::report::run_page(&runs[..1]),
    ] {
        assert_sound(&page);
        assert!(!page.contains("<script>alert") && !page.contains("<img"));
        assert!(page.contains("<noscript>"));
    }
}

#[test]
fn pages_stay_small() {
    let page = ssdlab_judge::page::qualification_page(&sample::qualification());
    assert!(page.len() < 400_000, "{} bytes", page.len());
    // Half an hour of each load of the target, every kind of command: drawn point by point.
    let mut alone = sample::qualification();
    alone.references.clear();
    let page = ssdlab_judge::page::qualification_page(&alone);
    assert!(!page.contains("thinned for display"));
    let (q, _) = hostile();
    let page = ssdlab_judge::page::qualification_page(&q);
    assert!(page.len() < 560_000, "{} bytes", page.len());
    assert!(page.contains("thinned for display"));
}

#[test]
fn pages_without_anything_measured_still_say_so() {
    let mut q = sample::qualification();
    q.references.clear();
    q.incomplete.clear();
    let e = &mut q.target.evidence;
    (e.probes, e.flush_by_dirty, e.sustained) = (vec![], vec![], vec![]);
    q.target.verdict.findings.clear();
    q.target.verdict.mechanisms.clear();
    let page = ssdlab_judge::page::qualification_page(&q);
    assert!(page.contains("Not measured.") && !page.contains("id=\"charts\""));
    markup(&page);
    markup(&ssdlab_bench::report::run_page(&[]));
    assert!(ssdlab_judge::qualify::terminal::comparison_table(&q).contains("Capacity"));
    assert_eq!(terminal::run_comparison(&[]), "");
}
