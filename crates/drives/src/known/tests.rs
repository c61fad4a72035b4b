//! The table: complete, plausible, each model in one family, and in agreement with the catalogue.

use super::*;
use crate::catalogue;

#[test]
fn every_entry_has_its_sources() {
    assert_eq!(read_table().map(|table| table.len()), Ok(families().len()));
    assert!(families().len() >= 220, "{} families", families().len());
    for family in families() {
        let name = &family.name;
        assert_eq!(
            family.plp.is_some(),
            !family.plp_source.is_empty(),
            "{name}"
        );
        let rated = !family.rated.is_empty() || family.dwpd.is_some();
        assert_eq!(family.workload.is_some(), rated, "{name}");
        assert_eq!(
            family.rated_class.is_some(),
            family.rated_source.is_some(),
            "{name}: a rating has a source and its class, or is unsourced"
        );
        assert!(rated || family.rated_source.is_none(), "{name}");
        assert_eq!(
            family.plp.is_some() && family.plp_source != UNSOURCED,
            family.plp_class.is_some(),
            "{name}: protection has a source and its class, or is unsourced"
        );
        assert_eq!(family.example.is_empty(), family.model.is_empty(), "{name}");
        assert!(rated || family.years.is_none(), "{name}: years of nothing");
        assert!(rated || family.plp.is_some(), "{name} says nothing");
        let sources = [Some(&family.plp_source), family.rated_source.as_ref()];
        let mut words = sources.into_iter().flatten().flat_map(|s| s.split(' '));
        assert!(
            words.all(|word| word.len() <= 50),
            "{name}: too long to wrap"
        );
        let interfaces = ["SATA", "SAS", "NVMe", "PCIe"];
        assert!(interfaces.contains(&family.interface.as_str()), "{name}");
    }
}

/// Writes, capacities and daily writes of one row fit together: a slip of a digit in one of
/// them gives drive writes per day that no drive has, or two that differ.
#[test]
fn ratings_are_plausible() {
    for family in families() {
        for (gb, tb) in &family.rated {
            let Some(years) = family.years else { continue };
            let per_day = 1e3 * tb / gb / (DAYS_OF_A_YEAR * years);
            assert!(
                (0.03..=40.0).contains(&per_day),
                "{}: {per_day}",
                family.name
            );
            if let Some(dwpd) = family.dwpd {
                let share = per_day / dwpd;
                assert!((0.97..=1.03).contains(&share), "{}: {per_day}", family.name);
            }
        }
    }
}

#[test]
fn a_model_belongs_to_one_family() {
    for family in families().iter().filter(|family| !family.model.is_empty()) {
        let owners = families().iter().filter(|f| f.has(&family.example));
        let names: Vec<_> = owners.map(|family| &family.name).collect();
        assert_eq!(names, [&family.name], "{}", family.example);
    }
}

/// Two rows whose patterns fit a common name would make the row depend on the file's order: one
/// beginning continues the other, and one ending the other.
#[test]
fn no_two_families_can_share_a_name() {
    let meet = |a: &[String; 2], b: &[String; 2]| {
        let starts = [bare(&a[0]), bare(&b[0])];
        let begins = starts[0].starts_with(&starts[1]) || starts[1].starts_with(&starts[0]);
        let ends = a[1].ends_with(&b[1]) || b[1].ends_with(&a[1]);
        begins && ends
    };
    for (at, a) in families().iter().enumerate() {
        for b in &families()[at + 1..] {
            let both = a.model.iter().any(|x| b.model.iter().any(|y| meet(x, y)));
            assert!(!both, "{} and {}", a.name, b.name);
        }
    }
}

#[test]
fn daily_writes_and_years_give_a_rating() {
    let bytes = 3_200_631_791_616_u64;
    let rating = known("INTEL SSDPF2KE032T1", Some(bytes))
        .unwrap()
        .rating
        .unwrap();
    assert_eq!(rating.bytes_written, bytes * 3 * 365 * 5);
    // A figure for the capacity itself is taken before one that follows.
    let rating = known("INTEL SSDPEK1A058GA", Some(58_977_157_120))
        .unwrap()
        .rating;
    assert_eq!(rating.unwrap().bytes_written, 635_000_000_000_000);
    // Daily writes without years are no number of bytes.
    let micron = known("Micron_7450_MTFDKCC3T2TFS", Some(bytes)).unwrap();
    assert_eq!((micron.plp, micron.rating), (Some(true), None));
}

