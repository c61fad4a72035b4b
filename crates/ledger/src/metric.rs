//! What a figure measures: one table with the name, the unit and the range of every metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a figure measures.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Metric {
    /// Reads per second.
    #[serde(rename = "read_iops")]
    ReadIops,
    /// Writes per second; durable ones where `sync` names a method.
    #[serde(rename = "write_iops")]
    WriteIops,
    /// Reads and writes per second.
    #[serde(rename = "mixed_iops")]
    MixedIops,
    /// Bytes read per second.
    #[serde(rename = "read_rate")]
    ReadRate,
    /// Bytes written per second.
    #[serde(rename = "write_rate")]
    WriteRate,
    /// Mean latency of a read.
    #[serde(rename = "read_latency_mean")]
    ReadLatencyMean,
    /// Latency of a read, called typical.
    #[serde(rename = "read_latency_typical")]
    ReadLatencyTypical,
    /// Median latency of a read.
    #[serde(rename = "read_latency_p50")]
    ReadLatencyP50,
    /// Latency that 1 % of reads exceed.
    #[serde(rename = "read_latency_p99")]
    ReadLatencyP99,
    /// Latency that 0.1 % of reads exceed.
    #[serde(rename = "read_latency_p99.9")]
    ReadLatencyP999,
    /// Latency that 0.01 % of reads exceed.
    #[serde(rename = "read_latency_p99.99")]
    ReadLatencyP9999,
    /// Longest latency of a read.
    #[serde(rename = "read_latency_max")]
    ReadLatencyMax,
    /// Mean latency of a write.
    #[serde(rename = "write_latency_mean")]
    WriteLatencyMean,
    /// Latency of a write, called typical.
    #[serde(rename = "write_latency_typical")]
    WriteLatencyTypical,
    /// Median latency of a write.
    #[serde(rename = "write_latency_p50")]
    WriteLatencyP50,
    /// Latency that 1 % of writes exceed.
    #[serde(rename = "write_latency_p99")]
    WriteLatencyP99,
    /// Latency that 0.1 % of writes exceed.
    #[serde(rename = "write_latency_p99.9")]
    WriteLatencyP999,
    /// Latency that 0.01 % of writes exceed.
    #[serde(rename = "write_latency_p99.99")]
    WriteLatencyP9999,
    /// Longest latency of a write.
    #[serde(rename = "write_latency_max")]
    WriteLatencyMax,
    /// Mean latency of the flush alone.
    #[serde(rename = "sync_latency_mean")]
    SyncLatencyMean,
    /// Median latency of the flush alone.
    #[serde(rename = "sync_latency_p50")]
    SyncLatencyP50,
    /// Latency that 1 % of flushes exceed.
    #[serde(rename = "sync_latency_p99")]
    SyncLatencyP99,
    /// Latency that 0.1 % of flushes exceed.
    #[serde(rename = "sync_latency_p99.9")]
    SyncLatencyP999,
    /// Latency that 0.01 % of flushes exceed.
    #[serde(rename = "sync_latency_p99.99")]
    SyncLatencyP9999,
    /// Longest latency of the flush alone.
    #[serde(rename = "sync_latency_max")]
    SyncLatencyMax,
    /// Mean time of a write and its flush.
    #[serde(rename = "sync_write_latency_mean")]
    SyncWriteLatencyMean,
    /// Share of reads over 1 ms.
    #[serde(rename = "read_share_over_1ms")]
    ReadShareOver1ms,
    /// Share of reads over 8 ms.
    #[serde(rename = "read_share_over_8ms")]
    ReadShareOver8ms,
    /// Share of writes over 1 ms.
    #[serde(rename = "write_share_over_1ms")]
    WriteShareOver1ms,
    /// Share of writes over 8 ms.
    #[serde(rename = "write_share_over_8ms")]
    WriteShareOver8ms,
    /// Rate of a sequential fill at first.
    #[serde(rename = "seq_fill_phase1_rate")]
    SeqFillPhase1Rate,
    /// Bytes written when the first phase ends.
    #[serde(rename = "seq_fill_phase1_end")]
    SeqFillPhase1End,
    /// Rate in the second phase of a fill.
    #[serde(rename = "seq_fill_phase2_rate")]
    SeqFillPhase2Rate,
    /// Bytes written when the second phase ends.
    #[serde(rename = "seq_fill_phase2_end")]
    SeqFillPhase2End,
    /// Rate in the third phase of a fill.
    #[serde(rename = "seq_fill_phase3_rate")]
    SeqFillPhase3Rate,
    /// Mean rate of a fill of the whole drive.
    #[serde(rename = "seq_fill_mean_rate")]
    SeqFillMeanRate,
    /// NAND writes / host writes, counted by the drive.
    #[serde(rename = "waf")]
    Waf,
    /// NAND writes / host writes, at least.
    #[serde(rename = "waf_lower_bound")]
    WafLowerBound,
    /// Host writes over the drive's life.
    #[serde(rename = "host_tb_written")]
    HostTbWritten,
    /// NAND writes over the drive's life.
    #[serde(rename = "nand_tb_written")]
    NandTbWritten,
    /// Life used by the drive's own count.
    #[serde(rename = "percent_used")]
    PercentUsed,
    /// Hours with power.
    #[serde(rename = "power_on_hours")]
    PowerOnHours,
    /// Erase cycles of the media.
    #[serde(rename = "erase_cycles_observed")]
    EraseCyclesObserved,
    /// Host writes for 1 % of life used.
    #[serde(rename = "host_tb_per_pct")]
    HostTbPerPct,
    /// WAF in service that 1 of 10 drives is below.
    #[serde(rename = "fleet_waf_p10")]
    FleetWafP10,
    /// Median WAF in service.
    #[serde(rename = "fleet_waf_median")]
    FleetWafMedian,
    /// WAF in service that 1 of 10 drives exceeds.
    #[serde(rename = "fleet_waf_p90")]
    FleetWafP90,
    /// Median of host writes for 1 % of life used.
    #[serde(rename = "fleet_host_tb_per_pct_median")]
    FleetHostTbPerPctMedian,
    /// Median of NAND writes for 1 % of life used, in user capacities.
    #[serde(rename = "fleet_nand_drive_writes_per_pct_median")]
    FleetNandDriveWritesPerPctMedian,
    /// Erase cycles at 100 % of life used.
    #[serde(rename = "fleet_erase_cycles_at_100_pct")]
    FleetEraseCyclesAt100Pct,
    /// Median of the hours with power.
    #[serde(rename = "fleet_power_on_hours_median")]
    FleetPowerOnHoursMedian,
    /// Median of the drive writes per day in service.
    #[serde(rename = "fleet_dwpd_median")]
    FleetDwpdMedian,
    /// Rated host writes.
    #[serde(rename = "endurance_tbw")]
    EnduranceTbw,
    /// Rated host writes, sequential.
    #[serde(rename = "endurance_tbw_seq")]
    EnduranceTbwSeq,
    /// Rated host writes with 20 % of the user capacity left out.
    #[serde(rename = "endurance_tbw_spare_20")]
    EnduranceTbwSpare20,
    /// Rated drive writes per day.
    #[serde(rename = "endurance_dwpd")]
    EnduranceDwpd,
    /// Power when idle.
    #[serde(rename = "power_idle")]
    PowerIdle,
    /// Power while reading.
    #[serde(rename = "power_read")]
    PowerRead,
    /// Power while writing.
    #[serde(rename = "power_write")]
    PowerWrite,
    /// Power cuts under load.
    #[serde(rename = "power_cuts")]
    PowerCuts,
    /// Power cuts after which a durable write was lost.
    #[serde(rename = "power_cuts_with_loss")]
    PowerCutsWithLoss,
}

