//! Ledger files as rows. Every wrong cell of a file is an error with file and line.

use crate::metric::Metric;
use crate::row::{
    DriveState, FigureKind, LedgerDrive, LedgerRow, LinkKind, LoadKind, RowFigure, RowLoad,
    RowLocation, RowPath, RowState, RowUse, SyncMethod, Through,
};
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;

/// The columns of a ledger file, in order.
pub const COLUMNS: [&str; 35] = [
    "maker",
    "model",
    "family",
    "capacity_gb",
    "firmware",
    "interface",
    "form",
    "bits_per_cell",
    "nand",
    "dram",
    "plp",
    "raw_gib",
    "year",
    "state",
    "state_how",
    "through",
    "through_how",
    "rw",
    "read_pct",
    "block_bytes",
    "queue_depth",
    "jobs",
    "sync",
    "metric",
    "value",
    "unit",
    "low",
    "high",
    "samples",
    "kind",
    "use",
    "source",
    "place",
    "trap",
    "note",
];

/// The rows of a file and what is wrong in it.
#[derive(Debug, Default)]
pub struct ReadRows {
    /// The rows that could be read.
    pub rows: Vec<LedgerRow>,
    /// One error for each cell that could not.
    pub errors: Vec<LabError>,
}

/// Reads a ledger file; `file` names it in errors.
pub fn rows(text: &str, file: &str) -> ReadRows {
    let mut read = ReadRows::default();
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    if header.iter().ne(COLUMNS) {
        read.errors.push(wrong_header(&header, file));
        return read;
    }
    for record in reader.records() {
        match record {
            Ok(record) => {
                let line = record
                    .position()
                    .map_or(0, |position| position.line() as usize);
                let mut cells = Cells {
                    record: &record,
                    file,
                    line,
                    errors: Vec::new(),
                };
                if record.len() != COLUMNS.len() {
                    let given = format!("{} cells", record.len());
                    let allowed = format!("a row has {}", COLUMNS.len());
                    cells.wrong("row", &given, &allowed, QUOTE_HINT);
                } else if let Some(row) = row(&mut cells) {
                    read.rows.push(row);
                }
                read.errors.append(&mut cells.errors);
            }
            Err(error) => read.errors.push(LabError::BadEntry {
                key: "row".into(),
                what: error.to_string(),
                place: place(file, None),
                hint: QUOTE_HINT.into(),
            }),
        }
    }
    read
}

const QUOTE_HINT: &str = "a cell with a comma stands in double quotes";

fn wrong_header(header: &csv::StringRecord, file: &str) -> LabError {
    let given: Vec<&str> = header.iter().collect();
    let difference = (0..COLUMNS.len().max(given.len()))
        .find(|i| given.get(*i) != COLUMNS.get(*i))
        .unwrap_or(0);
    let column = |name: Option<&&str>| name.map_or("none", |name| *name).to_owned();
    LabError::BadValue {
        option: format!("column {}", difference + 1),
        given: column(given.get(difference)),
        allowed: format!("`{}` is allowed", column(COLUMNS.get(difference))),
        place: place(file, Some(1)),
        hint: "`ssdlab ledger add` writes the columns in order; copy the first line of another \
               file of ledger/"
            .into(),
    }
}

pub(crate) fn place(file: &str, line: Option<usize>) -> InputLocation {
    InputLocation {
        source: file.into(),
        line,
    }
}

/// The cells of a row, by column, with the errors so far.
struct Cells<'a> {
    record: &'a csv::StringRecord,
    file: &'a str,
    line: usize,
    errors: Vec<LabError>,
}

