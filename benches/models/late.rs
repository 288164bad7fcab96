//! A server that answers late and on time: one thread and a timer for all connections, so that what
//! is measured is the client. A thread for each connection would take turns with the client's own,
//! and its sleep oversleeps.

#[cfg(target_os = "linux")]
pub use timed::serve_late;

/// Other systems have no such timer.
#[cfg(not(target_os = "linux"))]
pub use super::server::serve_after as serve_late;

#[cfg(target_os = "linux")]
mod timed {
    use std::collections::VecDeque;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::buffer::spare_capacity;
    use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
    use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    use super::super::server::{is_whole, listen, take};

    const LISTENER: u64 = u64::MAX;
    const TIMER: u64 = u64::MAX - 1;

    /// Serves for as long as the process lives, each answer after a while. The URL of its base.
    pub fn serve_late(latency: Duration, reply: Vec<u8>) -> String {
        let (listener, url) = listen();
        thread::spawn(move || Server::new(listener).run(latency, &reply));
        url
    }

    struct Server {
        listener: TcpListener,
        epoll: OwnedFd,
        timer: OwnedFd,
        /// Each with what came of its next request; gone once it is closed.
        connections: Vec<Option<(TcpStream, Vec<u8>)>>,
        /// Who is to be answered, and when: in that order, since all wait equally long.
        due: VecDeque<(Instant, usize)>,
    }

    impl Server {
        fn new(listener: TcpListener) -> Self {
            let epoll = epoll::create(CreateFlags::CLOEXEC).expect("epoll");
            let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC);
            let timer = timer.expect("a timer");
            let add = |fd: BorrowedFd<'_>, mark| {
                epoll::add(&epoll, fd, EventData::new_u64(mark), EventFlags::IN).expect("epoll");
            };
            add(listener.as_fd(), LISTENER);
            add(timer.as_fd(), TIMER);
            Self {
                listener,
                epoll,
                timer,
                connections: Vec::new(),
                due: VecDeque::new(),
            }
        }

        fn run(mut self, latency: Duration, reply: &[u8]) {
            let mut events = Vec::with_capacity(256);
            loop {
                epoll::wait(&self.epoll, spare_capacity(&mut events), None).expect("epoll");
                for event in events.drain(..) {
                    match event.data.u64() {
                        LISTENER => self.accept(),
                        TIMER => {}
                        at => self.read(at as usize, latency),
                    }
                }
                self.answer(reply);
            }
        }

        fn accept(&mut self) {
            let (stream, _) = self.listener.accept().expect("a connection");
            stream.set_nodelay(true).expect("a socket");
            let mark = EventData::new_u64(self.connections.len() as u64);
            epoll::add(&self.epoll, &stream, mark, EventFlags::IN).expect("epoll");
            self.connections.push(Some((stream, Vec::new())));
        }

        fn read(&mut self, at: usize, latency: Duration) {
            let Some((stream, request)) = &mut self.connections[at] else {
                return;
            };
            if !take(stream, request) {
                self.connections[at] = None;
            } else if is_whole(request) {
                self.due.push_back((Instant::now() + latency, at));
                if self.due.len() == 1 {
                    self.set_timer();
                }
            }
        }

        /// Answers who is due.
        fn answer(&mut self, reply: &[u8]) {
            let before = self.due.len();
            while let Some((_, at)) = self.due.front().filter(|(due, _)| *due <= Instant::now()) {
                let at = *at;
                self.due.pop_front();
                if let Some((stream, _)) = &mut self.connections[at] {
                    // Who has gone needs no answer.
                    let _ = stream.write_all(reply);
                }
            }
            if self.due.len() != before {
                self.set_timer();
            }
        }

        /// Has the timer go off when the first is due; or never, where there is none.
        fn set_timer(&self) {
            let left = self.due.front().map_or(Duration::ZERO, |(due, _)| {
                let left = due.saturating_duration_since(Instant::now());
                left.max(Duration::from_nanos(1))
            });
            let spans = Itimerspec {
                it_interval: Timespec::default(),
                it_value: left.try_into().expect("a short span"),
            };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &spans).expect("a timer");
        }
    }
}