/// A metric's line of the table.
struct MetricLine {
    metric: Metric,
    name: &'static str,
    unit: &'static str,
    /// The least and the most that a drive can have.
    range: (f64, f64),
    words: &'static str,
}

const fn line(
    metric: Metric,
    name: &'static str,
    unit: &'static str,
    range: (f64, f64),
    words: &'static str,
) -> MetricLine {
    MetricLine {
        metric,
        name,
        unit,
        range,
        words,
    }
}

/// Every metric, in the order of the enum.
#[rustfmt::skip]
const LINES: &[MetricLine] = &[
    line(Metric::ReadIops, "read_iops", "1/s", (0.1, 2e7),
        "reads per second"),
    line(Metric::WriteIops, "write_iops", "1/s", (0.1, 2e7),
        "writes per second; durable ones where `sync` names a method"),
    line(Metric::MixedIops, "mixed_iops", "1/s", (0.1, 2e7),
        "reads and writes per second"),
    line(Metric::ReadRate, "read_rate", "MB/s", (0.001, 3e4),
        "bytes read per second"),
    line(Metric::WriteRate, "write_rate", "MB/s", (0.001, 3e4),
        "bytes written per second"),
    line(Metric::ReadLatencyMean, "read_latency_mean", "us", (0.1, 1e7),
        "mean latency of a read"),
    line(Metric::ReadLatencyTypical, "read_latency_typical", "us", (0.1, 1e7),
        "latency of a read, called typical"),
    line(Metric::ReadLatencyP50, "read_latency_p50", "us", (0.1, 1e7),
        "median latency of a read"),
    line(Metric::ReadLatencyP99, "read_latency_p99", "us", (0.1, 1e8),
        "latency that 1 % of reads exceed"),
    line(Metric::ReadLatencyP999, "read_latency_p99.9", "us", (0.1, 1e8),
        "latency that 0.1 % of reads exceed"),
    line(Metric::ReadLatencyP9999, "read_latency_p99.99", "us", (0.1, 1e8),
        "latency that 0.01 % of reads exceed"),
    line(Metric::ReadLatencyMax, "read_latency_max", "us", (0.1, 1e9),
        "longest latency of a read"),
    line(Metric::WriteLatencyMean, "write_latency_mean", "us", (0.1, 1e7),
        "mean latency of a write"),
    line(Metric::WriteLatencyTypical, "write_latency_typical", "us", (0.1, 1e7),
        "latency of a write, called typical"),
    line(Metric::WriteLatencyP50, "write_latency_p50", "us", (0.1, 1e7),
        "median latency of a write"),
    line(Metric::WriteLatencyP99, "write_latency_p99", "us", (0.1, 1e8),
        "latency that 1 % of writes exceed"),
    line(Metric::WriteLatencyP999, "write_latency_p99.9", "us", (0.1, 1e8),
        "latency that 0.1 % of writes exceed"),
    line(Metric::WriteLatencyP9999, "write_latency_p99.99", "us", (0.1, 1e8),
        "latency that 0.01 % of writes exceed"),
    line(Metric::WriteLatencyMax, "write_latency_max", "us", (0.1, 1e9),
        "longest latency of a write"),
    line(Metric::SyncLatencyMean, "sync_latency_mean", "us", (0.01, 1e7),
        "mean latency of the flush alone"),
    line(Metric::SyncLatencyP50, "sync_latency_p50", "us", (0.01, 1e7),
        "median latency of the flush alone"),
    line(Metric::SyncLatencyP99, "sync_latency_p99", "us", (0.01, 1e8),
        "latency that 1 % of flushes exceed"),
    line(Metric::SyncLatencyP999, "sync_latency_p99.9", "us", (0.01, 1e8),
        "latency that 0.1 % of flushes exceed"),
    line(Metric::SyncLatencyP9999, "sync_latency_p99.99", "us", (0.01, 1e8),
        "latency that 0.01 % of flushes exceed"),
    line(Metric::SyncLatencyMax, "sync_latency_max", "us", (0.01, 1e9),
        "longest latency of the flush alone"),
    line(Metric::SyncWriteLatencyMean, "sync_write_latency_mean", "us", (0.5, 1e7),
        "mean time of a write and its flush"),
    line(Metric::ReadShareOver1ms, "read_share_over_1ms", "%", (0.0, 100.0),
        "share of reads over 1 ms"),
    line(Metric::ReadShareOver8ms, "read_share_over_8ms", "%", (0.0, 100.0),
        "share of reads over 8 ms"),
    line(Metric::WriteShareOver1ms, "write_share_over_1ms", "%", (0.0, 100.0),
        "share of writes over 1 ms"),
    line(Metric::WriteShareOver8ms, "write_share_over_8ms", "%", (0.0, 100.0),
        "share of writes over 8 ms"),
    line(Metric::SeqFillPhase1Rate, "seq_fill_phase1_rate", "MB/s", (1.0, 3e4),
        "rate of a sequential fill at first"),
    line(Metric::SeqFillPhase1End, "seq_fill_phase1_end", "GB", (0.1, 1e5),
        "bytes written when the first phase ends"),
    line(Metric::SeqFillPhase2Rate, "seq_fill_phase2_rate", "MB/s", (1.0, 3e4),
        "rate in the second phase of a fill"),
    line(Metric::SeqFillPhase2End, "seq_fill_phase2_end", "GB", (0.1, 1e5),
        "bytes written when the second phase ends"),
    line(Metric::SeqFillPhase3Rate, "seq_fill_phase3_rate", "MB/s", (1.0, 3e4),
        "rate in the third phase of a fill"),
    line(Metric::SeqFillMeanRate, "seq_fill_mean_rate", "MB/s", (1.0, 3e4),
        "mean rate of a fill of the whole drive"),
    line(Metric::Waf, "waf", "", (0.02, 500.0),
        "NAND writes / host writes, counted by the drive"),
    line(Metric::WafLowerBound, "waf_lower_bound", "", (0.02, 500.0),
        "NAND writes / host writes, at least"),
    line(Metric::HostTbWritten, "host_tb_written", "TB", (0.0, 1e6),
        "host writes over the drive's life"),
    line(Metric::NandTbWritten, "nand_tb_written", "TB", (0.0, 1e7),
        "NAND writes over the drive's life"),
    line(Metric::PercentUsed, "percent_used", "%", (0.0, 255.0),
        "life used by the drive's own count"),
    line(Metric::PowerOnHours, "power_on_hours", "h", (0.0, 3e5),
        "hours with power"),
    line(Metric::EraseCyclesObserved, "erase_cycles_observed", "cycles", (0.0, 2e6),
        "erase cycles of the media"),
    line(Metric::HostTbPerPct, "host_tb_per_pct", "TB", (1e-4, 1e4),
        "host writes for 1 % of life used"),
    line(Metric::FleetWafP10, "fleet_waf_p10", "", (0.02, 500.0),
        "WAF in service that 1 of 10 drives is below"),
    line(Metric::FleetWafMedian, "fleet_waf_median", "", (0.02, 500.0),
        "median WAF in service"),
    line(Metric::FleetWafP90, "fleet_waf_p90", "", (0.02, 500.0),
        "WAF in service that 1 of 10 drives exceeds"),
    line(Metric::FleetHostTbPerPctMedian, "fleet_host_tb_per_pct_median", "TB", (1e-4, 1e4),
        "median of host writes for 1 % of life used"),
    line(Metric::FleetNandDriveWritesPerPctMedian, "fleet_nand_drive_writes_per_pct_median",
        "drive writes", (0.01, 1e5),
        "median of NAND writes for 1 % of life used, in user capacities"),
    line(Metric::FleetEraseCyclesAt100Pct, "fleet_erase_cycles_at_100_pct", "cycles", (10.0, 1e6),
        "erase cycles at 100 % of life used"),
    line(Metric::FleetPowerOnHoursMedian, "fleet_power_on_hours_median", "h", (1.0, 3e5),
        "median of the hours with power"),
    line(Metric::FleetDwpdMedian, "fleet_dwpd_median", "1/day", (1e-5, 200.0),
        "median of the drive writes per day in service"),
    line(Metric::EnduranceTbw, "endurance_tbw", "TB", (1.0, 1e6),
        "rated host writes"),
    line(Metric::EnduranceTbwSeq, "endurance_tbw_seq", "TB", (1.0, 1e6),
        "rated host writes, sequential"),
    line(Metric::EnduranceTbwSpare20, "endurance_tbw_spare_20", "TB", (1.0, 1e6),
        "rated host writes with 20 % of the user capacity left out"),
    line(Metric::EnduranceDwpd, "endurance_dwpd", "1/day", (0.01, 200.0),
        "rated drive writes per day"),
    line(Metric::PowerIdle, "power_idle", "W", (0.001, 60.0),
        "power when idle"),
    line(Metric::PowerRead, "power_read", "W", (0.01, 60.0),
        "power while reading"),
    line(Metric::PowerWrite, "power_write", "W", (0.01, 60.0),
        "power while writing"),
    line(Metric::PowerCuts, "power_cuts", "cuts", (1.0, 1e6),
        "power cuts under load"),
    line(Metric::PowerCutsWithLoss, "power_cuts_with_loss", "cuts", (0.0, 1e6),
        "power cuts after which a durable write was lost"),
];

