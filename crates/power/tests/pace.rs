//! At real pace: does a command take as long as on the drive, with those that are there too?

use ssdlab_power::served::{ServedDrive, ServedPace};
use ssdlab_serve::{PowerControl, Store, StoreError};
use ssdlab_ssd::drive::power::{DataDrive, Power as Supply, PowerDrive};
use ssdlab_ssd::nand::media::SlotBytes;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, DriveConfig, Nanos};
use std::thread::scope;
use std::time::{Duration, Instant};

/// A drive with all of its data on media.
fn filled() -> DataDrive {
    let mut data = DataDrive::new(DriveConfig::tiny(), Supply::default()).expect("valid");
    let bytes = vec![7; data.capacity() as usize];
    data.write(0, &bytes, false).expect("on");
    data.flush().expect("on");
    data.rest(Nanos::from_secs(1));
    data
}

/// Virtual time of two reads that arrive together.
fn both(drive: &PowerDrive, places: [u64; 2]) -> Duration {
    let (mut drive, now) = (drive.clone(), drive.now());
    for (tag, place) in (0..).zip(places) {
        drive.submit(tag, &Command::read(place, 4096), None, now);
    }
    let done = [(); 2].map(|()| drive.pop_completion(Nanos::MAX).expect("outstanding").done);
    Duration::from_nanos((done[1] - now).0)
}

/// Real time of five reads by each of two threads.
fn readers(drive: &ServedDrive, places: [u64; 2]) -> Duration {
    let began = Instant::now();
    scope(|threads| {
        for place in places {
            threads.spawn(move || {
                for _ in 0..5 {
                    drive.read(place, &mut [0; 4096]).expect("on");
                }
            });
        }
    });
    began.elapsed()
}

/// Reads of one page wait for its die, those of two dies overlap, and none is faster than alone.
#[test]
fn commands_wait_for_each_other() {
    let mut data = filled();
    let alone = Duration::from_nanos(data.read(0, &mut [0; 4096]).expect("on").0);
    let mut units = (0..data.capacity()).step_by(4096);
    let model = data.drive();
    let far = units.find(|&place| both(model, [0, place]) < alone * 5 / 4);
    let far = far.expect("more dies than one");
    let one_die = both(model, [0, 0]);
    assert!(one_die > alone * 3 / 2, "{one_die:?} and {alone:?}");
    let slower = (Duration::from_millis(40).as_nanos() / alone.as_nanos()) as u32;
    let drive = ServedDrive::in_memory(data).at_pace(ServedPace::Real { slower });
    let alone = alone * slower;
    let same = readers(&drive, [0; 2]);
    assert!(
        same > alone * 7,
        "{same:?} for 10 of {alone:?} from one die"
    );
    let apart = readers(&drive, [0, far]);
    assert!(apart > alone * 9 / 2, "{apart:?} for 5 of {alone:?}");
    assert!(apart < same, "{apart:?} from two dies, {same:?} from one");
}

/// Who waits when power goes gets an error at once, and the drive goes on when power is back.
#[test]
fn a_cut_ends_all_waiting() {
    let drive = ServedDrive::in_memory(filled()).at_pace(ServedPace::Real { slower: 1000 });
    scope(|threads| {
        let waiting = threads.spawn(|| {
            loop {
                drive.write(0, &[1; 4096], false)?;
                drive.flush()?;
            }
            #[allow(unreachable_code)]
            Ok::<(), StoreError>(())
        });
        std::thread::sleep(Duration::from_millis(30));
        drive.off().expect("cut");
        assert_eq!(waiting.join().expect("no panic"), Err(StoreError::Off));
    });
    drive.on().expect("power");
    drive.read(0, &mut [0; 4096]).expect("on again");
}

/// The copy that lives in real time does everything when the drive would, without its bytes.
#[test]
fn a_copy_without_bytes_takes_the_same_time() {
    for seed in 0..4 {
        let mut rng = Rng::named(seed, "copies");
        let mut one = filled().drive().clone();
        let mut copy: Option<PowerDrive> = None;
        let units = one.config().user_bytes / 4096;
        for n in 0..3000_u32 {
            let (at, tag) = (4096 * rng.below(units), n % 16);
            let command = match rng.below(6) {
                0 => Command::read(at, 4096),
                1 => Command::trim(at, 4096),
                2 if n % 50 == 2 => Command::flush(),
                _ => Command::write(at, 4096),
            };
            let bytes = matches!(command.op, ssdlab_ssd::command::Op::Write)
                .then(|| SlotBytes::from(vec![n as u8; 4096]).into());
            let now = one.now();
            one.submit(tag, &command, bytes, now);
            if let Some(copy) = &mut copy {
                copy.submit(tag, &command, None, now);
            }
            if tag == 15 {
                for _ in 0..16 {
                    let done = one.pop_completion(Nanos::MAX);
                    assert!(
                        copy.as_mut()
                            .is_none_or(|c| c.pop_completion(Nanos::MAX) == done)
                    );
                }
                if n == 1023 {
                    copy = Some(one.without_bytes());
                }
            }
        }
        let copy = copy.expect("made");
        for lpn in 0..units as u32 {
            let (held, known) = (one.content(lpn), copy.content(lpn));
            assert_eq!(held.map(|c| &c.numbers), known.map(|c| &c.numbers));
            assert!(known.is_none_or(|content| content.bytes.is_none()));
        }
    }
}
