//! Floors inside a crate: which part may use which.

use crate::modules::Modules;

/// The parts of a crate, lowest first. A file that is in none of them is below all; `lib.rs`,
/// which shows the parts to others, is above.
struct CrateLayers {
    name: &'static str,
    parts: &'static [&'static str],
}

/// The media knows nothing of logical addresses, the translation layer nothing of hosts.
const TOWERS: &[CrateLayers] = &[CrateLayers {
    name: "ssd",
    parts: &["config", "nand", "ftl", "drive"],
}];

/// The part that a file belongs to: its first folder or its name.
fn part(file: &str) -> &str {
    file.split('/')
        .next()
        .unwrap_or(file)
        .trim_end_matches(".rs")
}

/// Arrows of a crate that point from a part to a higher one.
pub fn offences(name: &str, modules: &Modules) -> Vec<String> {
    let Some(tower) = TOWERS.iter().find(|tower| tower.name == name) else {
        return Vec::new();
    };
    let floor = |part: &str| match part {
        "lib" => tower.parts.len() + 1,
        _ => tower
            .parts
            .iter()
            .position(|p| *p == part)
            .map_or(0, |at| at + 1),
    };
    let mut offences = Vec::new();
    for &(from, to) in modules.arrows.keys() {
        let floor = |file: usize| floor(part(&modules.files[file]));
        if floor(to) > floor(from) {
            offences.push(format!("{name}: {}: points up", modules.arrow(from, to)));
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "mod units;\nmod nand;\nmod ftl;\nmod drive;\npub use drive::Drive;";

    fn count(name: &str, user: &str, text: &str) -> usize {
        let item = |name: &str| format!("pub struct {name};");
        let mut files = vec![
            ("lib.rs".to_owned(), ROOT.to_owned()),
            ("units.rs".to_owned(), item("Units")),
            ("nand.rs".to_owned(), item("Nand")),
            ("ftl/mod.rs".to_owned(), item("Ftl")),
            ("drive/mod.rs".to_owned(), item("Drive")),
        ];
        files.retain(|(path, _)| path != user);
        files.push((user.to_owned(), text.to_owned()));
        let modules = Modules::read("ssdlab-ssd", &files.into_iter().collect());
        offences(name, &modules.expect("modules")).len()
    }

    #[test]
    fn parts_use_lower_parts_only() {
        let bad = [
            ("nand.rs", "use crate::ftl::Ftl;"),
            ("nand.rs", "fn f(x: crate::Drive) {}"),
            ("ftl/mod.rs", "use super::drive::Drive;"),
            ("units.rs", "use crate::nand::Nand;"),
        ];
        for (user, text) in bad {
            assert_eq!(count("ssd", user, text), 1, "{user}: {text}");
            assert_eq!(count("lab", user, text), 0, "a crate without a tower");
        }
        let good = [
            ("ftl/mod.rs", "use crate::nand::Nand;"),
            (
                "drive/mod.rs",
                "use crate::{ftl::Ftl, nand::Nand, units::Units};",
            ),
            ("nand.rs", "use crate::units::Units;"),
        ];
        for (user, text) in good {
            assert_eq!(count("ssd", user, text), 0, "{user}: {text}");
        }
    }
}
