//! Reloads: every worker replaced by one of a new generation, a few at a time, new ones first. One may concern the task
//! workers alone. User processes are not reloaded: what they do is the program's own, and two of one kind may not run
//! side by side.
//!
//! A reload that is asked for while one runs is done once, after it. When a new worker dies before it serves, the new
//! code is no good: the reload ends there, and the workers not yet replaced go on. Otherwise it is over once no worker
//! that was replaced accepts: the next client meets the new code.

use std::collections::HashSet;

use super::{Master, Phase};
use crate::control::ClientId;
use crate::log;
use crate::program::{MasterEvent, Program};
use crate::replica::{Process, Replica};
use crate::role::Role;

/// Whom a reload concerns; of two that are asked for, the greater is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Task workers.
    Tasks,
    /// Event and task workers.
    All,
}

impl Scope {
    fn concerns(self, role: Role) -> bool {
        match role {
            Role::Worker | Role::Script => self == Self::All,
            Role::Task => true,
            Role::User(_) | Role::Master => false,
        }
    }
}

/// The reload that runs, and the one that is to follow.
#[derive(Debug, Default)]
pub(crate) struct Reloads {
    running: Option<Reload>,
    asked: Option<Scope>,
    /// Who waits for the end of the one that was asked for.
    waiters: Vec<ClientId>,
}

#[derive(Debug)]
struct Reload {
    /// Worker ids not begun yet.
    todo: Vec<u16>,
    /// How many may start at a time.
    width: usize,
    /// Worker ids whose new process is starting.
    active: HashSet<u16>,
    waiters: Vec<ClientId>,
    failure: Option<String>,
}

impl Reloads {
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether one that was asked for can begin: while workers are still starting for the first time there is nothing
    /// old to replace.
    pub(crate) fn is_due(&self, phase: Phase) -> bool {
        self.running.is_none() && self.asked.is_some() && phase == Phase::Serving
    }

    /// Has a client answered at the end of the reload that it asked for; false when none is to come.
    pub(crate) fn wait(&mut self, client: ClientId) -> bool {
        if self.asked.is_some() {
            self.waiters.push(client);
        }
        self.asked.is_some()
    }
}

impl Master<'_> {
    /// Asks for a reload, soon.
    pub(crate) fn request_reload(&mut self, scope: Scope) {
        if !self.is_stopping() {
            self.reloads.asked = self.reloads.asked.max(Some(scope));
        }
    }

    /// Takes the reload a step further.
    pub(crate) fn advance_reload(&mut self, program: &mut dyn Program) {
        if self.reloads.is_due(self.phase)
            && let Some(scope) = self.reloads.asked.take()
        {
            self.begin_reload(program, scope);
        }
        let unwanted: Vec<u16> = self.replicas.iter().filter(|one| !self.is_wanted(one)).map(|one| one.id).collect();
        let Some(reload) = &mut self.reloads.running else { return };
        let (replicas, generation) = (&mut self.replicas, self.generation);
        let is_old =
            |replica: &Replica| replica.current.as_ref().is_none_or(|current| current.generation != generation);
        reload.active.retain(|id| replicas[usize::from(*id)].next.is_some() || is_old(&replicas[usize::from(*id)]));
        reload.active.retain(|id| !unwanted.contains(id));
        while reload.failure.is_none() && reload.active.len() < reload.width {
            let Some(id) = reload.todo.pop() else { break };
            reload.active.insert(id);
        }
        if reload.failure.is_none() {
            // Each time: a process of the old generation may have been starting when its replica's turn came.
            for id in &reload.active {
                let replica = &mut replicas[usize::from(*id)];
                replica.replace |= replica.current.is_some() && is_old(replica);
            }
        }
        let replaced = reload.todo.is_empty() && reload.active.is_empty();
        if reload.failure.is_some() || replaced && !self.leaving.iter().any(Process::may_accept) {
            self.finish_reload(program);
        }
    }

    fn begin_reload(&mut self, program: &mut dyn Program, scope: Scope) {
        self.generation += 1;
        self.scoreboard.header.generation.set(u64::from(self.generation));
        let whom = if scope == Scope::Tasks { " of the task workers" } else { "" };
        let theirs = if scope == Scope::Tasks { "task" } else { "all" };
        log::told(
            log::Level::Info,
            format_args!("reloading: generation {}{whom}", self.generation),
            format_args!("Server is reloading {theirs} workers now"),
        );
        self.notify.reloading();
        let waiters = std::mem::take(&mut self.reloads.waiters);
        // Popped from the end: worker 0 is the first.
        let concerned = self.replicas.iter().filter(|replica| scope.concerns(replica.role) && self.is_wanted(replica));
        let todo: Vec<u16> = concerned.map(|replica| replica.id).rev().collect();
        let width = todo.len().div_ceil(4).max(1);
        self.reloads.running = Some(Reload { todo, width, active: HashSet::new(), waiters, failure: None });
        if self.renewals.is_some() {
            // Those that are replaced serve for a while still, and where the new ones fail they stay. What cannot be
            // used stands in the log, and is no reason to keep the old code.
            let _ = self.renew(program, true);
        }
        self.emit(program, MasterEvent::BeforeReload);
    }

    /// A process died before it served. In a reload that is the new code's fault as far as anyone can tell.
    pub(crate) fn fail_reload(&mut self, id: u16, role: &str, how: &str) {
        if let Some(reload) = &mut self.reloads.running
            && reload.failure.is_none()
        {
            reload.failure = Some(format!("{role} {id} of generation {} {how} before it was ready", self.generation));
            for replica in &mut self.replicas {
                if replica.next.is_none() && reload.active.contains(&replica.id) {
                    replica.replace = false;
                }
            }
        }
    }

    fn finish_reload(&mut self, program: &mut dyn Program) {
        let Some(reload) = self.reloads.running.take() else { return };
        let answer = match &reload.failure {
            None => {
                log::info(format_args!("reloaded: generation {} serves", self.generation));
                serde_json::json!({ "ok": true, "generation": self.generation })
            }
            Some(failure) => {
                log::error(format_args!("reload given up: {failure}; the workers not yet replaced go on"));
                serde_json::json!({ "ok": false, "error": failure })
            }
        };
        self.notify.reloaded();
        self.scoreboard.header.reloads.add(1);
        reload.waiters.into_iter().for_each(|client| self.answer(client, &answer.to_string()));
        if reload.failure.is_none() {
            self.emit(program, MasterEvent::AfterReload);
        }
    }

    /// Ends what runs and what was asked for: the server stops.
    pub(crate) fn end_reload(&mut self, why: &str) {
        self.reloads.asked = None;
        let running = self.reloads.running.take().map(|reload| reload.waiters).unwrap_or_default();
        let answer = serde_json::json!({ "ok": false, "error": why }).to_string();
        for client in running.into_iter().chain(std::mem::take(&mut self.reloads.waiters)) {
            self.answer(client, &answer);
        }
    }
}
