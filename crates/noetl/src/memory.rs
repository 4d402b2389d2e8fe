//! When memory that is no longer used goes back to the system.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_long};

/// Many small values live for the length of one request or one turn of the drive loop, on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long the allocator keeps what is free, in milliseconds. The number is that of its second version.
const PURGE_DELAY: c_int = 15;

unsafe extern "C" {
    fn mi_option_set(option: c_int, value: c_long);
}

/// For a start: what it leaves would stay for as long as nothing else happens.
pub fn give_back_at_once() {
    // SAFETY: it sets an option that the allocator reads each time that it needs it, and that any thread may set.
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

/// For work: what one piece of it leaves, the next one takes.
pub fn give_back_soon() {
    // SAFETY: as above.
    unsafe { mi_option_set(PURGE_DELAY, 10) }
}
