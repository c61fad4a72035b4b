//! A write frontier: the open superblock of one kind of data, filled die by die.

use crate::nand::{Mode, Nand};

/// An open superblock, or none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frontier {
    open: Option<Open>,
    /// The die whose turn it is; kept from one superblock to the next.
    die: u32,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    superblock: u32,
    mode: Mode,
    units_left: u32,
}

/// Where a unit goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub superblock: u32,
    pub row: u32,
    pub die: u32,
    pub mode: Mode,
}

impl Frontier {
    /// The open superblock and its mode.
    pub fn open(&self) -> Option<(u32, Mode)> {
        self.open.map(|open| (open.superblock, open.mode))
    }

    /// Opens an empty superblock.
    pub fn start(&mut self, superblock: u32, mode: Mode, nand: &Nand) {
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

    /// The die that the next unit goes to. Dies whose rows are used up (padding is uneven) are
    /// passed over. There must be an open superblock.
    pub fn next_die(&mut self, nand: &Nand) -> u32 {
        let open = self.open.expect("a superblock is open");
        let rows = nand.rows(open.mode);
        while nand.next_row(open.superblock, self.die) >= rows {
            self.advance(nand);
        }
        self.die
    }

    fn advance(&mut self, nand: &Nand) {
        self.die += 1;
        if self.die == nand.geometry.die_count {
            self.die = 0;
        }
    }

    /// Takes the next unit; the caller programs it at once.
    pub fn take(&mut self, nand: &Nand) -> Target {
        let die = self.next_die(nand);
        let target = self.take_on(die, nand);
        self.advance(nand);
        target
    }

    /// Takes the next unit of a certain die (to fill up its word line).
    pub fn take_on(&mut self, die: u32, nand: &Nand) -> Target {
        let open = self.open.as_mut().expect("a superblock is open");
        open.units_left -= 1;
        let row = nand.next_row(open.superblock, die);
        Target {
            superblock: open.superblock,
            row,
            die,
            mode: open.mode,
        }
    }

    /// Closes the superblock when it is full; returns it then.
    pub fn close_if_full(&mut self) -> Option<u32> {
        let full = self.open.filter(|open| open.units_left == 0)?;
        self.open = None;
        Some(full.superblock)
    }
}
