//! Volumes and fits as text and as documents.

use super::FitRequest;
use crate::account::words::time;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_view::text::{PLAIN, finish, new_table, paragraph};
use ssdlab_view::units;
use ssdlab_volume::catalogue::{self, VolumeFile, VolumeProvenance};
use ssdlab_volume::fit::VolumeFit;
use ssdlab_volume::{
    AccountOwner, AccountPart, AccountRates, AccountUnit, BindingLimit, VolumeLimits, VolumeName,
};
use std::collections::BTreeMap;

/// A type in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VolumeListRow {
    /// As in `volume:NAME`.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// It bursts out of a credit at some sizes.
    pub bursts: bool,
    /// Its user chooses operations.
    pub provisioned_operations: bool,
    /// Its user chooses throughput.
    pub provisioned_throughput: bool,
    /// Figures of the provider, and of others or assumed.
    pub figures: [usize; 2],
}

/// The types, and the instances whose limits are known.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VolumeList {
    /// Every type.
    pub volumes: Vec<VolumeListRow>,
    /// Instances by name, of each provider.
    pub instances: BTreeMap<String, Vec<String>>,
    /// Series of instances, of each provider that documents limits by series and size.
    pub series: BTreeMap<String, Vec<String>>,
}

fn documented(file: &VolumeFile) -> [usize; 2] {
    let figures = file.figures();
    let is_documented = |kind| kind == VolumeProvenance::Documented;
    let count = figures
        .iter()
        .filter(|(_, figure)| is_documented(figure.kind))
        .count();
    [count + 2 * file.tiers.len(), figures.len() - count]
}

impl VolumeList {
    /// The catalogue.
    ///
    /// # Errors
    /// When a file of it is wrong.
    pub fn read() -> Result<VolumeList, LabError> {
        let row = |file: VolumeFile| VolumeListRow {
            bursts: file.operations.burst.is_some() || file.throughput.burst_per_gib.is_some(),
            provisioned_operations: file.operations.provisioned,
            provisioned_throughput: file.throughput.provisioned,
            figures: documented(&file),
            name: file.name,
            title: file.title,
        };
        let volumes = catalogue::volumes()?;
        let mut instances = BTreeMap::new();
        let mut series = BTreeMap::new();
        for file in &volumes {
            let known = catalogue::instances(&file.provider)?.into_iter();
            let known: Vec<String> = known.map(|(name, _)| name).collect();
            if !known.is_empty() {
                instances.insert(file.provider.clone(), known);
            }
            let known = catalogue::series(&file.provider)?;
            if !known.is_empty() {
                series.insert(file.provider.clone(), known);
            }
        }
        Ok(VolumeList {
            volumes: volumes.into_iter().map(row).collect(),
            instances,
            series,
        })
    }

    /// A line a type.
    pub fn text(&self) -> String {
        let mut table = new_table(PLAIN);
        table.set_header(["volume:", "", "You choose"]);
        for row in &self.volumes {
            let chosen = match (row.provisioned_operations, row.provisioned_throughput) {
                (true, true) => "size, iops, throughput",
                (true, false) => "size, iops",
                (false, _) if row.bursts => "size; it bursts",
                (false, _) => "size",
            };
            table.add_row([row.name.as_str(), &row.title, chosen]);
        }
        let documented: usize = self.volumes.iter().map(|row| row.figures[0]).sum();
        let count: usize = self.volumes.iter().flat_map(|row| row.figures).sum();
        let known = self.instances.iter().map(|(provider, names)| {
            let mut families: Vec<String> =
                names.iter().map(|name| catalogue::family(name)).collect();
            families.sort();
            families.dedup();
            format!("{} of {provider} ({})", names.len(), families.join(", "))
        });
        let series = self.series.iter().map(|(provider, names)| {
            let count = names.len();
            format!("{count} series of {provider} ({})", names.join(", "))
        });
        let known: Vec<String> = known.chain(series).collect();
        let text = format!(
            "{documented} of {count} figures are the providers' own; `ssdlab volumes show TYPE` \
             has each with its source, and what the volume gives for how long. instance=NAME: \
             the limits of these instances are known: {}.",
            known.join("; ")
        );
        format!("{}\n{}", finish(&table), paragraph("", &text))
    }
}

