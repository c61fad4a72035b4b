//! The page of a qualification.

mod evidence;
pub mod fleet;
mod qualification;
mod symptom;

pub use symptom::symptom_page;

use crate::qualify::Qualification;
use ssdlab_view::chart::Charts;
use ssdlab_view::page::page;

/// The page of a qualification: the answer, what gives, the requirements, the target beside the
/// modelled drives, charts, and what it all rests on.
pub fn qualification_page(q: &Qualification) -> String {
    let mut charts = Charts::default();
    let body = qualification::body(q, &mut charts);
    let name = &q.target.evidence.facts.name;
    page(
        &format!("{name}: qualification for {}", q.role),
        body,
        &charts,
    )
}
