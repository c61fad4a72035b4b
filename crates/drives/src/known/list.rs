//! The table of known models as text.

use super::{ModelFamily, families};
use ssdlab_base::LabError;
use ssdlab_view::text::wrap;
use ssdlab_view::units::decimal_bytes;
use std::collections::BTreeMap;

/// Families whose name contains `name`, or to which a drive that reports this model belongs;
/// without a name, all.
///
/// # Errors
/// When no family has that name.
pub fn matching(name: Option<&str>) -> Result<Vec<&'static ModelFamily>, LabError> {
    let Some(name) = name else {
        return Ok(families().iter().collect());
    };
    let lower = name.to_lowercase();
    let fits = |f: &&ModelFamily| f.has(name) || f.name.to_lowercase().contains(&lower);
    let matches: Vec<_> = families().iter().filter(fits).collect();
    if !matches.is_empty() {
        Ok(matches)
    } else {
        Err(LabError::refused(
            format!("no published source read says anything of `{name}`"),
            "that is not the same as unprotected: `ssdlab drives known` lists what is known; give \
         a part of a family's name, or the model as the drive reports it",
        ))
    }
}

/// One family a line, vendor by vendor; with sources and model names when `verbose`.
pub fn text(matches: &[&ModelFamily], verbose: bool) -> String {
    let mut vendors: BTreeMap<&str, Vec<&ModelFamily>> = BTreeMap::new();
    for &family in matches {
        vendors.entry(&family.vendor).or_default().push(family);
    }
    let mut out = format!(
        "  {:28} {:5} {:4} {:>11}  rated writes\n",
        "family", "", "PLP", "DWPD"
    );
    for (vendor, members) in vendors {
        out += &format!("{vendor}\n");
        for family in members {
            out += &line(family);
            if verbose {
                out += &sources(family);
            }
        }
    }
    out += "\nPLP ?: no source read says, which is not the same as no. Rated writes of the\n\
            smallest and the largest capacity of which they are known.\n";
    if !verbose {
        out += "`--verbose` gives the sources, `--json` each capacity.\n";
    }
    out
}

/// A family in a line of at most 80 columns.
fn line(family: &ModelFamily) -> String {
    let plp = match family.plp {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
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
        .map(|rated| span(rated, decimal_bytes, " to "));
    let line = format!(
        "  {:28} {:5} {plp:4} {:>11}  {}",
        family.name,
        family.interface,
        dwpd.unwrap_or("?".into()),
        rated.unwrap_or_default(),
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
    let mut rows = vec![format!("reported as, for instance, {}", family.example)];
    if family.plp.is_some() {
        rows.push(format!("PLP: {}", family.plp_source));
    }
    if let (Some(source), Some(workload)) = (&family.rated_source, &family.workload) {
        let years = family
            .years
            .map_or(String::new(), |years| format!("{years} years; "));
        rows.push(format!("rated: {years}{workload}; {source}"));
    }
    let wrapped = rows.iter().flat_map(|row| wrap(row, 74));
    wrapped.map(|row| format!("      {row}\n")).collect()
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
        let error = matching(Some("Samsung SSD 980 250GB")).unwrap_err();
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
            "  Samsung SSD 970 PRO          NVMe  ?           0.64  600 TB to 1.20 PB"
        );
        assert_eq!(
            row(&shown("Kingston DC500R")),
            "  Kingston DC500R              SATA  yes            ?"
        );
        assert!(
            row(&shown("SSD 510")).contains(" no "),
            "the X25 families are unprotected"
        );
    }
}
