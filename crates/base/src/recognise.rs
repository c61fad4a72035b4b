//! Files of other programs, given where another kind is expected: what they are, what reads them.

/// A kind of file that is recognised by how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecognisedFile {
    /// As in "it is an MQSim configuration".
    pub what: &'static str,
    /// Which command takes it, or what to do instead.
    pub hint: &'static str,
}

/// Words that all stand in a file of a kind, in the first [`HEAD`] bytes.
struct Signature {
    words: &'static [&'static str],
    file: RecognisedFile,
}

const fn signature(
    words: &'static [&'static str],
    what: &'static str,
    hint: &'static str,
) -> Signature {
    Signature {
        words,
        file: RecognisedFile { what, hint },
    }
}

/// Bytes that are looked at.
const HEAD: usize = 16 << 10;

const SIMULATOR: &str = "simulators' configurations are not read: take geometry, times and spare \
     area from it by hand, into a drive file (`ssdlab drives show NAME --toml` prints one to start \
     from)";

const SIGNATURES: &[Signature] = &[
    signature(
        &["<Execution_Parameter_Set"],
        "an MQSim configuration",
        SIMULATOR,
    ),
    signature(
        &["<Device_Parameter_Set"],
        "an MQSim configuration",
        SIMULATOR,
    ),
    signature(
        &["<MQSim_IO_Scenarios"],
        "an MQSim workload",
        MQSIM_WORKLOAD,
    ),
    signature(
        &["<IO_Flow_Parameter_Set"],
        "an MQSim workload",
        MQSIM_WORKLOAD,
    ),
    signature(&["<simplessd"], "a SimpleSSD configuration", SIMULATOR),
    signature(
        &["[ssd]", "FTLOverprovision"],
        "a SimpleSSD configuration",
        SIMULATOR,
    ),
    signature(
        &["[pal]", "Channel"],
        "a SimpleSSD configuration",
        SIMULATOR,
    ),
    signature(
        &["BLOCK_ERASE_DELAY", "PAGE_READ_DELAY"],
        "a FlashSim configuration",
        SIMULATOR,
    ),
    signature(&["femu", "devsz_mb"], "a FEMU configuration", SIMULATOR),
    signature(
        &["disksim_", "ssdmodel"],
        "a DiskSim configuration",
        SIMULATOR,
    ),
    signature(
        &["\"fio version\"", "\"jobs\""],
        "fio's results (JSON)",
        "`ssdlab twin fit` takes them as measurements (its guide: docs/twin.md); runs of \
         `ssdlab run` are compared by their directories",
    ),
    signature(
        &["<Results>", "<TimeSpan>"],
        "DISKSPD's results (XML)",
        "`ssdlab run -- diskspd ...` with the same line gives a run to compare",
    ),
    signature(
        &["<Profile>", "<TimeSpans>"],
        "a DISKSPD profile",
        "ssdlab run -- diskspd -XFILE",
    ),
    signature(&["\"smartctl\""], "a report of smartctl", INSPECT),
    signature(&["smartctl ", "SMART"], "a report of smartctl", INSPECT),
    signature(
        &["\"percent_used\"", "\"critical_warning\""],
        "a report of nvme-cli",
        INSPECT,
    ),
    signature(
        &["[capacity]", "[nand]"],
        "a drive file",
        "name it as a drive: drive:FILE.toml; `ssdlab drives check FILE.toml` checks it",
    ),
    signature(
        &["\nrw="],
        "a fio job file",
        "ssdlab run FILE.fio --target drive:NAME",
    ),
    signature(
        &["\nreadwrite="],
        "a fio job file",
        "ssdlab run FILE.fio --target drive:NAME",
    ),
];

const INSPECT: &str = "ssdlab inspect FILE";
const MQSIM_WORKLOAD: &str = "write the load as a fio job or a DISKSPD line; traces in MQSim's \
     columns are read: ssdlab run --trace FILE --trace-format mqsim";

/// What a file that begins with `text` is, if it is of a kind that is known.
pub fn recognise(text: &str) -> Option<RecognisedFile> {
    let end = (0..=HEAD.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end))?;
    let head = &text[..end];
    let matches = |signature: &&Signature| signature.words.iter().all(|word| head.contains(word));
    SIGNATURES
        .iter()
        .find(matches)
        .map(|signature| signature.file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_recognised() {
        for (text, what) in [
            (
                "<?xml version=\"1.0\"?>\n<Execution_Parameter_Set>",
                "an MQSim configuration",
            ),
            ("<MQSim_IO_Scenarios>\n<IO_Scenario>", "an MQSim workload"),
            (
                "{\"fio version\": \"fio-3.39\", \"jobs\": []}",
                "fio's results (JSON)",
            ),
            (
                "{\"json_format_version\":[1,0],\"smartctl\":{}}",
                "a report of smartctl",
            ),
            (
                "smartctl 7.4 2023-08-01\n=== START OF SMART DATA",
                "a report of smartctl",
            ),
            ("[global]\nrw=read\n", "a fio job file"),
            ("name = \"x\"\n[capacity]\n[nand]\n", "a drive file"),
        ] {
            assert_eq!(recognise(text).map(|file| file.what), Some(what), "{text}");
        }
        assert_eq!(recognise("Dear diary"), None);
        assert_eq!(recognise(""), None);
    }
}
