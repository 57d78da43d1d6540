//! Queues, ports and counts of sockets.

use super::system::System;
use super::{Finding, Level, Wanted, grouped, sysctl};

/// Fewer ephemeral ports than this are used up by an ordinary load of outgoing connections in TIME-WAIT.
const FEW_PORTS: u64 = 20_000;

pub(crate) fn examine(system: &System, wanted: Wanted) -> Vec<Finding> {
    [
        backlog(system, wanted),
        syn_backlog(system, wanted),
        overflows(system),
        time_wait(system),
        ports(system),
        conntrack(system),
        counts(system),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn backlog(system: &System, wanted: Wanted) -> Option<Finding> {
    let most = system.number("net.core.somaxconn")?;
    let found = format!("net.core.somaxconn: {}; backlog asked for {}", grouped(most), grouped(wanted.backlog));
    if most >= wanted.backlog {
        return Some(Finding::new("backlog", Level::Ok, found));
    }
    // listen(2) says nothing of it: the queue is silently the smaller one.
    let fix = sysctl("net.core.somaxconn", wanted.backlog.max(4_096));
    Some(Finding::new("backlog", Level::Warn, format!("{found}: cut to {}", grouped(most))).fix(fix))
}

fn syn_backlog(system: &System, wanted: Wanted) -> Option<Finding> {
    let most = system.number("net.ipv4.tcp_max_syn_backlog")?;
    let cookies = system.number("net.ipv4.tcp_syncookies").unwrap_or(0);
    let state = if cookies == 0 { "off" } else { "on" };
    let found = format!("net.ipv4.tcp_max_syn_backlog: {}, SYN cookies {state}", grouped(most));
    if cookies > 0 || most >= wanted.backlog {
        return Some(Finding::new("syn-backlog", Level::Ok, found));
    }
    let fix = sysctl("net.ipv4.tcp_max_syn_backlog", wanted.backlog.max(1_024));
    Some(Finding::new("syn-backlog", Level::Warn, found).fix(fix))
}

fn overflows(system: &System) -> Option<Finding> {
    system.counters.get("TcpExt.ListenOverflows").map(|count| {
        let level = if *count == 0 { Level::Ok } else { Level::Note };
        Finding::new("overflows", level, format!("accept queues overflowed {} times since boot", grouped(*count)))
    })
}

fn time_wait(system: &System) -> Option<Finding> {
    let most = system.number("net.ipv4.tcp_max_tw_buckets")?;
    let count = system.counter("TCP.tw");
    let reuse = system.number("net.ipv4.tcp_tw_reuse").unwrap_or(0);
    let reuse_name = match reuse {
        0 => "off",
        1 => "on",
        _ => "loopback only",
    };
    let found = format!(
        "TIME-WAIT: {} of {} (net.ipv4.tcp_max_tw_buckets), reuse {reuse_name} (net.ipv4.tcp_tw_reuse={reuse})",
        grouped(count),
        grouped(most),
    );
    if count >= most / 2 && count > 0 {
        let fix = sysctl("net.ipv4.tcp_max_tw_buckets", most.saturating_mul(2));
        return Some(Finding::new("time-wait", Level::Warn, found).fix(fix));
    }
    if reuse != 1 && count > port_count(system).unwrap_or(u64::MAX) / 2 {
        return Some(Finding::new("time-wait", Level::Warn, found).fix(sysctl("net.ipv4.tcp_tw_reuse", 1)));
    }
    Some(Finding::new("time-wait", Level::Ok, found))
}

fn port_count(system: &System) -> Option<u64> {
    let range = system.variable("net.ipv4.ip_local_port_range")?;
    Some((range.get(1)? + 1).saturating_sub(*range.first()?))
}

fn ports(system: &System) -> Option<Finding> {
    let count = port_count(system)?;
    let range = system.variable("net.ipv4.ip_local_port_range")?;
    let found = format!(
        "ephemeral ports: {}-{}: {} connections at once to one remote address and port",
        range.first()?,
        range.get(1)?,
        grouped(count)
    );
    if count >= FEW_PORTS {
        return Some(Finding::new("ports", Level::Ok, found));
    }
    Some(Finding::new("ports", Level::Warn, found).fix(sysctl("net.ipv4.ip_local_port_range", "15000 60999")))
}

fn conntrack(system: &System) -> Option<Finding> {
    let most = system.number("net.netfilter.nf_conntrack_max")?;
    let count = system.number("net.netfilter.nf_conntrack_count")?;
    let found =
        format!("tracked connections: {} of {} (net.netfilter.nf_conntrack_max)", grouped(count), grouped(most));
    // A full table drops packets of new connections without a word to either side.
    if count.saturating_mul(10) >= most.saturating_mul(8) {
        let fix = sysctl("net.netfilter.nf_conntrack_max", most.saturating_mul(2));
        return Some(Finding::new("conntrack", Level::Warn, found).fix(fix));
    }
    Some(Finding::new("conntrack", Level::Ok, found))
}

/// The figures of `ss -s`.
fn counts(system: &System) -> Option<Finding> {
    if !system.counters.contains_key("sockets.used") {
        return None;
    }
    let [used, alloc, established, orphaned, waiting, udp] =
        ["sockets.used", "TCP.alloc", "Tcp.CurrEstab", "TCP.orphan", "TCP.tw", "UDP.inuse"]
            .map(|name| system.counter(name));
    let udp = udp + system.counter("UDP6.inuse");
    Some(Finding::new(
        "sockets",
        Level::Note,
        format!(
            "sockets: {} in use; TCP {} (established {}, orphaned {}, TIME-WAIT {}); UDP {}",
            grouped(used),
            grouped(alloc + waiting),
            grouped(established),
            grouped(orphaned),
            grouped(waiting),
            grouped(udp),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::system::tests::{WANTED, finding};
    use apus_scratch::Folder;

    fn healthy(name: &str) -> Folder {
        let proc_root = Folder::new(name);
        proc_root.write("sys/net/core/somaxconn", "4096\n");
        proc_root.write("sys/net/ipv4/tcp_max_syn_backlog", "128\n");
        proc_root.write("sys/net/ipv4/tcp_syncookies", "1\n");
        proc_root.write("sys/net/ipv4/tcp_max_tw_buckets", "131072\n");
        proc_root.write("sys/net/ipv4/tcp_tw_reuse", "2\n");
        proc_root.write("sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        proc_root.write(
            "net/sockstat",
            "sockets: used 301\nTCP: inuse 7 orphan 2 tw 11 alloc 20 mem 3\nUDP: inuse 4 mem 0\n",
        );
        proc_root.write("net/sockstat6", "UDP6: inuse 1\n");
        proc_root.write("net/snmp", "Tcp: RtoMin MaxConn CurrEstab\nTcp: 200 -1 5\n");
        proc_root.write("net/netstat", "TcpExt: ListenOverflows ListenDrops\nTcpExt: 3 3\n");
        proc_root
    }

    #[test]
    fn a_healthy_machine_has_nothing_to_mend() {
        let proc_root = healthy("healthy");
        let findings = examine(&System::read(proc_root.path()), WANTED);
        assert!(findings.iter().all(|finding| finding.level <= Level::Note), "{findings:?}");
        let line = &finding(&findings, "sockets").found;
        assert_eq!(line, "sockets: 301 in use; TCP 31 (established 5, orphaned 2, TIME-WAIT 11); UDP 5");
        assert!(finding(&findings, "ports").found.contains("28,232 connections"));
        assert!(finding(&findings, "overflows").found.contains("3 times"));
    }

    #[test]
    fn a_small_accept_queue_is_named_with_its_mend() {
        let proc_root = healthy("backlog");
        proc_root.write("sys/net/core/somaxconn", "128\n");
        proc_root.write("sys/net/ipv4/tcp_syncookies", "0\n");
        let findings = examine(&System::read(proc_root.path()), WANTED);
        let found = finding(&findings, "backlog");
        assert_eq!((found.level, found.fix[0].as_str()), (Level::Warn, "sudo sysctl -w net.core.somaxconn='4096'"));
        assert_eq!(finding(&findings, "syn-backlog").level, Level::Warn);
    }

    #[test]
    fn many_time_waits_ask_for_reuse_and_then_for_room() {
        let proc_root = healthy("time-wait");
        proc_root.write("net/sockstat", "sockets: used 1\nTCP: inuse 1 orphan 0 tw 20000 alloc 1 mem 1\n");
        let findings = examine(&System::read(proc_root.path()), WANTED);
        assert!(finding(&findings, "time-wait").fix[0].contains("tcp_tw_reuse='1'"));
        proc_root.write("net/sockstat", "sockets: used 1\nTCP: inuse 1 orphan 0 tw 70000 alloc 1 mem 1\n");
        let findings = examine(&System::read(proc_root.path()), WANTED);
        assert!(finding(&findings, "time-wait").fix[0].contains("tcp_max_tw_buckets='262144'"));
    }

    #[test]
    fn few_ports_and_a_full_connection_table_are_warned_of() {
        let proc_root = healthy("ports");
        proc_root.write("sys/net/ipv4/ip_local_port_range", "50000\t59999\n");
        proc_root.write("sys/net/netfilter/nf_conntrack_max", "1000\n");
        proc_root.write("sys/net/netfilter/nf_conntrack_count", "900\n");
        let findings = examine(&System::read(proc_root.path()), WANTED);
        assert_eq!(finding(&findings, "ports").level, Level::Warn);
        assert_eq!(finding(&findings, "conntrack").level, Level::Warn);
    }
}
