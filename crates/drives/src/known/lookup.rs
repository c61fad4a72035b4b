//! A drive by the name that a person types: words in any order, with or without the maker, spaces,
//! hyphens, the capacity and "SSD".
//!
//! A family is meant when its words are in the name and nothing with a digit is left over, as
//! digits tell models apart; else the families that are spelt most like it are suggestions.

use super::{ModelFamily, families, family_of};
use strsim::{damerau_levenshtein, normalized_damerau_levenshtein};

/// What a typed name leads to.
#[derive(Debug)]
pub enum Lookup {
    /// These families, best first.
    Matches(Vec<&'static ModelFamily>),
    /// None; these are spelt most like it, best first. Empty: nothing is like it.
    Near(Vec<&'static ModelFamily>),
}

/// Makers, and the companies whose drives they sell or sold.
const MAKERS: [(&str, &[&str]); 30] = [
    ("samsung", &["Samsung"]),
    ("intel", &["Intel", "Solidigm"]),
    ("solidigm", &["Solidigm", "Intel", "SK hynix"]),
    ("hynix", &["SK hynix", "Solidigm"]),
    ("skhynix", &["SK hynix", "Solidigm"]),
    ("sk", &["SK hynix"]),
    ("micron", &["Micron", "Crucial"]),
    ("crucial", &["Crucial", "Micron"]),
    ("kingston", &["Kingston"]),
    ("toshiba", &["Toshiba", "Kioxia"]),
    ("kioxia", &["Kioxia", "Toshiba"]),
    ("ocz", &["OCZ", "Toshiba"]),
    ("wd", &["WD", "SanDisk", "HGST"]),
    ("wdc", &["WD", "SanDisk", "HGST"]),
    ("western", &["WD", "SanDisk", "HGST"]),
    ("digital", &["WD", "SanDisk", "HGST"]),
    ("sandisk", &["SanDisk", "WD"]),
    ("hgst", &["HGST", "WD"]),
    ("hitachi", &["HGST", "WD"]),
    ("seagate", &["Seagate"]),
    ("adata", &["ADATA"]),
    ("xpg", &["ADATA"]),
    ("corsair", &["Corsair"]),
    ("sabrent", &["Sabrent"]),
    ("lexar", &["Lexar"]),
    ("patriot", &["Patriot"]),
    ("sandforce", &["SandForce"]),
    ("ddrdrive", &["DDRdrive"]),
    ("radian", &["Radian"]),
    ("memblaze", &["Memblaze"]),
];

/// Words that any drive could have.
const NOISE: [&str; 24] = [
    "ssd",
    "nvme",
    "sata",
    "sas",
    "pcie",
    "m2",
    "u2",
    "u3",
    "dc",
    "drive",
    "disk",
    "series",
    "solid",
    "state",
    "internal",
    "with",
    "heatsink",
    "gen3",
    "gen4",
    "gen5",
    "enterprise",
    "datacenter",
    "inch",
    "the",
];

/// Capacities that people write without a unit, in GB.
const CAPACITIES: [&str; 32] = [
    "100", "118", "120", "128", "150", "160", "180", "200", "240", "250", "256", "280", "300",
    "375", "400", "450", "480", "500", "512", "600", "750", "800", "960", "1000", "1024", "1600",
    "1920", "2000", "2048", "3200", "3840", "4000",
];

/// Share of a name's characters that a family must have to be meant.
const SHARE_MIN: f64 = 0.75;
/// How much less like a name than the best a family may be to be shown with it.
const BEHIND_BEST: f64 = 0.25;
/// Similarity from which a family is a suggestion.
const NEAR_MIN: f64 = 0.72;
const NEAR_COUNT: usize = 3;

/// A name without what any drive could have.
struct TypedName {
    words: Vec<String>,
    makers: Vec<&'static [&'static str]>,
}

impl TypedName {
    fn read(name: &str) -> TypedName {
        let lower = name.to_lowercase();
        let lower = lower.strip_prefix("drive:").unwrap_or(&lower);
        let lower = lower.strip_suffix(".toml").unwrap_or(lower);
        let lower = lower
            .replace("m.2", " ")
            .replace("u.2", " ")
            .replace("2.5\"", " ");
        let lower = lower.replace('+', " plus ");
        let breaks = |c: char| !(c.is_ascii_alphanumeric() || c == '.');
        let pieces: Vec<&str> = lower
            .split(breaks)
            .filter(|word| !word.is_empty())
            .collect();
        let mut typed = TypedName {
            words: Vec::new(),
            makers: Vec::new(),
        };
        for (place, piece) in pieces.iter().enumerate() {
            let unit_follows = pieces.get(place + 1).is_some_and(|next| is_unit(next));
            let number = piece.parse::<f64>().is_ok();
            if is_capacity(piece) || is_unit(piece) || (number && unit_follows) {
                continue;
            }
            let word: String = piece.chars().filter(char::is_ascii_alphanumeric).collect();
            if let Some(maker) = maker(&word) {
                typed.makers.push(maker);
            } else if !word.is_empty() && !NOISE.contains(&word.as_str()) {
                typed.words.push(word);
            }
        }
        typed
    }

