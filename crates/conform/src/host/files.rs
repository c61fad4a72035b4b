//! Files of the host that go into an image: programs with their libraries, and kernel modules.

use super::elf::module_name;
use ssdlab_base::LabError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a compressed module is unpacked: what its name ends with, and the program of that.
const PACKED: &[(&str, &str)] = &[("ko.xz", "xz"), ("ko.zst", "zstd"), ("ko.gz", "gzip")];

/// The failure of `action` on `path`.
pub fn failed(action: &'static str, path: &Path, source: std::io::Error, hint: &str) -> LabError {
    LabError::File {
        action,
        path: path.to_owned(),
        source,
        hint: hint.to_owned(),
    }
}

/// The modules below `folder`, by name.
pub fn find_modules(folder: &Path, files: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => find_modules(&path, files),
            _ => {
                let name = entry.file_name().to_string_lossy().into_owned();
                let (stem, end) = name.split_once('.').unwrap_or((&name, ""));
                if end == "ko" || PACKED.iter().any(|(packed, _)| *packed == end) {
                    files.insert(module_name(stem), path);
                }
            }
        }
    }
}

/// The bytes of a module, unpacked.
pub fn read_module(path: &Path) -> Result<Vec<u8>, LabError> {
    const ACTION: &str = "reading a module";
    let name = path.to_string_lossy();
    let Some((_, program)) = PACKED.iter().find(|(end, _)| name.ends_with(end)) else {
        return std::fs::read(path).map_err(|error| failed(ACTION, path, error, ""));
    };
    let unpacked = Command::new(program).arg("-dc").arg(path).output();
    let package = match *program {
        "xz" => "xz-utils",
        program => program,
    };
    let hint = format!("it is unpacked by {program}; on Debian: apt-get install {package}");
    let output = unpacked.map_err(|error| failed(ACTION, path, error, &hint))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let error = std::io::Error::other(text.trim().to_owned());
        return Err(failed(ACTION, path, error, &hint));
    }
    Ok(output.stdout)
}

/// The file of the program `name`: a path, or a name that PATH finds.
pub fn find_program(name: &str) -> Result<PathBuf, LabError> {
    let path = PathBuf::from(name);
    if name.contains('/') && path.is_file() {
        return Ok(path);
    }
    let folders = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let mut paths = folders
        .split(':')
        .map(|folder| Path::new(folder).join(name));
    let file = paths.find(|path| !name.contains('/') && path.is_file());
    file.ok_or_else(|| {
        LabError::refused(
            format!("{name}, the program of the layer, is not found"),
            "name its file, as in --layer '/usr/sbin/dmsetup create d ...'",
        )
    })
}

/// The libraries with which `program` starts here, the dynamic linker among them.
pub fn libraries_of(program: &Path) -> Vec<PathBuf> {
    // A program without libraries is no error: `ldd` then fails.
    let listed = Command::new("ldd").arg(program).output();
    let text = listed.map(|output| output.stdout).unwrap_or_default();
    listed_libraries(&String::from_utf8_lossy(&text))
}

/// The paths in what `ldd` prints.
fn listed_libraries(text: &str) -> Vec<PathBuf> {
    let paths = text.lines().filter_map(|line| {
        let path = line.split_once("=>").map_or(line, |(_, path)| path);
        let path = path.split_whitespace().next()?;
        path.starts_with('/').then(|| PathBuf::from(path))
    });
    paths.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_the_paths_that_ldd_prints() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                    \tlibgcc_s.so.1 => /usr/lib/libgcc_s.so.1 (0x00007f0a)\n\
                    \t/usr/lib/ld-linux-x86-64.so.2 (0x00007f0b)\n";
        let want = ["/usr/lib/libgcc_s.so.1", "/usr/lib/ld-linux-x86-64.so.2"];
        assert_eq!(listed_libraries(text), want.map(PathBuf::from));
        assert!(listed_libraries("\tnot a dynamic executable\n").is_empty());
    }

    /// Checked with the programs that pack them.
    #[test]
    fn modules_are_read_as_their_distribution_packs_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let plain = folder.path().join("a-b.ko");
        std::fs::write(&plain, b"\0depends=c\0").expect("written");
        for (end, program) in PACKED {
            let packed = Command::new(program).arg("-c").arg(&plain).output();
            let Ok(packed) = packed else {
                ssdlab_skips::skip(format!("{program} is not installed"));
                continue;
            };
            let name = end.replace('.', "-");
            let path = folder.path().join(format!("{name}.{end}"));
            std::fs::write(path, packed.stdout).expect("written");
        }
        let mut files = BTreeMap::new();
        find_modules(folder.path(), &mut files);
        assert_eq!(files["a_b"], plain);
        for path in files.values() {
            let bytes = read_module(path).expect("unpacked");
            assert_eq!(bytes, b"\0depends=c\0", "{}", path.display());
        }
        let broken = folder.path().join("broken.ko.gz");
        std::fs::write(&broken, b"no gzip").expect("written");
        let error = read_module(&broken).expect_err("refused");
        assert!(error.hint().contains("gzip"), "{error}");
    }

    #[test]
    fn a_program_is_found_by_name_or_by_path() {
        assert!(find_program("sh").is_ok());
        let own = std::env::current_exe().expect("it runs");
        assert_eq!(find_program(&own.to_string_lossy()).expect("a path"), own);
        let error = find_program("no-such-program").expect_err("refused");
        assert!(error.hint().contains("--layer"), "{error}");
    }
}
