//! A drive's whole state as bytes: save a preconditioned drive once, load it any number of times.
//!
//! The encoding is plain: little-endian integers, a length before every list, fields in the order
//! of their structs. Its safety comes from what surrounds it: a magic number, the format's version
//! and the drive's configuration in front (see [`crate::Drive::save`]), and a checksum that the
//! storing side adds. Images of other versions are refused.

use std::collections::{BinaryHeap, VecDeque};
use std::fmt;
use std::io;
use std::sync::Arc;

/// Version of the encoding; incremented whenever a saved struct changes.
pub const IMAGE_VERSION: u32 = 14;

/// First bytes of every image.
pub const IMAGE_MAGIC: [u8; 8] = *b"ssdlabDR";

/// An image that cannot be read or written.
#[derive(Debug)]
pub enum ImageError {
    /// The reader or writer failed.
    Io(io::Error),
    /// The bytes are not an image that this build understands; in a sentence.
    Unknown(String),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Io(error) => write!(f, "{error}"),
            ImageError::Unknown(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ImageError {}

impl From<io::Error> for ImageError {
    fn from(error: io::Error) -> ImageError {
        ImageError::Io(error)
    }
}

/// Destination of an image.
pub struct Writer<'a> {
    out: &'a mut dyn io::Write,
    chunk: Vec<u8>,
}

/// Source of an image.
pub struct Reader<'a> {
    input: &'a mut dyn io::Read,
    /// Bytes left to read: no list can be longer, whatever its stated length.
    left: u64,
}

/// Bytes converted at a time.
const CHUNK: usize = 1 << 16;
/// Minimum length of a slice that is written without being copied first.
const DIRECT: usize = 1 << 12;

impl<'a> Writer<'a> {
    /// Writes to `out`, in large pieces.
    pub fn new(out: &'a mut dyn io::Write) -> Writer<'a> {
        Writer {
            out,
            chunk: Vec::with_capacity(CHUNK),
        }
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), ImageError> {
        if bytes.len() >= DIRECT || self.chunk.len() + bytes.len() > CHUNK {
            self.flush()?;
        }
        if bytes.len() >= DIRECT {
            self.out.write_all(bytes)?;
        } else {
            self.chunk.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Passes everything on to the underlying writer. Call it at the end.
    ///
    /// # Errors
    /// When the writer fails.
    pub fn flush(&mut self) -> Result<(), ImageError> {
        self.out.write_all(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }
}

impl<'a> Reader<'a> {
    /// Reads from `input`, which holds at most `length` bytes.
    pub fn new(input: &'a mut dyn io::Read, length: u64) -> Reader<'a> {
        Reader {
            input,
            left: length,
        }
    }

    /// Fills `bytes`.
    ///
    /// # Errors
    /// When the reader fails or ends.
    pub fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), ImageError> {
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(cut_short)?;
        self.input.read_exact(bytes).map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                cut_short()
            } else {
                ImageError::Io(error)
            }
        })
    }

    fn length(&mut self, item_bytes: u64) -> Result<usize, ImageError> {
        let length = u64::load(self)?;
        if length.saturating_mul(item_bytes) > self.left {
            return Err(ImageError::Unknown(format!(
                "a list of {length} entries in the {} bytes that are left",
                self.left
            )));
        }
        Ok(length as usize)
    }
}

fn cut_short() -> ImageError {
    ImageError::Unknown("it ends before it is complete".into())
}

/// A value that can be saved and loaded.
pub trait Image: Sized {
    /// Minimum bytes of a saved value.
    const BYTES_MIN: u64 = 1;
    /// Writes it.
    ///
    /// # Errors
    /// When the writer fails.
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError>;
    /// Reads it.
    ///
    /// # Errors
    /// When the bytes end or are not a value of this type.
    fn load(from: &mut Reader<'_>) -> Result<Self, ImageError>;
    /// Writes a list, in one piece where that is faster.
    ///
    /// # Errors
    /// When the writer fails.
    fn save_all(list: &[Self], out: &mut Writer<'_>) -> Result<(), ImageError> {
        list.iter().try_for_each(|item| item.save(out))
    }
    /// Reads a list.
    ///
    /// # Errors
    /// As [`Image::load`].
    fn load_all(count: usize, from: &mut Reader<'_>) -> Result<Vec<Self>, ImageError> {
        (0..count).map(|_| Self::load(from)).collect()
    }
}

macro_rules! integer {
    ($($int:ty),*) => {$(
        impl Image for $int {
            const BYTES_MIN: u64 = size_of::<$int>() as u64;

            fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
                out.bytes(&self.to_le_bytes())
            }

            fn load(from: &mut Reader<'_>) -> Result<$int, ImageError> {
                let mut bytes = [0; size_of::<$int>()];
                from.bytes(&mut bytes)?;
                Ok(<$int>::from_le_bytes(bytes))
            }

            fn save_all(list: &[$int], out: &mut Writer<'_>) -> Result<(), ImageError> {
                let mut bytes = [0; CHUNK / 2];
                for part in list.chunks(bytes.len() / size_of::<$int>()) {
                    let whole = size_of_val(part);
                    for (to, item) in bytes.chunks_exact_mut(size_of::<$int>()).zip(part) {
                        to.copy_from_slice(&item.to_le_bytes());
                    }
                    out.bytes(&bytes[..whole])?;
                }
                Ok(())
            }

            fn load_all(count: usize, from: &mut Reader<'_>) -> Result<Vec<$int>, ImageError> {
                let mut list = Vec::with_capacity(count);
                let mut bytes = [0; CHUNK / 2];
                while list.len() < count {
                    let most = bytes.len() / size_of::<$int>();
                    let part = &mut bytes[..size_of::<$int>() * most.min(count - list.len())];
                    from.bytes(part)?;
                    list.extend(part.chunks_exact(size_of::<$int>()).map(|item| {
                        let mut le = [0; size_of::<$int>()];
                        le.copy_from_slice(item);
                        <$int>::from_le_bytes(le)
                    }));
                }
                Ok(list)
            }
        }
    )*};
}

integer!(u8, u16, u32, u64, u128, i64);

impl Image for usize {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        (*self as u64).save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<usize, ImageError> {
        Ok(u64::load(from)? as usize)
    }
}

impl Image for bool {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        u8::from(*self).save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<bool, ImageError> {
        match u8::load(from)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(ImageError::Unknown(format!("{other} for yes or no"))),
        }
    }
}

