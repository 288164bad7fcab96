//! Hands the lines of a record over: at once, or, where nobody waits for them, on a thread of its own
//! that is started when there is that much of them.

use std::io;
use std::sync::LazyLock;
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};

use super::recorder::Sink;

/// What takes the lines, here or on its way. A piece of the record at most is on its way, so that a
/// slow recorder slows the run down and fills no memory.
#[derive(Debug)]
pub(super) struct Out {
    /// `None` while the thread has it, and once it is lost.
    sink: Option<Sink>,
    thread: Option<Thread>,
    /// Whether there is no thread for it.
    is_alone: bool,
}

impl Out {
    pub(super) fn new(sink: Sink) -> Self {
        Self {
            sink: Some(sink),
            thread: None,
            is_alone: false,
        }
    }

    /// Hands lines over and empties the text. All earlier ones are then handed over too.
    ///
    /// # Errors
    /// The recorder's, of these lines or of earlier ones.
    pub(super) fn write(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        self.settle()?;
        if text.is_empty() {
            return Ok(());
        }
        let written = match &mut self.sink {
            Some(sink) => sink.write(text),
            None => Err(lost()),
        };
        text.clear();
        written
    }

    /// Has lines handed over while the run goes on, and empties the text.
    ///
    /// # Errors
    /// The recorder's, of earlier lines.
    pub(super) fn write_behind(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        self.settle()?;
        if self.thread.is_none() && !self.is_alone {
            self.thread = HAS_CORES.then(Thread::start).and_then(Result::ok);
            self.is_alone = self.thread.is_none();
        }
        let Some(thread) = &mut self.thread else {
            // Without one the run waits.
            return self.write(text);
        };
        let sink = self.sink.take().ok_or_else(lost)?;
        let piece = std::mem::replace(text, std::mem::take(&mut thread.spare));
        thread.hand(Piece { sink, text: piece })
    }

    /// Waits for what is on its way. Where that has not been begun, it is handed over here: the thread
    /// may be asleep.
    fn settle(&mut self) -> io::Result<()> {
        let Some(thread) = self.thread.as_mut().filter(|thread| thread.is_busy) else {
            return Ok(());
        };
        let (piece, written) = match thread.take_back() {
            Some(piece) => piece.write(),
            None => thread.wait()?,
        };
        thread.spare = piece.text;
        thread.spare.clear();
        self.sink = Some(piece.sink);
        written
    }
}

/// Whether there is a core for another thread. With one core it could only hold the run up.
static HAS_CORES: LazyLock<bool> =
    LazyLock::new(|| thread::available_parallelism().is_ok_and(|cores| cores.get() > 1));

fn lost() -> io::Error {
    io::Error::other("the recorder has panicked")
}

/// How long the thread sleeps until it looks for the next piece, and how often it looks.
const NAP: Duration = Duration::from_micros(200);
const NAPS: usize = 20;

/// The next piece; `None` once there are no more. A run that hurries has it soon, and to wake a
/// thread that sleeps until then would take the run longer than anything else here, so it is left to
/// look. Where there is none for a while the thread sleeps until it is woken.
fn wait_for(pieces: &Receiver<Piece>) -> Option<Piece> {
    for _ in 0..NAPS {
        match pieces.try_recv() {
            Ok(piece) => return Some(piece),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => thread::sleep(NAP),
        }
    }
    pieces.recv().ok()
}

/// A piece of a record, and what takes it.
struct Piece {
    sink: Sink,
    text: Vec<u8>,
}

impl Piece {
    fn write(mut self) -> (Self, io::Result<()>) {
        let written = self.sink.write(&self.text);
        (self, written)
    }
}

/// A thread that hands pieces over, one after the other.
#[derive(Debug)]
struct Thread {
    pieces: Option<Sender<Piece>>,
    /// What the thread takes the piece from.
    next: Receiver<Piece>,
    done: Receiver<(Piece, io::Result<()>)>,
    handle: Option<JoinHandle<()>>,
    /// Whether it has a piece.
    is_busy: bool,
    /// The room of the last piece.
    spare: Vec<u8>,
}

