//! Does every documented figure of a provider come out of its model?
//!
//! The figures are those of the documents in the files' `[sources]`. What the model gives is
//! measured on it in virtual time where that is short, else computed from its accounts. Beside it
//! stands a null: a volume that holds its burst for ever, as a drive without an account would be.
//! `UPDATE_DOCUMENTED=1` writes the table into DOCUMENTED.md.

mod documented {
    pub mod figures;
    pub mod measured;
}

use documented::figures::{DocumentedFigure, figures};
use std::fmt::Write as _;
use std::path::Path;

fn shown(value: f64) -> String {
    if value.is_infinite() {
        "never".to_owned()
    } else if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

fn table(figures: &[DocumentedFigure]) -> String {
    let mut text = String::from(
        "# Documented figures against the models\n\n\
         Written by `UPDATE_DOCUMENTED=1 cargo test -p ssdlab-volume --test documented`, which \
         fails when a figure is\nnot met. Sources and dates: `volumes/*.toml`. The null holds its \
         burst for ever.\n\n\
         | volume | figure | documented | model | how | null |\n|---|---|---|---|---|---|\n",
    );
    for figure in figures {
        let null = if figure.is_met_by(figure.null) {
            ""
        } else {
            " (missed)"
        };
        writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {}{null} |",
            figure.volume,
            figure.what,
            shown(figure.documented),
            shown(figure.model),
            figure.how,
            shown(figure.null),
        )
        .expect("to a string");
    }
    let met = figures
        .iter()
        .filter(|figure| figure.is_met_by(figure.model))
        .count();
    let null = figures
        .iter()
        .filter(|figure| figure.is_met_by(figure.null))
        .count();
    let count = figures.len();
    writeln!(
        text,
        "\nMet by the models: {met} of {count}. By the null: {null}."
    )
    .expect("to a string");
    text
}

#[test]
fn every_documented_figure_is_met_and_the_null_misses() {
    let figures = figures();
    for figure in &figures {
        assert!(figure.is_met_by(figure.model), "{figure:?}");
    }
    let missed = figures
        .iter()
        .filter(|figure| !figure.is_met_by(figure.null))
        .count();
    assert!(
        missed >= 40,
        "the null misses {missed} of {}",
        figures.len()
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("DOCUMENTED.md");
    let text = table(&figures);
    if std::env::var_os("UPDATE_DOCUMENTED").is_some() {
        std::fs::write(&path, &text).expect("DOCUMENTED.md can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("DOCUMENTED.md is part of the source");
    assert_eq!(kept, text, "run with UPDATE_DOCUMENTED=1");
}