impl Image for String {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        (self.len() as u64).save(out)?;
        out.bytes(self.as_bytes())
    }

    fn load(from: &mut Reader<'_>) -> Result<String, ImageError> {
        let length = from.length(1)?;
        let bytes = u8::load_all(length, from)?;
        String::from_utf8(bytes).map_err(|_| ImageError::Unknown("a name not in UTF-8".into()))
    }
}

impl<T: Image> Image for Option<T> {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.is_some().save(out)?;
        self.iter().try_for_each(|item| item.save(out))
    }

    fn load(from: &mut Reader<'_>) -> Result<Option<T>, ImageError> {
        bool::load(from)?.then(|| T::load(from)).transpose()
    }
}

impl<T: Image> Image for Vec<T> {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        (self.len() as u64).save(out)?;
        T::save_all(self, out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Vec<T>, ImageError> {
        let count = from.length(T::BYTES_MIN)?;
        T::load_all(count, from)
    }
}

impl<T: Image> Image for VecDeque<T> {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        (self.len() as u64).save(out)?;
        self.iter().try_for_each(|item| item.save(out))
    }

    fn load(from: &mut Reader<'_>) -> Result<VecDeque<T>, ImageError> {
        Ok(Vec::load(from)?.into())
    }
}

impl<T: Image + Ord> Image for BinaryHeap<T> {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        (self.len() as u64).save(out)?;
        self.iter().try_for_each(|item| item.save(out))
    }

    fn load(from: &mut Reader<'_>) -> Result<BinaryHeap<T>, ImageError> {
        Ok(Vec::load(from)?.into())
    }
}

impl<T: Image> Image for std::cmp::Reverse<T> {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.0.save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Self, ImageError> {
        T::load(from).map(std::cmp::Reverse)
    }
}

impl<T: Image, const N: usize> Image for [T; N] {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        T::save_all(self, out)
    }

    fn load(from: &mut Reader<'_>) -> Result<[T; N], ImageError> {
        let list = T::load_all(N, from)?;
        list.try_into()
            .map_err(|_| ImageError::Unknown("a table of another size".into()))
    }
}

