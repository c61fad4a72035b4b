//! Does an application survive power cuts? One run is recorded, played on a modelled drive, cut at
//! many instants, recovered, and checked.
//!
//! ```text
//!  application --disk--> stream --Player--> drive --fork at each cut--> recovery --> verdict
//!                                                                          |
//!                             History: what each sector may read as -------+--- the check
//! ```
//! A failed check is the application's fault when the drive kept its promises, and the drive's
//! when it did not; both are checked after every cut. See `docs/test-your-program.md`; the
//! example `wal` tests a write-ahead log in some sixty lines.
//!
//! ```
//! use ssdlab_power::crashtest::{SectorDevice, Campaign, Cuts, RecordingDisk};
//!
//! let campaign = Campaign::new(ssdlab_ssd::DriveConfig::tiny()).cuts(Cuts::Exhaustive);
//! let mut disk = campaign.disk();
//! disk.write(0, &[7; 512], false).unwrap();
//! disk.flush().unwrap();
//! disk.mark("seven");
//! let report = campaign.run(&disk.into_stream(), |drive| {
//!     let mut sector = [0; 512];
//!     drive.read(0, &mut sector).map_err(|error| error.to_string())?;
//!     match (drive.marks().len(), sector[0]) {
//!         (1, 7) | (0, 0 | 7) => Ok(()),
//!         (marks, found) => Err(format!("{marks} marks, found {found}")),
//!     }
//! });
//! report.unwrap().assert_passed();
//! ```

mod age;
mod campaign;
mod cuts;
mod history;
pub mod log_writes;
mod minimise;
mod player;
mod prepared;
mod recovered;
mod report;
pub mod scripts;
mod stream;
mod timeline;

pub use age::StartingAge;
pub use campaign::Campaign;
pub use cuts::{ChosenCut, CutToken, Cuts, Occasion};
pub use history::{BROKEN_MAX, CommandPiece, RecoveryFindings, StreamProgress, UnitHistory};
pub use player::{Aftermath, CommandSpan, CutPoint, Player, SecondCut};
pub use prepared::PreparedCampaign;
pub use recovered::{RecoveredDrive, RecoveryCheck};
pub use report::{
    Breach, CampaignReport, CutResult, CutVerdict, LostWrite, MinimalLoss, details, place,
};
pub use stream::{CommandStream, Mark, RecordedCommand, RecordingDisk, SectorDevice};
