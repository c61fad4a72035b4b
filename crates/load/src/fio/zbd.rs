//! Why `zonemode=zbd` is refused.

use ssdlab_fio::Error;
use ssdlab_fio::JobOption;

/// What `setting` asks for is refused: no target is a zoned drive, and whether fio would refuse one
/// depends on `zonesize`.
pub(super) fn refused(setting: &JobOption, has_zonesize: bool) -> Error {
    let more = if has_zonesize {
        ", and imitated ones, which fio makes of zonesize, are not supported"
    } else {
        "; without zonesize, fio refuses such a target, too"
    };
    setting.bad(
        &format!("no target here has zones that are reset as a whole{more}"),
        "zonemode=strided goes through any drive zone by zone",
    )
}
