//! What each article did, in order, with the figures and plots of each part.

use super::{plots, worn};
use crate::reproduce::Reproduction;
use crate::reproduce::figures::Row;
use maud::Markup;
use ssdlab_view::chart::Charts;

/// A part of an article.
pub(super) struct Section {
    /// Its place on the page.
    pub anchor: &'static str,
    pub title: &'static str,
    /// Paragraphs.
    pub text: &'static [&'static str],
    /// Ids, or beginnings of ids.
    ids: &'static [&'static str],
    pub plots: fn(&Reproduction, &mut Charts) -> Markup,
}

impl Section {
    /// Whether a figure is told of here.
    pub fn holds(&self, id: &str) -> bool {
        self.ids.iter().any(|own| {
            let rest = id.strip_prefix(own);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// An article's page.
pub(super) struct Story {
    pub source: &'static str,
    pub intro: &'static str,
    pub sections: &'static [Section],
}

const S2D: Story = Story {
    source: "D. Lovinger (Microsoft), consumer SSDs in Storage Spaces Direct, 2016.",
    intro: "A 1 TB consumer drive is tried as a cache device. Its data sheet promises 90,000 \
            random writes a second and 185 TB over five years. What is left when every write must \
            be durable before it is acknowledged?",
    sections: &[
        Section {
            anchor: "buffered",
            title: "Buffered: fast, with a cliff",
            text: &[
                "Eight threads, one command each, 4 KiB random, 70 % reads, on a 100 GiB file \
                     that was written a little over twice. The drive answers from its buffer and \
                     programs its pSLC cache; after some two minutes that is full, and all goes on \
                     a level lower.",
            ],
            ids: &["s2d.buffered"],
            plots: plots::buffered,
        },
        Section {
            anchor: "through",
            title: "Written through: a fast hard disk",
            text: &[
                "The same with every write forced to media. Each small write programs a page \
                     and the map that leads to it, and must wait for both.",
            ],
            ids: &["s2d.through"],
            plots: plots::through,
        },
        Section {
            anchor: "endurance",
            title: "What it costs in life",
            text: &[
                "The rating is worth what the drive makes of each write. Pages that are \
                     programmed for 4 KiB each use it up many times faster.",
            ],
            ids: &["s2d.endurance"],
            plots: plots::cost,
        },
        Section {
            anchor: "plp",
            title: "The same drive with a protected buffer",
            text: &[
                "A write is durable as soon as it is in a buffer that survives a power cut, so \
                     a forced write costs no more than another. Nothing else of the drive is \
                     changed.",
            ],
            ids: &["s2d.plp"],
            plots: plots::twin,
        },
    ],
};

const ZIL: Story = Story {
    source: "C. George (DDRdrive), ZIL Accelerator: Random Write Revelation, OpenStorage \
             Summit 2011.",
    intro: "ZFS writes its intent log to a device of its own. Is that load sequential or random, \
            and what do flash drives of 2011 make of random writes that never stop?",
    sections: &[
        Section {
            anchor: "pattern",
            title: "How the log device is written",
            text: &[
                "One synchronous writer in one file system, then five in five: every file \
                     system has a log of its own, and all share the device. One log names its next \
                     block in advance and is nearly sequential; several interleave.",
            ],
            ids: &["zil.pattern"],
            plots: plots::shares,
        },
        Section {
            anchor: "seek",
            title: "How far it jumps",
            text: &[
                "Distance from the end of one write to the beginning of the next. Total \
                     variation is half the sum of the differences of the two histograms' shares.",
            ],
            ids: &["zil.seek"],
            plots: plots::seeks,
        },
        Section {
            anchor: "rw80",
            title: "Random writes for 80 minutes",
            text: &[
                "Secure erase, then 4 KiB random writes over the whole drive, 32 outstanding; \
                     the figure is the last minute. The 710 of 200 GB is faster than that of \
                     300 GB: the same controller and DRAM, more map to keep.",
            ],
            ids: &["zil.rw80"],
            plots: plots::random_writes,
        },
        Section {
            anchor: "degrade",
            title: "Lost early, and not won back by idling",
            text: &[
                "The flash drives are asked two things: is the eleventh minute less than half \
                     of the first, in every drive; and after ten idle minutes, is the rate no more \
                     than a quarter above what it was? The DRAM drive is written in four patterns, \
                     and nothing may change.",
            ],
            ids: &["zil.degrade", "zil.x1.flat"],
            plots: plots::none,
        },
        Section {
            anchor: "endurance",
            title: "Money and life",
            text: &[
                "Rates over the prices of October 2011, as far as the slides imply them, and \
                     how long the rated writes last when the log device is written at this rate \
                     without a pause.",
            ],
            ids: &["zil.endurance", "zil.x1.backups"],
            plots: plots::money,
        },
        Section {
            anchor: "mirror",
            title: "Mirrored log devices, and the wear indicator",
            text: &[
                "Both sides of a mirror are written alike. Equal drives use up their cells at the \
                     same rate and differ only in which blocks fail when; a larger one has more \
                     cells for the same writes, and more spare area.",
            ],
            ids: &["zil.mwi", "zil.mirror"],
            plots: worn::mirror,
        },
        Section {
            anchor: "plp",
            title: "Flash, and the promise of a log device",
            text: &["What the slides say of cells, and which families survive a power cut."],
            ids: &["zil.physics", "zil.plp", "zil.contract"],
            plots: plots::none,
        },
    ],
};

const SPARE: Story = Story {
    source: "A. Lal Shimpi (AnandTech), The Impact of Spare Area on Performance, 2010.",
    intro: "The same flash is sold with 28 % and with 13 % spare area. Who notices, when the drive \
            is full, and when it is full and dirty? The article's traces are not to be had: ours \
            are made to their description, and how the model reads them is in docs/experiments.md.",
    sections: &[
        Section {
            anchor: "full",
            title: "Full",
            text: &[
                "Every LBA is written with random data, so that a controller that compresses, or \
                     that uses what the host never wrote as spare area, has only its own spare \
                     area left. Then a trace of desktop use.",
            ],
            ids: &["spare.full"],
            plots: plots::full,
        },
        Section {
            anchor: "dirty",
            title: "Full and dirty",
            text: &[
                "A second pass over every LBA with some random writes thrown in, then the trace. \
                     Each random write leaves a hole in a block that is valid else. While there \
                     are blocks that hold nothing valid at all, reclaim is free; a trace that \
                     writes more than these has to wait.",
            ],
            ids: &["spare.dirty"],
            plots: plots::dirty,
        },
        Section {
            anchor: "intel",
            title: "A drive that improves",
            text: &[
                "The X25-M came out faster in the second, dirty run. Here a rest with background \
                     reclaim, which is assumed of it, wins back what the second pass cost, and no \
                     more.",
            ],
            ids: &["spare.intel"],
            plots: plots::none,
        },
        Section {
            anchor: "compress",
            title: "How full is full?",
            text: &[
                "A sequential fill with data that compresses leaves flash free; only random data \
                     takes as much flash as was written. Parity is counted in.",
            ],
            ids: &["spare.compress"],
            plots: plots::none,
        },
    ],
};

const MYTH: Story = Story {
    source: "J. He (Houzz), The Myth of SSD Performance Degradation.",
    intro: "Drives in production fell from 450 MB/s of random reads to 50 within months. Which \
            mechanisms can do that, and which remove it? The article does not name the drives: the \
            earlier drive is assumed, the flash of the DC S3700 with the habits that are blamed.",
    sections: &[
        Section {
            anchor: "inplace",
            title: "In place, and in a log",
            text: &[
                "A page can only be programmed after its whole block was erased. Rewriting the \
                     block for every update costs as many times the update as it fits into the \
                     block; writing elsewhere costs copies of what is still valid, the more the \
                     fuller the flash.",
            ],
            ids: &["myth.inplace", "myth.log"],
            plots: plots::none,
        },
        Section {
            anchor: "production",
            title: "Months in production, and what would have helped",
            text: &[
                "A server's file system, 70 % used, creates and deletes files on drives that \
                     differ in one thing each. Without TRIM the drive takes deleted data for valid \
                     and fills up, whatever the file system thinks.",
            ],
            ids: &["myth.degrade", "myth.full70", "myth.trim", "myth.op"],
            plots: plots::production,
        },
        Section {
            anchor: "map",
            title: "The map has its price",
            text: &[
                "A tree of extents is small on a fresh drive. Random writes break it up, and its \
                     upkeep takes more and more of the flash's time; a flat table needs none.",
            ],
            ids: &["myth.map"],
            plots: plots::upkeep,
        },
        Section {
            anchor: "s3700",
            title: "The drive that was bought",
            text: &["4 KiB random writes and reads over every block of the DC S3700."],
            ids: &["myth.s3700"],
            plots: plots::whole_disk,
        },
        Section {
            anchor: "tps",
            title: "What the database saw",
            text: &[
                "15,000 transactions a second are offered to a database on the earlier drive, \
                     twice its capacity is written each month.",
            ],
            ids: &["myth.tps"],
            plots: plots::database,
        },
    ],
};

const WORN: Story = Story {
    source: "K. OBrien (StorageReview), SSD Performance Review - 270TB Written, 2011.",
    intro: "A drive is written until a fifth of its life is left, and measured again. Its \
            firmware was changed between the two reviews (319A to 332A), so not every difference \
            is wear. The model changes nothing but the wear: rows that are called \"not wear\" \
            are differences that it does not explain.",
    sections: &[
        Section {
            anchor: "life",
            title: "What 270 TB cost",
            text: &[
                "Every page write is played. The article says that the data was incompressible \
                     and that it took the better part of a month, and not how it was written. \
                     Written in order it costs its parity; other loads cost more of the life, and \
                     more days.",
            ],
            ids: &["worn.life", "worn.day"],
            plots: worn::life,
        },
        Section {
            anchor: "small",
            title: "4 KiB at random",
            text: &[
                "Reads and writes over queue depth, on a test file of 8 GiB; writes one at a time \
                     for the latency. Data that repeats compresses as far as it can, random data \
                     not at all.",
            ],
            ids: &[
                "worn.rr_peak",
                "worn.w_lat_rep",
                "worn.w_lat_rand",
                "worn.w_lat_max",
                "worn.4k_gain",
            ],
            plots: worn::small,
        },
        Section {
            anchor: "large",
            title: "Large transfers",
            text: &[
                "2 MB in order and at random, and CrystalDiskMark's writes. Incompressible data \
                     waits for the array: worn cells are programmed faster.",
            ],
            ids: &["worn.seq", "worn.cdm"],
            plots: worn::large,
        },
        Section {
            anchor: "mixed",
            title: "Server profiles",
            text: &[
                "Iometer's database, file server, web server and workstation, over queue depth.",
            ],
            ids: &["worn.mixed"],
            plots: worn::mixed,
        },
        Section {
            anchor: "traces",
            title: "Client traces and power",
            text: &[
                "Home theatre, office and games, with the volumes that were published; then power \
                     by activity.",
            ],
            ids: &["worn.traces", "worn.power"],
            plots: worn::power,
        },
    ],
};

/// The story of an article.
pub(super) fn of(key: &str) -> &'static Story {
    match key {
        "s2d" => &S2D,
        "zil" => &ZIL,
        "spare" => &SPARE,
        "myth" => &MYTH,
        _ => &WORN,
    }
}

/// Where a row is told of.
pub(super) fn section_of(row: &Row) -> Option<&'static Section> {
    let sections = of(row.figure.article()).sections;
    sections
        .iter()
        .find(|section| section.holds(&row.figure.id))
}
