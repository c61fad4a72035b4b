//! What a frame holds, as bytes.
//!
//! Content that was last said of an address is not said again, only named: what reclaim moves, or
//! what a protected drive's buffer held before it came to media, costs a byte. Content in a place
//! of the directory is said by the place's number and sum; see `places`.

use super::places::DataPlaces;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::Smart;
use ssdlab_ssd::image::{IMAGE_VERSION, Image, ImageError, Reader, Writer};
use ssdlab_ssd::nand::media::Shelf;
use ssdlab_ssd::nand::media::{Content, Event, Numbers, Page, SlotBytes, SlotContent, Spare};
use std::collections::HashMap;
use std::sync::Arc;

/// Image format since which a configuration has the same bytes.
const CONFIG_SINCE: u32 = 11;

/// What a frame holds.
#[derive(Clone, Debug)]
pub enum FrameRecord {
    /// Format and configuration: the first of a checkpoint.
    Header(u32, Box<DriveConfig>),
    /// What the drive knows beside its media.
    Smart(Box<Smart>),
    /// What has happened to the media.
    Events(Vec<Event>),
    /// Mapping units acknowledged and not on media; `None`: forgotten.
    Saved(Vec<(u32, Content)>),
    /// A checkpoint is whole.
    End,
    /// Power is off, and what the drive knows of it is in the record before.
    Closed,
    /// What a person calls the drive: in a checkpoint.
    Title(String),
}

/// What was last said of each address in a file, and the places of its directory.
#[derive(Debug)]
pub struct LastContents {
    /// Only looked up, never walked. Content in places is not in it.
    last: HashMap<u32, SlotContent>,
    places: Arc<DataPlaces>,
    shelf: Arc<dyn Shelf>,
}

/// How a content is said.
const NOTHING: u8 = 0;
const AS_BEFORE: u8 = 1;
const OF_ONE_WRITE: u8 = 2;
const OF_SEVERAL: u8 = 3;
/// The same two in a place.
const OF_ONE_WRITE_IN_PLACE: u8 = 4;
const OF_SEVERAL_IN_PLACE: u8 = 5;

impl LastContents {
    /// Nothing was said yet in a file of the directory of these places.
    pub fn of(places: &Arc<DataPlaces>) -> LastContents {
        LastContents {
            last: HashMap::new(),
            places: places.clone(),
            shelf: places.clone(),
        }
    }

    /// The place of a content, where it lies in one of this directory.
    fn place(&self, content: &SlotContent) -> Option<u32> {
        let (shelf, place) = content.bytes.as_ref()?.place()?;
        let ours = Arc::as_ptr(shelf).addr() == Arc::as_ptr(&self.places).addr();
        ours.then_some(place)
    }

    fn save(
        &mut self,
        address: u32,
        content: &Content,
        out: &mut Writer<'_>,
    ) -> Result<(), ImageError> {
        let Some(content) = content else {
            return NOTHING.save(out);
        };
        if let Some(place) = self.place(content) {
            return self.save_place(&content.numbers, place, out);
        }
        let before = self.last.get(&address);
        if before.is_some_and(|before| before.is_copy_of(content)) {
            return AS_BEFORE.save(out);
        }
        self.last.insert(address, content.clone());
        let numbers = &content.numbers;
        match numbers.one() {
            Some(number) => {
                (OF_ONE_WRITE, numbers.count() as u32).save(out)?;
                number.save(out)?;
            }
            None => {
                OF_SEVERAL.save(out)?;
                numbers.iter().collect::<Vec<u64>>().save(out)?;
            }
        }
        let bytes = content.bytes.as_deref();
        bytes.is_some().save(out)?;
        if let Some(bytes) = bytes {
            (bytes.len() as u64).save(out)?;
            out.bytes(bytes)?;
        }
        Ok(())
    }

    fn save_place(
        &self,
        numbers: &Numbers,
        place: u32,
        out: &mut Writer<'_>,
    ) -> Result<(), ImageError> {
        match numbers.one() {
            Some(number) => {
                (OF_ONE_WRITE_IN_PLACE, numbers.count() as u32).save(out)?;
                number.save(out)?;
            }
            None => {
                OF_SEVERAL_IN_PLACE.save(out)?;
                numbers.iter().collect::<Vec<u64>>().save(out)?;
            }
        }
        (place, self.places.sum(place)).save(out)
    }

    fn load_place(&self, numbers: Numbers, from: &mut Reader<'_>) -> Result<Content, ImageError> {
        let (place, sum): (u32, u64) = Image::load(from)?;
        let bytes = self.places.named(place, sum);
        let len = bytes.ok_or_else(|| ImageError::Unknown(format!("there is no place {place}")))?;
        let bytes = Some(SlotBytes::in_place(&self.shelf, place, len));
        Ok(Some(SlotContent { numbers, bytes }))
    }

