//! Cache hints to the processor: the only file with `unsafe`.
#![allow(unsafe_code)]

/// Asks for the cache line of `slice[index]`; does nothing when out of range or unsupported.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no architectural effect, and the address is that of a live item.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Copies `from` to `into`, bypassing the caches where the processor can: for bytes that are not
/// read again soon. Their lines are not fetched before they are overwritten, and lines in use stay
/// cached.
///
/// # Panics
/// When the lengths differ.
pub fn copy_past_caches(into: &mut [u8], from: &[u8]) {
    assert_eq!(into.len(), from.len(), "copy between different lengths");
    #[cfg(target_arch = "x86_64")]
    if into.as_ptr().addr().is_multiple_of(16) && into.len().is_multiple_of(LINE) {
        return stream(into, from);
    }
    into.copy_from_slice(from);
}

/// `into` is aligned to 16 bytes; both have the same length, a multiple of [`LINE`].
#[cfg(target_arch = "x86_64")]
fn stream(into: &mut [u8], from: &[u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const AT_ONCE: usize = size_of::<__m128i>();
    for (into, from) in into.chunks_exact_mut(LINE).zip(from.chunks_exact(LINE)) {
        let to = into.as_mut_ptr().cast::<__m128i>();
        let source = from.as_ptr().cast::<__m128i>();
        // SAFETY: each of the four stores and loads lies in its chunk of LINE bytes, which nothing
        // else accesses; the caller checked that stores are aligned, and loads need not be. SSE2 is
        // part of x86_64.
        unsafe {
            let line: [__m128i; LINE / AT_ONCE] =
                std::array::from_fn(|part| _mm_loadu_si128(source.add(part)));
            for (part, bytes) in line.into_iter().enumerate() {
                _mm_stream_si128(to.add(part), bytes);
            }
        }
    }
    // SAFETY: has no preconditions. Streaming stores are not ordered with the stores that hand the
    // buffer to another thread; the fence orders them.
    unsafe { _mm_sfence() };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte is copied and no other is touched, whatever the length and the alignment.
    #[test]
    fn all_bytes_are_copied_and_none_beside() {
        let from: Vec<u8> = (0..1 << 10).map(|n| (n * 7 + 1) as u8).collect();
        for len in [0, 1, 63, 64, 65, 128, 512] {
            for start in [0, 1, 8, 16, 32] {
                let mut into = vec![0; 1 << 10];
                copy_past_caches(&mut into[start..start + len], &from[3..3 + len]);
                assert_eq!(
                    into[start..start + len],
                    from[3..3 + len],
                    "{len} at {start}"
                );
                let beside = into[..start].iter().chain(&into[start + len..]);
                assert!(
                    beside.into_iter().all(|byte| *byte == 0),
                    "{len} at {start}"
                );
            }
        }
    }
}
