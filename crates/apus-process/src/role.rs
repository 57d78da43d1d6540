//! What the processes of a server are for, and which ids they have.

use apus_options::Settings;

/// What a process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Accepts connections and serves them.
    Worker,
    /// Runs the tasks that other processes hand over.
    Task,
    /// Runs scripts, one request at a time.
    Script,
    /// Runs a callback of the program's own; the number is its place among those, from 0.
    User(u16),
    /// Supervises the others, and takes part in what they tell each other where the program wants that.
    Master,
}

impl Role {
    /// The name in logs, status reports and lists of processes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Task => "task worker",
            Self::Script => "script process",
            Self::User(_) => "user process",
            Self::Master => "master",
        }
    }
}

/// How many processes of each role a server has. Ids go up in this order, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoleCounts {
    /// Event workers.
    pub workers: u16,
    /// Task workers.
    pub tasks: u16,
    /// Processes that run scripts.
    pub scripts: u16,
    /// User processes.
    pub users: u16,
}

/// The most user processes: session ids have 12 bits for the id of a process, of which 1,024 event and 1,024 task
/// workers leave half.
pub const MOST_USERS: u16 = 1024;

/// How many processes may run scripts.
fn most_scripts(settings: &Settings) -> u32 {
    match settings.script_processes {
        0 => 0,
        least => settings.script_processes_max.max(least),
    }
}

impl RoleCounts {
    /// What the settings say, with so many user processes.
    pub fn new(settings: &Settings, users: u16) -> Self {
        let count = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        let (workers, tasks) = (count(settings.worker_num), count(settings.task_worker_num));
        Self { workers, tasks, scripts: count(most_scripts(settings)), users }
    }

    /// Event workers alone.
    pub fn workers(workers: u16) -> Self {
        Self { workers, ..Self::default() }
    }

    /// All processes.
    pub fn total(self) -> u16 {
        self.workers.saturating_add(self.tasks).saturating_add(self.scripts).saturating_add(self.users)
    }

    /// The role of an id; `None` for one that nobody has.
    pub fn role(self, id: u16) -> Option<Role> {
        let (id, workers, tasks) = (u32::from(id), u32::from(self.workers), u32::from(self.tasks));
        let before_users = workers + tasks + u32::from(self.scripts);
        if id >= u32::from(self.total()) {
            None
        } else if id < workers {
            Some(Role::Worker)
        } else if id < workers + tasks {
            Some(Role::Task)
        } else if id < before_users {
            Some(Role::Script)
        } else {
            Some(Role::User((id - before_users) as u16))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_from_event_workers_over_task_workers_and_scripts_to_user_processes() {
        let role_counts = RoleCounts { workers: 2, tasks: 1, scripts: 1, users: 2 };
        let roles: Vec<_> = (0..7).map(|id| role_counts.role(id)).collect();
        let users = [Some(Role::User(0)), Some(Role::User(1)), None];
        assert_eq!(roles[..3], [Some(Role::Worker), Some(Role::Worker), Some(Role::Task)]);
        assert_eq!((roles[3], &roles[4..]), (Some(Role::Script), &users[..]));
        assert_eq!(RoleCounts::workers(3).role(3), None);
    }
}
