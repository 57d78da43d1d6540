use super::*;

#[test]
fn every_limit_fits_its_field_and_nothing_beyond_it_passes() {
    for row in ROWS {
        let mut settings = Settings::default();
        let (least, most, below, above) = match row.kind {
            Kind::Int { min, max, .. } | Kind::Size { min, max } => {
                (Value::Int(min), Value::Int(max), Some(Value::Int(min - 1)), max.checked_add(1).map(Value::Int))
            }
            Kind::Duration { min, max } => {
                (Value::Float(min), Value::Float(max), Some(Value::Float(min - 0.001)), Some(Value::Float(max + 0.001)))
            }
            _ => continue,
        };
        settings.set(row.name, &least).expect(row.name);
        assert_eq!(settings.get(row.name), Some(least));
        settings.set(row.name, &most).expect(row.name);
        assert_eq!(settings.get(row.name), Some(most.clone()));
        for beyond in [below, above].into_iter().flatten() {
            let error = settings.set(row.name, &beyond).expect_err(row.name).to_string();
            assert!(error.contains(row.name) && error.contains("from"), "{error}");
            assert_eq!(settings.get(row.name), Some(most.clone()), "a refused value changes nothing");
        }
    }
}

#[test]
fn an_alias_sets_the_same_setting() {
    let mut settings = Settings::default();
    settings.set("max_conn", &Value::Int(7)).unwrap();
    assert_eq!(settings.max_connection, 7);
    assert_eq!(settings.get("max_conn"), Some(Value::Int(7)));
}

#[test]
fn typed_fields_take_php_spellings() {
    let mut settings = Settings::default();
    settings.set("package_max_length", &"2M".into()).unwrap();
    settings.set("max_wait_time", &"1500ms".into()).unwrap();
    settings.set("log_level", &"warning".into()).unwrap();
    settings.set("daemonize", &Value::Int(1)).unwrap();
    settings.set("cpu_affinity_ignore", &Value::List(vec![Value::Int(0)])).unwrap();
    assert_eq!(settings.package_max_length, 2 << 20);
    assert_eq!(settings.max_wait_time, Duration::from_millis(1500));
    assert_eq!((settings.log_level, settings.daemonize), (4, true));
    assert_eq!(settings.cpu_affinity_ignore, [0]);
}

#[test]
fn errors_say_what_to_do() {
    let mut settings = Settings::default();
    let error = |s: &mut Settings, name: &str, value: Value| s.set(name, &value).unwrap_err().to_string();
    assert_eq!(
        error(&mut settings, "worker_num", Value::Int(0)),
        "setting \"worker_num\" must be a whole number of processes from 1 to 1024, 0 given"
    );
    assert_eq!(
        error(&mut settings, "worker_nmu", Value::Int(1)),
        "unknown setting \"worker_nmu\": did you mean \"worker_num\"?"
    );
    assert_eq!(
        error(&mut settings, "stats_file", "x".into()),
        "setting \"stats_file\" is not supported by this version of Apus: remove it or switch it off. Use Server::stats() or `apus status \
         --json`."
    );
    assert!(error(&mut settings, "log_file", "a\0b".into()).contains("NUL"));
}

#[test]
fn a_missing_feature_switched_off_is_fine_and_an_inert_one_is_remembered() {
    let mut settings = Settings::default();
    settings.set("task_worker_num", &Value::Int(0)).unwrap();
    settings.set("reactor_num", &Value::Int(4)).unwrap();
    assert_eq!(settings.get("reactor_num"), Some(Value::Int(4)));
    assert_eq!(settings.get("send_yield"), None);
}
