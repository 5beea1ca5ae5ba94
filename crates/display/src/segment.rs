//! Shared memory into which the X server writes pixels.

use std::{ffi::c_void, ptr::NonNull, sync::Arc};

use rustix::{
    fs::{MemfdFlags, SealFlags},
    mm::{MapFlags, ProtFlags},
};
use x11rb::{
    connection::Connection as _,
    protocol::{
        shm::{ConnectionExt as _, Seg},
        xproto::{ConnectionExt as _, ImageFormat},
    },
};

use crate::{connection::Connection, error::DisplayError};

/// A part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl Region {
    /// The size of its pixels in bytes.
    fn bytes(self) -> usize {
        usize::from(self.width) * usize::from(self.height) * 4
    }
}

/// Memory mapped here and in the server.
pub(crate) struct Segment {
    connection: Arc<Connection>,
    id: Seg,
    memory: NonNull<c_void>,
    size: usize,
}

// SAFETY: the memory belongs to this value alone and is accessed only through `&mut self`.
unsafe impl Send for Segment {}

impl Segment {
    fn new(connection: &Arc<Connection>, size: usize) -> Result<Self, DisplayError> {
        depth_is_supported(connection)?;
        let lost = |error: rustix::io::Errno| DisplayError::Lost(error.into());
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("helmdeck-pixels", flags).map_err(lost)?;
        rustix::fs::ftruncate(&file, size as u64).map_err(lost)?;
        // The mapped pages must not be removed by shrinking the file.
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).map_err(lost)?;
        // SAFETY: a new mapping of a file that cannot shrink; nothing else knows its address.
        let memory = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            rustix::mm::mmap(std::ptr::null_mut(), size, access, MapFlags::SHARED, &file, 0)
        };
        let memory = NonNull::new(memory.map_err(lost)?)
            .ok_or(DisplayError::Unsupported("memory for pixels"))?;
        let id = connection.generate_id()?;
        let segment = Self { connection: connection.clone(), id, memory, size };
        connection.shm_attach_fd(id, file, false)?.check()?;
        Ok(segment)
    }

    /// Captures a region of the screen and passes its pixels to `read`: four bytes each, blue,
    /// green, red and one unused. Creates or grows the segment if necessary.
    pub(crate) fn capture<T>(
        slot: &mut Option<Self>,
        connection: &Arc<Connection>,
        region: Region,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, DisplayError> {
        let size = region.bytes();
        let fits = |old: &Self| old.size >= size && Arc::ptr_eq(&old.connection, connection);
        let segment = match slot.take().filter(fits) {
            Some(segment) => slot.insert(segment),
            None => slot.insert(Self::new(connection, size)?),
        };
        let (x, y) = (region.x.try_into(), region.y.try_into());
        let (Ok(x), Ok(y)) = (x, y) else { return Err(DisplayError::Unsupported("the region")) };
        connection
            .shm_get_image(
                connection.root,
                x,
                y,
                region.width,
                region.height,
                u32::MAX,
                ImageFormat::Z_PIXMAP.into(),
                segment.id,
                0,
            )?
            .reply()?;
        // SAFETY: `size` bytes are mapped (checked above), and the server writes to them only
        // between a request and its reply, while `&mut` keeps other requests out.
        let pixels =
            unsafe { std::slice::from_raw_parts(segment.memory.as_ptr().cast::<u8>(), size) };
        Ok(read(pixels))
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // Fails only with the connection; then the server has detached by itself.
        let _ = self.connection.shm_detach(self.id).map(|_| ());
        // SAFETY: mapped in `new` with this size, and nothing borrows from it any more.
        let _ = unsafe { rustix::mm::munmap(self.memory.as_ptr(), self.size) };
    }
}

/// Only one pixel layout is supported: that of screens with 24 bits of colour.
fn depth_is_supported(connection: &Connection) -> Result<(), DisplayError> {
    let depth = connection.get_geometry(connection.root)?.reply()?.depth;
    let supported = depth == 24
        && connection
            .setup()
            .pixmap_formats
            .iter()
            .any(|format| format.depth == 24 && format.bits_per_pixel == 32);
    if supported { Ok(()) } else { Err(DisplayError::Unsupported("24 bits of colour")) }
}
