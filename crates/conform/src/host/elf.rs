//! Libraries that a program needs, and modules that a kernel module needs.

use std::path::{Path, PathBuf};

/// The entry of a module's `.modinfo` that names the modules that it needs.
const DEPENDS: &[u8] = b"\0depends=";

/// The modules that a module needs, by name, as its own text has them.
pub fn module_needs(module: &[u8]) -> Vec<String> {
    let position = module.windows(DEPENDS.len()).position(|at| at == DEPENDS);
    let Some(at) = position else {
        return Vec::new();
    };
    let text = &module[at + DEPENDS.len()..];
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
    let names = String::from_utf8_lossy(&text[..end]).into_owned();
    let names = names.split(',').filter(|name| !name.is_empty());
    names.map(module_name).collect()
}

/// Names of modules have `_` where the names of their files may have `-`.
pub fn module_name(text: &str) -> String {
    text.replace('-', "_")
}

/// The libraries that a program is running with, the dynamic linker among them.
pub fn libraries(maps: &str, program: &Path) -> Vec<PathBuf> {
    let paths = maps.lines().filter_map(|line| line.split_once('/'));
    let mut modules: Vec<PathBuf> = paths
        .map(|(_, path)| PathBuf::from(format!("/{}", path.trim_end())))
        .filter(|path| path != program && path.to_string_lossy().contains(".so"))
        .collect();
    modules.sort();
    modules.dedup();
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_needs_is_in_its_text() {
        let module = b"x\0license=GPL\0depends=virtio-ring,virtio\0name=y\0";
        assert_eq!(module_needs(module), ["virtio_ring", "virtio"]);
        assert!(module_needs(b"x\0depends=\0").is_empty());
        assert!(module_needs(b"nothing").is_empty());
    }

    #[test]
    fn libraries_are_what_is_mapped_beside_the_program() {
        let maps = "7f00-7f10 r-xp 0 08:01 12   /usr/lib/libc.so.6\n\
                    5500-5510 r-xp 0 08:01 13   /usr/bin/ssdlab\n\
                    7f20-7f30 r-xp 0 08:01 12   /usr/lib/libc.so.6\n\
                    7ffe-7fff rw-p 0 00:00 0    [stack]\n";
        let found = libraries(maps, Path::new("/usr/bin/ssdlab"));
        assert_eq!(found, [PathBuf::from("/usr/lib/libc.so.6")]);
    }
}
