//! The kernel and the initial RAM disk, with program and modules, that a guest boots.

use super::elf::{libraries, module_name, module_needs};
use super::files::{failed, find_modules, find_program, libraries_of, read_module};
use super::plan::ConformPlan;
use crate::guest::{ARGUMENT, LAYER, MODULES};
use crate::route::EXT4_BYTES;
use ssdlab_base::LabError;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Modules of disks and the file system. One without a file is taken to be built in.
const WANTED: &[&str] = &[
    "crc32c_generic",
    "virtio_pci",
    "virtio_blk",
    "virtio_scsi",
    "sd_mod",
    "ata_piix",
    "ahci",
    "nvme",
    "ext4",
];
/// Arguments of the kernel. On a busy host, the check of the timer fails in an emulated machine.
const KERNEL_ARGUMENTS: &str =
    "rdinit=/init console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check";
/// Where a program looks for the dynamic linker.
const LINKER_FOLDERS: [&str; 2] = ["/lib64", "/lib"];

/// Where a guest has the program of a layer.
const LAYER_FOLDER: &str = "/usr/bin";

/// The files that a guest boots, and its file system.
pub struct BootImage {
    /// The kernel.
    pub kernel: PathBuf,
    /// The initial RAM disk.
    pub initrd: PathBuf,
    /// A new file system; empty without mkfs.ext4.
    pub ext4: Vec<u8>,
}

impl BootImage {
    /// Makes the files in `folder`.
    pub fn make(plan: &ConformPlan, folder: &Path) -> Result<BootImage, LabError> {
        let mut archive = CpioArchive::default();
        for name in [
            "dev", "proc", "sys", "run", "tmp", "etc", "var/lock", "var/run",
        ] {
            archive.folder(name);
        }
        add_program(&mut archive, &plan.guest)?;
        if let Some(modules) = &plan.modules {
            add_modules(&mut archive, modules, &plan.layer_modules)?;
        } else {
            archive.file(&format!("{MODULES}/order"), b"");
        }
        add_layer(&mut archive, &plan.layer)?;
        read(&plan.kernel, "reading the kernel")?;
        let initrd = folder.join("initrd");
        let written = std::fs::write(&initrd, archive.end());
        written.map_err(|error| failed("writing", &initrd, error, "TMPDIR names another place"))?;
        Ok(BootImage {
            kernel: plan.kernel.clone(),
            initrd,
            ext4: file_system(folder)?,
        })
    }

    /// Whether guests have a file system to test.
    pub fn has_ext4(&self) -> bool {
        !self.ext4.is_empty()
    }

    /// The command line of the kernel for a guest with `disks` disks.
    pub fn command_line(&self, disks: usize) -> String {
        format!("{KERNEL_ARGUMENTS} -- {ARGUMENT} {disks}")
    }
}

fn read(path: &Path, action: &'static str) -> Result<Vec<u8>, LabError> {
    let hint = "on Debian: apt-get download linux-image-amd64 and what it depends on, then \
                dpkg-deb -x; --kernel boot/vmlinuz-VERSION --modules lib/modules/VERSION";
    std::fs::read(path).map_err(|error| failed(action, path, error, hint))
}

/// The program that the guest runs, with the libraries that it runs with here.
fn add_program(archive: &mut CpioArchive, program: &Path) -> Result<(), LabError> {
    archive.file("/init", &read(program, "reading the guest's program")?);
    // The guest runs this executable with the libraries mapped here.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    add_libraries(archive, libraries(&maps, program))
}

/// The program of a layer with its libraries, and its command.
fn add_layer(archive: &mut CpioArchive, words: &[String]) -> Result<(), LabError> {
    let [name, arguments @ ..] = words else {
        return Ok(());
    };
    if !arguments.iter().any(|word| word.contains("{disk}")) {
        return Err(LabError::refused(
            "{disk} is in none of the words of the layer's command",
            "as in --layer 'rublk add loop -f {disk}'",
        ));
    }
    let program = find_program(name)?;
    let within = program.file_name().unwrap_or_default();
    let within = format!("{LAYER_FOLDER}/{}", within.to_string_lossy());
    archive.file(&within, &read(&program, "reading the layer's program")?);
    add_libraries(archive, libraries_of(&program))?;
    let command = [&[within], arguments].concat();
    archive.file(LAYER, command.join("\n").as_bytes());
    Ok(())
}

fn add_libraries(archive: &mut CpioArchive, libraries: Vec<PathBuf>) -> Result<(), LabError> {
    for library in libraries {
        let bytes = read(&library, "reading a library of the guest's program")?;
        archive.file(&library.to_string_lossy(), &bytes);
        let name = library.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("ld-") {
            LINKER_FOLDERS
                .iter()
                .for_each(|folder| archive.file(&format!("{folder}/{name}"), &bytes));
        }
    }
    Ok(())
}

