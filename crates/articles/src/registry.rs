//! Everything that can be run, and the pages that show it.

use crate::experiments::claims::{align, disk, joins, pool_cuts, pool_log, sheet};
use crate::experiments::{contract, facts, hosts, myth, pattern, rw80, s2d, spare, wear, worn};
use crate::outcome::AnyExperiment;
use crate::story::{Article, ArticleSection};
use rw80::run::DRIVES;

/// Every experiment.
pub(crate) static EXPERIMENTS: [&dyn AnyExperiment; 30] = [
    &facts::FACTS,
    &s2d::DRIVE,
    &s2d::TWIN,
    &pattern::ONE,
    &pattern::FIVE,
    DRIVES[0],
    DRIVES[1],
    DRIVES[2],
    DRIVES[3],
    DRIVES[4],
    DRIVES[5],
    DRIVES[6],
    &rw80::run::PATTERNS,
    &contract::CONTRACT,
    &myth::run::MYTH,
    &myth::database::DATABASE,
    &hosts::TIER,
    &hosts::MONTHS,
    &spare::run::SPARE,
    &wear::MIRROR,
    &wear::ENDURANCE,
    &worn::run::NEW,
    &worn::run::AGED,
    &worn::throttled::THROTTLED,
    &sheet::SHEET,
    &pool_cuts::POOL_CUTS,
    &pool_log::POOL_LOG,
    &align::ALIGN,
    &joins::JOINS,
    &disk::DISK,
];

/// An experiment by name.
pub(crate) fn named(name: &str) -> Option<&'static dyn AnyExperiment> {
    let mut experiments = EXPERIMENTS.iter().copied();
    experiments.find(|experiment| experiment.about().name == name)
}

/// The articles, in order.
pub(crate) static ARTICLES: [Article; 5] = [
    Article {
        key: "s2d",
        title: "A consumer drive as a cache device",
        source: "D. Lovinger (Microsoft), consumer SSDs in Storage Spaces Direct, 2016.",
        intro: "A 1 TB consumer drive is tried as a cache device. Its data sheet promises 90,000 \
                random writes a second and 185 TB over five years. How fast is it when every write \
                must be durable before it is acknowledged?",
        sections: &[
            &s2d::BUFFERED,
            &s2d::THROUGH,
            &s2d::ENDURANCE,
            &s2d::PROTECTED,
        ],
    },
    Article {
        key: "zil",
        title: "Log devices for synchronous writes",
        source: "C. George (DDRdrive), ZIL Accelerator: Random Write Revelation, OpenStorage \
                 Summit 2011.",
        intro: "ZFS writes its intent log to a device of its own. Is that load sequential or \
                random, and what do flash drives of 2011 make of random writes that never stop?",
        sections: &[
            &pattern::PATTERN,
            &pattern::SEEK,
            &rw80::plots::RATES,
            &rw80::plots::DEGRADE,
            &rw80::plots::MONEY,
            &wear::WEAR,
            &facts::PROMISE,
        ],
    },
    Article {
        key: "spare",
        title: "Spare area, compression and dirt",
        source: "A. Lal Shimpi (AnandTech), The Impact of Spare Area on Performance, 2010.",
        intro: "The same flash is sold with 28 % and with 13 % spare area. Who notices, when the \
                drive is full, and when it is full and dirty? The article's traces were never \
                published: ours are made to their description; docs/articles.md has the \
                details.",
        sections: &[
            &spare::run::FULL,
            &spare::run::DIRTY,
            &spare::run::INTEL,
            &spare::run::COMPRESS,
        ],
    },
    Article {
        key: "myth",
        title: "How a drive slows down in production",
        source: "J. He (Houzz), The Myth of SSD Performance Degradation.",
        intro: "Drives in production fell from 450 MB/s of random reads to 50 within months. Which \
                mechanisms can do that, and which remove it? The article does not name the drives: \
                the earlier drive is assumed, the flash of the DC S3700 with the habits that are \
                blamed.",
        sections: &[
            &myth::run::IN_PLACE,
            &myth::run::PRODUCTION,
            &myth::run::MAP,
            &myth::run::WHOLE_DISK,
            &myth::database::TPS,
        ],
    },
    Article {
        key: "worn",
        title: "A drive after 270 TB",
        source: "K. OBrien (StorageReview), SSD Performance Review - 270TB Written, 2011.",
        intro: "A drive is written until a fifth of its life is left, and measured again. Its \
                firmware was changed between the two reviews (319A to 332A), so not every \
                difference is wear. The model changes nothing but the wear: rows that are called \
                \"not wear\" are differences that it does not explain.",
        sections: &[
            &worn::plots::LIFE,
            &worn::plots::SMALL,
            &worn::plots::LARGE,
            &worn::plots::MIXED,
            &worn::plots::TRACES,
        ],
    },
];

/// The article of a figure, by the first part of its id.
pub(crate) fn article(id: &str) -> Option<&'static Article> {
    let key = id.split('.').next();
    ARTICLES.iter().find(|article| Some(article.key) == key)
}

/// The section in which a figure stands.
pub(crate) fn section(id: &str) -> Option<&'static ArticleSection> {
    let sections = article(id)?.sections;
    sections.iter().find(|section| section.holds(id)).copied()
}