    fn load(&mut self, address: u32, from: &mut Reader<'_>) -> Result<Content, ImageError> {
        let kind = u8::load(from)?;
        let numbers = match kind {
            NOTHING => return Ok(None),
            AS_BEFORE => {
                let before = self.last.get(&address).cloned();
                let unknown = || ImageError::Unknown(format!("nothing was said of {address}"));
                return before.ok_or_else(unknown).map(Some);
            }
            OF_ONE_WRITE | OF_ONE_WRITE_IN_PLACE => {
                let (count, number) = (u32::load(from)?, u64::load(from)?);
                if count > 1 << 16 {
                    let problem = format!("{count} sectors in a mapping unit");
                    return Err(ImageError::Unknown(problem));
                }
                Numbers::same(number, count as usize)
            }
            OF_SEVERAL | OF_SEVERAL_IN_PLACE => Vec::load(from)?.into(),
            other => return Err(ImageError::Unknown(format!("content of kind {other}"))),
        };
        if matches!(kind, OF_ONE_WRITE_IN_PLACE | OF_SEVERAL_IN_PLACE) {
            return self.load_place(numbers, from);
        }
        let bytes = Option::<Vec<u8>>::load(from)?.map(SlotBytes::from);
        let content = SlotContent { numbers, bytes };
        self.last.insert(address, content.clone());
        Ok(Some(content))
    }

    fn save_event(&mut self, event: &Event, out: &mut Writer<'_>) -> Result<(), ImageError> {
        match event {
            Event::Erased { block } => (0_u8, *block).save(out),
            Event::Programmed { block, page } => {
                (1_u8, *block).save(out)?;
                self.save_page(page, out)
            }
            Event::Noted(record) => {
                2_u8.save(out)?;
                record.save(out)
            }
            Event::Lost { block, row } => {
                3_u8.save(out)?;
                (*block, *row).save(out)
            }
            Event::Unstable { block } => {
                4_u8.save(out)?;
                block.save(out)
            }
        }
    }

    fn load_event(&mut self, from: &mut Reader<'_>) -> Result<Event, ImageError> {
        match u8::load(from)? {
            0 => Ok(Event::Erased {
                block: Image::load(from)?,
            }),
            1 => Ok(Event::Programmed {
                block: Image::load(from)?,
                page: Arc::new(self.load_page(from)?),
            }),
            2 => Image::load(from).map(Event::Noted),
            3 => Ok(Event::Lost {
                block: Image::load(from)?,
                row: Image::load(from)?,
            }),
            4 => Ok(Event::Unstable {
                block: Image::load(from)?,
            }),
            other => Err(ImageError::Unknown(format!("event of kind {other}"))),
        }
    }

    fn save_page(&mut self, page: &Page, out: &mut Writer<'_>) -> Result<(), ImageError> {
        page.seq.save(out)?;
        page.purpose.save(out)?;
        page.mode.save(out)?;
        (page.tag, page.generation).save(out)?;
        page.torn.save(out)?;
        page.map.save(out)?;
        (page.slots.len() as u32).save(out)?;
        for spare in &page.slots {
            (spare.offset, spare.weight).save(out)?;
            spare.address.save(out)?;
            self.save(spare.address, &spare.content, out)?;
        }
        Ok(())
    }

    fn load_page(&mut self, from: &mut Reader<'_>) -> Result<Page, ImageError> {
        let mut page = Page {
            seq: Image::load(from)?,
            purpose: Image::load(from)?,
            mode: Image::load(from)?,
            tag: Image::load(from)?,
            generation: Image::load(from)?,
            torn: Image::load(from)?,
            map: Image::load(from)?,
            slots: Vec::new(),
        };
        // A length that lies ends with the bytes.
        for _ in 0..u32::load(from)? {
            let (offset, weight) = Image::load(from)?;
            let address = u32::load(from)?;
            page.slots.push(Spare {
                offset,
                weight,
                address,
                content: self.load(address, from)?,
            });
        }
        Ok(page)
    }
}

/// Events whose sums are fetched from memory before they are written: in a large directory each
/// would be waited for.
const AHEAD: usize = 3;

fn prefetch_sums(event: &Event) {
    if let Event::Programmed { page, .. } = event {
        let contents = page.slots.iter().filter_map(|spare| spare.content.as_ref());
        contents.for_each(SlotContent::prefetch);
    }
}

impl FrameRecord {
    /// Writes it; `last_contents` are those of the same file so far.
    pub fn save(
        &self,
        out: &mut Writer<'_>,
        last_contents: &mut LastContents,
    ) -> Result<(), ImageError> {
        match self {
            FrameRecord::Header(version, config) => {
                (0_u8, *version).save(out)?;
                IMAGE_VERSION.save(out)?;
                config.save(out)
            }
            FrameRecord::Smart(smart) => {
                1_u8.save(out)?;
                smart.save(out)
            }
            FrameRecord::Events(events) => {
                (2_u8, events.len() as u32).save(out)?;
                for (n, event) in events.iter().enumerate() {
                    events.get(n + AHEAD).into_iter().for_each(prefetch_sums);
                    last_contents.save_event(event, out)?;
                }
                Ok(())
            }
            FrameRecord::Saved(slots) => {
                (3_u8, slots.len() as u32).save(out)?;
                slots.iter().try_for_each(|(address, content)| {
                    address.save(out)?;
                    last_contents.save(*address, content, out)
                })
            }
            FrameRecord::End => 4_u8.save(out),
            FrameRecord::Closed => 5_u8.save(out),
            FrameRecord::Title(title) => {
                6_u8.save(out)?;
                title.save(out)
            }
        }
    }

