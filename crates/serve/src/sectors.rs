//! Access to any byte range of a drive that only accesses whole sectors.

use crate::landing::StoreLanding;
use crate::store::{ReadPiece, Store, StoreError, StoreExtent, ZeroFlags};
use std::sync::{Arc, PoisonError, RwLock};

/// The shared drive as every front end sees it: checks byte ranges against the size of the drive,
/// and turns an unaligned write into a read-modify-write of whole sectors.
///
/// Aligned writes run concurrently; a read-modify-write runs alone, so that it never restores
/// bytes that another connection has just overwritten.
pub struct SharedDrive {
    drive: Arc<dyn Store>,
    size: u64,
    sector: u64,
    is_read_only: bool,
    /// Shared by aligned writes, exclusive for read-modify-write.
    changing: RwLock<()>,
}

impl SharedDrive {
    /// Shares `drive`.
    ///
    /// # Panics
    /// If the drive's sector size is not a power of two or its size not a multiple of it.
    pub fn new(drive: Arc<dyn Store>) -> Self {
        let (size, sector) = (drive.size(), u64::from(drive.sector_size()));
        assert!(sector.is_power_of_two(), "a sector of {sector} bytes");
        assert!(
            size.is_multiple_of(sector),
            "{size} bytes in sectors of {sector}"
        );
        let (changing, is_read_only) = (RwLock::new(()), drive.is_read_only());
        Self {
            drive,
            size,
            sector,
            is_read_only,
            changing,
        }
    }

    /// Refuses every write from now on, whatever the drive allows.
    pub fn read_only(self) -> Self {
        Self {
            is_read_only: true,
            ..self
        }
    }

    /// Size of the drive in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Size of a sector in bytes.
    pub fn sector_size(&self) -> u64 {
        self.sector
    }

    /// Whether every write is refused.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Whether the drive has power.
    pub fn is_powered(&self) -> bool {
        self.drive.is_powered()
    }

    /// Whether commands take time; see [`Store::takes_time`].
    pub fn takes_time(&self) -> bool {
        self.drive.takes_time()
    }

    /// Whether `offset` and `length` are multiples of the sector size.
    pub fn is_aligned(&self, offset: u64, length: u64) -> bool {
        (offset | length) & (self.sector - 1) == 0
    }

    fn check_range(&self, offset: u64, length: u64) -> Result<(), StoreError> {
        let size = self.size;
        match offset.checked_add(length) {
            Some(end) if end <= size => Ok(()),
            _ => Err(StoreError::OutOfRange {
                offset,
                length,
                size,
            }),
        }
    }

    fn check_write(&self, offset: u64, length: u64) -> Result<(), StoreError> {
        self.check_range(offset, length)?;
        if self.is_read_only() {
            return Err(StoreError::ReadOnly);
        }
        Ok(())
    }

    /// The smallest range of whole sectors that contains a range: offset and length.
    fn around(&self, offset: u64, length: u64) -> (u64, u64) {
        let start = offset & !(self.sector - 1);
        let end = (offset + length).next_multiple_of(self.sector);
        (start, end - start)
    }

    /// The largest range of whole sectors inside a range: offset and length, which may be 0.
    fn inside(&self, offset: u64, length: u64) -> (u64, u64) {
        let start = offset.next_multiple_of(self.sector);
        let end = (offset + length) & !(self.sector - 1);
        (start, end.saturating_sub(start))
    }