impl Thread {
    fn start() -> io::Result<Self> {
        let (pieces, next) = bounded::<Piece>(1);
        let (give_back, done) = bounded(1);
        let taken = next.clone();
        let handle = Builder::new()
            .name("runvil-record".to_owned())
            .spawn(move || {
                while let Some(piece) = wait_for(&taken) {
                    if give_back.send(piece.write()).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Self {
            pieces: Some(pieces),
            next,
            done,
            handle: Some(handle),
            is_busy: false,
            spare: Vec::new(),
        })
    }

    fn hand(&mut self, piece: Piece) -> io::Result<()> {
        let sent = self.pieces.as_ref().map(|pieces| pieces.send(piece));
        self.is_busy = matches!(sent, Some(Ok(())));
        match self.is_busy {
            true => Ok(()),
            false => Err(lost()),
        }
    }

    /// The piece, where the thread has not begun it.
    fn take_back(&mut self) -> Option<Piece> {
        let piece = self.next.try_recv().ok()?;
        self.is_busy = false;
        Some(piece)
    }

    fn wait(&mut self) -> io::Result<(Piece, io::Result<()>)> {
        self.is_busy = false;
        self.done.recv().map_err(|_| lost())
    }
}

impl Drop for Thread {
    /// What is on its way is handed over before the recorder is let go.
    fn drop(&mut self) {
        self.pieces = None;
        if let Some(handle) = self.handle.take().filter(|_| self.is_busy) {
            // A recorder that panicked was told of already.
            let _ = handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Takes bytes, so many of them.
    #[derive(Clone)]
    struct Room(Arc<Mutex<Vec<u8>>>, usize);

    impl Write for Room {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut taken = self.0.lock().expect("nobody panics");
            if taken.len() + bytes.len() > self.1 {
                return Err(io::Error::other("no room"));
            }
            taken.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn out(room: usize) -> (Out, Room) {
        let room = Room(Arc::default(), room);
        let sink = Sink::Writer(Box::new(room.clone()));
        (Out::new(sink), room)
    }

    #[test]
    fn lines_are_handed_over_in_order_either_way() {
        // spec R13
        for is_alone in [false, true] {
            let (mut out, room) = out(usize::MAX);
            out.is_alone = is_alone;
            let mut wanted = Vec::new();
            for number in 0..200 {
                let mut text = format!("line {number}\n").into_bytes();
                wanted.extend_from_slice(&text);
                match number % 5 {
                    0 => out.write(&mut text).expect("room"),
                    _ => out.write_behind(&mut text).expect("room"),
                }
                assert!(text.is_empty());
                if number % 5 == 0 || is_alone {
                    // spec R14: nothing is on its way then
                    assert_eq!(*room.0.lock().expect("nobody panics"), wanted);
                }
            }
            out.write(&mut Vec::new()).expect("room");
            assert_eq!(*room.0.lock().expect("nobody panics"), wanted);
        }
    }

    #[test]
    fn what_was_on_its_way_fails_at_the_next_hand_over() {
        // spec R17
        for behind in [true, false] {
            let (mut out, _) = out(3);
            out.write_behind(&mut b"1234\n".to_vec())
                .expect("on its way");
            let mut text = b"x\n".to_vec();
            let error = match behind {
                true => out.write_behind(&mut text),
                false => out.write(&mut text),
            };
            assert_eq!(error.expect_err("no room").to_string(), "no room");
        }
    }

    #[test]
    fn what_is_on_its_way_arrives_where_nobody_waits() {
        let (mut out, room) = out(usize::MAX);
        out.write_behind(&mut b"last\n".to_vec()).expect("room");
        drop(out);
        assert_eq!(*room.0.lock().expect("nobody panics"), b"last\n");
    }
}
