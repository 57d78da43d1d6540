//! Brokers of more than one server: Redis Sentinel, Redis Cluster, a NATS cluster.

use apus_client::broker::{Broker, BrokerOptions, BrokerUrl, Published, Report};

use super::servers::{Kind, Reports, Server, free_port, numbered, run, wait_for};

/// Publishes until it arrives: of what is published while a server changes hands, some may be lost.
async fn arrives(from: &Broker, to: &Broker, number: u32) {
    loop {
        assert_eq!(from.publish("a", numbered(number)), Published::Queued);
        let pause = std::time::Duration::from_millis(20);
        while let Ok(message) = tokio::time::timeout(pause, to.receive()).await {
            if message.payload == numbered(number) {
                return;
            }
        }
    }
}

fn master_and_replica() -> Option<(Server, Server)> {
    let master = Server::start(Kind::Redis, &[])?;
    let replica = Server::start(Kind::Redis, &["--replicaof", "127.0.0.1", &master.port.to_string()])?;
    wait_for("the replica follows", || replica.ask(&["ROLE"]).contains("connected"));
    Some((master, replica))
}

/// A Sentinel of a master called `main`, which one Sentinel alone may declare dead.
fn sentinel(master: &Server, more: &[&str]) -> Option<Server> {
    let monitor = format!("sentinel monitor main 127.0.0.1 {} 1", master.port);
    let mut lines = vec![&*monitor, "sentinel down-after-milliseconds main 200", "sentinel failover-timeout main 2000"];
    lines.extend(more);
    Server::start(Kind::Sentinel, &lines)
}

#[test]
fn sentinels_tell_the_master_and_its_successor() {
    let Some((mut master, replica)) = master_and_replica() else { return };
    let Some(sentinel) = sentinel(&master, &["requirepass s3cret"]) else { return };
    let knows = |word: &str| sentinel.ask(&["-a", "s3cret", "SENTINEL", "replicas", "main"]).contains(word);
    wait_for("the Sentinel knows the replica", || knows(&replica.port.to_string()));
    // The first Sentinel of the URL is not there.
    let url = sentinel.url_of(&format!("redis+sentinel://127.0.0.1:{},127.0.0.1:PORT/main", free_port()));
    let login = Some((String::new(), "s3cret".to_owned()));
    run(async {
        let reports = Reports::default();
        let options = || BrokerOptions { sentinel_login: login.clone(), ..reports.options() };
        let (from, to) = (Broker::open(url.clone(), options()), Broker::open(url.clone(), options()));
        assert!(to.subscribe("a"));
        to.synced().await;
        arrives(&from, &to, 1).await;
        // Pub/sub crosses to replicas: who hears says nothing about where it is connected.
        assert!(master.ask(&["PUBSUB", "CHANNELS"]).contains('a'));
        master.kill();
        reports.until(|report| matches!(report, Report::Lost(_))).await;
        arrives(&from, &to, 2).await;
        assert!(replica.ask(&["ROLE"]).starts_with("master"));
        assert!(replica.ask(&["PUBSUB", "CHANNELS"]).contains('a'));
    });
}

#[test]
fn what_sentinels_refuse_is_told() {
    let Some(master) = Server::start(Kind::Redis, &[]) else { return };
    let Some(sentinel) = sentinel(&master, &["requirepass s3cret"]) else { return };
    let login = Some((String::new(), "s3cret".to_owned()));
    for (service, login, word) in
        [("main", None, "broker_sentinel_password"), ("other", login, "it knows no master \"other\"")]
    {
        run(async {
            let reports = Reports::default();
            let options = BrokerOptions { sentinel_login: login, ..reports.options() };
            let broker = Broker::open(sentinel.url_of(&format!("redis+sentinel://127.0.0.1:PORT/{service}")), options);
            reports.until(|report| matches!(report, Report::Lost(why) if why.contains(word))).await;
            assert!(!broker.is_connected());
        });
    }
}

