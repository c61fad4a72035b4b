//! The screen as files: an example recording on terminals of several sizes. `UPDATE_SCREENS=1`
//! writes them again.

use super::{Screen, ScreenLook, ScreenView, draw};
use crate::record::{RecordingReplay, replay_recording};
use crate::report::{WatchProgress, WatchReport};
use crate::request::BlockRequest;
use crate::source::event::RequestKind;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

struct Watched(ScreenView);

impl WatchProgress for Watched {
    fn request(&mut self, request: &BlockRequest) {
        self.0.request(request, 0);
    }

    fn second(&mut self, report: &WatchReport) {
        self.0.second(report);
    }
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example() -> ScreenView {
    let mut watched = Watched(ScreenView::default());
    let path = top().join("examples/traces/watch-volatile-buffer.gz");
    let replay = RecordingReplay {
        progress: &mut watched,
        stop: &AtomicBool::new(false),
    };
    replay_recording(&path, Some(replay)).expect("a recording");
    watched.0
}

const PLAIN: ScreenLook = ScreenLook {
    is_unicode: false,
    has_colour: false,
};
const RICH: ScreenLook = ScreenLook {
    is_unicode: true,
    has_colour: true,
};

fn terminal(view: &ScreenView, look: ScreenLook, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal
        .draw(|frame| draw(view, look, frame.area(), frame.buffer_mut()))
        .expect("drawn");
    terminal
}

fn text(view: &ScreenView, look: ScreenLook, width: u16, height: u16) -> String {
    let terminal = terminal(view, look, width, height);
    let buffer = terminal.backend().buffer();
    let row = |y| {
        let row: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        format!("{}\n", row.trim_end())
    };
    (0..height).map(row).collect()
}

fn held(name: &str, screen: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/screens/{name}.txt"));
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        std::fs::write(&path, screen).expect("written");
    }
    let expected = std::fs::read_to_string(&path).expect("a screen");
    assert_eq!(screen, expected, "{}", path.display());
}

#[test]
fn the_example_on_three_terminals() {
    let view = example();
    for (width, height) in [(80, 24), (120, 40), (40, 10)] {
        let screen = text(&view, RICH, width, height);
        held(&format!("{width}x{height}"), &screen);
        assert!(screen.contains("volatile buffer"), "{screen}");
    }
    let mut of_flushes = view;
    of_flushes.kind = Some(RequestKind::Flush);
    of_flushes.is_paused = true;
    let screen = text(&of_flushes, PLAIN, 80, 24);
    held("80x24-ascii", &screen);
    assert!(screen.is_ascii(), "{screen}");
}

/// No size is too small: nothing panics, and the answer is the last thing to go.
#[test]
fn every_size_shows_the_answer_first() {
    let view = example();
    for width in 1..100 {
        for height in 1..30 {
            let screen = text(&view, RICH, width, height);
            if width >= 27 {
                assert!(
                    screen.contains("THE DRIVE: volatile buffer"),
                    "{width}x{height}: {screen}"
                );
            }
        }
    }
    let empty = text(&ScreenView::default(), RICH, 80, 24);
    assert!(empty.contains("watching: the first second"), "{empty}");
}

#[test]
fn without_colours_none_is_set() {
    let view = example();
    let coloured = |look| {
        let terminal = terminal(&view, look, 80, 24);
        let cells = terminal.backend().buffer().content.clone();
        let is_coloured = |cell: &ratatui::buffer::Cell| {
            cell.fg != ratatui::style::Color::Reset || cell.bg != ratatui::style::Color::Reset
        };
        cells.into_iter().filter(is_coloured).count()
    };
    assert_eq!(coloured(PLAIN), 0);
    assert!(coloured(RICH) > 0);
}

#[test]
fn the_look_is_that_of_the_environment() {
    let look = |pairs: &[(&str, &str)]| {
        ScreenLook::from_environment(|name| {
            let pair = pairs.iter().find(|(key, _)| *key == name);
            pair.map(|(_, value)| (*value).to_owned())
        })
    };
    assert_eq!(look(&[("LANG", "C.UTF-8")]), RICH);
    let plain = look(&[("LC_ALL", "C"), ("LANG", "C.UTF-8"), ("NO_COLOR", "1")]);
    assert_eq!(plain, PLAIN);
    assert!(look(&[("LC_ALL", ""), ("LANG", "de_DE.utf8")]).is_unicode);
    assert!(look(&[("NO_COLOR", "")]).has_colour, "empty is not set");
}

#[test]
fn arrows_go_through_every_kind_and_back() {
    let mut view = ScreenView::default();
    for kind in RequestKind::ALL {
        view.turn(true);
        assert_eq!(view.kind, Some(kind));
    }
    view.turn(true);
    assert_eq!(view.kind, None);
    view.turn(false);
    assert_eq!(view.kind, Some(RequestKind::Discard));
}

/// Run by the test below, on a terminal of its own.
#[test]
#[ignore = "panics"]
fn panic_on_a_screen() {
    let _screen = Screen::open(RICH, "", Arc::default()).expect("a terminal");
    std::thread::sleep(Duration::from_millis(500));
    panic!("the canary panics");
}

/// The terminal is given back before the message of a panic, and the message can be read.
#[test]
fn a_panic_gives_the_terminal_back() {
    let program = std::env::current_exe().expect("a path");
    let test = "screen::tests::panic_on_a_screen";
    let command = format!(
        "stty rows 24 cols 80; '{}' --ignored --nocapture --exact {test}",
        program.display()
    );
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        ssdlab_skips::skip("no terminal can be made (needs script of util-linux)");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let place = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("{words:?} is not in {text:?}"))
    };
    let places = [
        "\u{1b}[?1049h",
        "\u{1b}[?1049l",
        "\u{1b}[?25h",
        "the canary panics",
    ]
    .map(place);
    assert!(places.is_sorted(), "{places:?} in {text:?}");
}
