//! The ids within a page.

/// That of a track.
pub fn track(place: usize) -> String {
    format!("t{place}")
}

/// That of a track's item.
pub fn item(track: usize, item: usize) -> String {
    format!("t{track}-{item}")
}