/// Three masters that share the slots.
fn cluster() -> Option<Vec<Server>> {
    let mut nodes = Vec::new();
    for _ in 0..3 {
        let bus = free_port().to_string();
        let words = ["--cluster-enabled", "yes", "--cluster-port", &bus, "--cluster-node-timeout", "1000"];
        nodes.push(Server::start(Kind::Redis, &words)?);
    }
    let places: Vec<String> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    let mut words = vec!["--cluster", "create"];
    words.extend(places.iter().map(|place| &**place));
    words.extend(["--cluster-replicas", "0", "--cluster-yes"]);
    let said = nodes[0].ask(&words);
    assert!(said.contains("All 16384 slots covered"), "{said}");
    wait_for("all nodes agree", || {
        nodes.iter().all(|node| node.ask(&["CLUSTER", "INFO"]).contains("cluster_state:ok"))
    });
    Some(nodes)
}

#[test]
fn any_node_of_a_redis_cluster_reaches_all() {
    let Some(mut nodes) = cluster() else { return };
    run(async {
        let reports = Reports::default();
        let single = |node: &Server| node.url_of("redis+cluster://127.0.0.1:PORT");
        let from = Broker::open(single(&nodes[0]), BrokerOptions::default());
        let to = Broker::open(single(&nodes[1]), BrokerOptions::default());
        // This one may be at any of them, and finds another when its own dies.
        let ports: Vec<String> = nodes[1..].iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        let all = BrokerUrl::parse(&format!("redis+cluster://{}", ports.join(","))).unwrap();
        let roamer = Broker::open(all, reports.options());
        for broker in [&to, &roamer] {
            assert!(broker.subscribe("a"));
            broker.synced().await;
            arrives(&from, broker, 1).await;
        }
        // Messages of one publisher come in order, whatever their subjects' slots are.
        assert!(to.subscribe("b") && to.subscribe("c"));
        to.synced().await;
        for number in 10..1010 {
            assert_eq!(from.publish(["b", "c"][number as usize % 2], numbered(number)), Published::Queued);
        }
        let mut came = Vec::new();
        while came.len() < 1000 {
            let message = to.receive().await;
            // Some that looked for the way may still come, on a subject of their own.
            if &*message.subject != "a" {
                came.push(message.payload);
            }
        }
        assert!(came.into_iter().eq((10..1010).map(numbered)));
        let home = if nodes[1].ask(&["PUBSUB", "NUMSUB", "a"]).contains('2') { 1 } else { 2 };
        nodes[home].kill();
        reports.until(|report| matches!(report, Report::Lost(_))).await;
        arrives(&from, &roamer, 2).await;
    });
}

#[test]
fn the_servers_of_a_nats_cluster_stand_in_for_each_other() {
    let (one, other) = (free_port().to_string(), free_port().to_string());
    let node = |here: &str, there: &str| {
        let (here, there) = (format!("nats://127.0.0.1:{here}"), format!("nats://127.0.0.1:{there}"));
        Server::start(Kind::Nats, &["--cluster_name", "test", "--cluster", &here, "--routes", &there])
    };
    let (Some(mut first), Some(mut second)) = (node(&one, &other), node(&other, &one)) else { return };
    let both = format!("nats://127.0.0.1:{},127.0.0.1:{}", first.port, second.port);
    run(async {
        let reports = Reports::default();
        let (roamer, to) = (
            Broker::open(BrokerUrl::parse(&both).unwrap(), reports.options()),
            Broker::open(second.url(""), BrokerOptions::default()),
        );
        for broker in [&roamer, &to] {
            assert!(broker.subscribe("a"));
            broker.synced().await;
        }
        arrives(&roamer, &to, 1).await;
        first.kill();
        // Wherever it was, it is at the second now.
        arrives(&to, &roamer, 2).await;
        second.kill();
        reports.until(|report| matches!(report, Report::Lost(why) if why.contains(&second.port.to_string()))).await;
        first.run();
        arrives(&roamer, &roamer, 3).await;
    });
}
