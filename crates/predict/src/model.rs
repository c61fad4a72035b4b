//! Which model speaks for a row.
//!
//! ```text
//! catalogue drive of family and capacity, unless a value of it is from the row's own source
//!   else a draft from the makers' figures of family and capacity
//!   else a draft from the facts of the class alone
//! ```

use crate::ensemble;
use crate::facts::{self, FactList};
use crate::load::NoPrediction;
use ssdlab_base::LabError;
use ssdlab_drives::catalogue::{self, CatalogueDrive, Provenance};
use ssdlab_drives::known::ModelFamily;
use ssdlab_drives::known::lookup::{Lookup, look_up};
use ssdlab_ledger::LedgerRow;
use ssdlab_ledger::row::LedgerDrive;
use ssdlab_life::draft::prior::{DraftPrior, PriorClass};
use ssdlab_life::draft::{DatasheetFacts, draft_with};
use ssdlab_ssd::DriveConfig;
use std::collections::{BTreeSet, HashMap};
use std::sync::{LazyLock, Mutex, PoisonError};
use twox_hash::XxHash3_64;

/// How far a capacity may be from a row's, as a share.
pub(crate) const CAPACITY_SHARE: f64 = 0.03;

/// What a model was made from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// A drive of the catalogue.
    Catalogue(String),
    /// A draft from the makers' figures.
    Sheet,
    /// A draft from capacity, interface, cells and protection alone.
    Class,
}

impl Basis {
    /// As the table of predictions names it.
    pub fn name(&self) -> String {
        match self {
            Basis::Catalogue(name) => format!("catalogue:{name}"),
            Basis::Sheet => "draft:sheet".to_owned(),
            Basis::Class => "draft:class".to_owned(),
        }
    }
}

/// A model of a drive of the ledger.
#[derive(Clone, Debug)]
pub struct LedgerModel {
    /// What it was made from.
    pub basis: Basis,
    /// The whole drive.
    pub config: DriveConfig,
    /// Connected over SATA: hosts send a flush for FUA.
    pub is_sata: bool,
    /// Cycles that its cells are rated for.
    pub cycles: f64,
    /// Whether it has a pSLC cache, or is of a class without.
    pub knows_cache: bool,
    /// What a draft was made from.
    pub facts: Option<DatasheetFacts>,
}

impl LedgerModel {
    /// Hash of the configuration.
    pub fn hash(&self) -> String {
        let mut config = self.config.clone();
        config.name = String::new();
        let hash = XxHash3_64::oneshot(format!("{config:?}").as_bytes());
        format!("{hash:016x}")
    }

    /// Whether nothing reaches the media below a buffer as large as the drive.
    pub fn is_written_in_place(&self) -> bool {
        self.config.buffer.bytes >= self.config.user_bytes
    }

    fn new(drive: &CatalogueDrive, basis: Basis) -> Result<LedgerModel, LabError> {
        let slc = &drive.config.ftl.slc;
        let has_slc = slc.superblocks > 0 || slc.dynamic_above_free > 0;
        Ok(LedgerModel {
            basis,
            is_sata: drive.file.interface == "sata",
            cycles: f64::from(drive.media()?.cycles_rated),
            knows_cache: has_slc || drive.config.buffer.protected,
            config: drive.config.clone(),
            facts: None,
        })
    }

    /// A draft of facts, with the medians of `prior`.
    pub(crate) fn draft(
        facts: &DatasheetFacts,
        basis: Basis,
        prior: &DraftPrior,
    ) -> Result<LedgerModel, LabError> {
        let medians = prior.constants(PriorClass::of(facts), |_| 0.0);
        let text = draft_with(facts, &medians)?;
        let drive = catalogue::parse(&text, "ledger.toml")?;
        let mut model = LedgerModel::new(&drive, basis)?;
        model.facts = Some(facts.clone());
        Ok(model)
    }

    /// The drive with each draw of the constants that no sheet gives; none of a drive that is not a
    /// draft.
    pub fn ensemble(&self, prior: &DraftPrior) -> Vec<DriveConfig> {
        let Some(facts) = &self.facts else {
            return Vec::new();
        };
        let draws = ensemble::draws(prior, PriorClass::of(facts));
        let drafts = draws
            .iter()
            .map(|constants| -> Result<DriveConfig, LabError> {
                let text = draft_with(facts, constants)?;
                Ok(catalogue::parse(&text, "ledger.toml")?.config)
            });
        drafts.filter_map(Result::ok).collect()
    }
}

/// What a model is chosen by: rows that agree in it have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DriveKey {
    family: String,
    model: String,
    capacity: u64,
    interface: &'static str,
    publisher: String,
}

/// The key of a row's model; `address` is that of its source.
pub fn key(row: &LedgerRow, address: &str) -> DriveKey {
    DriveKey {
        family: row.drive.family.clone(),
        model: row.drive.model.clone(),
        capacity: row.drive.capacity_gb.unwrap_or(0.0).round() as u64,
        interface: facts::interface(&row.drive),
        publisher: publisher(address),
    }
}

