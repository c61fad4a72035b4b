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

/// Names from memory of the market of 2008 to 2026, as people type them: without the maker, with a
/// capacity, with slips, as on the label or in an offer.
const FROM_THE_MARKET: [(&str, &str); 120] = [
    ("MZ7LH960HAJR", "Samsung PM883"),
    ("MZ7L3960HCJR-00A07", "Samsung PM893"),
    ("MZ7KH960HAJR", "Samsung SM883"),
    ("MZQLB1T9HAJR-00007", "Samsung PM983"),
    ("MZ1LB960HAJQ", "Samsung PM983 M.2"),
    ("MZVLB512HAJQ-00000", "Samsung PM981, PM981a"),
    ("MZILT1T9HAJQ0D3", "Samsung PM1643, PM1643a"),
    ("MZWLJ3T8HBLS-00007", "Samsung PM1733, PM1735"),
    ("SSDSC2BB800G4", "Intel SSD DC S3500"),
    ("SSDSC2BA400G3", "Intel SSD DC S3700"),
    ("SSDSC2KG480G8", "Intel SSD D3-S4610"),
    ("SSDSC2KB960G8", "Intel SSD D3-S4510"),
    ("SSDSC2KB960GZ", "Intel SSD D3-S4520"),
    ("SSDPE2KX020T8", "Intel SSD DC P4510"),
    ("SSDPE2KE016T8", "Intel SSD DC P4610"),
    ("SSDPEKNW010T8", "Intel SSD 660p"),
    ("HFS960G3H2X069N", "SK hynix SE5110"),
    ("MTFDDAK960TDS", "Micron 5300 PRO"),
    ("MTFDDAK960TDT-1AW1ZABYY", "Micron 5300 MAX"),
    ("MTFDDAK960TDD", "Micron 5200 PRO"),
    ("MTFDDAK3T8TGA", "Micron 5400 PRO"),
    ("MTFDDAK480MBB", "Micron M500DC"),
    ("MTFDDAK3T8QDE", "Micron 5210 ION"),
    ("MTFDHAL3T2TDR", "Micron 9300 MAX"),
    ("MTFDKCC3T2TFS", "Micron 7450 MAX"),
    ("CT1000MX500SSD1", "Crucial MX500"),
    ("CT1000P3SSD8", "Crucial P3"),
    ("SA400S37240G", "Kingston A400"),
    ("SEDC500M960G", "Kingston DC500M"),
    ("SEDC600M/960G", "Kingston DC600M"),
    ("SKC3000S1024G", "Kingston KC3000"),
    ("KCD61LUL3T84", "Kioxia CD6-R"),
    ("KCM61RUL3T84", "Kioxia CM6-R"),
    ("KPM61RUG1T92", "Kioxia PM6-R"),
    ("WDS100T3X0C", "WD Black SN750"),
    ("WDS500G2B0A", "WD Blue 3D NAND"),
    ("WUS4BB038D7P3E3", "WD Ultrastar DC SN640"),
    ("HUSMM1640ASS204", "HGST Ultrastar SSD1600MM"),
    ("XS1600LE70004", "Seagate Nytro 3531"),
    ("XA960ME10063", "Seagate Nytro 1551"),
    ("OCZ-VERTEX3", "OCZ Vertex 3"),
    ("pm893 1.92tb", "Samsung PM893"),
    ("samsung pm9a3 960gb u.2", "Samsung PM9A3"),
    ("PM983 1.92TB", "Samsung PM983"),
    ("sm863a", "Samsung SM863, SM863a"),
    ("sm883 480", "Samsung SM883"),
    ("850 pro 512gb", "Samsung SSD 850 PRO"),
    ("850evo", "Samsung SSD 850 EVO"),
    ("samsung 860 evo 1tb sata", "Samsung SSD 860 EVO"),
    ("860 QVO", "Samsung SSD 860 QVO"),
    ("870evo 4tb", "Samsung SSD 870 EVO"),
    ("samsung evo 970 plus", "Samsung SSD 970 EVO Plus"),
    ("970 pro", "Samsung SSD 970 PRO"),
    ("980pro", "Samsung SSD 980 PRO"),
    ("samsung 980 (non pro)", "Samsung SSD 980"),
    ("990pro 2tb with heatsink", "Samsung SSD 990 PRO"),
    ("990 evo plus", "Samsung SSD 990 EVO Plus"),
    ("9100 pro", "Samsung SSD 9100 PRO"),
    ("samsung 840 pro 256", "Samsung SSD 840 PRO"),
    ("883 dct", "Samsung SSD 883 DCT"),
    ("intel s3500 480gb", "Intel SSD DC S3500"),
    ("dc s3520", "Intel SSD DC S3520"),
    ("s4510", "Intel SSD D3-S4510"),
    ("intel d3 s4610 960 gb", "Intel SSD D3-S4610"),
    ("Solidigm S4520", "Intel SSD D3-S4520"),
    ("p3700 400gb", "Intel SSD DC P3700"),
    ("intel p3600 nvme", "Intel SSD DC P3600"),
    ("p4510 2tb", "Intel SSD DC P4510"),
    ("p4610", "Intel SSD DC P4610"),
    ("intel p5800x", "Intel Optane SSD DC P5800X"),
    ("optane p4800x 375", "Intel Optane SSD DC P4800X"),
    ("Optane 905p 960gb", "Intel Optane SSD 905P"),
    ("p5316", "Intel SSD D5-P5316"),
    ("solidigm p5336 61tb", "Solidigm D5-P5336"),
    ("D7-PS1010", "Solidigm D7-PS1010"),
    ("d7 p5810", "Solidigm D7-P5810"),
    ("intel 660p 1tb", "Intel SSD 660p"),
    ("intel 545s", "Intel SSD 545s"),
    ("X25-M G2", "Intel X25-M"),
    ("x25e", "Intel X25-E"),
    ("hynix p41 platinum", "SK hynix Platinum P41"),
    ("SK Hynix Gold P31 1TB", "SK hynix Gold P31"),
    ("p44 pro", "Solidigm P44 Pro"),
    ("crucial mx500 2tb", "Crucial MX500"),
    ("cruical mx500", "Crucial MX500"),
    ("bx500", "Crucial BX500"),
    ("crucial t700 gen5", "Crucial T700"),
    ("P3Plus", "Crucial P3 Plus"),
    ("m500dc", "Micron M500DC"),
    ("micron 5200 eco 1.92", "Micron 5200 ECO"),
    ("5300 max", "Micron 5300 MAX"),
    ("micron 5400pro", "Micron 5400 PRO"),
    ("7450 pro", "Micron 7450 PRO"),
    ("7450max 800gb", "Micron 7450 MAX"),
    ("micron 9300 pro 7.68tb", "Micron 9300 PRO"),
    ("6500 ION", "Micron 6500 ION"),
    ("kingston dc600m", "Kingston DC600M"),
    ("dc500m 960", "Kingston DC500M"),
    ("kingstone a400", "Kingston A400"),
    ("KC3000 2TB", "Kingston KC3000"),
    ("fury renegade", "Kingston FURY Renegade"),
    ("kingston v300", "Kingston SSDNow V300"),
    ("sn750", "WD Black SN750"),
    ("WD_BLACK SN850X 2TB", "WD Black SN850X"),
    ("wd sn770 1tb", "WD Black SN770"),
    ("wd blue sn570", "WD Blue SN570"),
    ("wd red sa500 nas", "WD Red SA500"),
    ("Western Digital SN640 3.84TB", "WD Ultrastar DC SN640"),
    ("ultrastar ss530", "WD Ultrastar DC SS530"),
    ("hgst sn200", "HGST Ultrastar SN200"),
    ("HUSMH8020BSS204", "HGST Ultrastar SSD800MH"),
    ("kioxia cd6-r 3.84", "Kioxia CD6-R"),
    ("cm7-v", "Kioxia CM7-V"),
    ("kioxia fl6", "Kioxia FL6"),
    ("toshiba px05sm", "Toshiba PX05SM"),
    ("nytro 1551", "Seagate Nytro 1551"),
    ("ironwolf 125 pro", "Seagate IronWolf Pro 125"),
    ("firecuda 530 2tb", "Seagate FireCuda 530"),
    ("sx8200 pro", "ADATA XPG SX8200 Pro"),
    ("corsair mp600", "Corsair Force MP600"),
];

#[test]
fn names_from_the_market_lead_to_their_family() {
    let is_right =
        |(typed, family): &&(&str, &str)| first(typed).is_some_and(|found| found.name == *family);
    let wrong: Vec<_> = FROM_THE_MARKET
        .iter()
        .filter(|pair| !is_right(pair))
        .collect();
    let share = 1.0 - wrong.len() as f64 / FROM_THE_MARKET.len() as f64;
    let answers: Vec<_> = wrong
        .iter()
        .map(|(typed, family)| (typed, family, first(typed).map(|found| found.name.as_str())))
        .collect();
    println!("{:.1} % right first; {answers:#?}", 100.0 * share);
    assert!(share >= 0.95, "{share}: {answers:#?}");
}
