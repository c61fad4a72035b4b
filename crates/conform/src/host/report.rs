//! What guests were promised, and what was kept of it.

use super::drive::CommandCounts;
use super::plan::{CACHE_MODES, MODELS};
use crate::route::ROUTES;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;

/// What became of one promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RouteVerdict {
    /// Promised, and durable in the drive when the guest had its answer.
    Kept,
    /// Promised, and not durable.
    Broken,
    /// Not promised, and not durable.
    NoPromise,
    /// Not promised, and durable all the same.
    DurableUnasked,
    /// The route does not exist on this disk.
    None,
}

impl RouteVerdict {
    /// The text in a table.
    pub fn text(self) -> &'static str {
        match self {
            RouteVerdict::Kept => "kept",
            RouteVerdict::Broken => "BROKEN",
            RouteVerdict::NoPromise => "no promise",
            RouteVerdict::DurableUnasked => "durable",
            RouteVerdict::None => "-",
        }
    }
}

/// One route on one disk.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RouteCell {
    /// Name of the route.
    pub route: &'static str,
    /// What became of the promise.
    pub verdict: RouteVerdict,
    /// Where the block was instead, or why the route does not exist.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What reached the drive from the beginning of the route to its answer.
    pub commands: CommandCounts,
}

/// One disk of a guest.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GuestDiskReport {
    /// Device model.
    pub model: String,
    /// Cache mode; empty on hosts without one.
    pub cache: String,
    /// Name in the guest.
    pub device: String,
    /// Command set.
    pub kind: String,
    /// What it announces: `writeback` is a volatile write cache, `writethrough` is none.
    pub announces: String,
    /// Whether Linux sends it FUA.
    pub fua: bool,
    /// The routes, in order.
    pub cells: Vec<RouteCell>,
}

/// The result of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConformReport {
    /// The hypervisor and its arguments.
    pub command: Vec<String>,
    /// The command that made another block device of each disk in the guest; empty without one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layer: Vec<String>,
    /// Whether routes by files of ext4 were taken.
    pub ext4: bool,
    /// The disks.
    pub disks: Vec<GuestDiskReport>,
    /// Why it is not complete.
    pub trouble: Option<String>,
}

impl ConformReport {
    pub(super) fn new(command: &[String]) -> ConformReport {
        ConformReport {
            command: command.to_vec(),
            layer: Vec::new(),
            ext4: false,
            disks: Vec::new(),
            trouble: None,
        }
    }

    /// Number of promises with that fate.
    pub fn count(&self, verdict: RouteVerdict) -> usize {
        let cells = self.disks.iter().flat_map(|disk| &disk.cells);
        cells.filter(|cell| cell.verdict == verdict).count()
    }

    /// A table for each device model in the syntax of Markdown, then what was broken.
    pub fn render(&self) -> String {
        let mut text = String::new();
        if !self.layer.is_empty() {
            let layer = self.layer.join(" ");
            let _ = writeln!(text, "layer in the guest: {layer}\n");
        }
        let mut models: Vec<&str> = self.disks.iter().map(|disk| disk.model.as_str()).collect();
        // A guest finds them in an order of its own.
        models.sort_by_key(|model| {
            MODELS
                .iter()
                .position(|it| it == model)
                .unwrap_or(usize::MAX)
        });
        models.dedup();
        for model in models {
            self.render_model(model, &mut text);
        }
        self.render_broken(&mut text);
        text
    }

    fn render_model(&self, model: &str, text: &mut String) {
        let of_model = self.disks.iter().filter(|disk| disk.model == model);
        let mut disks: Vec<&GuestDiskReport> = of_model.collect();
        disks.sort_by_key(|disk| CACHE_MODES.iter().position(|mode| *mode == disk.cache));
        let mut rows = vec![vec![model.to_owned()], vec!["announces".to_owned()]];
        for disk in &disks {
            rows[0].push(if disk.cache.is_empty() {
                "-".to_owned()
            } else {
                disk.cache.clone()
            });
            rows[1].push(disk.announces.clone());
        }
        for route in ROUTES {
            let cells = disks.iter().map(|disk| {
                let cell = disk.cells.iter().find(|cell| cell.route == route.name);
                cell.map_or(RouteVerdict::None, |cell| cell.verdict)
            });
            let cells: Vec<RouteVerdict> = cells.collect();
            if cells.iter().any(|verdict| *verdict != RouteVerdict::None) {
                let mut row = vec![route.name.to_owned()];
                row.extend(cells.iter().map(|verdict| verdict.text().to_owned()));
                rows.push(row);
            }
        }
        table(&rows, text);
    }

    fn render_broken(&self, text: &mut String) {
        for disk in &self.disks {
            for cell in disk
                .cells
                .iter()
                .filter(|cell| cell.verdict == RouteVerdict::Broken)
            {
                let CommandCounts {
                    writes,
                    fua_writes,
                    flushes,
                } = cell.commands;
                let cache = match disk.cache.as_str() {
                    "" => String::new(),
                    cache => format!(", cache={cache}"),
                };
                let _ = writeln!(
                    text,
                    "BROKEN {}{cache}: {}: {}; the drive got {writes} writes, {fua_writes} with \
                     FUA, {flushes} flushes",
                    disk.model, cell.route, cell.why
                );
            }
        }
        let (kept, broken) = (
            self.count(RouteVerdict::Kept),
            self.count(RouteVerdict::Broken),
        );
        let _ = writeln!(text, "promises kept {kept}, broken {broken}");
        if !self.ext4 {
            text.push_str("not run: routes by files (mkfs.ext4 is not installed)\n");
        }
        if let Some(trouble) = &self.trouble {
            let _ = writeln!(text, "not complete: {trouble}");
        }
    }
}

fn table(rows: &[Vec<String>], text: &mut String) {
    let columns = rows[0].len();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (number, row) in rows.iter().enumerate() {
        text.push('|');
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(text, " {cell:width$} |");
        }
        text.push('\n');
        if number == 0 {
            text.push_str(&format!("|{}\n", "---|".repeat(columns)));
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_was_broken_and_where_it_was() {
        let cell = |route, verdict| RouteCell {
            route,
            verdict,
            why: "in the drive's volatile cache".to_owned(),
            commands: CommandCounts::default(),
        };
        let disk = |cache: &str, verdict| GuestDiskReport {
            model: "nvme".to_owned(),
            cache: cache.to_owned(),
            device: "nvme0n1".to_owned(),
            kind: "Nvme".to_owned(),
            announces: "writeback".to_owned(),
            fua: true,
            cells: vec![
                cell("write, fsync", RouteVerdict::Kept),
                cell("NVMe write with FUA", verdict),
            ],
        };
        let mut report = ConformReport::new(&[]);
        report.disks = vec![
            disk("writeback", RouteVerdict::Broken),
            disk("none", RouteVerdict::Kept),
        ];
        report.ext4 = true;
        let text = report.render();
        let want = "\
| nvme                | none      | writeback |
|---|---|---|
| announces           | writeback | writeback |
| write, fsync        | kept      | kept      |
| NVMe write with FUA | kept      | BROKEN    |

BROKEN nvme, cache=writeback: NVMe write with FUA: in the drive's volatile cache; the drive got 0 \
writes, 0 with FUA, 0 flushes
promises kept 3, broken 1
";
        assert_eq!(text, want);
    }
}
