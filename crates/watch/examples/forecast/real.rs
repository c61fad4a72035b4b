//! Real drives of the catalogue whose cliff others have measured: what would have been said before
//! the first byte. Figures and their sources are in this crate's GUIDE.md.

use ssdlab_drives::catalogue;
use ssdlab_watch::forecast::fill::WritePressure;
use ssdlab_watch::forecast::{ForecastEvidence, ForecastModel, WatchForecast};
use ssdlab_watch::steps::{KindSecond, WatchedSecond};

/// A cliff that was measured.
struct MeasuredCliff {
    drive: &'static str,
    /// Bytes written before it, GB.
    gigabytes: f64,
    /// Rate before it, bytes a second.
    rate: u64,
    /// Written from end to end before, and then over at random; else empty and filled in order.
    is_full: bool,
}

const fn cliff(drive: &'static str, gigabytes: f64, rate: u64, is_full: bool) -> MeasuredCliff {
    MeasuredCliff {
        drive,
        gigabytes,
        rate,
        is_full,
    }
}

const MEASURED: [MeasuredCliff; 7] = [
    cliff("samsung-980-1tb", 160.0, 2_500_000_000, false),
    cliff("samsung-980-pro-1tb", 113.0, 4_000_000_000, false),
    cliff("crucial-p1-1tb", 140.0, 1_600_000_000, false),
    cliff("wd-blue-sn550-1tb", 15.0, 1_800_000_000, false),
    cliff("sk-hynix-pe8110-960gb", 126.0, 1_785_000_000, true),
    cliff("solidigm-d7-p5520-1920gb", 405.0, 2_014_000_000, true),
    cliff("micron-7450-max-800gb", 356.0, 1_452_000_000, true),
];

/// One line a drive.
pub fn print() {
    for measured in MEASURED {
        let drive = catalogue::drive(measured.drive).expect("in the catalogue");
        let model = ForecastModel::new(&drive);
        let size = if measured.is_full { 4096 } else { 1 << 20 };
        let second = WatchedSecond {
            writes: KindSecond {
                count: measured.rate / size,
                bytes: measured.rate,
                device_ns: 1_000_000_000,
                max_ns: 1_000_000,
            },
            ..WatchedSecond::default()
        };
        let user = model.config.user_bytes;
        let evidence = ForecastEvidence {
            slices: vec![second],
            slice_s: 1.0,
            used: Some(if measured.is_full { 1.0 } else { 0.0 }),
            written_since_boot: Some(0),
            written_in_life: Some(if measured.is_full { user } else { 0 }),
            pressure: Some(WritePressure {
                random: if measured.is_full { 1.0 } else { 0.0 },
                span_bytes: Some(user as f64),
            }),
            ..ForecastEvidence::default()
        };
        let forecast = WatchForecast::new(Some(&model), &evidence);
        let said = forecast
            .cliff
            .expected()
            .map_or("nothing".to_owned(), |event| {
                let gb = |bytes: f64| (bytes + measured.rate as f64) / 1e9;
                format!(
                    "{:.0} GB, {:.0} to {:.0} ({:?}), {:.0} s",
                    gb(event.bytes.median),
                    gb(event.bytes.low),
                    event.bytes.high.map_or(f64::INFINITY, gb),
                    event.cause,
                    event.seconds.median + 1.0,
                )
            });
        println!(
            "{}: measured {} GB; said {said}",
            measured.drive, measured.gigabytes
        );
    }
}
