//! The same program on a folder of the kernel and on a crash disk: the same answers.

use ssdlab_crash_fs::CrashFs;
use std::io::ErrorKind;
use std::path::Path;

/// A program over one implementation of `fs`; it returns what it saw, step by step.
macro_rules! program {
    ($name:ident, $($fs:ident)::+, $($ext:ident)::+) => {
        fn $name(root: &Path) -> Vec<String> {
            use $($fs)::+::{self as fs, File, OpenOptions};
            use $($ext)::+::FileExt;
            use std::io::{Read, Seek, SeekFrom, Write};

            let mut seen: Vec<String> = Vec::new();
            macro_rules! see {
                ($step:expr) => {{
                    let result: std::io::Result<_> = $step;
                    seen.push(match &result {
                        Ok(value) => format!("{value:?}"),
                        // Refused by std itself: versions differ in the number.
                        Err(error) if error.kind() == ErrorKind::InvalidInput => "invalid".into(),
                        Err(error) => format!("{:?} {:?}", error.kind(), error.raw_os_error()),
                    });
                    result
                }};
            }
            let at = |path: &str| root.join(path);
            let _ = see!(fs::create_dir(at("a/b")));
            let _ = see!(fs::create_dir_all(at("a/b/c")));
            let _ = see!(fs::create_dir(at("a")));
            let _ = see!(fs::write(at("a/log"), "one two three"));
            let _ = see!(fs::create_dir_all(at("a/log/x")));
            let _ = see!(fs::create_dir_all(at("a/log")));
            let _ = see!(fs::read(at("a/log/x")));
            let _ = see!(fs::read(at("a/log/")));
            let _ = see!(fs::write(at("a/log/"), "x"));
            let _ = see!(fs::write(at("a/none/"), "x"));
            let _ = see!(fs::metadata(at("a/log/")).map(|m| m.len()));
            let _ = see!(fs::read_to_string(at("a/log")));
            let _ = see!(fs::remove_file(at("a")).map_err(|_| ErrorKind::Other.into()));
            let _ = see!(fs::remove_dir(at("a")));
            let _ = see!(fs::remove_dir(at("a/log")));
            let _ = see!(fs::rename(at("a/log"), at("a/b")));
            let _ = see!(fs::rename(at("a/b"), at("a/log")));
            let _ = see!(fs::rename(at("a"), at("a/b/c/d")));
            let _ = see!(fs::rename(at("a/none"), at("a/x")));
            let _ = see!(fs::rename(at("a/log"), at("none/x")));
            let _ = see!(fs::hard_link(at("a/log"), at("a/log")));
            let _ = see!(fs::hard_link(at("a/log"), at("a/kept")));
            let _ = see!(fs::copy(at("a/log"), at("a/copy")));
            let _ = see!(fs::exists(at("a/none")));
            let _ = see!(fs::metadata(at("a/log")).map(|m| (m.len(), m.is_file(), m.is_dir())));
            let _ = see!(File::open(at("a/none")).map(drop));
            let _ = see!(File::create_new(at("a/log")).map(drop));
            let _ = see!(File::create(at("a/b")).map(drop));
            let _ = see!(OpenOptions::new().open(at("a/log")).map(drop));
            let _ = see!(OpenOptions::new().read(true).truncate(true).open(at("a/log")).map(drop));
            let mut options = OpenOptions::new();
            let appended = options.append(true).create(true).open(at("a/log"));
            let mut appended = appended.expect("opens");
            let _ = see!(appended.read(&mut [0; 1]));
            let _ = see!(appended.write(b" four"));
            let _ = see!(appended.seek(SeekFrom::Start(0)));
            let _ = see!(appended.write(b" five"));
            let _ = see!(appended.stream_position());
            let _ = see!(appended.write_at(b"!", 0));
            let _ = see!(fs::read_to_string(at("a/kept")));
            let mut file = options_of(OpenOptions::new().read(true).write(true), &at("a/log"));
            let _ = see!(file.seek(SeekFrom::End(-4)));
            let _ = see!(file.seek(SeekFrom::Current(-100)));
            let mut text = String::new();
            let _ = see!(file.read_to_string(&mut text));
            seen.push(text);
            let mut twin = file.try_clone().expect("clones");
            let _ = see!(twin.seek(SeekFrom::Start(2)));
            let _ = see!(file.stream_position());
            let _ = see!(file.set_len(5));
            let _ = see!(file.set_len(8));
            let _ = see!(file.read_exact_at(&mut [0; 9], 0));
            let mut bytes = [1; 8];
            let _ = see!(file.read_exact_at(&mut bytes, 0));
            seen.push(format!("{bytes:?}"));
            let _ = see!(fs::remove_file(at("a/log")));
            let _ = see!(fs::remove_file(at("a/kept")));
            // It has no name any more, and is there as long as it is open.
            let _ = see!(file.write_all_at(b"ghost", 6));
            let _ = see!(file.read_at(&mut bytes, 4));
            seen.push(format!("{bytes:?}"));
            let _ = see!(file.metadata().map(|m| m.len()));
            let _ = see!(file.sync_all());
            let _ = see!(fs::read(at("a/log")));
            let folder = File::open(at("a")).expect("opens");
            let _ = see!(folder.sync_all());
            let _ = see!(folder.metadata().map(|m| m.is_dir()));
            let _ = see!((&folder).read(&mut [0; 1]));
            let _ = see!((&folder).write(&[0; 1]));
            let mut entries: Vec<_> = fs::read_dir(at("a")).expect("lists")
                .map(|entry| entry.expect("is there"))
                .map(|entry| (entry.file_name(), entry.file_type().expect("known").is_dir()))
                .collect();
            entries.sort();
            seen.push(format!("{entries:?}"));
            let mut permissions = fs::metadata(at("a/copy")).expect("is there").permissions();
            seen.push(permissions.readonly().to_string());
            permissions.set_readonly(true);
            let _ = see!(fs::set_permissions(at("a/copy"), permissions));
            seen.push(fs::metadata(at("a/copy")).expect("is there").permissions().readonly()
                .to_string());
            let _ = see!(fs::rename(at("a/b"), at("a/moved")));
            let _ = see!(fs::canonicalize(at("a/moved/../moved/./c")).map(|path| {
                path.strip_prefix(root).map(Path::to_owned)
            }));
            let _ = see!(fs::remove_dir_all(at("a")));
            let _ = see!(fs::exists(at("a")));
            return seen;

            fn options_of(options: &OpenOptions, path: &Path) -> File {
                options.open(path).expect("opens")
            }
        }
    };
}