    fn joined(&self) -> String {
        self.words.concat()
    }

    /// Whether the family's maker is one that the name gives, or the name gives none.
    fn allows(&self, family: &ModelFamily) -> bool {
        let makes = |maker: &&[&str]| maker.contains(&family.vendor.as_str());
        self.makers.is_empty() || self.makers.iter().any(makes)
    }
}

fn is_unit(word: &str) -> bool {
    matches!(word, "gb" | "tb" | "gib" | "tib")
}

fn is_capacity(word: &str) -> bool {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &word[number.len()..];
    number.parse::<f64>().is_ok() && (is_unit(unit) || matches!(unit, "g" | "t"))
}

/// The companies of a maker's name, also when it is misspelt.
fn maker(word: &str) -> Option<&'static [&'static str]> {
    let exact = MAKERS.iter().find(|(name, _)| *name == word);
    let is_word = word.len() >= 5 && word.chars().all(|c| c.is_ascii_alphabetic());
    let misspelt = || {
        let close = |(name, _): &&(&str, _)| damerau_levenshtein(name, word) == 1;
        MAKERS
            .iter()
            .filter(|(name, _)| is_word && name.len() >= 5)
            .find(close)
    };
    exact.or_else(misspelt).map(|(_, companies)| *companies)
}

/// The names of a family, as words: its name, each of several in it, and its aliases.
fn names(family: &ModelFamily) -> Vec<Vec<String>> {
    let parts: Vec<&str> = family.name.split(", ").collect();
    let first = parts[0];
    let before_last = first.rsplit_once(' ').map_or("", |(before, _)| before);
    let others = parts[1..].iter().map(|part| {
        if part.contains(|c: char| c.is_ascii_digit()) {
            (*part).to_owned()
        } else {
            format!("{before_last} {part}")
        }
    });
    let texts = std::iter::once(first.to_owned())
        .chain(others)
        .chain(family.aliases.clone());
    let words = texts.map(|text| TypedName::read(&text).words);
    words.filter(|words| !words.is_empty()).collect()
}

/// How well a name fits a family's: shares of the characters of both that are in the other.
#[derive(Clone, Copy, Default)]
struct WordShares {
    of_family: f64,
    of_typed: f64,
    /// Characters with a digit among them are left over.
    leaves_digits: bool,
}

impl WordShares {
    fn is_exact(self) -> bool {
        self.of_family > 0.999 && self.of_typed > 0.999
    }

    fn sum(self) -> f64 {
        self.of_family + self.of_typed
    }
}

/// Which word each character of a joined name is of.
fn word_places(words: &[String]) -> Vec<usize> {
    let lengths = words.iter().enumerate();
    lengths
        .flat_map(|(place, word)| std::iter::repeat_n(place, word.len()))
        .collect()
}

fn shares(typed: &TypedName, family_words: &[String]) -> WordShares {
    let text = typed.joined();
    let places = word_places(&typed.words);
    let mut used = vec![false; text.len()];
    let mut terms: Vec<&String> = family_words.iter().collect();
    terms.sort_by_key(|term| std::cmp::Reverse(term.len()));
    let mut matched = 0;
    for term in &terms {
        let found = text
            .match_indices(term.as_str())
            .map(|(start, _)| start)
            .find(|&start| {
                let end = start + term.len();
                used[start..end].iter().all(|used| !used)
                    && stands_alone(&text, &places, start, end)
            });
        if let Some(start) = found {
            used[start..start + term.len()].fill(true);
            matched += term.len();
        }
    }
    let left = |place: &usize| {
        let start = places.iter().position(|p| p == place).unwrap_or(0);
        let word = &typed.words[*place];
        let rest = (0..word.len()).filter(|i| !used[start + i]);
        rest.map(|i| word.as_bytes()[i] as char).collect::<String>()
    };
    let some = matched > 0;
    let ignored = |word: &String| some && (CAPACITIES.contains(&word.as_str()) || is_noise(word));
    let left: Vec<String> = (0..typed.words.len()).map(|place| left(&place)).collect();
    let left: Vec<String> = left.into_iter().filter(|word| !ignored(word)).collect();
    let left_count: usize = left.iter().map(String::len).sum();
    let family_count: usize = terms.iter().map(|term| term.len()).sum();
    WordShares {
        of_family: matched as f64 / family_count.max(1) as f64,
        of_typed: matched as f64 / (matched + left_count).max(1) as f64,
        leaves_digits: left
            .iter()
            .any(|word| word.contains(|c: char| c.is_ascii_digit())),
    }
}

