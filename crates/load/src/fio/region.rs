//! Where a job's commands go, how large they are and how many there are.

use super::contradictions::refuse;
use super::draft::{FioJobDraft, RwDirection, SEQUENTIAL};
use crate::plan::{AddressSteps, BlockSize, Distribution, Order, Zones};
use ssdlab_fio::{Error, JobFileSection, SizeOrPercent};

/// Bytes, or per cent of the region.
type IoLimit = (Option<u64>, Option<u64>);

impl FioJobDraft {
    /// Bytes to transfer, or per cent of the region: `io_size`, `loops` and `number_ios`.
    pub(super) fn limit(
        &self,
        section: &JobFileSection,
        region: Option<u64>,
    ) -> Result<IoLimit, Error> {
        let (bytes, share) = match self.io_size {
            Some(SizeOrPercent::Percent(percent)) => (None, Some(u64::from(percent))),
            Some(SizeOrPercent::Bytes(bytes)) => (Some(bytes), None),
            None => {
                match (self.size, region) {
                    // A filesize was given beside it, which is the region.
                    (Some(SizeOrPercent::Bytes(size)), Some(region)) if size < region => {
                        (Some(size), None)
                    }
                    _ if self.passes() == 1 && self.commands.is_none() => (None, None),
                    _ => (region, region.is_none().then_some(100)),
                }
            }
        };
        let bytes = bytes.map(|bytes| bytes.saturating_mul(self.passes()));
        let share = share.map(|share| share.saturating_mul(self.passes()));
        let Some(commands) = self.commands else {
            return Ok((bytes, share));
        };
        let sizes = self.block_sizes();
        let mut used = sizes[self.kinds()].iter().flatten().map(|b| b.bytes);
        let first = used.next().unwrap_or(4096);
        if used.any(|bytes| bytes != first) {
            let problem = "number_ios with commands of several sizes";
            return Err(refuse(
                section,
                problem,
                "say how much to transfer with io_size=",
            ));
        }
        let counted = commands
            .saturating_mul(self.passes())
            .saturating_mul(first.into());
        Ok((
            Some(bytes.map_or(counted, |bytes| bytes.min(counted))),
            share,
        ))
    }

    /// Passes that a limit is for. What verifies or flushes at its end is limited by the pass.
    fn passes(&self) -> u64 {
        if self.verifies || self.flushes_at_end() {
            1
        } else {
            self.loops
        }
    }

    /// The kinds of command, as indices into the block sizes.
    pub(super) fn kinds(&self) -> std::ops::Range<usize> {
        match self.direction {
            RwDirection::Read => 0..1,
            RwDirection::Write => 1..2,
            RwDirection::Trim => 2..3,
            RwDirection::Both => 0..2,
        }
    }

    pub(super) fn smallest(&self) -> [u64; 3] {
        self.block_sizes().map(|list| {
            let bytes = list.iter().map(|b| u64::from(b.bytes));
            bytes.min().unwrap_or(4096)
        })
    }

    /// Where each kind may start, if reads and writes differ in it: fio aligns each to its own
    /// smallest block.
    fn own_align(&self) -> Option<[u64; 3]> {
        let smallest = self.smallest();
        let used = &smallest[self.kinds()];
        let differ = used.iter().any(|bytes| *bytes != used[0]);
        (self.random && self.align.is_none() && differ).then_some(smallest)
    }

    /// Shares of random commands, if those of reads and writes differ.
    fn random_pct_by_kind(&self) -> Option<[u8; 3]> {
        let used = &self.random_pct[self.kinds()];
        let differ = used.iter().any(|percent| *percent != used[0]);
        (self.random && differ).then_some(self.random_pct)
    }

    /// A size of a command that is not a multiple of 512, if there is one.
    pub(super) fn odd_block(&self) -> Option<u32> {
        let sizes = self.block_sizes();
        let mut used = sizes[self.kinds()]
            .iter()
            .flatten()
            .map(|block| block.bytes);
        used.find(|bytes| !bytes.is_multiple_of(512))
    }

