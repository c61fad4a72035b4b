//! JSON Schemas of the documents of judgements.

use crate::ablate::Diagnosis;
use crate::account::AccountEvidence;
use crate::experiment::Investigation;
use crate::inspect::InspectedDrive;
use crate::page::fleet::FleetRow;
#[cfg(target_os = "linux")]
use crate::pull::verified::FioPullRecord;
use crate::pull::{Loss, PullRecord};
use crate::qualify::Qualification;
use crate::snia::Suite;
use crate::symptom::SymptomAnswer;
use crate::volumes::show::{FitShown, VolumeList, VolumeShown};
use ssdlab_base::schema::DocumentSchema;
#[cfg(target_os = "linux")]
use ssdlab_verify::VerifyVerdicts;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<Qualification>(
        "qualification",
        "qualification.json, and the output of `ssdlab qualify --json`",
    ),
    DocumentSchema::of::<SymptomAnswer>(
        "symptom",
        "diagnosis.json, and the output of `ssdlab diagnose --symptom SYMPTOM --json`",
    ),
    DocumentSchema::of::<Diagnosis>(
        "diagnosis",
        "Output of `ssdlab diagnose MODEL --all-loads --json`, and with --trace",
    ),
    DocumentSchema::of::<Investigation>(
        "black-box",
        "Output of `ssdlab diagnose TARGET --all-loads --json` with --black-box or of a real drive",
    ),
    DocumentSchema::of::<Vec<InspectedDrive>>("inspect", "Output of `ssdlab inspect --json`"),
    DocumentSchema::of::<Vec<FleetRow>>("fleet", "Output of `ssdlab compare --fleet --json`"),
    DocumentSchema::of::<PullRecord>(
        "pull",
        "Output of `ssdlab pull run --json` and `ssdlab pull status --json`",
    ),
    DocumentSchema::of::<Vec<Loss>>(
        "pull-check",
        "Output of `ssdlab pull check --json`: the promises that were broken",
    ),
    #[cfg(target_os = "linux")]
    DocumentSchema::of::<FioPullRecord>("pull-fio", "Output of `ssdlab pull fio --json`"),
    #[cfg(target_os = "linux")]
    DocumentSchema::of::<VerifyVerdicts>(
        "pull-fio-look",
        "Output of `ssdlab pull fio --verify-only --json`",
    ),
    DocumentSchema::of::<Suite>("snia", "snia.json, and the output of `ssdlab snia --json`"),
    DocumentSchema::of::<AccountEvidence>(
        "volumes-account",
        "Output of `ssdlab volumes account --json`",
    ),
    DocumentSchema::of::<FitShown>("volumes-fit", "Output of `ssdlab volumes fit --json`"),
    DocumentSchema::of::<VolumeList>("volumes-list", "Output of `ssdlab volumes list --json`"),
    DocumentSchema::of::<VolumeShown>("volumes-show", "Output of `ssdlab volumes show --json`"),
];
