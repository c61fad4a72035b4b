//! Where things stand on the screen, by its size.

use super::look::ScreenLook;
use super::parts::{self, ScreenLine};
use super::{ScreenView, heat};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ssdlab_view::units;

/// Rows of a heat map that are worth their place: its title, two rows, marks and times.
const HEAT_ROWS_MIN: u16 = 5;
/// Lines below the title of the answer, at most.
const ANSWER_LINES: u16 = 5;
/// Stalls in words, at most.
const STALL_LINES: usize = 3;

/// Rows for each part.
#[derive(Debug, Default, PartialEq, Eq)]
struct ScreenRows {
    head: u16,
    answer: u16,
    rates: u16,
    heat: u16,
    stalls: u16,
    sources: u16,
    keys: u16,
}

/// What the parts would like to have.
struct WantedRows {
    answer: u16,
    rates: u16,
    stalls: u16,
}

impl ScreenRows {
    /// The answer goes before the map, the map before the table, the table before the rest.
    fn new(height: u16, wanted: &WantedRows) -> ScreenRows {
        let mut free = height;
        let mut take = |rows: u16| {
            let taken = rows.min(free);
            free -= taken;
            taken
        };
        let mut rows = ScreenRows {
            answer: take(1),
            ..ScreenRows::default()
        };
        rows.keys = take(u16::from(height >= 4));
        rows.head = take(u16::from(height >= 5));
        // On a small screen one line of advice is enough.
        let small = if height < 16 { 1 } else { wanted.answer };
        rows.answer += take(small.min(wanted.answer));
        if height >= 9 {
            rows.heat = take(HEAT_ROWS_MIN);
        }
        if height >= 14 {
            rows.rates = take(wanted.rates);
            rows.sources = take(1);
            rows.stalls = take(wanted.stalls);
        }
        if rows.heat > 0 {
            rows.heat += take(u16::MAX);
        }
        rows
    }
}

struct Pen<'a> {
    look: ScreenLook,
    area: Rect,
    y: u16,
    buffer: &'a mut Buffer,
}

impl Pen<'_> {
    fn width(&self) -> usize {
        usize::from(self.area.width)
    }

    fn line(&mut self, line: &ScreenLine) {
        if self.y < self.area.bottom() {
            let text = self.look.cut(&line.text, self.width());
            self.buffer
                .set_string(self.area.x, self.y, text, line.style);
        }
        self.y += 1;
    }

    /// A line with words at both ends, if both fit.
    fn ends(&mut self, left: &ScreenLine, right: &str, style: Style) {
        let right = self.look.text(right);
        let needed = left.text.chars().count() + 2 + right.chars().count();
        if needed <= self.width() && self.y < self.area.bottom() {
            let x = self.area.right() - right.chars().count() as u16;
            self.buffer.set_string(x, self.y, right, style);
        }
        self.line(left);
    }
}

fn head(view: &ScreenView) -> ScreenLine {
    let text = view.report.as_ref().map_or_else(
        || "ssdlab watch".to_owned(),
        |report| {
            let drive = &report.drive;
            let model = drive.model.as_deref().unwrap_or("unknown model");
            let size = drive.capacity.map_or(String::new(), |bytes| {
                format!(", {}", units::decimal_bytes(bytes as f64))
            });
            format!("{} on {} ({model}{size})", drive.given, drive.device)
        },
    );
    ScreenLine::plain(text)
}

fn state(view: &ScreenView) -> String {
    let watched_s = view.report.as_ref().map_or(0.0, |report| report.watched_s);
    let mut words = vec![units::clock(watched_s)];
    if !view.note.is_empty() {
        words.insert(0, view.note.clone());
    }
    if view.is_paused {
        words.push("PAUSED".to_owned());
    }
    words.join(", ")
}

fn keys(view: &ScreenView, look: ScreenLook) -> ScreenLine {
    let arrows = if look.is_unicode { "←→" } else { "</>" };
    let pause = if view.is_paused { "go on" } else { "pause" };
    let kind = view.kind.map_or("all", |kind| kind.name());
    ScreenLine {
        text: format!("q end  p {pause}  {arrows} kind: {kind}"),
        style: Style::new().reversed(),
    }
}

/// Draws the view into the whole of `area`.
pub fn draw(view: &ScreenView, look: ScreenLook, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let answer = parts::answer(view.report.as_ref(), look);
    let body = parts::wrapped(&answer.sentences, width, ANSWER_LINES.into(), look);
    let rates = view
        .report
        .as_ref()
        .map_or_else(Vec::new, |report| parts::rates(&report.figures, width));
    let stalls: Vec<String> = view.stalls.iter().rev().map(parts::stall).collect();
    let rows = ScreenRows::new(
        area.height,
        &WantedRows {
            answer: body.len() as u16,
            rates: rates.len() as u16,
            stalls: stalls.len().min(STALL_LINES) as u16,
        },
    );
    let mut pen = Pen {
        look,
        area,
        y: area.y,
        buffer,
    };
    if rows.head > 0 {
        pen.ends(&head(view), &state(view), Style::new());
    }
    if let Some(number) = &answer.number {
        let long = format!("{number} as fast without it");
        let needed = answer.title.text.chars().count() + 2 + long.chars().count();
        let number = if needed <= width { &long } else { number };
        pen.ends(&answer.title, number, answer.title.style);
    } else {
        pen.line(&answer.title);
    }
    let body_rows = usize::from(rows.answer.saturating_sub(1));
    let body = parts::wrapped(&answer.sentences, width, body_rows, look);
    for line in body {
        pen.line(&ScreenLine::plain(line));
    }
    for line in rates.iter().take(rows.rates.into()) {
        pen.line(&ScreenLine::plain(line.as_str()));
    }
    let map = Rect {
        y: pen.y,
        height: rows.heat,
        ..area
    };
    heat::draw(view, look, map, pen.buffer);
    pen.y += rows.heat;
    for line in stalls.iter().take(rows.stalls.into()) {
        pen.line(&ScreenLine::plain(line.as_str()));
    }
    if let (1, Some(report)) = (rows.sources, &view.report) {
        pen.line(&ScreenLine::plain(parts::sources(report)));
    }
    if rows.keys > 0 {
        pen.y = area.bottom() - 1;
        pen.line(&keys(view, look));
    }
}
