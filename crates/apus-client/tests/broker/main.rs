//! Brokers against real servers, which each test starts for itself.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "what is missing fails the test")]

mod logins;
mod servers;
mod several;

use std::time::Duration;

use apus_client::broker::{Broker, BrokerOptions, BrokerUrl, Published, Report};
use bytes::Bytes;
use servers::{Kind, Reports, Server, free_port, numbered, run, with_each};

#[test]
fn what_is_published_arrives_complete_and_in_order() {
    with_each(&[], async |server| {
        let (from, to) = (
            Broker::open(server.url(""), BrokerOptions::default()),
            Broker::open(server.url(""), BrokerOptions::default()),
        );
        assert!(to.subscribe("a.one") && to.subscribe("a.two"));
        to.synced().await;
        // Published before there is a connection: it waits for one.
        let large: Bytes = (0..900_000u32).map(|at| (at % 251) as u8).collect();
        assert_eq!(from.publish("a.two", large.clone()), Published::Queued);
        assert_eq!(from.publish("a.nobody", numbered(7)), Published::Queued);
        for number in 0..10_000 {
            assert_eq!(from.publish("a.one", numbered(number)), Published::Queued);
        }
        let first = to.receive().await;
        assert_eq!((&*first.subject, first.payload == large), ("a.two", true));
        for number in 0..10_000 {
            let message = to.receive().await;
            assert_eq!((&*message.subject, &message.payload), ("a.one", &numbered(number)));
        }
        from.flushed().await;
        assert_eq!((from.dropped(), to.dropped(), to.try_receive()), (0, 0, None));
    });
}

#[test]
fn what_is_no_longer_wanted_does_not_come() {
    with_each(&[], async |server| {
        let broker = Broker::open(server.url(""), BrokerOptions::default());
        for subject in ["a", "b", "c"] {
            assert!(broker.subscribe(subject));
        }
        broker.unsubscribe("c");
        broker.synced().await;
        broker.unsubscribe("a");
        broker.unsubscribe("b");
        assert!(broker.subscribe("b"));
        broker.synced().await;
        for subject in ["a", "b", "c"] {
            assert_eq!(broker.publish(subject, Bytes::new()), Published::Queued);
        }
        assert!(broker.subscribe("end"));
        broker.synced().await;
        assert_eq!(broker.publish("end", Bytes::new()), Published::Queued);
        assert_eq!(&*broker.receive().await.subject, "b");
        assert_eq!(&*broker.receive().await.subject, "end");
    });
}

#[test]
fn a_killed_server_is_found_again_with_what_was_subscribed() {
    with_each(&[], async |mut server| {
        let reports = Reports::default();
        let broker = Broker::open(server.url(""), reports.options());
        assert!(broker.subscribe("kept"));
        broker.synced().await;
        server.kill();
        reports.until(|report| matches!(report, Report::Lost(_))).await;
        assert!(!broker.is_connected());
        assert!(broker.subscribe("added"));
        assert_eq!(broker.publish("kept", numbered(1)), Published::Queued);
        server.run();
        broker.synced().await;
        assert_eq!(broker.publish("added", numbered(2)), Published::Queued);
        // What waited for the connection is sent behind the subscriptions.
        assert_eq!(broker.receive().await.payload, numbered(1));
        assert_eq!(broker.receive().await.payload, numbered(2));
        // How long others were not heard is told: what they sent meanwhile is lost.
        let reports = reports.0.borrow();
        let told = |what: fn(&Report) -> bool| reports.iter().filter(|report| what(report)).count();
        assert_eq!(told(|report| *report == Report::Connected), 1);
        assert_eq!(told(|report| matches!(report, Report::Reconnected(gap) if !gap.is_zero())), 1);
    });
}

