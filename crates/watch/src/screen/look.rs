//! Characters and colours: ASCII where the locale is not UTF-8, no colour where `NO_COLOR` is set.

use ratatui::style::{Color, Style};
use ssdlab_view::text::clean;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenLook {
    /// Whether it takes more than ASCII.
    pub is_unicode: bool,
    /// Whether colours may be used.
    pub has_colour: bool,
}

impl ScreenLook {
    /// By the variables of the environment, given by `variable`: the locale, and `NO_COLOR`.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> ScreenLook {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .filter_map(&variable)
            .find(|value| !value.is_empty())
            .unwrap_or_default()
            .to_ascii_lowercase();
        ScreenLook {
            is_unicode: locale.contains("utf-8") || locale.contains("utf8"),
            has_colour: variable("NO_COLOR").is_none_or(|value| value.is_empty()),
        }
    }
}

impl ScreenLook {
    pub(super) fn colour(self, colour: Color) -> Style {
        if self.has_colour {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    /// `text` in the characters that the terminal has.
    pub(super) fn text(self, text: &str) -> String {
        let cleaned = clean(text);
        if self.is_unicode {
            return cleaned;
        }
        let plain = |c: char| match c {
            '…' => '~',
            'µ' => 'u',
            c if c.is_ascii() => c,
            _ => '?',
        };
        cleaned.chars().map(plain).collect()
    }

    /// As much of `text` as fits.
    pub(super) fn cut(self, text: &str, width: usize) -> String {
        let text = self.text(text);
        if text.chars().count() <= width {
            return text;
        }
        let end = if self.is_unicode { "…" } else { "~" };
        let start: String = text.chars().take(width.saturating_sub(1)).collect();
        format!("{start}{end}")
    }
}
