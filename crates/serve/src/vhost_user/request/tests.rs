use super::*;
use crate::memory::MemoryStore;
use crate::power::PowerControl;
use std::sync::Arc;

const SIZE: u64 = 1 << 20;

struct Rig {
    store: Arc<MemoryStore>,
    drive: SharedDrive,
    notes: Mutex<SessionNotes>,
    lint: Lint,
    writethrough: bool,
}

impl Rig {
    fn new(writethrough: bool) -> Rig {
        let store = Arc::new(MemoryStore::new(SIZE, 4096));
        Rig {
            drive: SharedDrive::new(store.clone()),
            store,
            notes: Mutex::default(),
            lint: Lint::default(),
            writethrough,
        }
    }

    /// The status, and the bytes that the guest gets before it.
    fn ask(&self, kind: u32, sector: u64, payload: &[u8], into: u64) -> (VirtioStatus, Vec<u8>) {
        let mut request = kind.to_le_bytes().to_vec();
        request.extend([0; 4]);
        request.extend(sector.to_le_bytes());
        request.extend(payload);
        let disk = VirtioBlkDisk {
            drive: &self.drive,
            notes: &self.notes,
            lint: &self.lint,
            writethrough: self.writethrough,
            id: "a drive with a name beyond twenty bytes",
        };
        let mut got = Vec::new();
        let length = request.len() as u64;
        let (count, status) = disk.run(&mut request.as_slice(), length, &mut got, into);
        assert!(status != VirtioStatus::Ok || count as usize == got.len());
        (status, got)
    }

    fn sector(&self, sector: u64) -> Vec<u8> {
        let (status, bytes) = self.ask(T_IN, sector, &[], 512);
        assert_eq!(status, VirtioStatus::Ok);
        bytes
    }
}

fn range(sector: u64, sectors: u32, flags: u32) -> Vec<u8> {
    let mut bytes = sector.to_le_bytes().to_vec();
    bytes.extend(sectors.to_le_bytes());
    bytes.extend(flags.to_le_bytes());
    bytes
}

#[test]
fn with_a_write_cache_a_cut_takes_what_was_not_flushed() {
    let rig = Rig::new(false);
    assert_eq!(rig.ask(T_OUT, 8, &[1; 4096], 0).0, VirtioStatus::Ok);
    assert_eq!(rig.ask(T_FLUSH, 0, &[], 0).0, VirtioStatus::Ok);
    assert_eq!(rig.ask(T_OUT, 8, &[2; 4096], 0).0, VirtioStatus::Ok);
    rig.store.cut();
    rig.store.restore();
    assert_eq!(rig.sector(8), [1; 512]);
}

/// A guest that has not accepted FLUSH cannot make anything durable: every request must.
#[test]
fn without_a_write_cache_a_cut_takes_nothing_that_was_acknowledged() {
    let rig = Rig::new(true);
    assert_eq!(rig.ask(T_OUT, 8, &[1; 8192], 0).0, VirtioStatus::Ok);
    let zeroes = rig.ask(T_WRITE_ZEROES, 0, &range(8, 8, 0), 0);
    let discard = rig.ask(T_DISCARD, 0, &range(16, 8, 0), 0);
    assert_eq!((zeroes.0, discard.0), (VirtioStatus::Ok, VirtioStatus::Ok));
    assert_eq!(rig.store.cached_sectors(), 0);
    rig.store.cut();
    rig.store.restore();
    assert_eq!(
        (rig.sector(8), rig.sector(16)),
        (vec![0; 512], vec![0; 512])
    );
    let notes = rig.notes.lock().unwrap();
    assert_eq!((notes.fua_writes, notes.trims), (2, 1));
}

#[test]
fn a_drive_without_power_answers_with_an_error() {
    let rig = Rig::new(false);
    rig.store.cut();
    for (kind, payload) in [(T_IN, vec![]), (T_OUT, vec![1; 512]), (T_FLUSH, vec![])] {
        assert_eq!(
            rig.ask(kind, 0, &payload, 512).0,
            VirtioStatus::Error,
            "{kind}"
        );
    }
    let discard = rig.ask(T_DISCARD, 0, &range(0, 8, 0), 0);
    assert_eq!(discard.0, VirtioStatus::Error);
    assert_eq!(rig.store.status().flushes, 0);
    assert_eq!(rig.notes.lock().unwrap().errors, 4);
}

#[test]
fn nonsense_is_refused_and_changes_nothing() {
    let rig = Rig::new(false);
    assert_eq!(rig.ask(T_OUT, 0, &[7; 4096], 0).0, VirtioStatus::Ok);
    let (last, far) = (SIZE / 512, u64::MAX / 512);
    let refused = [
        (T_OUT, last, vec![1; 512], VirtioStatus::Error),
        (T_OUT, u64::MAX, vec![1; 512], VirtioStatus::Error),
        (T_OUT, far, vec![1; 512], VirtioStatus::Error),
        (T_OUT, 0, vec![1; 511], VirtioStatus::Error),
        (T_OUT, 0, vec![], VirtioStatus::Error),
        (T_DISCARD, 0, vec![], VirtioStatus::Error),
        (T_DISCARD, 0, vec![0; 15], VirtioStatus::Error),
        (T_DISCARD, 0, range(0, 8, UNMAP), VirtioStatus::Unsupported),
        (T_WRITE_ZEROES, 0, range(0, 8, 2), VirtioStatus::Unsupported),
        (T_WRITE_ZEROES, 0, range(last, 1, 0), VirtioStatus::Error),
        (
            T_WRITE_ZEROES,
            0,
            range(0, u32::MAX, 0),
            VirtioStatus::Error,
        ),
        (99, 0, vec![], VirtioStatus::Unsupported),
    ];
    for (kind, sector, payload, want) in refused {
        let (status, got) = rig.ask(kind, sector, &payload, 0);
        assert_eq!((status, got), (want, vec![]), "{kind} at {sector}");
    }
    // One bad range of two: the good one is not carried out either.
    let two = [range(0, 8, 0), range(0, 8, 2)].concat();
    assert_eq!(
        rig.ask(T_WRITE_ZEROES, 0, &two, 0).0,
        VirtioStatus::Unsupported
    );
    assert_eq!(rig.sector(0), [7; 512]);
    assert_eq!(rig.ask(T_IN, 0, &[], DATA_MAX + 512).0, VirtioStatus::Error);
}

#[test]
fn ranges_are_discarded_and_zeroed_each() {
    let rig = Rig::new(false);
    assert_eq!(rig.ask(T_OUT, 0, &[7; 16384], 0).0, VirtioStatus::Ok);
    let two = [range(0, 8, UNMAP), range(16, 8, 0)].concat();
    assert_eq!(rig.ask(T_WRITE_ZEROES, 0, &two, 0).0, VirtioStatus::Ok);
    let found: Vec<u8> = (0..4).map(|part| rig.sector(part * 8)[0]).collect();
    assert_eq!(found, [0, 7, 0, 7]);
    let extents = rig.drive.extents(0, 16384, 9).unwrap();
    let allocated: Vec<bool> = extents.iter().map(|e| e.is_allocated).collect();
    let want = [false, true, true, true];
    assert_eq!(
        allocated, want,
        "UNMAP allows a hole, without it there is none"
    );
}

#[test]
fn the_serial_number_has_twenty_bytes() {
    let rig = Rig::new(false);
    let (status, id) = rig.ask(T_GET_ID, 0, &[], 20);
    assert_eq!(
        (status, id.as_slice()),
        (VirtioStatus::Ok, &b"a drive with a name "[..])
    );
}
