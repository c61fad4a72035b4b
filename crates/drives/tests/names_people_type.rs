//! Does a name as people type it lead to the right family, and does a name that is not in the table
//! say so?
//!
//! Three hundred names are made from the table, each by one of ten rules in turn; a family
//! counts as right where it is the first of the matches or of the suggestions.

use ssdlab_drives::known::lookup::{Lookup, look_up};
use ssdlab_drives::known::{ModelFamily, families};

/// A family's first name without what joins several.
fn first_name(family: &ModelFamily) -> String {
    family
        .name
        .split(", ")
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn without_maker(family: &ModelFamily) -> String {
    let name = first_name(family);
    let rest = name.strip_prefix(&family.vendor).unwrap_or(&name);
    rest.trim().to_owned()
}

/// The longest word with two of its inner letters swapped.
fn with_a_typo(name: &str) -> String {
    let words: Vec<&str> = name.split(' ').collect();
    let longest = words.iter().map(|word| word.len()).max().unwrap_or(0);
    let mut typed = false;
    let swapped = words.iter().map(|word| {
        let mut letters: Vec<char> = word.chars().collect();
        let pair = (1..letters.len().saturating_sub(1)).find(|i| letters[*i] != letters[i + 1]);
        if let (false, true, Some(i)) = (typed, word.len() == longest, pair) {
            letters.swap(i, i + 1);
            typed = true;
        }
        letters.into_iter().collect::<String>()
    });
    swapped.collect::<Vec<_>>().join(" ")
}

type NameRule = (&'static str, fn(&ModelFamily) -> String);

const RULES: [NameRule; 10] = [
    ("as it is", first_name),
    ("without the maker", without_maker),
    ("lower case, no spaces, no maker", |f| {
        without_maker(f).to_lowercase().replace(' ', "")
    }),
    ("no hyphens", |f| first_name(f).replace('-', "")),
    ("words backwards", |f| {
        let name = first_name(f);
        name.split(' ').rev().collect::<Vec<_>>().join(" ")
    }),
    ("with SSD and a capacity", |f| {
        format!("{} SSD 960 GB", first_name(f))
    }),
    ("without SSD and DC, with a capacity", |f| {
        let name = first_name(f).replace("SSD ", "").replace("DC ", "");
        format!("{name} 1.92TB").to_lowercase()
    }),
    ("hyphens for spaces, after drive:", |f| {
        format!("drive:{}", first_name(f).to_lowercase().replace(' ', "-"))
    }),
    ("two letters of the longest word swapped", |f| {
        with_a_typo(&first_name(f))
    }),
    ("the name that SMART prints", |f| {
        if f.example.is_empty() {
            first_name(f)
        } else {
            f.example.to_lowercase()
        }
    }),
];

fn first(name: &str) -> Option<&'static ModelFamily> {
    match look_up(name) {
        Lookup::Matches(found) | Lookup::Near(found) => found.first().copied(),
    }
}

#[test]
fn three_hundred_typed_names_lead_to_their_family() {
    let count = 300;
    let mut wrong = Vec::new();
    for i in 0..count {
        // A step without a factor in common with the rules, so that each rule meets each maker.
        let family = &families()[(i * 7) % families().len()];
        let (rule, make) = RULES[i % RULES.len()];
        let typed = make(family);
        let found = first(&typed).map(|family| family.name.as_str());
        if found != Some(&family.name) {
            wrong.push(format!("{typed:?} ({rule}): {found:?} for {}", family.name));
        }
    }
    let share = 1.0 - wrong.len() as f64 / count as f64;
    println!("{:.1} % of {count} right first", share * 100.0);
    assert!(share >= 0.95, "{share}: {wrong:#?}");
}

/// Each rule over the whole table: no rule is carried by the others.
#[test]
fn each_rule_leads_to_the_family() {
    for (rule, make) in RULES {
        let is_right = |family: &&ModelFamily| {
            first(&make(family)).is_some_and(|found| found.name == family.name)
        };
        let wrong: Vec<_> = families()
            .iter()
            .filter(|family| !is_right(family))
            .collect();
        let share = 1.0 - wrong.len() as f64 / families().len() as f64;
        println!("{:.1} % {rule}", share * 100.0);
        let wrong: Vec<_> = wrong
            .iter()
            .map(|f| (make(f), first(&make(f)).map(|found| found.name.as_str())))
            .collect();
        assert!(share >= 0.9, "{rule}: {share}: {wrong:#?}");
    }
}

/// Names that people asked about, as they typed them.
#[test]
fn names_that_people_asked_about() {
    for (typed, family) in [
        ("990 PRO", "Samsung SSD 990 PRO"),
        ("PM9A3", "Samsung PM9A3"),
        ("PM893", "Samsung PM893"),
        ("MX500", "Crucial MX500"),
        ("5400", "Micron 5400 PRO"),
        ("DC2000B", "Kingston DC2000B"),
        ("SN850X", "WD Black SN850X"),
        ("D7-P5520", "Solidigm D7-P5520"),
        ("RMS-200", "Radian RMS-200"),
        ("INTEL SSDSC2KG480G8", "Intel SSD D3-S4610"),
        ("WD Red SN700", "WD Red SN700"),
        ("drive:990pro", "Samsung SSD 990 PRO"),
        ("drive:Samsung SSD 990 PRO 2TB", "Samsung SSD 990 PRO"),
        ("Optane P1600X", "Intel Optane SSD P1600X"),
        ("Intel S3700", "Intel SSD DC S3700"),
        ("Samsung 970 EVO", "Samsung SSD 970 EVO"),
        ("970 evo plus 1tb", "Samsung SSD 970 EVO Plus"),
        ("970evoplus", "Samsung SSD 970 EVO Plus"),
        ("5300", "Micron 5300 PRO"),
        ("Micron 5300 MAX 960", "Micron 5300 MAX"),
        ("P5520", "Solidigm D7-P5520"),
        ("Intel P5520", "Solidigm D7-P5520"),
        ("870 EVO", "Samsung SSD 870 EVO"),
        ("western digital sn850x", "WD Black SN850X"),
        ("Samsung SSD 980 NVMe M.2 1TB", "Samsung SSD 980"),
        ("p5 plus", "Crucial P5 Plus"),
        ("crucial p3", "Crucial P3"),
        ("Intel SSD 320 Series 300GB", "Intel SSD 320"),
        ("dcs3700", "Intel SSD DC S3700"),
        ("optane 900p", "Intel Optane SSD 900P"),
    ] {
        let Lookup::Matches(found) = look_up(typed) else {
            panic!("{typed} is not found: {:?}", look_up(typed));
        };
        assert_eq!(found[0].name, family, "{typed}");
    }
}

/// A drive that is not in the table is never answered with another one.
#[test]
fn an_unknown_drive_is_not_another() {
    for typed in [
        "Fikwot FX991",
        "Samsung 970 QVO",
        "Samsung PM873",
        "Intel S3800",
        "Kingston 990 PRO",
        "WD Black SN860X",
        "SN850Y",
        "Crucial MX600",
        "Micron 7470",
        "Netac N600S 512GB",
        "PM9A31",
        "1980 PRO",
        "Kingston KC9000",
        "SSD 1TB",
        "NVMe",
        "1TB",
        "qwertyuiop",
        "ST4000DM004",
        "Toshiba MG08ACA16TE",
        "Optane P9999X",
    ] {
        let found = look_up(typed);
        assert!(matches!(found, Lookup::Near(_)), "{typed}: {found:?}");
    }
    for typed in [
        "Fikwot FX991",
        "Netac N600S 512GB",
        "SSD 1TB",
        "qwertyuiop",
        "ST4000DM004",
    ] {
        let found = look_up(typed);
        assert!(
            matches!(&found, Lookup::Near(near) if near.is_empty()),
            "{typed}: {found:?}"
        );
    }
    let names = |typed| match look_up(typed) {
        Lookup::Near(near) => near.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(),
        Lookup::Matches(_) => panic!("{typed}"),
    };
    let suggested = names("Crucial MX600");
    assert!(!suggested.is_empty());
    assert!(
        suggested.iter().all(|name| name.starts_with("Crucial MX")),
        "{suggested:?}"
    );
}
