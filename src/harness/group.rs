//! A process and all that it starts, as one group.

#[cfg(unix)]
pub(crate) use unix::{
    code, has_ended, kill, lead, read_some, signal, terminate, unblock, wait_for_any,
    wait_for_room, write_some,
};

#[cfg(not(unix))]
pub(crate) use other::{
    code, has_ended, kill, lead, read_some, signal, terminate, unblock, wait_for_any,
    wait_for_room, write_some,
};

#[cfg(unix)]
mod unix {
    use std::io::{self, ErrorKind, PipeReader, Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, ChildStdin, Command, ExitStatus};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    /// The process of a command is to lead a group of its own.
    pub(crate) fn lead(command: &mut Command) {
        command.process_group(0);
    }

    /// Whether a process has ended. It is not reaped, so that its id goes on naming its group.
    pub(crate) fn has_ended(child: &mut Child) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // Where there is no such child it was reaped by somebody else.
        !matches!(
            waitid(WaitId::Pid(Pid::from_child(child)), options),
            Ok(None)
        )
    }

    /// Asks a process and its group, which has not been reaped, to end.
    pub(crate) fn terminate(child: &mut Child) {
        // A group that is gone has ended.
        let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
    }

    /// Ends a process and its group, which has not been reaped.
    pub(crate) fn kill(child: &mut Child) {
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }

    /// How a process ended: its exit code, or 128 and the number of the signal that killed it.
    pub(crate) fn code(status: ExitStatus) -> i32 {
        let signal = status.signal().map(|signal| 128 + signal);
        status.code().or(signal).unwrap_or(-1)
    }

    /// The signal that ended a process, if one did.
    pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
        status.signal()
    }

    /// From now on [`write_some`] or [`read_some`] waits for nothing.
    pub(crate) fn unblock(pipe: &impl AsFd) -> io::Result<()> {
        Ok(rustix::io::ioctl_fionbio(pipe, true)?)
    }

    /// Writes what a pipe takes at once, which may be nothing.
    pub(crate) fn write_some(pipe: &ChildStdin, bytes: &[u8]) -> io::Result<usize> {
        let mut pipe = pipe;
        match pipe.write(bytes) {
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(0)
            }
            written => written,
        }
    }

    /// Waits until a pipe may take something, but not for long.
    pub(crate) fn wait_for_room(pipe: &ChildStdin, most: Duration) {
        let most = Timespec::try_from(most).ok();
        // Whatever comes of it, the next write tells.
        let _ = poll(&mut [PollFd::new(pipe, PollFlags::OUT)], most.as_ref());
    }

    /// Reads what a pipe has at once; `None` where that is nothing yet.
    pub(crate) fn read_some(pipe: &PipeReader, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut pipe = pipe;
        match pipe.read(buffer) {
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// Waits until one of the pipes may have something or has ended, but not for long.
    pub(crate) fn wait_for_any(pipes: &[&PipeReader], most: Duration) {
        let most = Timespec::try_from(most).ok();
        let fds = pipes.iter().map(|pipe| PollFd::new(*pipe, PollFlags::IN));
        // Whatever comes of it, the next read tells.
        let _ = poll(&mut fds.collect::<Vec<_>>(), most.as_ref());
    }
}

#[cfg(not(unix))]
mod other {
    use std::io::{self, PipeReader, Read, Write};
    use std::process::{Child, ChildStdin, Command, ExitStatus};
    use std::time::Duration;

    /// There are no groups here.
    pub(crate) fn lead(_command: &mut Command) {}

    /// Whether a process has ended.
    pub(crate) fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    /// There is no gentle end here.
    pub(crate) fn terminate(_child: &mut Child) {}

    /// Ends a process.
    pub(crate) fn kill(child: &mut Child) {
        // One that is gone has ended.
        let _ = child.kill();
    }

    /// How a process ended.
    pub(crate) fn code(status: ExitStatus) -> i32 {
        status.code().unwrap_or(-1)
    }

    /// There are no signals here.
    pub(crate) fn signal(_status: ExitStatus) -> Option<i32> {
        None
    }

    /// A pipe cannot be asked what it takes or has at once, so it is used as it is.
    pub(crate) fn unblock<T>(_pipe: &T) -> io::Result<()> {
        Ok(())
    }

    /// Reads some bytes, and waits for it.
    pub(crate) fn read_some(pipe: &PipeReader, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut pipe = pipe;
        pipe.read(buffer).map(Some)
    }

    /// The read itself waits.
    pub(crate) fn wait_for_any(_pipes: &[&PipeReader], _most: Duration) {}

    /// Writes some bytes, and waits for it.
    pub(crate) fn write_some(pipe: &ChildStdin, bytes: &[u8]) -> io::Result<usize> {
        let mut pipe = pipe;
        pipe.write(bytes)
    }

    /// The write itself waits.
    pub(crate) fn wait_for_room(_pipe: &ChildStdin, _most: Duration) {}
}
