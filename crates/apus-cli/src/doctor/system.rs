//! What the kernel says under /proc: limits of this process, system-wide limits, memory.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Finding, Level, Wanted, grouped, sysctl};

/// Descriptors a worker needs beside its connections: listeners, epoll, timers, pipes, log, module, files being read.
const RESERVED: u64 = 64;
/// Mappings a PHP process has before its first coroutine, with room for the extensions it loads.
const MAPS_OF_PHP: u64 = 2_000;
/// Stacks with a guard page of their own; further ones are checked otherwise, and their mappings merge.
const GUARDED_STACKS: u64 = 16_000;
/// The first kernel whose guard pages (`MADV_GUARD_INSTALL`) split no mapping: mappings of stacks merge.
const LIGHT_GUARDS: (u64, u64) = (6, 13);

/// A view of /proc; every value is read when asked for, and absent when the kernel does not have it.
#[derive(Debug)]
pub(crate) struct System {
    proc_root: PathBuf,
    /// Counters of net/snmp, net/netstat and net/sockstat as `Group.Name`.
    pub(crate) counters: HashMap<String, u64>,
}

/// Soft and hard limit of open files; `unlimited` is `u64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenFiles {
    soft: u64,
    hard: u64,
}

impl System {
    pub(crate) fn read(proc_root: &Path) -> Self {
        let mut counters = HashMap::new();
        for name in ["net/snmp", "net/netstat"] {
            paired_lines(&text(&proc_root.join(name)), &mut counters);
        }
        for name in ["net/sockstat", "net/sockstat6"] {
            named_pairs(&text(&proc_root.join(name)), &mut counters);
        }
        Self { proc_root: proc_root.to_owned(), counters }
    }

    /// The numbers of a kernel variable, in its own order.
    pub(crate) fn variable(&self, name: &str) -> Option<Vec<u64>> {
        let text = text(&self.proc_root.join("sys").join(name.replace('.', "/")));
        let numbers: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
        (!numbers.is_empty()).then_some(numbers)
    }

    /// The first number of a kernel variable.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.variable(name)?.first().copied()
    }

    pub(crate) fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    fn open_files(&self) -> Option<OpenFiles> {
        let limits = text(&self.proc_root.join("self/limits"));
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        let mut values =
            line.split_whitespace().map(|word| if word == "unlimited" { Some(u64::MAX) } else { word.parse().ok() });
        Some(OpenFiles { soft: values.next()??, hard: values.next()?? })
    }

    /// Major and minor version of the kernel.
    fn kernel(&self) -> Option<(u64, u64)> {
        let release = text(&self.proc_root.join("sys/kernel/osrelease"));
        let mut parts = release.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse().ok());
        Some((parts.next()?, parts.next()?))
    }

    /// Bytes that can be taken without swapping.
    fn available_memory(&self) -> Option<u64> {
        let info = text(&self.proc_root.join("meminfo"));
        let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
    }
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// `Tcp: A B` followed by `Tcp: 1 2`, as net/snmp and net/netstat have it.
fn paired_lines(text: &str, into: &mut HashMap<String, u64>) {
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let (Some((group, names)), Some((_, values))) = (names.split_once(':'), values.split_once(':')) else { return };
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            into.insert(format!("{group}.{name}"), value.parse().unwrap_or(0));
        }
    }
}

/// `TCP: inuse 1 orphan 0`, as net/sockstat has it.
fn named_pairs(text: &str, into: &mut HashMap<String, u64>) {
    for (group, pairs) in text.lines().filter_map(|line| line.split_once(':')) {
        let words: Vec<&str> = pairs.split_whitespace().collect();
        for pair in words.chunks_exact(2) {
            into.insert(format!("{group}.{}", pair[0]), pair[1].parse().unwrap_or(0));
        }
    }
}

