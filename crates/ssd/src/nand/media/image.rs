//! What the map's pages say, as bytes, for who keeps media in files.

use super::MapRecord;
use crate::image::{Image, ImageError, Reader, Writer, image_of};
use std::sync::Arc;

image_of!(MapRecord { covers, forgotten });

impl<T: Image> Image for Arc<T> {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        T::save(self, out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Arc<T>, ImageError> {
        T::load(from).map(Arc::new)
    }
}