impl<T: Image> Image for Arc<T> {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        T::save(self, out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Arc<T>, ImageError> {
        T::load(from).map(Arc::new)
    }
}

impl<A: Image, B: Image> Image for (A, B) {
    const BYTES_MIN: u64 = A::BYTES_MIN + B::BYTES_MIN;

    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.0.save(out)?;
        self.1.save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<(A, B), ImageError> {
        Ok((A::load(from)?, B::load(from)?))
    }
}

/// Defines a struct that is saved and loaded field by field, in the order of its definition. Fields
/// behind `afresh` are not saved and take their defaults. Bounds of its parameters are those of the
/// implementation; the struct has none.
macro_rules! image_of {
    (
        $(#[$attr:meta])*
        $vis:vis struct $name:ident;
    ) => {
        $(#[$attr])*
        $vis struct $name;

        impl $crate::image::Image for $name {
            fn save(
                &self,
                _: &mut $crate::image::Writer<'_>,
            ) -> Result<(), $crate::image::ImageError> {
                Ok(())
            }

            fn load(
                _: &mut $crate::image::Reader<'_>,
            ) -> Result<Self, $crate::image::ImageError> {
                Ok($name)
            }
        }
    };
    (
        $(#[$attr:meta])*
        $vis:vis struct $name:ident $(<$($param:ident : $bound:path),+>)? {
            $($(#[$field_attr:meta])* $field_vis:vis $field:ident : $field_type:ty),* $(,)?
        }
        $(afresh {
            $($(#[$fresh_attr:meta])* $fresh_vis:vis $fresh:ident : $fresh_type:ty),+ $(,)?
        })?
    ) => {
        $(#[$attr])*
        $vis struct $name $(<$($param),+>)? {
            $($(#[$field_attr])* $field_vis $field: $field_type,)*
            $($($(#[$fresh_attr])* $fresh_vis $fresh: $fresh_type,)+)?
        }

        impl $(<$($param: $bound),+>)? $crate::image::Image for $name $(<$($param),+>)? {
            fn save(
                &self,
                out: &mut $crate::image::Writer<'_>,
            ) -> Result<(), $crate::image::ImageError> {
                let $name { $($field,)* $($($fresh: _),+)? } = self;
                $($crate::image::Image::save($field, out)?;)*
                Ok(())
            }

            fn load(
                from: &mut $crate::image::Reader<'_>,
            ) -> Result<Self, $crate::image::ImageError> {
                $(let $field = $crate::image::Image::load(from)?;)*
                Ok($name { $($field,)* $($($fresh: Default::default()),+)? })
            }
        }
    };
}

/// Saves and loads an enum without fields, by its number in the list.
macro_rules! image_of_choice {
    ($name:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::image::Image for $name {
            fn save(
                &self,
                out: &mut $crate::image::Writer<'_>,
            ) -> Result<(), $crate::image::ImageError> {
                (*self as u8).save(out)
            }

            fn load(
                from: &mut $crate::image::Reader<'_>,
            ) -> Result<Self, $crate::image::ImageError> {
                let number = u8::load(from)?;
                $(if number == $name::$variant as u8 {
                    return Ok($name::$variant);
                })*
                Err($crate::image::ImageError::Unknown(format!(
                    concat!("{} for ", stringify!($name)),
                    number
                )))
            }
        }
    };
}

pub(crate) use {image_of, image_of_choice};

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: Image>(item: &T) -> T {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        item.save(&mut writer).unwrap();
        writer.flush().unwrap();
        let length = bytes.len() as u64;
        T::load(&mut Reader::new(&mut bytes.as_slice(), length)).unwrap()
    }

    #[test]
    fn everything_comes_back_as_it_was() {
        let long: Vec<u32> = (0..100_000).map(|i| i * 7919).collect();
        assert_eq!(round(&long), long);
        assert_eq!(
            round(&Some((3_u8, "drive".to_string()))).unwrap().1,
            "drive"
        );
        assert_eq!(round(&VecDeque::from([1_u64, 2, 3])), [1, 2, 3]);
        assert_eq!(round(&[true, false]), [true, false]);
    }

    #[test]
    fn a_list_longer_than_the_image_is_refused_before_memory_is_taken() {
        let bytes = u64::MAX.to_le_bytes();
        let mut input = bytes.as_slice();
        let mut reader = Reader::new(&mut input, 8);
        let error = Vec::<u32>::load(&mut reader).unwrap_err();
        assert!(
            error.to_string().contains("0 bytes that are left"),
            "{error}"
        );
    }

    #[test]
    fn an_image_cut_short_says_so() {
        let mut input = [1_u8, 2].as_slice();
        let error = u32::load(&mut Reader::new(&mut input, 100)).unwrap_err();
        assert!(error.to_string().contains("ends before"), "{error}");
    }
}