    pub(super) fn steps(&self) -> AddressSteps {
        let colon = self.after_colon;
        AddressSteps {
            skip: if self.random { 0 } else { colon },
            followers: if self.random {
                u32::try_from(colon.max(1) - 1).unwrap_or(u32::MAX)
            } else {
                0
            },
            align: self.own_align(),
            copy: self.offset_step,
            zones: self.strided.then_some(Zones {
                bytes: self.zones.bytes,
                // fio: "backward compatibility dictates it should be made equal to zone_size".
                range: match self.zones.range {
                    0 => self.zones.bytes,
                    range => range,
                },
                skip: self.zones.skip,
            }),
            size_range: self.range.filter(|_| self.split.is_none()),
            write_as: self.write_as,
            random_pct: self.random_pct_by_kind(),
            pages: self.odd_block().is_some(),
            ..AddressSteps::default()
        }
    }

    /// The region in bytes, or in per cent of the target.
    pub(super) fn region(
        &self,
        section: &JobFileSection,
    ) -> Result<(Option<u64>, Option<u8>), Error> {
        let files = u64::from(self.files.in_turn());
        let file_size = self.file_size.map(|bytes| bytes.saturating_mul(files));
        match (self.size, file_size) {
            (None, None) => Ok((None, None)),
            (Some(SizeOrPercent::Bytes(bytes)), None) => Ok((Some(bytes), None)),
            // All of the target is what no region at all means.
            (Some(SizeOrPercent::Percent(100)), None) => Ok((None, None)),
            (Some(SizeOrPercent::Percent(percent)), None) => Ok((None, Some(percent))),
            (Some(SizeOrPercent::Percent(percent)), Some(file)) => {
                let bytes = u128::from(file) * u128::from(percent) / 100;
                Ok((u64::try_from(bytes).ok(), None))
            }
            // The file from the offset to its end; `size` limits the bytes only.
            (None | Some(SizeOrPercent::Bytes(_)), Some(file)) => {
                let offset = match self.offset {
                    SizeOrPercent::Bytes(bytes) => bytes,
                    SizeOrPercent::Percent(_) => 0,
                };
                match file.checked_sub(offset).filter(|rest| *rest > 0) {
                    Some(rest) => Ok((Some(rest), None)),
                    None => Err(refuse(
                        section,
                        "its offset is not below filesize",
                        "use a smaller offset or a larger file",
                    )),
                }
            }
        }
    }

    pub(super) fn block_sizes(&self) -> [Vec<BlockSize>; 3] {
        let ends = |(low, high)| {
            let half = |bytes| BlockSize { bytes, percent: 50 };
            if low == high {
                vec![BlockSize {
                    bytes: low,
                    percent: 100,
                }]
            } else {
                vec![half(low), half(high)]
            }
        };
        match (&self.split, self.range) {
            (Some(split), _) => split.clone(),
            (None, Some(range)) => range.map(ends),
            (None, None) => self.block.map(|bytes| {
                vec![BlockSize {
                    bytes,
                    percent: 100,
                }]
            }),
        }
    }

    pub(super) fn order(&self, section: &JobFileSection) -> Result<Order, Error> {
        if !self.random {
            return Ok(SEQUENTIAL);
        }
        let smallest = self.smallest();
        let used = &smallest[self.kinds()];
        if self.own_align().is_some() && self.distribution != Distribution::Uniform {
            // fio draws one block number for all kinds, which may lie outside for one of them.
            return Err(refuse(
                section,
                "reads and writes whose smallest blocks differ, at skewed addresses",
                "say where both may start with blockalign=",
            ));
        }
        // fio: "Any use of blockalign= turns off randommap"; so does any skew.
        let mapped = self.random_map && self.align.is_none();
        let each_once = (mapped || self.lfsr) && self.distribution == Distribution::Uniform;
        Ok(Order::Random {
            align: self
                .align
                .unwrap_or_else(|| used.iter().copied().min().unwrap_or(4096)),
            distribution: self.distribution.clone(),
            each_once,
        })
    }
}