/// Adds the wanted modules, their dependencies and the order of loading.
fn add_modules(
    archive: &mut CpioArchive,
    folder: &Path,
    of_layer: &[String],
) -> Result<(), LabError> {
    let mut files = BTreeMap::new();
    find_modules(folder, &mut files);
    if files.is_empty() {
        return Err(LabError::refused(
            format!(
                "{}: no module (.ko, .ko.xz, .ko.zst, .ko.gz) is below it",
                folder.display()
            ),
            "a folder like lib/modules/VERSION",
        ));
    }
    let mut order = Vec::new();
    for name in of_layer {
        if !files.contains_key(&module_name(name)) {
            return Err(LabError::refused(
                format!("{}: it has no module {name}", folder.display()),
                "another kernel's modules; one that is built in needs no --layer-module",
            ));
        }
    }
    let of_layer = of_layer.iter().map(|name| module_name(name));
    let names = WANTED.iter().map(|name| (*name).to_owned()).chain(of_layer);
    for name in names {
        add_module(archive, &files, &name, &mut order)?;
    }
    let text: String = order.iter().map(|name| format!("{name}.ko\n")).collect();
    archive.file(&format!("{MODULES}/order"), text.as_bytes());
    Ok(())
}

fn add_module(
    archive: &mut CpioArchive,
    files: &BTreeMap<String, PathBuf>,
    name: &str,
    order: &mut Vec<String>,
) -> Result<(), LabError> {
    let Some(path) = files
        .get(name)
        .filter(|_| !order.iter().any(|it| it == name))
    else {
        return Ok(());
    };
    let bytes = read_module(path)?;
    for needed in module_needs(&bytes) {
        add_module(archive, files, &needed, order)?;
    }
    archive.file(&format!("{MODULES}/{name}.ko"), &bytes);
    order.push(name.to_owned());
    Ok(())
}

/// A new file system, or no bytes without mkfs.ext4.
fn file_system(folder: &Path) -> Result<Vec<u8>, LabError> {
    let path = folder.join("ext4");
    let created = std::fs::File::create(&path).and_then(|file| file.set_len(EXT4_BYTES));
    created.map_err(|error| failed("writing", &path, error, "TMPDIR names another place"))?;
    let mut mkfs = Command::new("mkfs.ext4");
    // Lazy initialisation would write while a guest tests.
    mkfs.args([
        "-q",
        "-F",
        "-b",
        "4096",
        "-E",
        "lazy_itable_init=0,lazy_journal_init=0",
    ]);
    let path_of_root = format!(
        "{}:/usr/sbin:/sbin",
        std::env::var("PATH").unwrap_or_default()
    );
    mkfs.env("PATH", path_of_root).stdout(Stdio::null());
    match mkfs.arg(&path).status() {
        Ok(status) if status.success() => read(&path, "reading"),
        _ => Ok(Vec::new()),
    }
}

/// A cpio archive, as the kernel unpacks it (`Documentation/driver-api/early-userspace`).
#[derive(Default)]
struct CpioArchive {
    bytes: Vec<u8>,
    entries: u32,
    folders: Vec<String>,
}

impl CpioArchive {
    fn folder(&mut self, path: &str) {
        let path = path.trim_start_matches('/');
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.folder(parent);
        }
        if !path.is_empty() && !self.folders.iter().any(|folder| folder == path) {
            self.folders.push(path.to_owned());
            self.entry(path, 0o040_755, &[]);
        }
    }

    fn file(&mut self, path: &str, bytes: &[u8]) {
        let path = path.trim_start_matches('/');
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.folder(parent);
        }
        self.entry(path, 0o100_755, bytes);
    }

    fn entry(&mut self, path: &str, mode: u32, bytes: &[u8]) {
        self.entries += 1;
        let numbers = [
            self.entries,
            mode,
            0,
            0,
            1,
            0,
            bytes.len() as u32,
            0,
            0,
            0,
            0,
            path.len() as u32 + 1,
            0,
        ];
        self.bytes.extend(b"070701");
        for number in numbers {
            // A write to memory cannot fail.
            let _ = write!(self.bytes, "{number:08X}");
        }
        self.bytes.extend(path.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend(bytes);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn end(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked with busybox's cpio.
    #[test]
    fn other_programs_read_the_archive() {
        let mut archive = CpioArchive::default();
        archive.file("usr/modules/order", b"abc");
        archive.folder("usr/modules");
        archive.folder("/dev");
        let child = Command::new("busybox")
            .args(["cpio", "-t"])
            .stderr(Stdio::null())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            return ssdlab_skips::skip("busybox is not installed");
        };
        let mut input = child.stdin.take().expect("piped");
        input.write_all(&archive.end()).expect("written");
        drop(input);
        let listed = child.wait_with_output().expect("ran").stdout;
        assert_eq!(
            String::from_utf8_lossy(&listed),
            "usr\nusr/modules\nusr/modules/order\ndev\n"
        );
    }

    #[test]
    fn modules_are_loaded_after_what_they_need() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str, needs: &str| {
            let text = format!("\0depends={needs}\0");
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        put("virtio_blk.ko", "virtio_ring,virtio");
        put("virtio_ring.ko", "virtio");
        put("virtio.ko", "");
        put("t10-pi.ko", "");
        put("sd_mod.ko", "t10-pi");
        let (mut archive, mut files, mut order) = (CpioArchive::default(), BTreeMap::new(), vec![]);
        find_modules(folder.path(), &mut files);
        for name in ["virtio_blk", "sd_mod", "built_in"] {
            add_module(&mut archive, &files, name, &mut order).expect("read");
        }
        assert_eq!(
            order,
            ["virtio", "virtio_ring", "virtio_blk", "t10_pi", "sd_mod"]
        );
    }
}
