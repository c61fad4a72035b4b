//! The published figures: what is asked of them, and how ours is judged.

use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_base::error::Place;
use std::sync::LazyLock;

/// What a published figure is to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The drive or the host was fitted to it.
    Calibrated,
    /// Nothing was fitted to it.
    Predicted,
    /// A claim without a number.
    Shape,
    /// Follows from other published numbers.
    Arithmetic,
    /// A fact that the catalogue carries.
    Documented,
    /// A difference that wear as the model knows it does not make: something else was changed
    /// between the two measurements, too.
    NotWear,
}

impl Kind {
    /// As people read it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Calibrated => "calibrated",
            Kind::Predicted => "predicted",
            Kind::Shape => "shape",
            Kind::Arithmetic => "arithmetic",
            Kind::Documented => "documented",
            Kind::NotWear => "not wear",
        }
    }
}

/// When ours is as good as the published number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// Off by at most this share of the published number.
    Relative(f64),
    /// Off by at most this, in the figure's unit.
    Absolute(f64),
    /// From the first to the second.
    Between([f64; 2]),
    /// Not above.
    AtMost(f64),
    /// Not below.
    AtLeast(f64),
}

impl Rule {
    /// Whether `ours` is good enough beside `published`.
    pub fn holds(self, published: Option<f64>, ours: f64) -> bool {
        let off = published.map(|published| (ours - published).abs());
        match self {
            Rule::Relative(share) => published
                .zip(off)
                .is_some_and(|(published, off)| off <= share * published.abs()),
            Rule::Absolute(most) => off.is_some_and(|off| off <= most),
            Rule::Between([low, high]) => (low..=high).contains(&ours),
            Rule::AtMost(most) => ours <= most,
            Rule::AtLeast(least) => ours >= least,
        }
    }

    /// In words.
    pub fn text(self) -> String {
        match self {
            Rule::Relative(share) => format!("within {} %", number(share * 100.0)),
            Rule::Absolute(0.0) => "the same".into(),
            Rule::Absolute(most) => format!("within {}", number(most)),
            Rule::Between([low, high]) => format!("{} to {}", number(low), number(high)),
            Rule::AtMost(most) => format!("at most {}", number(most)),
            Rule::AtLeast(least) => format!("at least {}", number(least)),
        }
    }
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Id in the list of published figures; several rows may share one.
    pub id: String,
    /// Which of the id's numbers it is; empty when there is one.
    #[serde(default)]
    pub what: String,
    /// The published number.
    pub published: Option<f64>,
    /// How it was worded, where it was no plain number.
    #[serde(default)]
    pub text: String,
    /// Unit of both numbers.
    #[serde(default)]
    pub unit: String,
    /// What it is to the model.
    pub kind: Kind,
    /// `experiment/measure`, or `=name` for what follows from all of `needs`.
    #[serde(default)]
    pub ours: String,
    /// Experiments of a `=name`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// When ours is good enough; `None` while pending.
    pub rule: Option<Rule>,
    /// Likely reason of a miss.
    #[serde(default)]
    pub reason: String,
    /// What a reader should know in any case.
    #[serde(default)]
    pub note: String,
    /// What must exist before ours can be measured; empty when it can.
    #[serde(default)]
    pub pending: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    figure: Vec<Figure>,
}

static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let file: Result<File, _> = toml::from_str(include_str!("published.toml"));
    // The tests read the embedded file; should it break, there are no figures.
    file.map(|file| file.figure).unwrap_or_default()
});

/// All figures, in the order of the articles.
pub fn all() -> &'static [Figure] {
    &FIGURES
}

/// Keys and titles of the articles, in order.
pub const ARTICLES: [(&str, &str); 5] = [
    ("s2d", "A consumer drive as a cache device"),
    ("zil", "Log devices for synchronous writes"),
    ("spare", "Spare area, compression and dirt"),
    ("myth", "How a drive slows down in production"),
    ("worn", "A drive after 270 TB"),
];

impl Figure {
    /// Key of its article.
    pub fn article(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }

    /// Names of the experiments that it needs.
    pub fn experiments(&self) -> Vec<&str> {
        if !self.pending.is_empty() {
            return Vec::new();
        }
        match self.ours.split_once('/') {
            Some((experiment, _)) => vec![experiment],
            None => self.needs.iter().map(String::as_str).collect(),
        }
    }

    /// The published figure as people read it.
    pub fn published_text(&self) -> String {
        let value = || self.published.map_or(String::new(), number);
        let text = if self.text.is_empty() {
            value()
        } else {
            self.text.clone()
        };
        if self.unit.is_empty() || self.text.contains(' ') && self.published.is_none() {
            text
        } else {
            with_unit(&text, &self.unit)
        }
    }
}

fn with_unit(text: &str, unit: &str) -> String {
    if text.ends_with(|c: char| c.is_ascii_digit() || c == '+') {
        format!("{text} {unit}")
    } else {
        text.to_owned()
    }
}

