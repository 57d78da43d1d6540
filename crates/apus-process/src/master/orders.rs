//! What others want of the master: signals, its workers' messages, the control socket.

use std::time::Instant;

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::reload::Scope;
use super::{AT_ONCE, Master, Phase, dismiss, processes, processes_mut};
use crate::access::AccessLog;
use crate::channel::{Ask, Command, Message};
use crate::control::{ClientId, Control, Request};
use crate::log;
use crate::observe::{Page, Text, write_figures};
use crate::program::{MasterEvent, Program};
use crate::replica::Process;
use crate::role::Role;
use crate::snapshot::Snapshot;

/// Messages heard of one worker at a time, so that none can keep the others unheard.
const BATCH: usize = 64;

impl Master<'_> {
    pub(crate) fn take_signals(&mut self, program: &mut dyn Program) {
        while let Ok(Some(info)) = self.signals.read_signal() {
            let Ok(signal) = Signal::try_from(info.ssi_signo as i32) else { continue };
            // Of one that the kernel sent, because a reader of the log is gone, the log cannot tell.
            if self.on_signal(program, signal) && signal == Signal::SIGPIPE && info.ssi_code == libc::SI_USER {
                log::there(
                    log::Level::Warning,
                    format_args!(
                        "signal_dispatch() (ERRNO 721): Unable to find callback function for signal Broken pipe: 13"
                    ),
                );
            }
        }
    }

    /// Does what a signal means to the server, unless the program takes it. Whether it was the server's.
    pub(crate) fn on_signal(&mut self, program: &mut dyn Program, signal: Signal) -> bool {
        if program.takes_signal(signal as i32, self.scoreboard) {
            return false;
        }
        match signal {
            Signal::SIGTERM => self.stop(program, false),
            Signal::SIGINT | Signal::SIGQUIT => self.stop(program, true),
            Signal::SIGUSR1 => self.request_reload(Scope::All),
            Signal::SIGHUP => {
                self.reopen_log();
                self.access.iter_mut().for_each(AccessLog::reopen);
                self.request_reload(Scope::All);
            }
            Signal::SIGUSR2 if self.scoreboard.role_counts().tasks == 0 => {
                log::notice(format_args!("USR2 reloads task workers; this server has none"));
            }
            Signal::SIGUSR2 => self.request_reload(Scope::Tasks),
            _ => {}
        }
        true
    }

    fn reopen_log(&self) {
        let path = &self.config.settings.log_file;
        if path.is_empty() {
            return;
        }
        let opened = log::open(path.as_ref())
            .and_then(|()| if self.config.settings.daemonize { log::redirect_output() } else { Ok(()) });
        if let Err(error) = opened {
            log::error(format_args!("cannot open the log file {path} anew: {error}"));
        }
    }

    pub(crate) fn hear_workers(&mut self, program: &mut dyn Program) {
        let mut asked = Vec::new();
        for process in processes_mut(&mut self.replicas, &mut self.leaving) {
            for _ in 0..BATCH {
                let Some(message) = process.hear() else { break };
                asked.push((process.pid, process.id, message));
            }
            if process.is_silent() && process.kill_at.is_none() {
                process.kill_at = Some(Instant::now() + self.config.settings.max_wait_time);
            }
        }
        for (pid, id, message) in asked {
            match message {
                Message::Signalled(signal) => self.on_worker_signalled(program, pid, signal),
                Message::Ask(ask) => self.on_ask(program, (pid, id), ask),
                // What changed is in the scoreboard; the message was to wake us.
                Message::Ready | Message::State | Message::Command(_) | Message::Orphan(_) => {}
            }
        }
    }

    /// Somebody sent a signal to a worker itself: TERM replaces it, INT ends it at once.
    fn on_worker_signalled(&mut self, program: &mut dyn Program, pid: Pid, signal: i32) {
        if signal == Signal::SIGINT as i32 {
            processes_mut(&mut self.replicas, &mut self.leaving)
                .filter(|p| p.pid == pid)
                .for_each(|p| p.dismiss(Command::StopNow, AT_ONCE));
            return;
        }
        for replica in &mut self.replicas {
            match (&replica.current, &mut replica.next) {
                (Some(current), _) if current.pid == pid => replica.replace = true,
                (_, Some(next)) if next.pid == pid => dismiss(next, &self.config.settings, program),
                _ => {}
            }
        }
    }

    fn on_ask(&mut self, program: &mut dyn Program, (pid, from): (Pid, u16), ask: Ask) {
        match ask {
            Ask::Reload => self.request_reload(Scope::All),
            Ask::ReloadTasks => self.request_reload(Scope::Tasks),
            Ask::Stop => self.stop(program, false),
            Ask::StopNow => self.stop(program, true),
            Ask::Replace(id) => match self.replicas.get_mut(usize::from(id)) {
                Some(replica) => match replica.current.as_mut().filter(|current| current.is_user()) {
                    // Two of one kind may not run side by side: the next one comes when this one is gone.
                    Some(user) => user.dismiss(Command::StopNow, self.config.settings.max_wait_time),
                    None => replica.ask_replacement(pid),
                },
                None => log::warning(format_args!("worker {from} asked to replace worker {id}, which does not exist")),
            },
        }
    }

    /// Stops the server: everybody leaves at once, or event workers finish what they began, then task workers what
    /// waits for them, and then user processes are told to leave.
    fn stop(&mut self, program: &mut dyn Program, at_once: bool) {
        if self.phase != Phase::Stopping {
            log::info(format_args!("stopping{}", if at_once { " at once" } else { "" }));
            self.phase = Phase::Stopping;
            self.scoreboard.header.stopping.set(1);
            self.stop_by = Instant::now() + self.config.settings.max_wait_time;
            self.notify.stopping();
            self.emit(program, MasterEvent::BeforeShutdown);
            self.end_reload("the server is stopping");
        } else if !at_once {
            return;
        }
        if at_once {
            for process in processes_mut(&mut self.replicas, &mut self.leaving) {
                process.dismiss(Command::StopNow, AT_ONCE);
                program.on_dismissed(process.slot_index, process.role);
            }
        } else {
            self.dismiss_role(program, |role| role == Role::Worker);
        }
    }

    fn dismiss_role(&mut self, program: &mut dyn Program, concerns: impl Fn(Role) -> bool) {
        let patience = self.stop_by.saturating_duration_since(Instant::now()).max(AT_ONCE);
        processes_mut(&mut self.replicas, &mut self.leaving)
            .filter(|process| concerns(process.role) && !(process.dismissed && process.kill_at.is_some()))
            .for_each(|process| {
                process.dismiss(Command::Drain, patience);
                program.on_dismissed(process.slot_index, process.role);
            });
    }

    /// Tells those to leave whom nobody needs any more: task workers and processes that run scripts once the event
    /// workers are gone, user processes after them.
    pub(crate) fn advance_stop(&mut self, program: &mut dyn Program) {
        let has = |role: fn(Role) -> bool| processes(&self.replicas, &self.leaving).any(|process| role(process.role));
        if has(|role| role == Role::Worker) {
            return;
        }
        let serves_workers = |role: Role| matches!(role, Role::Task | Role::Script);
        let some_left = has(|role| matches!(role, Role::Task | Role::Script));
        self.dismiss_role(program, |role| !some_left || serves_workers(role));
    }

    /// Once no worker accepts any more, refuses new clients instead of letting them wait in queues that nobody serves.
    pub(crate) fn close_queues(&mut self) {
        let accepts = processes(&self.replicas, &self.leaving).any(Process::may_accept);
        if !accepts && !self.closed_queues {
            self.closed_queues = true;
            // What systemd passed is systemd's: its queue waits for the next start. Datagrams have no client that waits
            // to be accepted.
            for listener in self.listeners.iter().filter(|listener| !listener.passed && !listener.datagram) {
                let _ = socket2::SockRef::from(&listener.fd).shutdown(std::net::Shutdown::Both);
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Stopping && processes(&self.replicas, &self.leaving).next().is_none()
    }

    pub(crate) fn serve_control(&mut self, program: &mut dyn Program) {
        let requests = self.control.as_mut().map(Control::step).unwrap_or_default();
        for (client, request) in requests {
            if let Some(answer) = self.command(program, client, request) {
                self.answer(client, &answer);
            }
        }
    }

    /// Answers those who ask for the server's figures.
    pub(crate) fn serve_figures(&mut self, program: &mut dyn Program) {
        let Some(mut observe) = self.observe.take() else { return };
        observe.step(|page| self.page(page, program));
        self.observe = Some(observe);
    }

    fn page(&self, page: Page, program: &dyn Program) -> (&'static str, String) {
        let snapshot = self.snapshot(program);
        if page == Page::Status {
            return ("application/json", serde_json::to_string(&snapshot).unwrap_or_default());
        }
        let mut text = Text::new(page == Page::OpenMetrics);
        write_figures(self.scoreboard, &snapshot, &mut text);
        program.figures(&mut text);
        text.finish()
    }

    pub(crate) fn answer(&mut self, client: ClientId, json: &str) {
        if let Some(control) = &mut self.control {
            control.answer(client, json);
        }
    }

    /// The answer to a request, unless it comes later.
    fn command(&mut self, program: &mut dyn Program, client: ClientId, request: Request) -> Option<String> {
        let done = || Some("{\"ok\":true}".to_owned());
        match request {
            Request::Status => Some(serde_json::to_string(&self.snapshot(program)).unwrap_or_default()),
            Request::Reload(wait) => {
                self.request_reload(Scope::All);
                if wait && self.reloads.wait(client) { None } else { done() }
            }
            Request::Renew => Some(self.renew_answer(program)),
            Request::Stop => {
                self.stop(program, false);
                done()
            }
            Request::StopNow => {
                self.stop(program, true);
                done()
            }
            Request::Unknown(line) => {
                let text = format!(
                    "unknown request \"{line}\": status, reload, reload wait, reload certificates, stop, stop now"
                );
                Some(serde_json::json!({ "ok": false, "error": text }).to_string())
            }
        }
    }

    fn snapshot(&self, program: &dyn Program) -> Snapshot {
        let state = match self.phase {
            Phase::Starting => "starting",
            Phase::Serving if self.reloads.is_running() => "reloading",
            Phase::Serving => "serving",
            Phase::Stopping => "stopping",
        };
        Snapshot {
            pid: std::process::id(),
            script: self.config.script.to_string_lossy().into_owned(),
            listen: self.listeners.iter().map(|listener| listener.addr.to_string()).collect(),
            state: state.to_owned(),
            scripts: program.scripts(),
            metrics: program.metrics(),
            ..self.scoreboard.snapshot()
        }
    }
}
