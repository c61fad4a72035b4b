use super::*;

#[test]
fn every_drive_has_a_page_that_needs_nothing_else_and_is_below_a_megabyte() {
    let pages = pages().expect("the site can be made");
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    for (name, text) in &pages {
        assert!(text.len() < PAGE_BYTES_MAX, "{name}: {} bytes", text.len());
        assert!(
            !text.contains("<link ") && !text.contains(" src="),
            "{name}"
        );
        let has_table = text.contains("<table");
        assert_eq!(
            has_table,
            text.contains("aria-sort"),
            "{name} is not sorted"
        );
        let links = text
            .split("href=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        for link in links.filter(|link| !link.contains("://")) {
            assert!(names.contains(&link), "{name} leads to {link}");
        }
    }
    let index = &pages[0].1;
    for drive in drives(Ledger::open()) {
        assert!(
            index.contains(&format!("href=\"{}\"", drive.file)),
            "{}",
            drive.file
        );
    }
}

/// Pages spoke in the names of ledger files, and kept what decides a figure in tooltips.
#[test]
fn a_page_speaks_in_words_and_shows_what_decides_a_figure() {
    let pages = pages().expect("the site can be made");
    for (name, text) in &pages {
        for internal in [
            "sync_latency",
            "write_iops",
            "randwrite",
            "draft:",
            "file-system",
        ] {
            assert!(!text.contains(internal), "{name} says {internal}");
        }
    }
    let page = |file: &str| {
        let (_, text) = pages.iter().find(|(name, _)| name == file).expect(file);
        text.as_str()
    };
    let drive = page("crucial-t500-2000.html");
    for shown in [
        "60 s a run",
        "300 s a run",
        "durable writes per second",
        "493/s",
    ] {
        assert!(drive.contains(shown), "{shown}");
    }
    // Its last label would be cut at the edge of the drawing.
    let label = r#"x="420" y="298" text-anchor="end""#;
    assert!(page("score.html").contains(label));
    assert!(page("index.html").contains("2,759"));
}

#[test]
fn a_page_that_is_there_is_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let page = [("index.html".to_owned(), "new".to_owned())];
    std::fs::write(folder.path().join("index.html"), "old").unwrap();
    std::fs::write(folder.path().join("mine.txt"), "mine").unwrap();
    assert!(write(folder.path(), &page, false).is_err());
    write(folder.path(), &page, true).unwrap();
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        (text("index.html"), text("mine.txt")),
        ("new".into(), "mine".into())
    );
}