/// The figures that `wanted` names: ids, articles, or the beginning of ids up to a dot. All of
/// them when nothing is named.
///
/// # Errors
/// When a name is none of these.
pub fn select(wanted: &[String]) -> Result<Vec<&'static Figure>, LabError> {
    let names = |figure: &Figure, name: &str| {
        let rest = figure.id.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if let Some(unknown) = wanted
        .iter()
        .find(|name| !all().iter().any(|figure| names(figure, name)))
    {
        return Err(unknown_id(unknown));
    }
    let chosen =
        |figure: &&Figure| wanted.is_empty() || wanted.iter().any(|name| names(figure, name));
    Ok(all().iter().filter(chosen).collect())
}

/// Ids without their repetitions, in order.
pub fn ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = all().iter().map(|figure| figure.id.as_str()).collect();
    ids.dedup();
    ids
}

fn unknown_id(name: &str) -> LabError {
    let article = name.split('.').next().unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    let same = |id: &&str| id.split('.').next() == Some(article);
    let mut near: Vec<&str> = ids()
        .into_iter()
        .filter(|id| !last.is_empty() && id.contains(last))
        .collect();
    if near.is_empty() {
        near = ids().into_iter().filter(same).collect();
    }
    near.truncate(5);
    let hint = if near.is_empty() {
        "`ssdlab reproduce --list` shows all".to_owned()
    } else {
        format!(
            "such as {}; `ssdlab reproduce --list` shows all",
            near.join(", ")
        )
    };
    LabError::BadValue {
        option: "ID".into(),
        given: name.into(),
        allowed: "an id of a published figure, the beginning of ids (zil.rw80), or an article \
                  (s2d, zil, spare, myth, worn) is allowed"
            .into(),
        place: Place {
            source: "command line".into(),
            line: None,
        },
        hint,
    }
}

/// How ours compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Ours is good enough by the figure's rule.
    Met,
    /// It is not.
    Missed,
    /// It cannot be measured yet.
    Pending,
    /// It was not measured: the run was stopped.
    NotRun,
}

impl Verdict {
    /// As people read it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Missed => "MISSED",
            Verdict::Pending => "pending",
            Verdict::NotRun => "not run",
        }
    }
}

/// A figure with ours beside it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The figure.
    #[serde(flatten)]
    pub figure: Figure,
    /// Our value, in the figure's unit.
    pub value: Option<f64>,
    /// Ours in words, where the number alone does not say it.
    pub value_text: Option<String>,
    /// ours / published - 1, where both are numbers and the rule is a relative one.
    pub error: Option<f64>,
    /// How it compares.
    pub verdict: Verdict,
}

impl Row {
    /// Judges a measured value.
    pub fn new(figure: &Figure, ours: Option<(f64, Option<String>)>) -> Row {
        let value = ours.as_ref().map(|ours| ours.0);
        let verdict = match (&figure.rule, value) {
            _ if !figure.pending.is_empty() => Verdict::Pending,
            (Some(rule), Some(value)) if rule.holds(figure.published, value) => Verdict::Met,
            (Some(_), Some(_)) => Verdict::Missed,
            _ => Verdict::NotRun,
        };
        let error = match (figure.published, value) {
            (Some(published), Some(value)) if published != 0.0 => Some(value / published - 1.0),
            _ => None,
        };
        Row {
            figure: figure.clone(),
            value,
            value_text: ours.and_then(|ours| ours.1),
            error,
            verdict,
        }
    }

    /// Ours as people read it.
    pub fn ours_text(&self) -> String {
        match (&self.value_text, self.value) {
            (Some(text), _) => text.clone(),
            (None, Some(value)) => {
                let text = number(value);
                if self.figure.unit.is_empty() {
                    text
                } else {
                    with_unit(&text, &self.figure.unit)
                }
            }
            (None, None) => "-".into(),
        }
    }

    /// The error as people read it.
    pub fn error_text(&self) -> String {
        let exact = |error: f64| error.abs() < 0.0005;
        match (self.error, self.figure.rule) {
            (Some(error), Some(Rule::Relative(_) | Rule::Absolute(_))) if exact(error) => {
                "0 %".into()
            }
            (Some(error), Some(Rule::Relative(_))) => format!("{:+.0} %", error * 100.0),
            (Some(_), Some(Rule::Absolute(_))) => {
                let published = self.figure.published.unwrap_or(0.0);
                let off = self.value.unwrap_or(0.0) - published;
                format!("{off:+.1}")
            }
            (Some(error), Some(Rule::Between(_))) => format!("{:+.0} %", error * 100.0),
            _ => "-".into(),
        }
    }
}

/// A number with as many digits as matter, thousands apart by commas.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "not finite".into();
    }
    let size = value.abs();
    let places = match size {
        0.0 => 0,
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.0995 => 2,
        s if s >= 0.00995 => 3,
        _ => 4,
    };
    let text = format!("{value:.places$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let (sign, digits) = match whole.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", whole),
    };
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{fraction}")
}
