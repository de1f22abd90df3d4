//! A ring of buffers that io_uring fills (io_uring_register_buf_ring(3)): the kernel takes them at its head, we give them back at its tail.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;
use io_uring::{IoUring, Submitter};
use rustix::mm::{Advice, madvise};

/// A longer answer arrives in several. A power of two, as the kernel wants it.
const COUNT: u16 = 256;
const SIZE_BYTES: usize = 4096;
const RING_SIZE_BYTES: usize = COUNT as usize * size_of::<BufRingEntry>();
/// A page of the larger kind, which holds all of it: on small pages each answer would lie on another one, and the processor would look up
/// its address anew after every switch from the server's processes.
const PAGE_SIZE_BYTES: usize = 2 << 20;
/// The group of a ring's only buffers.
pub const GROUP: u16 = 0;

/// One allocation: the ring's entries, and behind them the buffers.
pub struct Buffers {
    base: NonNull<u8>,
    tail: u16,
}

impl Buffers {
    const LAYOUT: Layout = match Layout::from_size_align(RING_SIZE_BYTES + COUNT as usize * SIZE_BYTES, PAGE_SIZE_BYTES)
    {
        Ok(layout) => layout.pad_to_align(),
        Err(_) => panic!("the sizes above are no layout"),
    };

    /// Registers the buffers with a ring, which must be dropped, or lose them by [`Buffers::unregister`], before they are.
    pub fn register(ring: &IoUring) -> io::Result<Self> {
        // SAFETY: the layout has a size.
        let base = unsafe { alloc(Self::LAYOUT) };
        let base = NonNull::new(base).unwrap_or_else(|| handle_alloc_error(Self::LAYOUT));
        // SAFETY: whole pages of the allocation. A kernel without large pages says so, and goes on with small ones.
        let _ = unsafe { madvise(base.as_ptr().cast(), Self::LAYOUT.size(), Advice::LinuxHugepage) };
        // SAFETY: the allocation's own bytes.
        unsafe { base.write_bytes(0, Self::LAYOUT.size()) };
        let mut buffers = Self { base, tail: 0 };
        // SAFETY: the ring's entries begin the allocation, which lives until after the ring has let go of it.
        unsafe { ring.submitter().register_buf_ring_with_flags(base.as_ptr() as u64, COUNT, GROUP, 0)? };
        (0..COUNT).for_each(|id| buffers.give_back(id));
        buffers.publish();
        Ok(buffers)
    }

    /// The kernel uses none of them any more.
    pub fn unregister(&self, submitter: &Submitter<'_>) {
        // It fails only if the ring has no such buffers.
        let _ = submitter.unregister_buf_ring(GROUP);
    }

    fn buffer(&self, id: u16) -> NonNull<u8> {
        // SAFETY: within the allocation, as identifiers are below COUNT.
        unsafe { self.base.add(RING_SIZE_BYTES + usize::from(id % COUNT) * SIZE_BYTES) }
    }

    /// The bytes that the kernel wrote into a buffer that it handed over.
    #[inline]
    pub fn filled(&self, id: u16, bytes: usize) -> &[u8] {
        // SAFETY: initialised when it was allocated, and the kernel's no more until it is given back, for which `self` must be mutable.
        unsafe { std::slice::from_raw_parts(self.buffer(id).as_ptr(), bytes.min(SIZE_BYTES)) }
    }

    /// Prepares a buffer for the kernel, which learns of it by [`Buffers::publish`].
    #[inline]
    pub fn give_back(&mut self, id: u16) {
        let address = self.buffer(id).as_ptr() as u64;
        // SAFETY: the entry behind the tail is ours, and within the allocation.
        let entry = unsafe { &mut *self.base.cast::<BufRingEntry>().as_ptr().add(usize::from(self.tail % COUNT)) };
        entry.set_addr(address);
        entry.set_len(SIZE_BYTES as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Makes the kernel see what was given back.
    #[inline]
    pub fn publish(&self) {
        // SAFETY: the ring's entries begin at the base, page-aligned, and the kernel only reads the tail, which lies in the first of them.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.base.cast().as_ptr()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.base.as_ptr(), Self::LAYOUT) };
    }
}