/// The model of a row's drive for figures of the source at `address`; `all` is every row of the
/// ledger; drafts have the medians of `prior`.
///
/// # Errors
/// Why there is none.
pub fn choose(
    drive: &LedgerDrive,
    address: &str,
    all: &[LedgerRow],
    prior: &DraftPrior,
) -> Result<LedgerModel, NoPrediction> {
    let capacity = drive.capacity_gb.ok_or(NoPrediction::NoCapacity)?;
    let listed = in_catalogue(drive, capacity);
    if let Some(listed) = listed
        && !rests_on_publisher(listed, &publisher(address))
    {
        let basis = Basis::Catalogue(listed.file.name.clone());
        return LedgerModel::new(listed, basis).map_err(|_| NoPrediction::NoDraft);
    }
    if is_crosspoint(drive) {
        return Err(NoPrediction::WrittenInPlace);
    }
    let is_protected = protection(drive).ok_or(NoPrediction::ProtectionUnknown)?;
    let class = facts::class(drive, capacity, is_protected);
    let sheet = sheet_of(drive, listed, all);
    drafted(&class, &sheet, prior).ok_or(NoPrediction::NoDraft)
}

/// Whether its media are written in place.
pub(crate) fn is_crosspoint(drive: &LedgerDrive) -> bool {
    let texts = [&drive.nand, &drive.model];
    let mut texts = texts.iter();
    texts.any(|text| text.contains("XPoint") || text.contains("Optane"))
}

/// What the maker says of a drive: the catalogue's copy of its sheet, else the ledger's.
pub(crate) fn sheet_of(
    drive: &LedgerDrive,
    listed: Option<&CatalogueDrive>,
    all: &[LedgerRow],
) -> FactList {
    if let Some(listed) = listed {
        return facts::of_catalogue(listed);
    }
    let is_same = |row: &&LedgerRow| {
        let near = |(own, gb): (f64, f64)| (own / gb - 1.0).abs() < CAPACITY_SHARE;
        !row.is_measured()
            && row.is_of_a_drive()
            && row.drive.family == drive.family
            && row
                .drive
                .capacity_gb
                .zip(drive.capacity_gb)
                .is_some_and(near)
    };
    let sheets: Vec<&LedgerRow> = all.iter().filter(is_same).collect();
    facts::sheet(&sheets, protection(drive).unwrap_or(false))
}

/// The facts of a drive's class and of its sheet, of whatever source.
pub fn sheet_facts(drive: &LedgerDrive, all: &[LedgerRow]) -> Option<DatasheetFacts> {
    let capacity = drive.capacity_gb?;
    let class = facts::class(drive, capacity, protection(drive).unwrap_or(false));
    let listed = in_catalogue(drive, capacity);
    facts::facts(&[&class, &sheet_of(drive, listed, all)]).ok()
}

/// The draft from a sheet; where its figures contradict each other, without its latencies and
/// rating, then from the class alone.
fn drafted(class: &FactList, sheet: &FactList, prior: &DraftPrior) -> Option<LedgerModel> {
    const RATES: [&str; 7] = [
        "raw",
        "random-read",
        "random-write",
        "depth",
        "span",
        "sequential-read",
        "sequential-write",
    ];
    let is_rate = |fact: &&(&'static str, String)| RATES.contains(&fact.0);
    let has_rate = |list: &FactList| list.iter().any(|fact| fact.0 != "span" && is_rate(&fact));
    let rates: FactList = sheet.iter().filter(is_rate).cloned().collect();
    for list in [sheet, &rates, &FactList::new()] {
        let basis = if has_rate(list) {
            Basis::Sheet
        } else {
            Basis::Class
        };
        let model = || -> Result<LedgerModel, LabError> {
            LedgerModel::draft(&facts::facts(&[class, list])?, basis, prior)
        };
        if let Ok(model) = model() {
            return Some(model);
        }
    }
    None
}

/// Whether the buffer is protected: by the row, else by `drives known`.
pub fn protection(drive: &LedgerDrive) -> Option<bool> {
    if drive.plp.is_some() {
        return drive.plp;
    }
    known_family(drive).and_then(|family| family.plp)
}

/// The family of `drives known` that a drive's name means, if it is one.
pub fn known_family(drive: &LedgerDrive) -> Option<&'static ModelFamily> {
    static FOUND: LazyLock<Mutex<HashMap<String, Option<&'static ModelFamily>>>> =
        LazyLock::new(Mutex::default);
    let name = format!("{} {}", drive.maker, drive.model);
    let mut families = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    *families
        .entry(name)
        .or_insert_with_key(|name| match look_up(name) {
            Lookup::Matches(matches) => match matches[..] {
                [family] => Some(family),
                _ => None,
            },
            Lookup::Near(_) => None,
        })
}

/// Every drive of the catalogue with the words of its name.
static CATALOGUE: LazyLock<Vec<(BTreeSet<String>, CatalogueDrive)>> = LazyLock::new(|| {
    // A test of the catalogue reads every file.
    let names = catalogue::names().unwrap_or_default();
    let drives = names.iter().filter_map(|name| catalogue::drive(name).ok());
    drives
        .map(|drive| (tokens(&drive.file.name), drive))
        .collect()
});

