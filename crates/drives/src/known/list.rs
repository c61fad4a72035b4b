//! The table of known models as text.

use super::lookup::{Lookup, look_up};
use super::{KnownProtection, ModelFamily, SourceClass, UNSOURCED, families};
use crate::catalogue;
use ssdlab_base::LabError;
use ssdlab_view::text::wrap;
use ssdlab_view::units::decimal_bytes;
use std::collections::BTreeMap;

/// The families that a name means; without a name, all.
///
/// # Errors
/// When no family has that name; the message gives those that are spelt most like it.
pub fn matching(name: Option<&str>) -> Result<Vec<&'static ModelFamily>, LabError> {
    let Some(name) = name else {
        return Ok(families().iter().collect());
    };
    let nearest = match look_up(name) {
        Lookup::Matches(matches) => return Ok(matches),
        Lookup::Near(near) => near,
    };
    let names: Vec<&str> = nearest.iter().map(|family| family.name.as_str()).collect();
    let question = match names[..] {
        [] => String::new(),
        _ => format!("; did you mean {}?", names.join(" or ")),
    };
    Err(LabError::refused(
        format!("`{name}` is not in the table of known drives{question}"),
        "that is not the same as unprotected: `ssdlab drives known` lists what is known; give \
         the maker's name of the drive, or the model as the drive reports it",
    ))
}

/// Families of which the sources are shown without being asked for.
const DETAILED_COUNT: usize = 3;

/// One family a line, vendor by vendor; with sources and model names when `verbose` or few.
pub fn text(matches: &[&ModelFamily], verbose: bool) -> String {
    let detailed = verbose || matches.len() <= DETAILED_COUNT;
    let mut vendors: BTreeMap<&str, Vec<&ModelFamily>> = BTreeMap::new();
    for &family in matches {
        vendors.entry(&family.vendor).or_default().push(family);
    }
    let mut out = format!(
        "  {:27} {:4} {:13} {:>9}  rated writes\n",
        "family", "", "PLP", "DWPD"
    );
    for (vendor, members) in vendors {
        out += &format!("{vendor}\n");
        for family in members {
            out += &line(family);
            if detailed {
                out += &sources(family);
            }
        }
    }
    out += "\nPLP: whether acknowledged writes survive a power cut. ?: not known, which is\n\
            not the same as no. *: unsourced, an assumption. Rated writes of the smallest\n\
            and the largest capacity of which they are known.\n";
    if !detailed {
        out += "`--verbose` gives the sources, `--json` each capacity.\n";
    }
    out
}

/// A family in a line of at most 80 columns.
fn line(family: &ModelFamily) -> String {
    let assumed = |is_unsourced: bool| if is_unsourced { "*" } else { "" };
    let plp = match family.protection {
        KnownProtection::Unknown => "?".to_owned(),
        protection => format!(
            "{}{}",
            protection.words(),
            assumed(family.plp_class.is_none())
        ),
    };
    let span = |(least, most): (f64, f64), shown: fn(f64) -> String, between: &str| {
        let (least, most) = (shown(least), shown(most));
        if least == most {
            least
        } else {
            format!("{least}{between}{most}")
        }
    };
    let dwpd = family
        .drive_writes_per_day()
        .map(|dwpd| span(dwpd, daily, "-"));
    let rated = family
        .rated_writes()
        .map(|rated| span(rated, decimal_bytes, " to ") + assumed(family.rated_class.is_none()));
    let line = format!(
        "  {:27} {:4} {plp:13} {:>9}  {}",
        family.name,
        family.interface,
        dwpd.map_or("?".into(), |dwpd| match &rated {
            None => dwpd + assumed(family.rated_class.is_none()),
            Some(_) => dwpd,
        }),
        rated.as_deref().unwrap_or_default(),
    );
    format!("{}\n", line.trim_end())
}

/// Two digits below one, one above, none when it is nearly whole.
fn daily(dwpd: f64) -> String {
    let digits = match dwpd {
        _ if dwpd >= 1.0 && (dwpd - dwpd.round()).abs() < 0.05 => 0,
        _ if dwpd < 1.0 => 2,
        _ => 1,
    };
    format!("{dwpd:.digits$}")
}

fn sources(family: &ModelFamily) -> String {
    let mut rows = Vec::new();
    if !family.example.is_empty() {
        rows.push(format!("reported as, for instance, {}", family.example));
    }
    rows.extend(family.cells.as_ref().map(|cells| format!("cells: {cells}")));
    if family.plp.is_some() {
        let class = sourced(family.plp_class);
        rows.push(format!("PLP: {}{class}", family.plp_source));
    }
    if let Some(workload) = &family.workload {
        let years = family
            .years
            .map_or(String::new(), |years| format!("{years} years; "));
        let source = family.rated_source.as_deref().unwrap_or(UNSOURCED);
        let class = sourced(family.rated_class);
        rows.push(format!("rated: {years}{workload}; {source}{class}"));
    }
    let modelled = family.catalogue.as_ref().map(|start| {
        let names = catalogue::names().unwrap_or_default();
        let names = names.into_iter().filter(|name| name.starts_with(start));
        let names: Vec<String> = names.map(|name| format!("drive:{name}")).collect();
        format!("in the catalogue: {}", names.join(", "))
    });
    rows.extend(modelled);
    let wrapped = rows.iter().flat_map(|row| wrap(row, 74));
    wrapped.map(|row| format!("      {row}\n")).collect()
}

/// The class of a source after it.
fn sourced(class: Option<SourceClass>) -> String {
    class.map_or(String::new(), |_| {
        format!(" [{}]", SourceClass::words(class))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_fits_eighty_columns() {
        for verbose in [false, true] {
            for line in text(&matching(None).unwrap(), verbose).lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }

    #[test]
    fn a_family_is_found_by_its_name_and_by_a_drives() {
        let names = |name| {
            let found = matching(Some(name)).unwrap();
            found.iter().map(|f| f.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(names("hk4e"), ["Toshiba HK4E"]);
        assert_eq!(names("TOSHIBA THNSN81Q60CSE"), ["Toshiba HK4E"]);
        assert_eq!(names("7450"), ["Micron 7450 PRO", "Micron 7450 MAX"]);
        let error = matching(Some("Fikwot FX991 1TB")).unwrap_err();
        assert!(
            error.hint().contains("not the same as unprotected"),
            "{error}"
        );
    }

    #[test]
    fn what_is_not_known_is_not_shown_as_no() {
        let shown = |name| text(&matching(Some(name)).unwrap(), false);
        let row = |text: &str| text.lines().nth(2).unwrap_or_default().to_owned();
        assert_eq!(
            row(&shown("970 PRO")),
            "  Samsung SSD 970 PRO         NVMe no*                0.64  600 TB to 1.20 PB"
        );
        assert_eq!(
            row(&shown("Kingston DC500R")),
            "  Kingston DC500R             SATA yes                   ?"
        );
        assert_eq!(
            row(&shown("Kingston DC450R")),
            "  Kingston DC450R             SATA ?                 0.30*"
        );
        assert!(
            row(&shown("SSD 510")).contains(" no "),
            "the X25 families are unprotected"
        );
    }
}
