//! Two histograms of seek distances side by side, as SVG.

use maud::{Markup, html};
use ssdlab_view::bars::swatch;
use std::collections::{BTreeMap, BTreeSet};

const WIDTH: f64 = 1080.0;
const BASE: f64 = 210.0;
const TOP: f64 = 14.0;
const LEFT: f64 = 52.0;
/// Shares from here to one, logarithmic.
const LEAST: f64 = 1e-5;

type SeekShares = BTreeMap<i64, f64>;

fn shares(histogram: &[(i64, u64)]) -> SeekShares {
    let total: u64 = histogram.iter().map(|(_, count)| count).sum();
    let share = |(bucket, count): &(i64, u64)| (*bucket, *count as f64 / total.max(1) as f64);
    histogram.iter().map(share).collect()
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// Height of the top of a bar of this share.
fn up(share: f64) -> f64 {
    let part = (share.max(LEAST) / LEAST).log10() / (1.0 / LEAST).log10();
    BASE - part * (BASE - TOP)
}

/// A bucket's lower bound in sectors, as bytes where that is shorter.
fn bound(sectors: i64) -> String {
    let size = sectors.unsigned_abs();
    let sign = if sectors < 0 { "-" } else { "" };
    match size {
        0 => "0".into(),
        1..=1023 => format!("{sign}{size}"),
        _ => format!("{sign}{}k", size / 1024),
    }
}

/// Shares of the seeks per bucket, published and ours.
pub(super) fn chart(title: &str, published: &[(i64, u64)], ours: &[(i64, u64)]) -> Markup {
    let (published, ours) = (shares(published), shares(ours));
    let buckets: BTreeSet<i64> = published.keys().chain(ours.keys()).copied().collect();
    let step = (WIDTH - LEFT - 4.0) / buckets.len().max(1) as f64;
    let wide = (step * 0.4).min(24.0);
    let bar = |shares: &SeekShares, bucket: i64, x: f64, class: &str, name: &str| {
        let share = shares.get(&bucket).copied().unwrap_or(0.0);
        let percent = format!("{name}, from {bucket} sectors: {:.3} %", share * 100.0);
        html! {
            @if share > 0.0 {
                rect .(class) x=(px(x)) width=(px(wide)) y=(px(up(share)))
                    height=(px(BASE - up(share))) { title { (percent) } }
            }
        }
    };
    html! {
        figure .seeks {
            figcaption {
                (title) span .quiet { " " (swatch(0)) "published " (swatch(1)) "ours" }
            }
            svg viewBox={ "0 0 " (WIDTH) " 244" } role="img" aria-label=(title) {
                @for power in 0..=5 {
                    @let share = 10_f64.powi(-power);
                    @let y = px(up(share));
                    line .grid x1=(LEFT) x2=(WIDTH) y1=(y) y2=(y) {}
                    text x=(LEFT - 6.0) y=(px(up(share) + 4.0)) text-anchor="end" {
                        (format!("{} %", share * 100.0))
                    }
                }
                @for (i, bucket) in buckets.iter().enumerate() {
                    @let x = LEFT + 4.0 + i as f64 * step;
                    (bar(&published, *bucket, x, "c0", "published"))
                    (bar(&ours, *bucket, x + wide, "c1", "ours"))
                    text x=(px(x + wide)) y=(BASE + 15.0) text-anchor="middle" {
                        (bound(*bucket))
                    }
                }
                line .axis x1=(LEFT) x2=(WIDTH) y1=(BASE) y2=(BASE) {}
                text x=(px(WIDTH / 2.0)) y="240" text-anchor="middle" {
                    "distance in sectors of 512 B from the end of the write before, lower bound"
                }
            }
        }
    }
}
