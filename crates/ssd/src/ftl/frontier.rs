//! A write frontier: the open superblock of one kind of data, filled die by die.

use crate::image::image_of;
use crate::nand::{Gear, Mode, Nand, UnitPlace};

image_of! {
    /// An open superblock, or none.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Frontier {
        open: Option<Open>,
        /// The next die; kept from one superblock to the next.
        die: u32,
    }
}

image_of! {
    #[derive(Clone, Copy, Debug)]
    struct Open {
        superblock: u32,
        mode: Mode,
        units_left: u32,
    }
}

impl Frontier {
    /// The open superblock and its mode.
    #[inline(always)]
    pub fn open(&self) -> Option<(u32, Mode)> {
        self.open.map(|open| (open.superblock, open.mode))
    }

    /// Opens an empty superblock.
    pub fn start<G: Gear>(&mut self, superblock: u32, mode: Mode, nand: &Nand<G>) {
        assert!(
            self.open.is_none(),
            "superblock {superblock}: another is open"
        );
        let units_left = nand.rows(mode) * nand.geometry.die_count;
        self.open = Some(Open {
            superblock,
            mode,
            units_left,
        });
    }

    /// Continues a superblock that was partly filled before power failed.
    pub fn resume<G: Gear>(&mut self, superblock: u32, mode: Mode, nand: &Nand<G>) {
        let rows = nand.rows(mode);
        let dies = 0..nand.geometry.die_count;
        let used = dies.map(|die| nand.next_row(superblock, die)).sum::<u32>();
        self.open = Some(Open {
            superblock,
            mode,
            units_left: rows * nand.geometry.die_count - used,
        });
    }

    /// Takes the next unit, which the caller programs at once. Dies whose rows are used up (padding
    /// is uneven) are skipped. A superblock must be open.
    #[inline(always)]
    pub fn take<G: Gear>(&mut self, nand: &Nand<G>) -> UnitPlace {
        let open = self.open.as_mut().expect("a superblock is open");
        let rows = nand.rows(open.mode);
        let mut row = nand.next_row(open.superblock, self.die);
        while row >= rows {
            self.die = next(self.die, nand);
            row = nand.next_row(open.superblock, self.die);
        }
        open.units_left -= 1;
        let place = UnitPlace {
            superblock: open.superblock,
            row,
            die: self.die,
            mode: open.mode,
        };
        self.die = next(self.die, nand);
        place
    }

    /// The open superblock and its next row, if the next units are exactly a whole row in native
    /// mode, beginning with the first die.
    pub fn whole_row<G: Gear>(&self, nand: &Nand<G>) -> Option<(u32, u32)> {
        let open = self.open.filter(|open| open.mode == Mode::Native)?;
        let row = nand.even_row(open.superblock)?;
        let whole = self.die == 0 && row < nand.rows(open.mode);
        whole.then_some((open.superblock, row))
    }

    /// Advances by a whole row.
    pub fn take_row(&mut self, dies: u32) {
        if let Some(open) = &mut self.open {
            open.units_left -= dies;
        }
    }

    /// Takes the next unit of the given die, to fill up its word line.
    pub fn take_on<G: Gear>(&mut self, die: u32, nand: &Nand<G>) -> UnitPlace {
        let open = self.open.as_mut().expect("a superblock is open");
        open.units_left -= 1;
        UnitPlace {
            superblock: open.superblock,
            row: nand.next_row(open.superblock, die),
            die,
            mode: open.mode,
        }
    }

    /// Closes the superblock and returns it if it is full.
    #[inline(always)]
    pub fn close_if_full(&mut self) -> Option<(u32, Mode)> {
        let full = self.open.filter(|open| open.units_left == 0)?;
        self.open = None;
        Some((full.superblock, full.mode))
    }
}

#[inline(always)]
fn next<G: Gear>(die: u32, nand: &Nand<G>) -> u32 {
    if die + 1 == nand.geometry.die_count {
        0
    } else {
        die + 1
    }
}