/// A volume and where its figures come from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VolumeShown {
    /// As it was named.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Its accounts.
    pub limits: VolumeLimits,
    /// The instance and its accounts.
    pub instance: Option<(String, VolumeLimits)>,
    /// Notes of the file.
    pub notes: Vec<String>,
    /// Key, value, kind and source of every figure.
    pub figures: Vec<[String; 4]>,
    /// Documents by key.
    pub sources: Vec<[String; 2]>,
}

impl VolumeShown {
    /// The volume of this name.
    ///
    /// # Errors
    /// When it is not sold.
    pub fn read(text: &str) -> Result<VolumeShown, LabError> {
        let config = ssdlab_volume::open(text)?;
        let file = catalogue::volume(&VolumeName::parse(text)?.kind)?;
        let figures = file.figures().into_iter().map(|(key, figure)| {
            let kind = match figure.kind {
                VolumeProvenance::Documented => "documented",
                VolumeProvenance::MeasuredByOthers => "measured by others",
                VolumeProvenance::Derived => "derived",
                VolumeProvenance::Assumed => "assumed",
            };
            let value = figure.value.to_string();
            [key, value, kind.to_owned(), figure.source.clone()]
        });
        let sources = file.sources.iter();
        Ok(VolumeShown {
            name: text.to_owned(),
            title: config.title,
            limits: config.volume,
            instance: config.instance,
            figures: figures.collect(),
            sources: sources
                .map(|(key, text)| [key.clone(), text.clone()])
                .collect(),
            notes: file.notes,
        })
    }

    /// The answer first, then every figure.
    pub fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.name, self.title);
        text += &accounts("volume", &self.limits);
        if let Some((name, limits)) = &self.instance {
            text += &accounts(name, limits);
        }
        for note in &self.notes {
            text += &paragraph("note:", note);
        }
        let mut table = new_table(PLAIN);
        table.set_header(["Figure", "Value", "Known", "From"]);
        // Reasons that are no document have a number, for they are long and often the same.
        let mut reasons: Vec<&str> = Vec::new();
        for [key, value, kind, source] in &self.figures {
            if self.sources.iter().any(|[document, _]| document == source) {
                table.add_row([key, value, kind, source]);
                continue;
            }
            let known = reasons.iter().position(|reason| reason == source);
            let number = known.unwrap_or_else(|| {
                reasons.push(source);
                reasons.len() - 1
            });
            table.add_row([key, value, kind, &(number + 1).to_string()]);
        }
        text += &format!("\n{}\n", finish(&table));
        for [key, source] in &self.sources {
            text += &paragraph(&format!("{key}:"), source);
        }
        for (number, reason) in (1..).zip(reasons) {
            text += &paragraph(&format!("{number}:"), reason);
        }
        text
    }
}

/// What the accounts of an owner give, a line each.
fn accounts(owner: &str, limits: &VolumeLimits) -> String {
    let operations = |rate: u64| format!("{} operations/s", units::rate(rate as f64));
    let bytes = |rate: u64| units::throughput(rate as f64);
    let line = |rates: AccountRates, shown: &dyn Fn(u64) -> String| {
        let base = shown(rates.base);
        match (rates.lasts_s(rates.burst as f64), rates.refill_s()) {
            (Some(lasts_s), Some(refill_s)) => format!(
                "{base} for ever; {} for {} out of a full credit, which fills in {}",
                shown(rates.burst),
                time(lasts_s),
                time(refill_s)
            ),
            _ => format!("{base} for ever"),
        }
    };
    let mut text = paragraph(&format!("{owner}:"), &line(limits.operations, &operations));
    text += &paragraph(&format!("{owner}:"), &line(limits.bytes, &bytes));
    text
}

/// A limit in words.
pub fn limit_words(bound: &BindingLimit) -> String {
    let owner = match bound.owner {
        AccountOwner::Volume => "volume's",
        AccountOwner::Instance => "instance's",
    };
    let unit = match bound.unit {
        AccountUnit::Operations => "operations",
        AccountUnit::Bytes => "throughput",
    };
    match bound.part {
        AccountPart::Ceiling => format!("{owner} {unit}"),
        AccountPart::Credit => format!("{owner} {unit}, credit spent"),
    }
}