/// The drive of the catalogue of a row's family and capacity.
pub(crate) fn in_catalogue(row: &LedgerDrive, capacity_gb: f64) -> Option<&'static CatalogueDrive> {
    let family = tokens(&row.family);
    let mut named = tokens(&row.model);
    named.extend(family.iter().cloned());
    named.extend(tokens(&row.form.replace('.', "")));
    let fits = |(product, drive): &&(BTreeSet<String>, CatalogueDrive)| {
        let gb = drive.config.user_bytes as f64 / 1e9;
        family.is_subset(product)
            && product.is_subset(&named)
            && (gb / capacity_gb - 1.0).abs() < CAPACITY_SHARE
    };
    CATALOGUE.iter().find(fits).map(|(_, drive)| drive)
}

/// The words of a drive's name without those of a line of products, and capacities.
fn tokens(name: &str) -> BTreeSet<String> {
    let lower = name.to_lowercase();
    let is_capacity = |word: &str| {
        let number = word.trim_end_matches("gb").trim_end_matches("tb");
        number.len() < word.len() && number.parse::<f64>().is_ok()
    };
    lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && !is_capacity(word))
        .filter(|word| !["dc", "d7", "d5", "d3", "ssd"].contains(word))
        .map(str::to_owned)
        .collect()
}

/// Whether a value of a drive's file other than its sheet's comes from this publisher.
fn rests_on_publisher(drive: &CatalogueDrive, publisher: &str) -> bool {
    let cited = |parameter: &catalogue::CatalogueParameter| {
        let text = format!("{} {}", parameter.source, parameter.fitted_to.join(" "));
        parameter.kind != Provenance::Datasheet && plain(&text).contains(publisher)
    };
    publisher.len() > 3 && drive.parameters().iter().any(cited)
}

/// Who published a source: the owner of a repository, else the site.
pub fn publisher(source: &str) -> String {
    let Some((_, address)) = source.split_once("://") else {
        return plain(source.split(['/', '@', ':']).next().unwrap_or_default());
    };
    let mut parts = address.split('/');
    let host = parts.next().unwrap_or_default().trim_start_matches("www.");
    let owner = match host {
        "github.com" | "gist.github.com" | "raw.githubusercontent.com" => parts.next(),
        _ => host.rsplit('.').nth(1),
    };
    plain(owner.unwrap_or(host))
}

/// Letters and digits in lower case.
fn plain(text: &str) -> String {
    let letters = text.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ledger::row::LinkKind;

    fn drive(family: &str, model: &str, gb: f64) -> LedgerDrive {
        LedgerDrive {
            maker: String::new(),
            model: model.into(),
            family: family.into(),
            capacity_gb: Some(gb),
            firmware: String::new(),
            interface: Some(LinkKind::Nvme3),
            form: "M.2".into(),
            bits_per_cell: Some(3),
            nand: String::new(),
            dram: None,
            plp: Some(false),
            raw_gib: None,
            year: None,
        }
    }

    #[test]
    fn publishers_are_owners_or_sites() {
        assert_eq!(publisher("mdcallag/mytools@e1ba3d9:bench/o"), "mdcallag");
        assert_eq!(publisher("https://gist.github.com/pklaus/36fb"), "pklaus");
        assert_eq!(
            publisher("https://www.techpowerup.com/review/x"),
            "techpowerup"
        );
        assert_eq!(
            publisher("http://www.tomshardware.com/reviews/ssd"),
            "tomshardware"
        );
    }

    #[test]
    fn a_drive_of_the_catalogue_speaks_for_its_own_family_and_capacity_only() {
        let name = |family: &str, model: &str, gb| {
            in_catalogue(&drive(family, model, gb), gb).map(|drive| drive.file.name.as_str())
        };
        let pro = name("samsung-980-pro", "980 PRO 1TB", 1000.0);
        assert_eq!(pro, Some("samsung-980-pro-1tb"));
        let plain = name("samsung-980", "980 1TB", 1000.0);
        assert_eq!(plain, Some("samsung-980-1tb"));
        assert_eq!(name("samsung-980", "980 500GB", 500.0), None);
        let s3500 = name("intel-s3500", "DC S3500 480 GB", 480.0);
        assert_eq!(s3500, Some("intel-dc-s3500-480gb"));
    }

    /// The file of the 980 has its cache from a review: figures of that review are not predicted
    /// with it.
    #[test]
    fn a_model_does_not_know_what_the_source_of_its_row_measured() {
        let drive = drive("samsung-980", "980 1TB", 1000.0);
        let chosen = |address: &str| {
            let prior = DraftPrior::built_in();
            choose(&drive, address, &[], prior).expect("a model").basis
        };
        let own = "https://www.techpowerup.com/review/samsung-980-non-pro-1-tb/6.html";
        assert_eq!(chosen(own), Basis::Sheet);
        let other = chosen("mdcallag/mytools@e1ba3d9:bench");
        assert_eq!(other, Basis::Catalogue("samsung-980-1tb".into()));
    }
}