fn is_noise(word: &str) -> bool {
    NOISE.contains(&word) || MAKERS.iter().any(|(maker, _)| *maker == word)
}

/// Whether what stands at `start..end` is a word of a model's name and not a part of a longer
/// number or code: `980` is in `980pro`, not in `1980`; `sn850` is not in `sn850x`.
fn stands_alone(text: &str, places: &[usize], start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let term = &text[start..end];
    let is_code = term.contains(|c: char| c.is_ascii_digit())
        && term.contains(|c: char| c.is_ascii_alphabetic());
    let word_start = places
        .iter()
        .position(|p| *p == places[start])
        .unwrap_or(start);
    let word_end = places
        .iter()
        .rposition(|p| *p == places[end - 1])
        .map_or(end, |i| i + 1);
    let cut = |a: u8, b: u8| {
        (a.is_ascii_digit() && b.is_ascii_digit())
            || (is_code && a.is_ascii_alphabetic() && b.is_ascii_alphabetic())
    };
    let letters_after = bytes.get(end).is_some_and(u8::is_ascii_alphabetic) && is_code;
    let cut_before = start > word_start
        && cut(bytes[start - 1], bytes[start])
        && !is_noise(&text[word_start..start]);
    let cut_after =
        end < word_end && (cut(bytes[end - 1], bytes[end]) || letters_after && word_end - end <= 2);
    !cut_before && !cut_after
}

/// The families that a typed name means, or those spelt like it.
pub fn look_up(name: &str) -> Lookup {
    if let Some(family) = family_of(name) {
        return Lookup::Matches(vec![family]);
    }
    let typed = TypedName::read(name);
    if typed.words.is_empty() {
        let of_maker = families()
            .iter()
            .filter(|f| !typed.makers.is_empty() && typed.allows(f));
        let of_maker: Vec<_> = of_maker.collect();
        return if of_maker.is_empty() {
            Lookup::Near(Vec::new())
        } else {
            Lookup::Matches(of_maker)
        };
    }
    let mut fitting = Vec::new();
    for family in families().iter().filter(|family| typed.allows(family)) {
        let each = names(family)
            .into_iter()
            .map(|words| shares(&typed, &words));
        let best = each
            .max_by(|a, b| a.sum().total_cmp(&b.sum()))
            .unwrap_or_default();
        if best.of_typed >= SHARE_MIN && !best.leaves_digits {
            fitting.push((best, family));
        }
    }
    fitting.sort_by(|(a, _), (b, _)| b.sum().total_cmp(&a.sum()));
    let Some((best, _)) = fitting.first().copied() else {
        return Lookup::Near(near(&typed));
    };
    let shown = |(fit, _): &(WordShares, &ModelFamily)| {
        if best.is_exact() {
            fit.is_exact()
        } else {
            fit.sum() >= best.sum() - BEHIND_BEST
        }
    };
    Lookup::Matches(
        fitting
            .into_iter()
            .filter(shown)
            .map(|(_, family)| family)
            .collect(),
    )
}

/// The families spelt most like a name.
fn near(typed: &TypedName) -> Vec<&'static ModelFamily> {
    let similarity = |family: &ModelFamily| {
        let each = names(family)
            .into_iter()
            .map(|words| likeness(typed, &words));
        each.fold(0.0, f64::max) + if typed.allows(family) { 0.0 } else { -0.2 }
    };
    let all = families().iter().map(|family| (similarity(family), family));
    let mut alike: Vec<_> = all
        .filter(|(similarity, _)| *similarity >= NEAR_MIN)
        .collect();
    alike.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    alike
        .into_iter()
        .take(NEAR_COUNT)
        .map(|(_, family)| family)
        .collect()
}

/// Similarity of two names, joined or word by word.
fn likeness(typed: &TypedName, words: &[String]) -> f64 {
    let joined = normalized_damerau_levenshtein(&typed.joined(), &words.concat());
    let by_word = (covered(&typed.words, words) + covered(words, &typed.words)) / 2.0;
    f64::max(joined, by_word)
}

/// Mean likeness of each word to the one in `others` that is most like it, by length.
fn covered(words: &[String], others: &[String]) -> f64 {
    let most = |word: &String| {
        let alike = others
            .iter()
            .map(|other| normalized_damerau_levenshtein(word, other));
        alike.fold(0.0, f64::max) * word.len() as f64
    };
    let length: usize = words.iter().map(String::len).sum();
    words.iter().map(most).sum::<f64>() / length.max(1) as f64
}
