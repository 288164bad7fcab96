//! One session of a provider and its resumes (spec P84, P88 to P90).

use super::{Life, Sent};
use crate::packet::alias;
use crate::packet::failure::{Failure, FailureClass};
use crate::packet::provider::{Deadline, Ended, Event, Job, Session, Setting, Sink};
use crate::packet::run::{Context, Notice, Observer};
use crate::packet::state::{Header, SessionLog, now};

/// How a session ended, all its resumes done.
pub(super) struct Played {
    pub(super) ended: Ended,
    /// How often it was resumed.
    pub(super) resumes: u64,
    /// Why the last resume could not start.
    pub(super) recovery_error: Option<String>,
}

impl Life<'_> {
    /// Runs the session of an attempt to its end, resumes included.
    pub(super) fn play(&self, context: &mut Context<'_>, attempt: u64, sent: &Sent) -> Played {
        let id = self.prompt.id.as_str();
        let setting = Setting {
            packet: self.packet,
            prompt: self.prompt,
            options: &self.options,
        };
        let started = now();
        let name = format!("prompt-{id}-{}", started.stamp());
        let job = Job {
            setting,
            text: &sent.text,
            repair: sent.block.as_ref(),
            failures: &sent.failures,
            attempt,
            mode: sent.mode,
            deadline: Deadline::after(self.options.timeout),
            interrupt: context.interrupt,
            files: context.folder.sessions().join(name),
        };
        let header = Header {
            id,
            file: &self.prompt.file,
            provider: &self.provider_name,
            model: self.options.model.as_deref(),
            cwd: setting.cwd(),
            attempt: &format!("attempt {attempt}, {}", sent.mode),
        };
        let run_id = context.run_id.as_deref();
        let mode = self.options.events_mode;
        let mut reporter = Reporter {
            log: SessionLog::open(&context.folder, started, header, mode, run_id),
            observer: context.observer,
            resuming: None,
        };
        let played = match self.open(&job) {
            Ok(mut session) => self.run(session.as_mut(), &job, &mut reporter),
            Err(failure) => Played {
                ended: Ended::NotStarted(*failure),
                resumes: 0,
                recovery_error: None,
            },
        };
        let outcome = match &played.ended {
            Ended::Succeeded => "ok".to_owned(),
            Ended::Interrupted => "interrupted".to_owned(),
            Ended::Failed(failure) | Ended::NotStarted(failure) => failure.class.to_string(),
        };
        let resumes = played.resumes;
        let outcome = format_args!("Outcome: {outcome} resumes={resumes}");
        reporter.log.line(outcome);
        if let Some(failure) = reporter.log.failure() {
            reporter.observer.notice(Notice::Warning(failure));
        }
        played
    }

    fn open<'j>(&'j self, job: &'j Job<'j>) -> Result<Box<dyn Session + 'j>, Box<Failure>> {
        match self.provider {
            Some(provider) => provider.open(job),
            None => {
                let message = alias::unknown(&self.provider_name);
                Err(Box::new(Failure::new(
                    FailureClass::PROVIDER_UNAVAILABLE,
                    message,
                )))
            }
        }
    }

    fn run(&self, session: &mut dyn Session, job: &Job<'_>, reporter: &mut Reporter<'_>) -> Played {
        let mut ended = session.start(reporter);
        let mut resumes = 0;
        let mut recovery_error = None;
        while let Ended::Failed(failure) = &ended
            && self.may_resume(failure, resumes, session, job)
        {
            let class = failure.class.name();
            reporter.log.recovery(
                "resume_attempt",
                format_args!("number={resumes} class={class}"),
            );
            reporter.observer.notice(Notice::Resuming {
                prompt: self.prompt,
                number: resumes,
            });
            reporter.resuming = Some(resumes);
            match session.resume(resumes, reporter) {
                Ended::NotStarted(cause) => {
                    let what = format_args!("reason={:?}", cause.message);
                    reporter.log.recovery("resume_failed", what);
                    recovery_error = Some(cause.message);
                    break;
                }
                next => {
                    // A session that told nothing has started all the same.
                    reporter.resume_started();
                    ended = next;
                    resumes += 1;
                }
            }
        }
        Played {
            ended,
            resumes,
            recovery_error,
        }
    }

    fn may_resume(
        &self,
        failure: &Failure,
        resumes: u64,
        session: &dyn Session,
        job: &Job<'_>,
    ) -> bool {
        failure.resumeable
            && !failure.local_deterministic
            && resumes < self.settings.resume_attempts
            && session.can_resume()
            && !job.deadline.is_over()
            && !job.interrupt.is_raised()
    }
}

/// Hands what a session reports to its logs and to whoever watches.
struct Reporter<'a> {
    log: SessionLog,
    observer: &'a mut dyn Observer,
    /// The number of a resume of which nothing is known yet.
    resuming: Option<u64>,
}

impl Reporter<'_> {
    /// Notes that a resume has started, once.
    fn resume_started(&mut self) {
        if let Some(number) = self.resuming.take() {
            let what = format_args!("number={number}");
            self.log.recovery("resume_started", what);
        }
    }
}

impl Sink for Reporter<'_> {
    fn event(&mut self, event: Event) {
        self.resume_started();
        self.log.event(&event);
        self.observer.notice(Notice::Event(&event));
    }

    fn session_id(&mut self, id: &str) {
        self.log.session_id(id);
    }

    fn log(&mut self, line: &str) {
        self.log.said(line);
    }

    fn warn(&mut self, line: &str) {
        self.log.line(format_args!("WARNING: {line}"));
        self.observer.notice(Notice::Warning(line));
    }
}
