//! Events as bytes, for who keeps media in files.

use super::{Event, MapRecord, Page, SlotContent, Spare};
use crate::image::{Image, ImageError, Reader, Writer, image_of};
use std::sync::Arc;

image_of!(SlotContent { numbers, bytes });
image_of!(Spare {
    offset,
    weight,
    address,
    content
});
image_of!(MapRecord { covers, forgotten });
image_of!(Page {
    seq,
    purpose,
    mode,
    tag,
    generation,
    torn,
    slots,
    map
});

impl<T: Image> Image for Arc<T> {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        T::save(self, out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Arc<T>, ImageError> {
        T::load(from).map(Arc::new)
    }
}

impl Image for Event {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        match self {
            Event::Erased { block } => (0_u8, *block).save(out),
            Event::Programmed { block, page } => {
                (1_u8, *block).save(out)?;
                page.save(out)
            }
            Event::Noted(record) => {
                2_u8.save(out)?;
                record.save(out)
            }
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<Event, ImageError> {
        match u8::load(from)? {
            0 => Ok(Event::Erased {
                block: Image::load(from)?,
            }),
            1 => Ok(Event::Programmed {
                block: Image::load(from)?,
                page: Image::load(from)?,
            }),
            2 => Image::load(from).map(Event::Noted),
            other => Err(ImageError::Unknown(format!("event of kind {other}"))),
        }
    }
}