/// Settings that serve a load, and those that do not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FitShown {
    /// What the limit is about: `flushes`, `writes` or `reads`.
    pub judged: String,
    /// The limit, ns.
    pub latency_ns: u64,
    /// The share of commands within it.
    pub share: f64,
    /// Commands of the load.
    pub commands: usize,
    /// Its length, s.
    pub span_s: f64,
    /// What prices are in; empty: there are none.
    pub currency: String,
    /// A type each.
    pub fits: Vec<VolumeFit>,
}

impl FitShown {
    /// The fits of a request.
    pub fn new(request: &FitRequest, fits: Vec<VolumeFit>) -> FitShown {
        FitShown {
            judged: request.load.judged_word().to_owned(),
            latency_ns: request.limit.latency_ns,
            share: request.limit.share,
            commands: request.load.requests.len(),
            span_s: request.load.span_s(),
            currency: request.prices.currency.clone(),
            fits,
        }
    }

    /// Whether any type serves the load.
    pub fn serves(&self) -> bool {
        self.fits.iter().any(|fit| fit.serves)
    }

    fn setting(fit: &VolumeFit) -> String {
        let mut text = format!("{},size={}", fit.volume, fit.cost.gib);
        for (key, value) in [
            ("iops", fit.cost.operations),
            ("throughput", fit.cost.throughput),
        ] {
            if value > 0 {
                text += &format!(",{key}={value}");
            }
        }
        text
    }

    /// The answer, then a line a type.
    pub fn text(&self) -> String {
        let percent = self.share * 100.0;
        let mut text = paragraph(
            "",
            &format!(
                "{} commands over {}; {percent} % of {} are to take at most {}.",
                self.commands,
                time(self.span_s),
                self.judged,
                units::time(self.latency_ns)
            ),
        );
        let best = self.fits.iter().find(|fit| fit.serves);
        text += &match best {
            None => paragraph("✗", "No type serves it: the nearest settings are below."),
            Some(best) if best.cost.price.is_some() => paragraph(
                "✓",
                &format!(
                    "The cheapest that serves it is volume:{}.",
                    FitShown::setting(best)
                ),
            ),
            Some(_) => paragraph(
                "✓",
                "The smallest setting of each type that serves it is below. Which is cheapest \
                 depends on your prices: --prices FILE.",
            ),
        };
        text += &format!("\n{}\n", self.table());
        let notes = "size in GiB, through. in MiB/s (azure: MB/s). Held: share of the time in \
                     which a command was held back. A step less: what the next smaller setting \
                     takes, and the limit that holds it back.";
        text + &paragraph("", notes)
    }

    /// A line a type.
    fn table(&self) -> String {
        let mut table = new_table(PLAIN);
        let tail = format!("p{}", self.share * 100.0);
        let mut head = vec!["", "volume:", "size", "iops", "through."];
        let is_priced = self.fits.iter().any(|fit| fit.cost.price.is_some());
        if is_priced {
            head.push(if self.currency.is_empty() {
                "Price"
            } else {
                &self.currency
            });
        }
        head.extend([tail.as_str(), "Held", "A step less"]);
        table.set_header(head);
        let chosen = |value: u64| match value {
            0 => units::NOTHING.to_owned(),
            value => value.to_string(),
        };
        for fit in &self.fits {
            let mut row = vec![
                if fit.serves { "✓" } else { "✗" }.to_owned(),
                fit.volume.clone(),
                fit.cost.gib.to_string(),
                chosen(fit.cost.operations),
                chosen(fit.cost.throughput),
            ];
            if is_priced {
                let price = fit.cost.price.map(|price| format!("{price:.2}"));
                row.push(price.unwrap_or(units::NOTHING.to_owned()));
            }
            row.extend([
                units::time(fit.run.latency_ns),
                format!("{:.1} %", 100.0 * fit.run.throttled),
                self.less(fit),
            ]);
            table.add_row(row);
        }
        finish(&table)
    }

    /// What the next smaller setting does, or what the largest misses by.
    fn less(&self, fit: &VolumeFit) -> String {
        let run = fit.below.as_ref().unwrap_or(&fit.run);
        let bound = run
            .bound
            .as_ref()
            .map_or("its latency".to_owned(), limit_words);
        match (&fit.below, fit.serves) {
            (Some(below), _) if below.latency_ns > self.latency_ns => {
                format!("{}, {bound}", units::time(below.latency_ns))
            }
            (_, true) => "none is smaller".to_owned(),
            (_, false) => format!("misses by the {bound}"),
        }
    }
}
