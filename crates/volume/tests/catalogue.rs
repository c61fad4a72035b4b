//! Is every file of the catalogue understood, sourced and sold as it says?

use ssdlab_volume::catalogue::{VolumeProvenance, instances, names, volumes};
use ssdlab_volume::{VolumeName, open};

#[test]
fn every_type_opens_and_names_its_sources() {
    let files = volumes().expect("the catalogue is right");
    assert_eq!(files.len(), names().len());
    for (file, name) in files.iter().zip(names()) {
        assert_eq!(file.name, name);
        assert!(open(name).is_ok(), "{name}");
        for (key, source) in &file.sources {
            assert!(source.contains("read 2026-"), "{name}: {key} has no date");
            let is_used = file
                .figures()
                .iter()
                .any(|(_, figure)| figure.source == *key)
                || file.tiers_source.as_deref() == Some(key.as_str())
                || file.service.merge_source == *key;
            assert!(is_used, "{name}: nothing is from {key}");
        }
        let documented = file.figures().into_iter().filter(|(key, figure)| {
            !key.starts_with("service") && figure.kind == VolumeProvenance::Documented
        });
        assert!(documented.count() >= 1, "{name}");
    }
}

#[test]
fn instances_are_known_and_their_burst_is_not_below_their_base() {
    for (provider, least) in [("aws", 150), ("azure", 80)] {
        let instances = instances(provider).expect("the file is right");
        assert!(instances.len() >= least, "{}", instances.len());
        for (name, limits) in &instances {
            assert!(limits.operations.burst >= limits.operations.base, "{name}");
            assert!(limits.bytes.burst >= limits.bytes.base, "{name}");
        }
    }
    let config = open("gp3,instance=m5.large").expect("it is known");
    let (_, limits) = config.instance.expect("it was named");
    assert_eq!(limits.operations.base, 3600);
    // 15,150 more for 30 minutes.
    assert_eq!(limits.operations.credit, 15_150 * 1800);
}

#[test]
fn what_is_not_sold_is_refused_with_its_limits() {
    for (text, part) in [
        ("gp4", "no volume type is called `gp4`"),
        ("gp3,size=20000", "1 to 16384 GiB"),
        ("gp3,iops=2000", "3000 to 16000"),
        ("gp3,size=10,iops=6000", "3000 to 5000 of this size"),
        ("gp3,throughput=800", "125 to 750 with these operations"),
        ("gp2,iops=500", "follows from the size"),
        ("premium-ssd,throughput=500", "follows from the size"),
        ("gp3,speed=9", "`speed` is not a setting"),
        ("gp3,size=1.5GB", "whole GiB"),
        ("gp3,credit=101", "0 to 100 percent"),
        ("gp3,instance=m5.tiny", "`m5.tiny` are not known"),
        (
            "premium-ssd,size=64,instance=Standard_D3s_v5",
            "of this family: Standard_D",
        ),
        (
            "pd-ssd,size=64,instance=n9-standard-8",
            "the series are a2, a3, c2",
        ),
        (
            "pd-ssd,size=64,instance=c3-standard-20",
            "sizes of c3: 4 to 8, 22, 44, 88 to 176",
        ),
        (
            "hyperdisk-balanced,size=64,instance=n2-standard-8",
            "n2 has limits for pd-balanced, pd-extreme, pd-ssd",
        ),
    ] {
        let error = open(text).expect_err("it is refused");
        let message = format!("{error}; {}", error.hint());
        assert!(message.contains(part), "{text}: {message}");
    }
    let name = VolumeName::parse("gp2,size=1TiB,credit=50%,snapshot,seed=7").expect("it is read");
    assert_eq!((name.setting.gib, name.credit_permille), (1024, 500));
    assert!(name.from_snapshot && name.seed == 7);
}
