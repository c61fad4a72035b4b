//! The present load, as spans of time: what goes on if nothing changes.

use crate::steps::WatchedSecond;

/// A busy span is split where its rate leaves this range around the mean so far.
const SAME_RATE: f64 = 1.35;
/// Slices that decide whether the rate has changed: single ones vary.
const CHANGED_SLICES: usize = 4;
/// Spans that are looked back at, at most.
const SPANS_MAX: usize = 120;

/// A span of time with a steady load, or without any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadSpan {
    /// Its length, s.
    pub seconds: f64,
    /// Bytes written.
    pub written: f64,
    /// Write requests.
    pub writes: f64,
    /// Bytes read.
    pub read: f64,
    /// Requests of all kinds.
    pub requests: f64,
    /// Flushes.
    pub flushes: f64,
    /// Bytes discarded.
    pub discarded: f64,
    /// Time with a request in the drive, s: an upper bound where several overlap.
    pub busy: f64,
}

impl LoadSpan {
    /// Of one slice of `seconds`.
    pub fn new(slice: &WatchedSecond, seconds: f64) -> LoadSpan {
        let kinds = [slice.reads, slice.writes, slice.flushes, slice.discards];
        let device_ns: u64 = kinds.iter().map(|kind| kind.device_ns).sum();
        LoadSpan {
            seconds,
            written: slice.writes.bytes as f64,
            writes: slice.writes.count as f64,
            read: slice.reads.bytes as f64,
            requests: kinds.iter().map(|kind| kind.count).sum::<u64>() as f64,
            flushes: slice.flushes.count as f64,
            discarded: slice.discards.bytes as f64,
            busy: (device_ns as f64 / 1e9).min(seconds),
        }
    }

    /// Whether the host asks for nothing.
    pub fn is_rest(&self) -> bool {
        self.requests == 0.0
    }

    /// Bytes written a second.
    pub fn write_rate(&self) -> f64 {
        self.written / self.seconds.max(1e-9)
    }

    fn add(&mut self, other: &LoadSpan) {
        self.seconds += other.seconds;
        self.written += other.written;
        self.writes += other.writes;
        self.read += other.read;
        self.requests += other.requests;
        self.flushes += other.flushes;
        self.discarded += other.discarded;
        self.busy += other.busy;
    }

    fn sum(spans: &[LoadSpan]) -> LoadSpan {
        let mut sum = LoadSpan::default();
        spans.iter().for_each(|span| sum.add(span));
        sum
    }
}

/// The load since the beginning of a watch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchedLoad {
    /// In the order of time.
    pub spans: Vec<LoadSpan>,
}

impl WatchedLoad {
    /// Joins slices of `slice_s` to spans: rests, and busy spans of one rate.
    pub fn new(slices: &[WatchedSecond], slice_s: f64) -> WatchedLoad {
        let slices: Vec<LoadSpan> = slices
            .iter()
            .map(|slice| LoadSpan::new(slice, slice_s))
            .collect();
        let mut spans: Vec<LoadSpan> = Vec::new();
        for (index, slice) in slices.iter().enumerate() {
            let next = &slices[index..slices.len().min(index + CHANGED_SLICES)];
            match spans.last_mut() {
                Some(last) if continues(last, next) => last.add(slice),
                _ => spans.push(*slice),
            }
        }
        WatchedLoad { spans }
    }

    /// Bytes written so far.
    pub fn written(&self) -> f64 {
        self.spans.iter().map(|span| span.written).sum()
    }

    /// Length, s.
    pub fn seconds(&self) -> f64 {
        self.spans.iter().map(|span| span.seconds).sum()
    }

    /// What repeats if nothing changes: bursts with their pauses, else the last rate. A pause that
    /// has just begun is as long as the one before it.
    pub fn cycle(&self) -> Vec<LoadSpan> {
        let spans = &self.spans[self.spans.len().saturating_sub(SPANS_MAX)..];
        let rests = || (0..spans.len()).filter(|&index| spans[index].is_rest());
        // From the end of one pause to the end of another, the one at hand aside.
        let ended = || rests().filter(|&index| index + 1 < spans.len());
        if let (Some(first), Some(last)) = (ended().next(), ended().next_back())
            && first < last
        {
            return spans[first + 1..=last].to_vec();
        }
        // The first burst has ended, and the pause is at hand; or a pause came before the load.
        match spans {
            [burst, rest] if rest.is_rest() && !burst.is_rest() => vec![*burst, *rest],
            _ => spans
                .iter()
                .rev()
                .find(|span| !span.is_rest())
                .map_or_else(Vec::new, |span| vec![*span]),
        }
    }

    /// The sum of what repeats.
    pub fn mean(&self) -> LoadSpan {
        LoadSpan::sum(&self.cycle())
    }
}

/// Whether the next slices go on with the load of a span.
fn continues(span: &LoadSpan, next: &[LoadSpan]) -> bool {
    let Some(first) = next.first() else {
        return false;
    };
    if span.is_rest() || first.is_rest() {
        return span.is_rest() == first.is_rest();
    }
    let busy: Vec<LoadSpan> = next
        .iter()
        .copied()
        .take_while(|slice| !slice.is_rest())
        .collect();
    if busy.len() < CHANGED_SLICES {
        return true;
    }
    let (before, after) = (span.write_rate(), LoadSpan::sum(&busy).write_rate());
    after <= before * SAME_RATE && before <= after * SAME_RATE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::KindSecond;

    fn slices(rates: &[u64]) -> Vec<WatchedSecond> {
        let slice = |&bytes: &u64| WatchedSecond {
            writes: KindSecond {
                count: bytes >> 12,
                bytes,
                device_ns: bytes,
                max_ns: 0,
            },
            ..WatchedSecond::default()
        };
        rates.iter().map(slice).collect()
    }

    #[test]
    fn a_steady_load_is_one_span_and_a_change_begins_another() {
        let load = WatchedLoad::new(&slices(&[1 << 20; 20]), 1.0);
        assert_eq!(load.spans.len(), 1);
        assert_eq!(load.cycle(), load.spans);
        let mut rates = vec![1 << 20; 10];
        rates.extend([4 << 20; 10]);
        let cycle = WatchedLoad::new(&slices(&rates), 1.0).cycle();
        assert_eq!(cycle.len(), 1);
        assert!((cycle[0].write_rate() / f64::from(4 << 20) - 1.0).abs() < 0.1);
    }

    #[test]
    fn bursts_repeat_with_their_pauses() {
        let mut rates = vec![];
        for _ in 0..3 {
            rates.extend([8 << 20; 5]);
            rates.extend([0; 7]);
        }
        rates.push(8 << 20);
        let cycle = WatchedLoad::new(&slices(&rates), 1.0).cycle();
        let seconds: f64 = cycle.iter().map(|span| span.seconds).sum();
        assert!((seconds - 24.0).abs() < 1e-9, "two cycles: {cycle:?}");
        assert!(cycle.last().is_some_and(LoadSpan::is_rest));
        assert!(WatchedLoad::new(&slices(&[0; 9]), 1.0).cycle().is_empty());
    }
}
