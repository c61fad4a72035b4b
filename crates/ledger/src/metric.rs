//! What a figure measures: one table with the name, the unit and the range of every metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! metrics {
    ($($variant:ident $name:literal $unit:literal $least:literal $most:literal $words:literal;)*) => {
        /// What a figure measures.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Metric {
            $(#[doc = $words] #[serde(rename = $name)] $variant,)*
        }

        impl Metric {
            /// Every metric, in the order of the table.
            pub const ALL: &[Metric] = &[$(Metric::$variant,)*];

            /// The name in a ledger file.
            pub fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name,)* }
            }

            /// The unit in a ledger file; a ratio has none.
            pub fn unit(self) -> &'static str {
                match self { $(Metric::$variant => $unit,)* }
            }

            /// The least and the most that a drive can have.
            pub fn range(self) -> (f64, f64) {
                match self { $(Metric::$variant => ($least, $most),)* }
            }

            /// In words.
            pub fn words(self) -> &'static str {
                match self { $(Metric::$variant => $words,)* }
            }
        }
    };
}

metrics! {
    ReadIops "read_iops" "1/s" 0.1 2e7 "reads per second";
    WriteIops "write_iops" "1/s" 0.1 2e7 "writes per second; durable ones where `sync` names a method";
    MixedIops "mixed_iops" "1/s" 0.1 2e7 "reads and writes per second";
    ReadRate "read_rate" "MB/s" 0.001 3e4 "bytes read per second";
    WriteRate "write_rate" "MB/s" 0.001 3e4 "bytes written per second";
    ReadLatencyMean "read_latency_mean" "us" 0.1 1e7 "mean latency of a read";
    ReadLatencyTypical "read_latency_typical" "us" 0.1 1e7 "latency of a read, called typical";
    ReadLatencyP50 "read_latency_p50" "us" 0.1 1e7 "median latency of a read";
    ReadLatencyP99 "read_latency_p99" "us" 0.1 1e8 "latency that 1 % of reads exceed";
    ReadLatencyP999 "read_latency_p99.9" "us" 0.1 1e8 "latency that 0.1 % of reads exceed";
    ReadLatencyP9999 "read_latency_p99.99" "us" 0.1 1e8 "latency that 0.01 % of reads exceed";
    ReadLatencyMax "read_latency_max" "us" 0.1 1e9 "longest latency of a read";
    WriteLatencyMean "write_latency_mean" "us" 0.1 1e7 "mean latency of a write";
    WriteLatencyTypical "write_latency_typical" "us" 0.1 1e7 "latency of a write, called typical";
    WriteLatencyP50 "write_latency_p50" "us" 0.1 1e7 "median latency of a write";
    WriteLatencyP99 "write_latency_p99" "us" 0.1 1e8 "latency that 1 % of writes exceed";
    WriteLatencyP999 "write_latency_p99.9" "us" 0.1 1e8 "latency that 0.1 % of writes exceed";
    WriteLatencyP9999 "write_latency_p99.99" "us" 0.1 1e8 "latency that 0.01 % of writes exceed";
    WriteLatencyMax "write_latency_max" "us" 0.1 1e9 "longest latency of a write";
    SyncLatencyMean "sync_latency_mean" "us" 0.01 1e7 "mean latency of the flush alone";
    SyncLatencyP50 "sync_latency_p50" "us" 0.01 1e7 "median latency of the flush alone";
    SyncLatencyP99 "sync_latency_p99" "us" 0.01 1e8 "latency that 1 % of flushes exceed";
    SyncLatencyP999 "sync_latency_p99.9" "us" 0.01 1e8 "latency that 0.1 % of flushes exceed";
    SyncLatencyP9999 "sync_latency_p99.99" "us" 0.01 1e8 "latency that 0.01 % of flushes exceed";
    SyncLatencyMax "sync_latency_max" "us" 0.01 1e9 "longest latency of the flush alone";
    SyncWriteLatencyMean "sync_write_latency_mean" "us" 0.5 1e7 "mean time of a write and its flush";
    ReadShareOver1ms "read_share_over_1ms" "%" 0.0 100.0 "share of reads over 1 ms";
    ReadShareOver8ms "read_share_over_8ms" "%" 0.0 100.0 "share of reads over 8 ms";
    WriteShareOver1ms "write_share_over_1ms" "%" 0.0 100.0 "share of writes over 1 ms";
    WriteShareOver8ms "write_share_over_8ms" "%" 0.0 100.0 "share of writes over 8 ms";
    SeqFillPhase1Rate "seq_fill_phase1_rate" "MB/s" 1.0 3e4 "rate of a sequential fill at first";
    SeqFillPhase1End "seq_fill_phase1_end" "GB" 0.1 1e5 "bytes written when the first phase ends";
    SeqFillPhase2Rate "seq_fill_phase2_rate" "MB/s" 1.0 3e4 "rate in the second phase of a fill";
    SeqFillPhase2End "seq_fill_phase2_end" "GB" 0.1 1e5 "bytes written when the second phase ends";
    SeqFillPhase3Rate "seq_fill_phase3_rate" "MB/s" 1.0 3e4 "rate in the third phase of a fill";
    SeqFillMeanRate "seq_fill_mean_rate" "MB/s" 1.0 3e4 "mean rate of a fill of the whole drive";
    Waf "waf" "" 0.02 500.0 "NAND writes / host writes, counted by the drive";
    WafLowerBound "waf_lower_bound" "" 0.02 500.0 "NAND writes / host writes, at least";
    HostTbWritten "host_tb_written" "TB" 0.0 1e6 "host writes over the drive's life";
    NandTbWritten "nand_tb_written" "TB" 0.0 1e7 "NAND writes over the drive's life";
    PercentUsed "percent_used" "%" 0.0 255.0 "life used by the drive's own count";
    PowerOnHours "power_on_hours" "h" 0.0 3e5 "hours with power";
    EraseCyclesObserved "erase_cycles_observed" "cycles" 0.0 2e6 "erase cycles of the media";
    HostTbPerPct "host_tb_per_pct" "TB" 1e-4 1e4 "host writes for 1 % of life used";
    FleetWafP10 "fleet_waf_p10" "" 0.02 500.0 "WAF in service that 1 of 10 drives is below";
    FleetWafMedian "fleet_waf_median" "" 0.02 500.0 "median WAF in service";
    FleetWafP90 "fleet_waf_p90" "" 0.02 500.0 "WAF in service that 1 of 10 drives exceeds";
    FleetHostTbPerPctMedian "fleet_host_tb_per_pct_median" "TB" 1e-4 1e4
        "median of host writes for 1 % of life used";
    FleetNandDriveWritesPerPctMedian "fleet_nand_drive_writes_per_pct_median" "drive writes" 0.01 1e5
        "median of NAND writes for 1 % of life used, in user capacities";
    FleetEraseCyclesAt100Pct "fleet_erase_cycles_at_100_pct" "cycles" 10.0 1e6
        "erase cycles at 100 % of life used";
    EnduranceTbw "endurance_tbw" "TB" 1.0 1e6 "rated host writes";
    EnduranceTbwSeq "endurance_tbw_seq" "TB" 1.0 1e6 "rated host writes, sequential";
    EnduranceTbwSpare20 "endurance_tbw_spare_20" "TB" 1.0 1e6
        "rated host writes with 20 % of the user capacity left out";
    EnduranceDwpd "endurance_dwpd" "1/day" 0.01 200.0 "rated drive writes per day";
    PowerIdle "power_idle" "W" 0.001 60.0 "power when idle";
    PowerRead "power_read" "W" 0.01 60.0 "power while reading";
    PowerWrite "power_write" "W" 0.01 60.0 "power while writing";
    PowerCuts "power_cuts" "cuts" 1.0 1e6 "power cuts under load";
    PowerCutsWithLoss "power_cuts_with_loss" "cuts" 0.0 1e6
        "power cuts after which a durable write was lost";
}

impl Metric {
    /// The metric with this name.
    pub fn named(name: &str) -> Option<Metric> {
        Metric::ALL
            .iter()
            .copied()
            .find(|metric| metric.name() == name)
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