/// Descriptors, mappings and memory.
pub(crate) fn examine(system: &System, wanted: Wanted) -> Vec<Finding> {
    [
        open_files(system, wanted),
        file_max(system, wanted),
        map_count(system, wanted),
        overcommit(system),
        memory(system),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn open_files(system: &System, wanted: Wanted) -> Option<Finding> {
    let limits = system.open_files()?;
    let allows = limits.hard.saturating_sub(RESERVED);
    let shown = |limit: u64| if limit == u64::MAX { "unlimited".to_owned() } else { grouped(limit) };
    let found = format!(
        "ulimit -n: soft {}, hard {} (apus run raises the soft one): {} connections a worker",
        shown(limits.soft),
        shown(limits.hard),
        shown(allows)
    );
    if allows >= wanted.connections {
        return Some(Finding::new("descriptors", Level::Ok, found));
    }
    let need = wanted.connections.saturating_add(RESERVED).max(65_536);
    let mut fix = Vec::new();
    if system.number("fs.nr_open").is_some_and(|most| most < need) {
        fix.extend(sysctl("fs.nr_open", need));
    }
    fix.push(format!("systemd: LimitNOFILE={need} in the unit's [Service]"));
    fix.push(format!("docker: docker run --ulimit nofile={need}:{need} ..."));
    fix.push(format!(
        "login: printf '%s hard nofile {need}\\n' '*' root | sudo tee /etc/security/limits.d/60-apus.conf, then log in again"
    ));
    Some(Finding::new("descriptors", Level::Fail, format!("{found}, {} wanted", grouped(wanted.connections))).fix(fix))
}

fn file_max(system: &System, wanted: Wanted) -> Option<Finding> {
    let most = system.number("fs.file-max")?;
    let used = system.number("fs.file-nr").unwrap_or(0);
    let left = most.saturating_sub(used);
    let found = format!("fs.file-max: {} on the whole machine, {} in use", grouped(most), grouped(used));
    if left >= wanted.connections {
        return Some(Finding::new("file-max", Level::Ok, found));
    }
    let need = used.saturating_add(wanted.connections).saturating_mul(2);
    Some(Finding::new("file-max", Level::Fail, found).fix(sysctl("fs.file-max", need)))
}

fn map_count(system: &System, wanted: Wanted) -> Option<Finding> {
    let most = system.number("vm.max_map_count")?;
    let guards = if system.kernel() >= Some(LIGHT_GUARDS) { 0 } else { wanted.coroutines.min(GUARDED_STACKS) * 2 };
    let need = MAPS_OF_PHP + guards;
    let found = format!(
        "vm.max_map_count: {}; a worker with {} coroutines needs about {}",
        grouped(most),
        grouped(wanted.coroutines),
        grouped(need)
    );
    if most >= need {
        return Some(Finding::new("map-count", Level::Ok, found));
    }
    Some(Finding::new("map-count", Level::Fail, found).fix(sysctl("vm.max_map_count", need.next_multiple_of(65_536))))
}

/// Coroutine stacks reserve far more address space than they ever touch; mode 2 counts what is reserved.
fn overcommit(system: &System) -> Option<Finding> {
    let mode = system.number("vm.overcommit_memory")?;
    if mode == 2 {
        let found = "vm.overcommit_memory: 2, so stacks count in full though hardly touched";
        return Some(Finding::new("overcommit", Level::Warn, found).fix(sysctl("vm.overcommit_memory", 0)));
    }
    Some(Finding::new("overcommit", Level::Ok, format!("vm.overcommit_memory: {mode}")))
}

fn memory(system: &System) -> Option<Finding> {
    let mib = system.available_memory()? >> 20;
    let level = if mib < 128 { Level::Warn } else { Level::Note };
    Some(Finding::new("memory", level, format!("available memory: {} MiB", grouped(mib))))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use apus_scratch::Folder;

    pub(crate) const WANTED: Wanted = Wanted { connections: 10_000, backlog: 1_024, coroutines: 100_000 };

    pub(crate) fn finding<'a>(findings: &'a [Finding], id: &str) -> &'a Finding {
        findings.iter().find(|finding| finding.id == id).expect("a finding of that name")
    }

    fn limits(soft: &str, hard: &str) -> String {
        format!(
            "Limit                     Soft Limit           Hard Limit           Units\nMax open files            {soft}   {hard}   files\n"
        )
    }

    #[test]
    fn too_few_descriptors_fail_with_the_mend_for_each_kind_of_start() {
        let proc_root = Folder::new("descriptors");
        proc_root.write("self/limits", limits("1024", "4096"));
        proc_root.write("sys/fs/nr_open", "8192\n");
        let findings = examine(&System::read(proc_root.path()), WANTED);
        let found = finding(&findings, "descriptors");
        assert_eq!(found.level, Level::Fail);
        assert!(found.found.contains("4,032 connections a worker"), "{}", found.found);
        for part in ["fs.nr_open", "LimitNOFILE=65536", "--ulimit nofile=65536", "limits.d"] {
            assert!(found.fix.iter().any(|line| line.contains(part)), "{part}");
        }
    }

    #[test]
    fn a_low_soft_limit_is_no_finding_because_run_raises_it() {
        let proc_root = Folder::new("soft");
        proc_root.write("self/limits", limits("1024", "unlimited"));
        let findings = examine(&System::read(proc_root.path()), WANTED);
        assert_eq!(finding(&findings, "descriptors").level, Level::Ok);
    }

    #[test]
    fn the_kernel_variables_are_judged_against_what_is_wanted() {
        let proc_root = Folder::new("kernel");
        proc_root.write("sys/fs/file-max", "9000\n");
        proc_root.write("sys/fs/file-nr", "1000\t0\t9000\n");
        proc_root.write("sys/vm/max_map_count", "4000\n");
        proc_root.write("sys/kernel/osrelease", "6.1.0-28-amd64\n");
        proc_root.write("sys/vm/overcommit_memory", "2\n");
        proc_root.write("meminfo", "MemTotal: 900000 kB\nMemAvailable: 65536 kB\n");
        let findings = examine(&System::read(proc_root.path()), WANTED);
        assert_eq!(finding(&findings, "file-max").level, Level::Fail);
        assert_eq!(finding(&findings, "file-max").fix[0], "sudo sysctl -w fs.file-max='22000'");
        assert_eq!(finding(&findings, "map-count").level, Level::Fail);
        assert_eq!(finding(&findings, "overcommit").level, Level::Warn);
        assert_eq!(finding(&findings, "memory").level, Level::Warn);
    }

    #[test]
    fn guard_pages_cost_mappings_only_on_older_kernels() {
        let proc_root = Folder::new("maps");
        proc_root.write("sys/vm/max_map_count", "65530\n");
        for (release, need) in
            [("6.1.0-28-amd64", "34,000"), ("6.12.9", "34,000"), ("6.13.0-rc1", "2,000"), ("7.0.1", "2,000")]
        {
            proc_root.write("sys/kernel/osrelease", release);
            let findings = examine(&System::read(proc_root.path()), WANTED);
            let found = finding(&findings, "map-count");
            assert!(found.level == Level::Ok && found.found.ends_with(need), "{release}: {}", found.found);
        }
    }

    #[test]
    fn what_the_kernel_does_not_say_is_no_finding() {
        let proc_root = Folder::new("silent");
        assert!(examine(&System::read(proc_root.path()), WANTED).is_empty());
    }
}
