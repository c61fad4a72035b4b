//! The table of all drives.

use super::parts::{SiteDrive, number, page, table};
use crate::facts::median;
use crate::model::protection;
use crate::score::{class, link};
use maud::{Markup, PreEscaped, html};
use ssdlab_judge::qualify::by_others::KnownByOthers;
use ssdlab_judge::qualify::{QualifyOutcome, roles};
use ssdlab_ledger::row::LoadKind;
use ssdlab_ledger::{Ledger, LedgerRow, Metric};
use ssdlab_view::units::count;
use std::collections::{BTreeMap, BTreeSet};

const SCRIPT: &str = include_str!("../../assets/ledger.js");

/// Roles that a family fails by others' figures, by family.
type FailedRoles<'a> = BTreeMap<&'a str, Vec<&'static str>>;

fn body(drives: &[SiteDrive<'_>], failed: &FailedRoles<'_>, ledger: &Ledger) -> Markup {
    let links: BTreeSet<&str> = drives.iter().map(|drive| link(drive.drive)).collect();
    let heads = [
        "drive",
        "GB",
        "link",
        "protected",
        "year",
        "durable writes/s",
        "random writes/s",
        "fill MB/s",
        "past the cache MB/s",
        "WAF",
        "TB for 1 % wear",
        "figures",
        "price $",
        "$ a TB",
        "$ for 1,000 durable/s",
    ];
    html! {
        h1 { "Real drives as others measured them" }
        p {
            (count(ledger.all_rows().len() as u64)) " figures of " (drives.len()) " drives. "
            "Medians over states, hosts and capacities of what was measured: a drive's page has "
            "each figure with its source. "
            a href="score.html" { "How good the predictions are" } "."
        }
        form #filter hidden {
            label { "Name" input name="words" type="search"; }
            label { "Good for"
                select name="role" {
                    option value="" { "any role" }
                    @for role in roles() { option value=(role.name) { (role.title) } }
                }
            }
            label { "Link"
                select name="link" {
                    option value="" { "any" }
                    @for link in &links { option value=(link) { (known_link(link)) } }
                }
            }
            label { "Protected"
                select name="plp" {
                    option value="" { "any" }
                    option value="yes" { "yes" } option value="no" { "no" }
                    option value="unknown" { "unknown" }
                }
            }
            label { "GB, least" input name="least" inputmode="numeric"; }
            label { "GB, most" input name="most" inputmode="numeric"; }
            strong #count {}
        }
        p .quiet {
            "\u{201c}Good for\u{201d} hides the drives that others' figures condemn for the role: \
             those that stay are not proved. Click on a head to sort. Type a price to see what it \
             comes to."
        }
        section .fleet {
            (table(Some("drives"), &heads, &html! {
                @for drive in drives { (row(drive, failed)) }
            }))
        }
        script { (PreEscaped(SCRIPT)) }
    }
}

/// A link under a head that says what it is.
fn known_link(link: &str) -> &str {
    link.strip_suffix(" link").unwrap_or(link)
}

fn row(drive: &SiteDrive<'_>, failed: &FailedRoles<'_>) -> Markup {
    let facts = drive.drive;
    let gb = facts.capacity_gb.unwrap_or(0.0);
    let plp = protection(facts).map_or("unknown", |plp| if plp { "yes" } else { "no" });
    let name = format!("{} {}", facts.maker, facts.model);
    let median_of = |fits: &dyn Fn(&LedgerRow) -> bool| {
        let rows = drive
            .rows
            .iter()
            .filter(|row| row.is_measured() && fits(row));
        median(rows.map(|row| row.figure.value).collect()).map(number)
    };
    let metric = |metric: Metric| median_of(&move |row| row.figure.metric == metric);
    let small = |row: &LedgerRow| row.load.block_bytes.is_some_and(|bytes| bytes <= 16 << 10);
    let writes = |row: &LedgerRow| row.figure.metric == Metric::WriteIops && small(row);
    let durable = median_of(&|row| {
        writes(row) && row.load.is_durable() && row.load.outstanding().unwrap_or(1) == 1
    });
    let random = median_of(&|row| {
        writes(row) && !row.load.is_durable() && row.load.rw == Some(LoadKind::RandWrite)
    });
    let wear = median_of(&|row| {
        let metric = row.figure.metric;
        matches!(
            metric,
            Metric::FleetHostTbPerPctMedian | Metric::HostTbPerPct
        )
    });
    let fails = failed
        .get(facts.family.as_str())
        .map_or(String::new(), |f| f.join(" "));
    let figures = drive.rows.len().to_string();
    let values = [
        durable.clone(),
        random,
        metric(Metric::SeqFillPhase1Rate),
        metric(Metric::SeqFillPhase2Rate),
        metric(Metric::FleetWafMedian),
        wear,
        Some(figures),
    ];
    html! {
        tr data-text=(format!("{name} {}", facts.family).to_lowercase()) data-link=(link(facts))
            data-plp=(plp) data-gb=(gb) data-fails=(fails)
            data-durable=(durable.unwrap_or_default().replace(',', "")) {
            th scope="row" { a href=(drive.file) { (name) } }
            td .n { @if gb > 0.0 { (gb) } }
            td { (known_link(link(facts))) }
            td title=(class(facts)) { (plp) }
            td .n { @if let Some(year) = facts.year { (year) } }
            @for value in values { td .n { (value.unwrap_or_default()) } }
            td { input inputmode="decimal" aria-label={ "price of " (name) }; }
            td .n.priced {} td .n.priced {}
        }
    }
}

/// The page.
pub fn whole(drives: &[SiteDrive<'_>], ledger: &Ledger) -> String {
    let failed = ledger.families().into_iter().map(|family| {
        let known = KnownByOthers::of(family);
        let is_failed = |role: &&ssdlab_judge::qualify::Role| {
            let verdict = known.as_ref().map(|known| known.verdict(role));
            verdict.is_some_and(|verdict| verdict.outcome == QualifyOutcome::Fail)
        };
        let names = roles()
            .iter()
            .filter(is_failed)
            .map(|role| role.name.as_str());
        (family, names.collect())
    });
    let failed: FailedRoles<'_> = failed.collect();
    page("The ledger", body(drives, &failed, ledger))
}