    /// Reads a byte range.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        let length = into.len() as u64;
        self.check_range(offset, length)?;
        if self.is_aligned(offset, length) {
            return self.drive.read(offset, into);
        }
        let (start, whole) = self.around(offset, length);
        let mut sectors = vec![0; whole as usize];
        self.drive.read(start, &mut sectors)?;
        let skip = (offset - start) as usize;
        into.copy_from_slice(&sectors[skip..skip + into.len()]);
        Ok(())
    }

    /// Appends a byte range to `into`; on failure some of it may have been appended.
    pub fn read_onto(
        &self,
        offset: u64,
        length: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        self.check_range(offset, length as u64)?;
        if self.is_aligned(offset, length as u64) {
            return self.drive.read_onto(offset, length, into);
        }
        let start = into.len();
        into.resize(start + length, 0);
        self.read(offset, &mut into[start..])
    }

    /// Reads a byte range piece by piece; see [`Store::read_pieces`].
    pub fn read_pieces(
        &self,
        offset: u64,
        length: usize,
        take: &mut dyn FnMut(ReadPiece<'_>),
    ) -> Result<(), StoreError> {
        self.check_range(offset, length as u64)?;
        if self.is_aligned(offset, length as u64) {
            return self.drive.read_pieces(offset, length, take);
        }
        let mut bytes = vec![0; length];
        self.read(offset, &mut bytes)?;
        take(ReadPiece::Bytes(&bytes));
        Ok(())
    }

    /// Writes a byte range; with `fua`, durable on return.
    pub fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        let length = from.len() as u64;
        self.check_write(offset, length)?;
        if self.is_aligned(offset, length) {
            let _shared = self.changing.read().unwrap_or_else(PoisonError::into_inner);
            return self.drive.write(offset, from, fua);
        }
        let _alone = self
            .changing
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        self.modify(offset, from, fua)
    }

    /// Room for the bytes of a write; see [`Store::landing`].
    pub fn landing(&self, offset: u64, length: usize) -> Option<Box<dyn StoreLanding>> {
        let allowed = self.check_write(offset, length as u64);
        let whole = allowed.is_ok() && self.is_aligned(offset, length as u64);
        whole.then(|| self.drive.landing(offset, length)).flatten()
    }

    /// Writes what such room has received.
    pub fn write_landed(
        &self,
        offset: u64,
        landing: Box<dyn StoreLanding>,
        fua: bool,
    ) -> Result<(), StoreError> {
        let _shared = self.changing.read().unwrap_or_else(PoisonError::into_inner);
        self.drive.write_landed(offset, landing, fua)
    }

    /// Reads, changes and writes whole sectors. The caller holds the exclusive lock.
    fn modify(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        let (start, whole) = self.around(offset, from.len() as u64);
        let mut sectors = vec![0; whole as usize];
        let sector = self.sector as usize;
        let tail = sectors.len() - sector;
        self.drive.read(start, &mut sectors[..sector])?;
        if tail > 0 {
            let last = start + tail as u64;
            self.drive.read(last, &mut sectors[tail..])?;
        }
        let skip = (offset - start) as usize;
        sectors[skip..skip + from.len()].copy_from_slice(from);
        self.drive.write(start, &sectors, fua)
    }

    /// Makes durable every write acknowledged before the call.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.drive.flush()
    }

    /// Discards the whole sectors inside a range. The partial sectors at its ends keep their
    /// values, as the command is a hint.
    pub fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        self.check_write(offset, length)?;
        let (start, whole) = self.inside(offset, length);
        let _shared = self.changing.read().unwrap_or_else(PoisonError::into_inner);
        if whole > 0 {
            self.drive.trim(start, whole, fua)
        } else if self.is_powered() {
            Ok(())
        } else {
            Err(StoreError::Off)
        }
    }

    /// Writes zeroes to a byte range.
    pub fn write_zeroes(
        &self,
        offset: u64,
        length: u64,
        flags: ZeroFlags,
    ) -> Result<(), StoreError> {
        self.check_write(offset, length)?;
        if self.is_aligned(offset, length) {
            let _shared = self.changing.read().unwrap_or_else(PoisonError::into_inner);
            return self.drive.write_zeroes(offset, length, flags);
        }
        if flags.fast {
            return Err(StoreError::Unsupported);
        }
        let _alone = self
            .changing
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let (start, whole) = self.inside(offset, length);
        if whole == 0 {
            return self.modify(offset, &vec![0; length as usize], flags.fua);
        }
        let (head, end) = (start - offset, start + whole);
        let tail = offset + length - end;
        if head > 0 {
            self.modify(offset, &vec![0; head as usize], flags.fua)?;
        }
        if tail > 0 {
            self.modify(end, &vec![0; tail as usize], flags.fua)?;
        }
        self.drive.write_zeroes(start, whole, flags)
    }

    /// Must succeed before commands are acknowledged; see [`Store::settle`].
    pub fn settle(&self) -> Result<(), StoreError> {
        self.drive.settle()
    }

    /// Passes on the hint that a range will be read soon.
    pub fn cache(&self, offset: u64, length: u64) -> Result<(), StoreError> {
        self.check_range(offset, length)?;
        let (start, whole) = self.around(offset, length);
        self.drive.cache(start, whole)
    }

    /// The extents of a byte range, at most `max`, clipped to the range.
    pub fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        self.check_range(offset, length)?;
        let (start, whole) = self.around(offset, length);
        let mut extents = self.drive.extents(start, whole, max)?;
        if let Some(first) = extents.first_mut() {
            first.length -= offset - start;
        }
        let mut remaining = length;
        extents.retain_mut(|extent| {
            extent.length = extent.length.min(remaining);
            remaining -= extent.length;
            extent.length > 0
        });
        Ok(extents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryStore;

    /// Every byte range of three sectors, against a plain array.
    #[test]
    fn any_byte_range_changes_exactly_its_bytes() {
        let (size, sector) = (3 * 16, 16);
        for offset in 0..size {
            for length in 1..=size - offset {
                let shared = SharedDrive::new(Arc::new(MemoryStore::new(size, sector)));
                let mut plain: Vec<u8> = (1..=size as u8).collect();
                shared.write(0, &plain, false).unwrap();
                let (from, to) = (offset as usize, (offset + length) as usize);
                shared.write(offset, &vec![99; to - from], false).unwrap();
                plain[from..to].fill(99);
                let mut all = vec![0; size as usize];
                shared.read(0, &mut all).unwrap();
                assert_eq!(all, plain, "write {offset}..+{length}");
                shared
                    .write_zeroes(offset, length, ZeroFlags::default())
                    .unwrap();
                plain[from..to].fill(0);
                shared.read(0, &mut all).unwrap();
                assert_eq!(all, plain, "zeroes {offset}..+{length}");
                let mut part = vec![7; to - from];
                shared.read(offset, &mut part).unwrap();
                assert!(part.iter().all(|byte| *byte == 0));
            }
        }
    }

    #[test]
    fn beyond_the_end_is_refused_without_overflow() {
        let shared = SharedDrive::new(Arc::new(MemoryStore::new(8192, 4096)));
        for (offset, length) in [(8192, 1), (0, 8193), (u64::MAX, 2), (u64::MAX, u64::MAX)] {
            let error = shared.trim(offset, length, false).unwrap_err();
            assert_eq!(
                error,
                StoreError::OutOfRange {
                    offset,
                    length,
                    size: 8192
                }
            );
        }
        shared.trim(8192, 0, false).unwrap();
    }

    #[test]
    fn an_unaligned_trim_keeps_the_partial_sectors() {
        let shared = SharedDrive::new(Arc::new(MemoryStore::new(3 * 4096, 4096)));
        shared.write(0, &[5; 3 * 4096], false).unwrap();
        shared.trim(1, 3 * 4096 - 2, false).unwrap();
        let mut all = [1; 3 * 4096];
        shared.read(0, &mut all).unwrap();
        assert!(
            all[..4096]
                .iter()
                .chain(&all[8192..])
                .all(|byte| *byte == 5)
        );
        assert!(all[4096..8192].iter().all(|byte| *byte == 0));
    }
}
