//! A process and all that it starts, as one group.

#[cfg(unix)]
pub(crate) use unix::{has_ended, kill, lead, terminate, unblock, wait_for_room, write_some};

#[cfg(not(unix))]
pub(crate) use other::{has_ended, kill, lead, terminate, unblock, wait_for_room, write_some};

#[cfg(unix)]
mod unix {
    use std::io::{self, ErrorKind, Write};
    use std::os::unix::process::CommandExt;
    use std::process::{Child, ChildStdin, Command};
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

    /// From now on [`write_some`] waits for nothing.
    pub(crate) fn unblock(pipe: &ChildStdin) -> io::Result<()> {
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
}

#[cfg(not(unix))]
mod other {
    use std::io::{self, Write};
    use std::process::{Child, ChildStdin, Command};
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

    /// A pipe cannot be asked what it takes at once, so it is written to as it is.
    pub(crate) fn unblock(_pipe: &ChildStdin) -> io::Result<()> {
        Ok(())
    }

    /// Writes some bytes, and waits for it.
    pub(crate) fn write_some(pipe: &ChildStdin, bytes: &[u8]) -> io::Result<usize> {
        let mut pipe = pipe;
        pipe.write(bytes)
    }

    /// The write itself waits.
    pub(crate) fn wait_for_room(_pipe: &ChildStdin, _most: Duration) {}
}
