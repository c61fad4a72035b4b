//! An article's page: its story in sections, each with figures and plots.

use crate::outcome::ExperimentRecords;
use maud::Markup;
use ssdlab_view::chart::Charts;

/// A section of an article's page.
pub(crate) struct ArticleSection {
    /// Its anchor on the page.
    pub anchor: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Paragraphs.
    pub text: &'static [&'static str],
    /// Ids, or beginnings of ids, of its figures.
    pub ids: &'static [&'static str],
    /// Draws its plots.
    pub plots: fn(&ExperimentRecords, &mut Charts) -> Markup,
}

impl ArticleSection {
    /// Whether a figure stands here.
    pub fn holds(&self, id: &str) -> bool {
        self.ids.iter().any(|own| begins(id, own))
    }
}

/// Whether `id` is `name`, or begins with it up to a dot.
pub(crate) fn begins(id: &str, name: &str) -> bool {
    let suffix = id.strip_prefix(name);
    suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('.'))
}

/// An article.
pub(crate) struct Article {
    /// First part of its figures' ids.
    pub key: &'static str,
    /// Title of its page.
    pub title: &'static str,
    /// Author and year.
    pub source: &'static str,
    /// What it asks.
    pub intro: &'static str,
    /// In the article's order.
    pub sections: &'static [&'static ArticleSection],
}