#[test]
fn what_waits_for_a_connection_is_bounded_and_counted() {
    let reports = Reports::default();
    let url = BrokerUrl::parse(&format!("redis://127.0.0.1:{}", free_port())).unwrap();
    run(async {
        let broker = Broker::open(url, BrokerOptions { max_queued: 10_000, ..reports.options() });
        let payload = Bytes::from(vec![0; 936]);
        let queued = (0..100).filter(|_| broker.publish("a", payload.clone()) == Published::Queued).count();
        assert_eq!((queued, broker.dropped()), (9, 91));
        reports.until(|report| matches!(report, Report::Lost(_))).await;
        assert_eq!(reports.0.borrow()[0], Report::Dropped(1));
        // The same failure is told once, however many attempts there are.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let lost = reports.0.borrow().iter().filter(|report| matches!(report, Report::Lost(_))).count();
        assert_eq!(lost, 1);
    });
}

#[test]
fn a_reader_that_falls_behind_loses_nothing_within_its_limit() {
    with_each(&[], async |server| {
        let to = Broker::open(server.url(""), BrokerOptions { max_received: 10_000, ..BrokerOptions::default() });
        let from = Broker::open(server.url(""), BrokerOptions::default());
        assert!(to.subscribe("a"));
        to.synced().await;
        for number in 0..20_000 {
            assert_eq!(from.publish("a", numbered(number)), Published::Queued);
        }
        from.flushed().await;
        for number in 0..20_000 {
            assert_eq!(to.receive().await.payload, numbered(number));
        }
    });
}

#[test]
fn logins_are_used_and_refusals_are_told() {
    for (kind, arguments, right, wrong) in [
        (Kind::Redis, &["--user", "tester", "on", ">s3cret", "~*", "&*", "+@all"][..], "tester:s3cret@", "tester:no@"),
        (Kind::Redis, &["--requirepass", "s3cret"], ":s3cret@", ""),
        (Kind::Nats, &["--user", "tester", "--pass", "s3cret"], "tester:s3cret@", "tester:no@"),
        (Kind::Nats, &["--auth", "t0ken"], "t0ken@", "nothing@"),
    ] {
        let Some(server) = Server::start(kind, arguments) else { continue };
        run(async {
            let broker = Broker::open(server.url(right), BrokerOptions::default());
            broker.synced().await;
            let reports = Reports::default();
            let refused = Broker::open(server.url(wrong), reports.options());
            reports.until(|report| matches!(report, Report::Lost(why) if why.contains("refused the login"))).await;
            assert!(!refused.is_connected());
        });
    }
}

#[test]
fn a_message_that_the_broker_would_not_take_is_refused_here() {
    let Some(server) = Server::start(Kind::Nats, &[]) else { return };
    run(async {
        let broker = Broker::open(server.url(""), BrokerOptions::default());
        assert!(broker.subscribe("a"));
        // The broker's limit of 1 MiB is not known yet.
        assert_eq!(broker.publish("a", Bytes::from(vec![0; 2 << 20])), Published::Queued);
        broker.synced().await;
        assert_eq!(broker.publish("a", Bytes::from(vec![0; 2 << 20])), Published::TooLarge);
        assert_eq!(broker.publish("a", numbered(1)), Published::Queued);
        assert_eq!(broker.receive().await.payload, numbered(1));
        assert_eq!(broker.dropped(), 2);
        assert_eq!(broker.publish("a b", Bytes::new()), Published::BadSubject);
        assert_eq!(broker.publish("a.>", Bytes::new()), Published::BadSubject);
        assert!(!broker.subscribe("") && !broker.subscribe("a..b") && !broker.subscribe(&"a".repeat(1025)));
    });
}

#[test]
fn a_broker_that_falls_silent_is_given_up() {
    with_each(&[], async |server| {
        let reports = Reports::default();
        let options = BrokerOptions { ping_interval: Duration::from_millis(100), ..reports.options() };
        let broker = Broker::open(server.url(""), options);
        broker.synced().await;
        // A silence that pings break is none.
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(*reports.0.borrow(), [Report::Connected]);
        server.signal(19);
        reports.until(|report| matches!(report, Report::Lost(why) if why.contains("said nothing"))).await;
        server.signal(18);
        broker.synced().await;
    });
}
