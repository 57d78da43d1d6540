use super::*;

fn value(series: &Series, labels: &[&[u8]]) -> u64 {
    series.words(series.find(labels).slot)[0].load(Relaxed)
}

fn add(series: &Series, labels: &[&[u8]]) {
    series.words(series.find(labels).slot)[0].fetch_add(1, Relaxed);
}

fn all(series: &Series) -> Vec<(Vec<String>, u64)> {
    series.all().into_iter().map(|(labels, words)| (labels, words[0].load(Relaxed))).collect()
}

#[test]
fn labels_tell_series_apart() {
    let series = Series::new(2, 1, 100).unwrap();
    for (one, other) in [("a", "b"), ("ab", ""), ("", "ab"), ("a", "b"), ("exactly8", "longer than eight")] {
        add(&series, &[one.as_bytes(), other.as_bytes()]);
    }
    assert_eq!(value(&series, &[b"a", b"b"]), 2);
    assert_eq!(series.peek(&[b"b", b"a"]), None);
    let row = |one: &str, other: &str, value| (vec![one.to_owned(), other.to_owned()], value);
    let expected = [row("", "ab", 1), row("a", "b", 2), row("ab", "", 1), row("exactly8", "longer than eight", 1)];
    assert_eq!(all(&series), expected);
}

#[test]
fn without_labels_there_is_one() {
    let series = Series::new(0, 2, 5).unwrap();
    series.words(series.find(&[]).slot)[1].store(7, Relaxed);
    assert_eq!(series.all()[0].1[1].load(Relaxed), 7);
    assert_eq!(series.all().len(), 1);
}

#[test]
fn what_finds_no_room_is_counted_together_and_told_once() {
    let series = Series::new(1, 1, 3).unwrap();
    let told: Vec<_> = (0..6u8).map(|at| series.find(&[&[b'a' + at]]).is_first_without_room).collect();
    assert_eq!(told, [false, false, false, true, false, false]);
    assert_eq!(series.all().len(), 3);
    for label in [b"x".as_slice(), b"y", b"a", OTHER.as_bytes()] {
        add(&series, &[label]);
    }
    let row = |text: &str, value| (vec![text.to_owned()], value);
    assert_eq!(all(&series), [row("a", 1), row("b", 0), row("c", 0), row(OTHER, 3)]);
}

#[test]
fn labels_are_text_of_bounded_length() {
    let series = Series::new(1, 1, 10).unwrap();
    add(&series, &[b"\xff"]);
    add(&series, &["\u{fffd}".as_bytes()]);
    let long = "é".repeat(LABEL_MOST);
    add(&series, &[long.as_bytes()]);
    add(&series, &[format!("{long}x").as_bytes()]);
    let row = |text: String, value| (vec![text], value);
    assert_eq!(all(&series), [row("é".repeat(LABEL_MOST / 2), 2), row("\u{fffd}".to_owned(), 2)]);
}

#[test]
fn floats_are_added() {
    let word = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10_000).for_each(|_| add_float(&word, 0.5)));
        }
    });
    assert_eq!(word.load(Relaxed), 20_000f64.to_bits());
}

/// Children make series and count until they are killed; the rest of them, and whoever reads, find whole ones.
#[test]
fn makers_may_be_killed() {
    const SERIES: usize = 300;
    let kills = std::env::var("APUS_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(40);
    let known = |labels: &[String]| labels[0] == format!("{0}-{0}-{0}", labels[1]);
    for round in 0..kills {
        let series = Series::new(2, 1, SERIES).unwrap();
        let make = |from: usize| {
            for at in (0..SERIES * 2).cycle().skip(from) {
                let number = at.to_string();
                let text = format!("{number}-{number}-{number}");
                add(&series, &[text.as_bytes(), number.as_bytes()]);
            }
        };
        let children: Vec<_> = (0..2)
            .map(|child| {
                // SAFETY: the child uses memory that was mapped before, allocates, and ends by a signal.
                let pid = unsafe { libc::fork() };
                if pid == 0 {
                    make(child * 7);
                }
                pid
            })
            .collect();
        while series.head().made.load(Relaxed) < (round as u32 * 37) % SERIES as u32 {
            std::hint::spin_loop();
        }
        for child in children {
            // SAFETY: a child of this process, which nobody has waited for.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, std::ptr::null_mut(), 0);
            }
        }
        // Whoever comes next gets the mutex, and finds room for exactly what is left.
        for at in 0..SERIES {
            let number = at.to_string();
            add(&series, &[format!("{number}-{number}-{number}").as_bytes(), number.as_bytes()]);
        }
        let own: Vec<_> =
            series.all().into_iter().map(|(labels, _)| labels).filter(|labels| labels[0] != OTHER).collect();
        assert_eq!(own.len(), SERIES);
        assert!(own.iter().all(|labels| known(labels)), "a torn label");
        assert!(own.windows(2).all(|two| two[0] != two[1]), "made twice");
        assert_eq!(series.head().made.load(Relaxed) as usize, SERIES + 1);
    }
}
