//! Text that grows in pieces.

use std::sync::Arc;

/// The least and the most room a block is made with.
const BLOCK: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 20;

/// Text that grows in pieces, kept in blocks: so it never takes twice its length while it grows,
/// as one string would that makes room for itself.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    blocks: Vec<String>,
    length: usize,
}

impl Gathered {
    pub(super) fn push(&mut self, text: &str) {
        self.length += text.len();
        let last = self.blocks.last_mut();
        match last.filter(|last| last.capacity() - last.len() >= text.len()) {
            Some(last) => last.push_str(text),
            None => {
                let room = self.length.clamp(*BLOCK.start(), *BLOCK.end());
                let mut block = String::with_capacity(room.max(text.len()));
                block.push_str(text);
                self.blocks.push(block);
            }
        }
    }

    /// The whole text.
    pub(super) fn into_text(self) -> Arc<str> {
        match self.blocks.as_slice() {
            [] => Arc::default(),
            [block] => block.as_str().into(),
            _ => {
                let mut whole = String::with_capacity(self.length);
                for block in self.blocks {
                    whole += &block;
                }
                whole.into()
            }
        }
    }
}
