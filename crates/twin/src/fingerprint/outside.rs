//! From readings to values of the outside: write buffer, flush, link, controller, reads.

use super::burst::median;
use super::probes::{Probe, ProbeReadings};
use super::value::{FingerprintValue, NOT_DONE, STATED, ValueDescriptor, spread};

/// Durable writes that take up to this many times a plain one wait for nothing; from the second
/// on, for media.
const WAITS: (f64, f64) = (1.3, 3.0);

pub(super) fn buffer(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "buffer.size",
        title: "write buffer",
        unit: "B",
        probe: Probe::Buffer,
    };
    let Some(bursts) = &r.bursts else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    if bursts.sizes.is_empty() {
        let why = "bursts do not fill a buffer and then drain it at one rate: media keep up with \
                   the link, it is larger than a burst, or a cache comes between";
        return FingerprintValue::unknown(sought, why);
    }
    let (size, [low, high]) = spread(&bursts.sizes, 0.03);
    let interval = [low.min(size - bursts.error), high.max(size + bursts.error)];
    let drain = median(&bursts.drains);
    let why = format!(
        "bursts after rests: the first {:.2} MB at {:.0} MB/s, then {:.0} MB/s",
        size / 1e6,
        bursts.fast / 1e6,
        drain / 1e6
    );
    FingerprintValue::between(sought, size, interval, why)
}

/// The buffer and half its interval, bytes, stated or not: what other values are corrected by.
pub(super) fn buffer_bytes(r: &ProbeReadings) -> Option<(f64, f64)> {
    let [low, high] = buffer(r).interval?;
    Some(((low + high) / 2.0, (high - low) / 2.0))
}

/// Bytes within which the buffer may be the reason of a change of rate.
pub(super) fn within_buffer(r: &ProbeReadings, grid: u64) -> f64 {
    2.5 * buffer_bytes(r).map_or(0.0, |(size, _)| size) + grid as f64
}

pub(super) fn durable(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "buffer.protected",
        title: "FUA and FLUSH wait for nothing",
        unit: "yes",
        probe: Probe::Flush,
    };
    let Some([plain, fua, flushed]) = &r.singles else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let [plain, fua, flushed] = [plain, fua, flushed].map(|times| median(times));
    let why = format!(
        "a write takes {:.0} us, with FUA {:.0} us, with a FLUSH {:.0} us",
        plain / 1e3,
        fua / 1e3,
        flushed / 1e3
    );
    // A flush is a command of its own: two plain ones.
    let (least, most) = (
        fua.min(flushed / 2.0) / plain,
        fua.max(flushed / 2.0) / plain,
    );
    if most < WAITS.0 {
        FingerprintValue::yes(
            sought,
            true,
            why + "; that data survives a cut, no time shows",
        )
    } else if least > WAITS.1 {
        FingerprintValue::yes(sought, false, why)
    } else {
        FingerprintValue::unknown(
            sought,
            why + ": neither as fast as plain writes nor much slower",
        )
    }
}

/// Longest and shortest time that the link may take for 4 KiB, ns.
fn small_transfer(r: &ProbeReadings) -> (f64, f64) {
    let seen = r.link.map_or(0.0, |(read, write)| read.max(write));
    let time = 4096.0 / seen.max(1.0) * 1e9;
    (time, link(r).value.map_or(0.0, |_| time))
}

pub(super) fn latency(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "host.latency",
        title: "latency of a command",
        unit: "ns",
        probe: Probe::Flush,
    };
    let (Some([plain, ..]), Some(rate)) = (&r.singles, r.small_burst) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let (time, [low, high]) = spread(&quartiles(plain), 0.03);
    let (longest, shortest) = small_transfer(r);
    let busy = 1e9 / rate;
    let why = format!(
        "a plain write, {:.1} us, less link and controller",
        time / 1e3
    );
    let middle = time - busy - (longest + shortest) / 2.0;
    let interval = [low - busy - longest, high - busy - shortest];
    FingerprintValue::between(sought, middle, interval, why)
}