/// zil.endurance.710, zil.endurance.320, zil.plp.yes and zil.plp.no.
#[test]
fn the_drives_of_article_zil() {
    let rated = |model, gb: u64| {
        let known = known(model, Some(gb * 1_000_000_000)).unwrap();
        (known.plp, known.rating.unwrap().bytes_written)
    };
    let tb = 1_000_000_000_000;
    assert_eq!(rated("INTEL SSDSA2BZ100G3", 100), (Some(true), 500 * tb));
    assert_eq!(rated("INTEL SSDSA2BZ200G3", 200), (Some(true), 1000 * tb));
    assert_eq!(rated("INTEL SSDSA2BZ300G3", 300), (Some(true), 1100 * tb));
    assert_eq!(
        rated("INTEL SSDSA2CW300G3", 300),
        (Some(true), 36_500_000_000_000)
    );
    for model in [
        "INTEL SSDSA2SH032G1GN",
        "INTEL SSDSC2CW120A3",
        "INTEL SSDSC2MH250A2",
    ] {
        assert_eq!(known(model, None).unwrap().plp, Some(false), "{model}");
    }
}

#[test]
fn what_is_not_listed_is_not_known() {
    assert_eq!(known("Samsung SSD 1980 250GB", Some(250_000_000_000)), None);
    let odd = known("INTEL SSDSC2BA200G3", Some(123_000_000_000)).unwrap();
    assert_eq!((odd.plp, odd.rating), (Some(true), None));
}

/// What the makers call protection of data at rest loses the buffer.
#[test]
fn at_rest_only_is_not_protection_of_acknowledged_writes() {
    let mx500 = known("CT1000MX500SSD1", Some(1_000_204_886_016)).unwrap();
    assert_eq!(mx500.protection, KnownProtection::AtRestOnly);
    assert_eq!(mx500.plp, Some(false));
    assert_eq!(mx500.rating.unwrap().bytes_written, 360_000_000_000_000);
}

/// The maker before a model's name is given by some reports and left out by others.
#[test]
fn a_model_is_known_with_and_without_its_maker() {
    for model in ["INTEL SSDSC2KG480G8", "SSDSC2KG480G8", "ssdsc2kg480g8"] {
        assert_eq!(family_of(model).unwrap().name, "Intel SSD D3-S4610");
    }
    let blue = family_of("WDC  WDS500G2B0A-00SM50").unwrap();
    assert_eq!(blue.name, "WD Blue 3D NAND");
}

/// The drives of the catalogue that are products, and the table, say the same.
#[test]
fn the_catalogue_agrees_with_the_table() {
    let archetype = |name: &str| {
        ["consumer-", "qlc-", "tlc-"]
            .iter()
            .any(|k| name.starts_with(k))
    };
    let mut compared = 0;
    for name in catalogue::names()
        .unwrap()
        .iter()
        .filter(|name| !archetype(name))
    {
        let begins = |f: &&ModelFamily| f.catalogue.as_ref().is_some_and(|c| name.starts_with(c));
        let mut owners: Vec<_> = families().iter().filter(begins).collect();
        owners.sort_by_key(|family| family.catalogue.as_ref().map(String::len));
        let family = *owners
            .last()
            .unwrap_or_else(|| panic!("{name} is in no family"));
        let drive = catalogue::drive(name).unwrap();
        let documented = &drive.file.documented;
        let protection = &documented.power_loss_protection;
        assert_eq!(Some(protection.value), family.plp, "{name}: protection");
        assert_eq!(
            protection.kind == catalogue::Provenance::Assumed,
            family.plp_class.is_none(),
            "{name}: an assumption is one in both"
        );
        if let (Some(bytes), Some(rating)) = (
            drive.rated_bytes_written(),
            family.rating(drive.config.user_bytes),
        ) {
            let share = rating.bytes_written as f64 / bytes as f64;
            assert!(
                (0.99..=1.01).contains(&share),
                "{name}: rated {bytes}, {rating:?}"
            );
            let years = documented
                .warranty_years
                .as_ref()
                .map(|y| f64::from(y.value));
            assert!(
                rating.years.is_none() || rating.years == years,
                "{name}: {years:?}"
            );
        }
        let bits = drive.config.shape.bits_per_cell;
        let cells = ["SLC", "MLC", "TLC", "QLC"][bits as usize - 1];
        let same = family.cells.as_deref() == Some(cells);
        assert!(
            same || family.cells.as_deref() == Some("3D XPoint"),
            "{name}: {bits} bits"
        );
        compared += 1;
    }
    assert!(compared >= 50, "{compared} drives of the catalogue");
}