impl Metric {
    /// Every metric.
    pub fn all() -> impl Iterator<Item = Metric> {
        LINES.iter().map(|line| line.metric)
    }

    fn line(self) -> &'static MetricLine {
        &LINES[self as usize]
    }

    /// The name in a ledger file.
    pub fn name(self) -> &'static str {
        self.line().name
    }

    /// The unit in a ledger file; a ratio has none.
    pub fn unit(self) -> &'static str {
        self.line().unit
    }

    /// The least and the most that a drive can have.
    pub fn range(self) -> (f64, f64) {
        self.line().range
    }

    /// In words.
    pub fn words(self) -> &'static str {
        self.line().words
    }
}

impl Metric {
    /// The metric with this name.
    pub fn named(name: &str) -> Option<Metric> {
        Metric::all().find(|metric| metric.name() == name)
    }

    /// Whether higher is better; `None`: neither is.
    pub fn higher_is_better(self) -> Option<bool> {
        let name = self.name();
        match self.unit() {
            "1/s" | "MB/s" | "1/day" | "GB" => Some(true),
            "us" | "W" => Some(false),
            _ if name.contains("share_over") || name.contains("waf") => Some(false),
            _ if name.contains("per_pct") || name.contains("endurance") => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_stands_at_its_own_line() {
        for (index, line) in LINES.iter().enumerate() {
            assert_eq!(line.metric as usize, index, "{}", line.name);
            assert_eq!(Metric::named(line.name), Some(line.metric));
        }
    }
}