program!(on_the_kernel, std::fs, std::os::unix::fs);
program!(
    on_a_crash_disk,
    ssdlab_crash_fs::std::fs,
    ssdlab_crash_fs::std::os::unix::fs
);

#[test]
fn the_answers_are_those_of_the_kernel() {
    let folder = std::env::temp_dir().join(format!("like-std-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let root = std::fs::canonicalize(&folder).expect("its path");
    let kernel = on_the_kernel(&root);
    std::fs::remove_dir_all(&folder).expect("removed");
    let machine = CrashFs::posix(1).expect("a disk");
    let crash = on_a_crash_disk(machine.root());
    assert_eq!(kernel.len(), crash.len());
    for (step, (kernel, crash)) in kernel.iter().zip(&crash).enumerate() {
        assert_eq!(kernel, crash, "step {step}");
    }
}

/// `Path::exists` and its like ask the kernel, which has a shadow of the disk.
#[test]
fn the_kernel_knows_names_and_sizes() {
    use ssdlab_crash_fs::std::fs::{self, File};

    let machine = CrashFs::posix(1).expect("a disk");
    let folder = machine.root().join("db");
    fs::create_dir(&folder).expect("made");
    fs::write(folder.join("a"), [1; 5000]).expect("written");
    fs::hard_link(folder.join("a"), folder.join("b")).expect("linked");
    File::options()
        .write(true)
        .open(folder.join("b"))
        .expect("opens")
        .set_len(7)
        .expect("cut");
    assert!(folder.is_dir() && folder.join("a").is_file());
    assert_eq!(folder.join("a").metadata().expect("known").len(), 7);
    for path in ["db", ""] {
        File::open(machine.root().join(path))
            .expect("opens")
            .sync_all()
            .expect("synced");
    }
    File::open(folder.join("a"))
        .expect("opens")
        .sync_all()
        .expect("synced");
    fs::rename(folder.join("b"), folder.join("c")).expect("renamed");
    assert!(folder.join("c").exists() && !folder.join("b").exists());
    machine.cut().expect("cut");
    machine.power_on().expect("on").assert_kept();
    let names = |path: &Path| -> Vec<_> {
        let entries = std::fs::read_dir(path).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("is there").file_name())
            .collect();
        names.sort();
        names
    };
    let crash: Vec<_> = fs::read_dir(&folder)
        .expect("is there")
        .map(|entry| entry.expect("is there").file_name())
        .collect();
    assert_eq!(names(&folder), crash);
    assert_eq!(folder.join("a").metadata().expect("known").len(), 7);
    let root = machine.root().to_owned();
    drop(machine);
    assert!(!root.exists());
}