impl Cells<'_> {
    fn text(&self, column: &str) -> &str {
        let index = COLUMNS.iter().position(|name| *name == column);
        index
            .and_then(|index| self.record.get(index))
            .unwrap_or_default()
            .trim()
    }

    fn owned(&self, column: &str) -> String {
        self.text(column).to_owned()
    }

    fn wrong(&mut self, column: &str, given: &str, allowed: &str, hint: &str) {
        self.errors.push(LabError::BadValue {
            option: column.into(),
            given: given.into(),
            allowed: allowed.into(),
            place: place(self.file, Some(self.line)),
            hint: hint.into(),
        });
    }

    /// A cell that may be blank.
    fn optional<T>(
        &mut self,
        column: &str,
        allowed: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.owned(column);
        if text.is_empty() {
            return None;
        }
        let value = read(&text);
        if value.is_none() {
            self.wrong(
                column,
                &text,
                allowed,
                "leave it blank when it is not known",
            );
        }
        value
    }

    /// A cell that must not be blank.
    fn required<T>(
        &mut self,
        column: &str,
        allowed: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.owned(column);
        let value = read(&text);
        if value.is_none() {
            self.wrong(column, &text, allowed, "");
        }
        value
    }

    fn number(&mut self, column: &str) -> Option<f64> {
        self.optional(column, "a number above 0 is allowed", |text| {
            number(text).filter(|number| *number > 0.0)
        })
    }

    fn whole<T: std::str::FromStr>(&mut self, column: &str) -> Option<T> {
        self.optional(column, "a whole number is allowed", |text| {
            text.parse().ok()
        })
    }

    fn flag(&mut self, column: &str) -> Option<bool> {
        self.optional(column, "yes, no are allowed", |text| match text {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        })
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn row(cells: &mut Cells) -> Option<LedgerRow> {
    let drive = drive(cells);
    let state = cells.required("state", &DriveState::allowed(), DriveState::of_word);
    let through = cells.required("through", &Through::allowed(), Through::of_word);
    let load = load(cells);
    let figure = figure(cells);
    let kind = cells.required("kind", &FigureKind::allowed(), FigureKind::of_word);
    let row_use = cells.required("use", &RowUse::allowed(), RowUse::of_word);
    Some(LedgerRow {
        drive,
        state: RowState {
            state: state?,
            how: cells.owned("state_how"),
        },
        path: RowPath {
            through: through?,
            how: cells.owned("through_how"),
        },
        load,
        figure: figure?,
        kind: kind?,
        row_use: row_use?,
        source: cells.owned("source"),
        place: cells.owned("place"),
        trap: cells.owned("trap"),
        note: cells.owned("note"),
        location: RowLocation {
            file: cells.file.to_owned(),
            line: cells.line,
        },
    })
}

fn drive(cells: &mut Cells) -> LedgerDrive {
    LedgerDrive {
        maker: cells.owned("maker"),
        model: cells.owned("model"),
        family: cells.owned("family"),
        capacity_gb: cells.number("capacity_gb"),
        firmware: cells.owned("firmware"),
        interface: cells.optional("interface", &LinkKind::allowed(), LinkKind::of_word),
        form: cells.owned("form"),
        bits_per_cell: cells.optional("bits_per_cell", "1 to 5 are allowed", |text| {
            text.parse().ok().filter(|bits| (1..=5).contains(bits))
        }),
        nand: cells.owned("nand"),
        dram: cells.flag("dram"),
        plp: cells.flag("plp"),
        raw_gib: cells.number("raw_gib"),
        year: cells.optional("year", "1995 to 2100 are allowed", |text| {
            text.parse()
                .ok()
                .filter(|year| (1995..=2100).contains(year))
        }),
    }
}

fn load(cells: &mut Cells) -> RowLoad {
    RowLoad {
        rw: cells.optional("rw", &LoadKind::allowed(), LoadKind::of_word),
        read_pct: cells.optional("read_pct", "0 to 100 are allowed", |text| {
            text.parse().ok().filter(|pct| *pct <= 100)
        }),
        block_bytes: cells.whole("block_bytes"),
        queue_depth: cells.whole("queue_depth"),
        jobs: cells.whole("jobs"),
        sync: cells.optional("sync", &SyncMethod::allowed(), SyncMethod::of_word),
    }
}

fn figure(cells: &mut Cells) -> Option<RowFigure> {
    let metric = cells.required("metric", &metrics_allowed(), Metric::named);
    let value = cells.required("value", "a number is allowed", number);
    let bound = |text: &str| number(text).filter(|number| *number >= 0.0);
    let low = cells.optional("low", "a number is allowed", bound);
    let high = cells.optional("high", "a number is allowed", bound);
    let samples = cells.whole("samples");
    let metric = metric?;
    let unit = cells.owned("unit");
    if unit != metric.unit() {
        let allowed = match metric.unit() {
            "" => format!("`{}` is a ratio: it has no unit", metric.name()),
            unit => format!("`{}` is in {unit}", metric.name()),
        };
        cells.wrong("unit", &unit, &allowed, "convert the value to that unit");
    }
    Some(RowFigure {
        metric,
        value: value?,
        low,
        high,
        samples,
    })
}

fn metrics_allowed() -> String {
    let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
    format!("{} are allowed", names.join(", "))
}