/// Quartiles and median.
fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2, 3].map(|q| {
        sorted
            .get(sorted.len() * q / 4)
            .copied()
            .unwrap_or(f64::NAN)
    })
}

pub(super) fn link(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "host.link_rate",
        title: "link",
        unit: "B/s",
        probe: Probe::Reads,
    };
    let Some((read, write)) = r.link else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let why = format!(
        "large reads {:.0} MB/s, large writes {:.0}",
        read / 1e6,
        write / 1e6
    );
    let rate = read.max(write);
    let apart = (read / write).ln().abs();
    // The beginning of a burst may have been faster than either.
    let faster = r
        .bursts
        .as_ref()
        .is_some_and(|bursts| bursts.fast > 1.12 * rate);
    if apart > STATED || faster {
        let mut value =
            FingerprintValue::unknown(sought, why + ": something else than the link is the limit");
        value.interval = Some([rate, f64::INFINITY]);
        return value;
    }
    FingerprintValue::between(sought, rate, [rate * 0.97, rate * 1.05], why)
}

pub(super) fn overhead(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "host.write_overhead",
        title: "controller time of a write",
        unit: "ns",
        probe: Probe::Reads,
    };
    let Some(rate) = r.small_burst else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let time = 1e9 / rate;
    let (transfer, _) = small_transfer(r);
    let why = format!("bursts of small writes: {rate:.0} a second");
    if time < 1.4 * transfer {
        return FingerprintValue::unknown(sought, why + ", as many as the link takes");
    }
    FingerprintValue::between(sought, time, [time * 0.94, time * 1.04], why)
}

pub(super) fn read_time(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "nand.read",
        title: "time of a random read on media",
        unit: "ns",
        probe: Probe::Reads,
    };
    let (Some(first), Some([plain, ..])) = (r.reads.first(), &r.singles) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let time = first.latency - median(plain);
    let why = format!(
        "a single read, {:.1} us, less a plain write",
        first.latency / 1e3
    );
    if time < 0.3 * first.latency {
        return FingerprintValue::unknown(sought, why + ": most of it is not the media's");
    }
    FingerprintValue::between(sought, time, [time * 0.95, time * 1.05], why)
}

pub(super) fn read_parallelism(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "reads in parallel",
        title: "random reads in parallel",
        unit: "count",
        probe: Probe::Reads,
    };
    let (Some(first), [.., before, last]) = (r.reads.first(), r.reads.as_slice()) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let count = last.iops / first.iops;
    let why = format!(
        "{:.0} a second at depth 1, {:.0} at {}",
        first.iops, last.iops, last.depth
    );
    if last.iops > 1.1 * before.iops {
        return FingerprintValue::unknown(sought, why + ", and still more with more commands");
    }
    FingerprintValue::between(sought, count, [count * 0.95, count * 1.05], why)
}

pub(super) fn map(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "span of the map",
        title: "span whose map is at hand",
        unit: "B",
        probe: Probe::Spans,
    };
    let (Some(first), Some(last)) = (r.spans.first(), r.spans.last()) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let (near, far) = (first.1, last.1);
    let why = format!(
        "a read takes {:.0} us within {} MiB, {:.0} us anywhere",
        near / 1e3,
        first.0 >> 20,
        far / 1e3
    );
    if far < 0.95 * near {
        return FingerprintValue::unknown(sought, why + ": something else was slow");
    }
    if far < 1.08 * near {
        return FingerprintValue::between(sought, r.bytes as f64, [r.bytes as f64; 2], why);
    }
    if far < 1.25 * near {
        return FingerprintValue::unknown(sought, why + ": no clear step");
    }
    // With a share c of the span in the cache, a read takes near + (1 - c) x a miss.
    let middle = r
        .spans
        .iter()
        .find(|(_, ns)| *ns > near + 0.25 * (far - near));
    let (span, _) = middle.copied().unwrap_or(*last);
    let mut value = FingerprintValue::unknown(sought, why + ": the step is between these spans");
    value.interval = Some([span as f64 / 2.0, span as f64]);
    value
}
