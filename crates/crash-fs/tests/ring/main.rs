//! Rings of io_uring: are their answers those of the kernel's, and what does a cut find in programs
//! that use one?
#![cfg(target_os = "linux")]

use ssdlab_crash_fs::CrashFs;

mod log;

mod on_the_kernel {
    pub use io_uring as uring;
    pub use std::fs;
    include!("program.rs");
}

mod on_a_crash_disk {
    pub use ssdlab_crash_fs::io_uring as uring;
    pub use ssdlab_crash_fs::std::fs;
    include!("program.rs");
}

#[test]
fn the_answers_are_those_of_the_kernels_ring() {
    let folder = std::env::temp_dir().join(format!("like-ring-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let kernel = match io_uring::IoUring::new(8) {
        Ok(_) => Some(on_the_kernel::run(&folder).expect("no error")),
        Err(error) => {
            ssdlab_skips::skip(format!("the kernel has no ring for us: {error}"));
            None
        }
    };
    std::fs::remove_dir_all(&folder).expect("removed");
    for seed in 0..20 {
        let machine = CrashFs::posix(seed).expect("a disk");
        let crash = on_a_crash_disk::run(machine.root()).expect("no error");
        let Some(kernel) = &kernel else { continue };
        for (kernel, crash) in kernel.iter().zip(&crash) {
            assert_eq!(kernel, crash, "seed {seed}");
        }
        assert_eq!(kernel.len(), crash.len());
    }
}