    /// Reads it; `last_contents` are those of the same file so far.
    pub fn load(
        from: &mut Reader<'_>,
        last_contents: &mut LastContents,
    ) -> Result<FrameRecord, ImageError> {
        match u8::load(from)? {
            0 => {
                let version = u32::load(from)?;
                let image = u32::load(from)?;
                if !(CONFIG_SINCE..=IMAGE_VERSION).contains(&image) {
                    return Err(ImageError::Unknown(format!(
                        "it was made by a build of image format {image}, this one knows \
                         {CONFIG_SINCE} to {IMAGE_VERSION}"
                    )));
                }
                let config = Box::new(DriveConfig::load(from)?);
                Ok(FrameRecord::Header(version, config))
            }
            1 => Smart::load(from).map(|smart| FrameRecord::Smart(Box::new(smart))),
            2 => {
                let count = u32::load(from)?;
                let events = (0..count).map(|_| last_contents.load_event(from));
                events.collect::<Result<_, _>>().map(FrameRecord::Events)
            }
            3 => {
                let count = u32::load(from)?;
                let slots = (0..count).map(|_| {
                    let address = u32::load(from)?;
                    Ok((address, last_contents.load(address, from)?))
                });
                slots.collect::<Result<_, _>>().map(FrameRecord::Saved)
            }
            4 => Ok(FrameRecord::End),
            5 => Ok(FrameRecord::Closed),
            6 => Image::load(from).map(FrameRecord::Title),
            other => Err(ImageError::Unknown(format!("a record of kind {other}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::nand::{Mode, Purpose};

    fn programmed(address: u32, content: &Content) -> Event {
        let page = Page {
            seq: 1,
            purpose: Purpose::Host,
            mode: Mode::Native,
            tag: 0,
            generation: 0,
            torn: false,
            slots: vec![Spare {
                offset: 0,
                weight: 1,
                address,
                content: content.clone(),
            }],
            map: None,
        };
        let page = Arc::new(page);
        Event::Programmed { block: 3, page }
    }

    fn bytes_of(record: &FrameRecord, last_contents: &mut LastContents) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes);
        record.save(&mut out, last_contents).expect("saved");
        out.flush().expect("saved");
        bytes
    }

    #[test]
    fn the_configuration_of_an_earlier_format_is_read_and_no_other() {
        let places = Arc::new(DataPlaces::of(std::path::Path::new("none"), false));
        let mut said = LastContents::of(&places);
        let header = FrameRecord::Header(6, Box::new(DriveConfig::tiny()));
        let mut bytes = bytes_of(&header, &mut said);
        let mut read = |image: u32| {
            bytes[5..9].copy_from_slice(&image.to_le_bytes());
            let mut from = bytes.as_slice();
            let mut reader = Reader::new(&mut from, bytes.len() as u64);
            FrameRecord::load(&mut reader, &mut said)
        };
        for image in CONFIG_SINCE..=IMAGE_VERSION {
            let back = read(image).expect("known");
            assert_eq!(format!("{back:?}"), format!("{header:?}"));
        }
        for image in [CONFIG_SINCE - 1, IMAGE_VERSION + 1] {
            let error = read(image).expect_err("unknown").to_string();
            assert!(error.contains(&format!("format {image}")), "{error}");
        }
    }

    #[test]
    fn what_is_moved_is_not_said_again_and_comes_back() {
        let content = |number| {
            Some(SlotContent {
                numbers: vec![number, number, 0].into(),
                bytes: Some(vec![number as u8; 1536].into()),
            })
        };
        let (one, two) = (content(1), content(2));
        let events = |address, content| FrameRecord::Events(vec![programmed(address, content)]);
        let records = [
            FrameRecord::Saved(vec![(7, one.clone()), (8, None)]),
            events(7, &one),
            events(7, &two),
            events(7, &one),
            events(7, &one),
            FrameRecord::Events(vec![
                Event::Lost { block: 1, row: 2 },
                Event::Unstable { block: 1 },
            ]),
        ];
        let places = Arc::new(DataPlaces::of(std::path::Path::new("none"), false));
        let (mut said, mut heard) = (LastContents::of(&places), LastContents::of(&places));
        let mut lengths = Vec::new();
        for record in &records {
            let bytes = bytes_of(record, &mut said);
            lengths.push(bytes.len());
            let mut from = bytes.as_slice();
            let mut reader = Reader::new(&mut from, bytes.len() as u64);
            let back = FrameRecord::load(&mut reader, &mut heard).expect("whole");
            assert_eq!(format!("{back:?}"), format!("{record:?}"));
        }
        assert!(
            lengths[0] > 1536 && lengths[1] < 100 && lengths[2] > 1536,
            "{lengths:?}"
        );
        assert!(lengths[3] > 1536 && lengths[4] < 100, "{lengths:?}");
    }
}
