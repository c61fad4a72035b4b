//! Energy: operations multiplied by their cost, and the constant draw.

use crate::config::{DriveConfig, EnergyConfig};
use crate::counters::DriveCounters;
use crate::nand::NandWork;
use crate::units::Nanos;

/// Energy used since a drive was created, in nJ, by part. Zero on a drive without energy figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergyUse {
    /// Reads of the array.
    pub read_nj: u128,
    /// Programs.
    pub program_nj: u128,
    /// Erases.
    pub erase_nj: u128,
    /// Transfers between dies and controller.
    pub channel_nj: u128,
    /// Host link.
    pub link_nj: u128,
    /// Controller, per command.
    pub command_nj: u128,
    /// Draw at rest, and while commands are in progress, over the elapsed time.
    pub idle_nj: u128,
}

impl EnergyUse {
    pub(super) fn of(
        config: &DriveConfig,
        counters: &DriveCounters,
        work: &NandWork,
        now: Nanos,
    ) -> EnergyUse {
        let e: &EnergyConfig = &config.energy;
        let sum = |counts: &[u64; 8], each: &[u64; 8]| {
            let products = counts.iter().zip(each).map(|(&n, &nj)| product(n, nj));
            products.sum::<u128>()
        };
        let slot = u64::from(config.shape.slot_bytes / config.pack());
        let link = counters.host_bytes_read + counters.host_bytes_written;
        let commands = counters.host_reads
            + counters.host_writes
            + counters.host_flushes
            + counters.host_trims;
        EnergyUse {
            read_nj: sum(&work.reads, &e.read_nj),
            program_nj: sum(&work.programs, &e.program_nj),
            erase_nj: product(work.erases, e.erase_nj),
            channel_nj: product(work.slots_moved, slot) * u128::from(e.channel_pj_per_byte) / 1000,
            link_nj: product(link, e.link_pj_per_byte) / 1000,
            command_nj: product(commands, e.command_nj),
            // mW x ns = pJ.
            idle_nj: product(now.0, e.idle_mw) / 1000,
        }
    }

    /// Energy of the operations alone, nJ.
    pub(super) fn operations_nj(&self) -> u128 {
        self.total_nj() - self.idle_nj
    }

    /// Total, nJ.
    pub fn total_nj(&self) -> u128 {
        self.read_nj
            + self.program_nj
            + self.erase_nj
            + self.channel_nj
            + self.link_nj
            + self.command_nj
            + self.idle_nj
    }
}

fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::drive::Drive;

    /// Nanojoules by hand: a second at 50 mW, one 4 KiB write and its program.
    #[test]
    fn energy_is_counts_times_costs() {
        let mut config = DriveConfig::tiny();
        config.energy = EnergyConfig {
            program_nj: [0, 0, 0, 0, 0, 0, 0, 70_000],
            channel_pj_per_byte: 20,
            link_pj_per_byte: 100,
            command_nj: 500,
            idle_mw: 50,
            ..EnergyConfig::default()
        };
        let unit_bytes = u128::from(config.geometry().unit_bytes());
        let mut drive = Drive::new(config).unwrap();
        drive.submit(0, &Command::write(0, 4096), Nanos::ZERO);
        while drive.pop_completion(Nanos::from_secs(1)).is_some() {}
        let energy = drive.energy();
        assert_eq!(drive.nand_work().programs[7], 1, "placed when idle");
        assert_eq!(energy.idle_nj, 50_000_000);
        assert_eq!(energy.program_nj, 70_000);
        assert_eq!(energy.channel_nj, unit_bytes * 20 / 1000);
        assert_eq!(energy.link_nj, 409);
        assert_eq!(energy.command_nj, 500);
        assert_eq!(
            energy.total_nj(),
            50_000_000 + 70_000 + unit_bytes * 20 / 1000 + 909
        );
    }
}
