//! `Apus\Database\RedisPool` and `Apus\Database\RedisConfig`.

use apus_zend::class::{Class, Method, Property};
use apus_zend::value::{Key, View};
use apus_zend::{Array, Call, Raise, Value, engine, handler};

use super::class::{construct_with, slot as pool_slot};
use super::config::{self, Config, property};
use super::php;
use crate::coroutine::construct;
use crate::exception::entry;

mod slot {
    pub(super) const HOST: u32 = 0;
    pub(super) const PORT: u32 = 1;
    pub(super) const TIMEOUT: u32 = 2;
    pub(super) const RESERVED: u32 = 3;
    pub(super) const RETRY_INTERVAL: u32 = 4;
    pub(super) const READ_TIMEOUT: u32 = 5;
    pub(super) const AUTH: u32 = 6;
    pub(super) const DB_INDEX: u32 = 7;
    pub(super) const OPTIONS: u32 = 8;
}

property!(slot::HOST, get_host by get, with_host by with_text);
property!(slot::PORT, get_port by get, with_port by with_port);
property!(slot::TIMEOUT, get_timeout by get_seconds, with_timeout by with_seconds);
property!(slot::RESERVED, get_reserved by get, with_reserved by with_text);
property!(slot::RETRY_INTERVAL, get_retry by get, with_retry by with_count);
property!(slot::READ_TIMEOUT, get_read_timeout by get_seconds, with_read_timeout by with_seconds);
property!(slot::AUTH, get_auth by get, with_auth by with_text);
property!(slot::DB_INDEX, get_db by get, with_db by with_count);
property!(slot::OPTIONS, get_options by get_array, set_options by with_array);

/// Adds to the options, or overwrites one.
fn with_option(call: &Call) -> Result<(), Raise> {
    call.expect(2, 2)?;
    let option = call.int(0, 0)?;
    let object = config::this(call)?;
    let old = object.slot(slot::OPTIONS);
    let mut options = Array::new(4)?;
    if let View::Array(old) = old.view() {
        for (key, zval) in old.iter() {
            if let Key::Index(index) = key {
                // SAFETY: the element lives as long as the array, which `old` holds unchanged.
                options.set_index(index, unsafe { Value::copy_of(zval) })?;
            }
        }
    }
    options.set_index(option.cast_unsigned(), call.value(1))?;
    config::with(call, slot::OPTIONS, options.into())
}

fn construct_pool(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let given = call.value(0);
    match given.view() {
        View::Object(object) if CONFIG.get().contains(object) => {}
        _ => return Err(call.type_error(0, "of type Apus\\Database\\RedisConfig")),
    }
    config::expect_class("redis", "redis")?;
    construct_with(call, 1)?.set_slot(pool_slot::CONFIG, given);
    Ok(())
}

fn refused(what: &str) -> Raise {
    engine::throw_error(&format!("Redis refused {what}"))
}

/// Connects as a configuration says. Waits.
pub(super) fn connect(config: &Value) -> Result<Value, Raise> {
    let config = Config::of(config)?;
    let redis: Value = construct("Redis", None, &[])?.into();
    let reserved = config.text(slot::RESERVED);
    let args = [
        config.value(slot::HOST),
        config.value(slot::PORT),
        Value::float(config.float(slot::TIMEOUT)),
        if reserved.is_empty() { Value::null() } else { php::text(&reserved)? },
        config.value(slot::RETRY_INTERVAL),
        Value::float(config.float(slot::READ_TIMEOUT)),
    ];
    let done = |name: &str, args: &[Value]| php::method(&redis, name, args).map(|answer| !php::is_false(&answer));
    if !done("connect", &args)? {
        return Err(refused("the connection"));
    }
    if !config.text(slot::AUTH).is_empty() && !done("auth", &[config.value(slot::AUTH)])? {
        return Err(refused("the password"));
    }
    let database = config.integer(slot::DB_INDEX);
    if database != 0 && !done("select", &[Value::int(database)])? {
        return Err(refused(&format!("database {database}")));
    }
    config.each_option(slot::OPTIONS, |option, value| {
        if done("setOption", &[Value::int(option), value])? {
            return Ok(());
        }
        Err(engine::throw_error(&format!("Redis::setOption() does not take option {option}")))
    })?;
    Ok(redis)
}

/// `Apus\Database\RedisConfig`.
pub(super) static CONFIG: Class = Class {
    name: "Apus\\Database\\RedisConfig",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "Where and as whom a RedisPool connects. Each with…() changes the object and returns it.\n@since 0.1.0",
    constants: &[],
    properties: &[
        Property { decl: "protected string $host = '127.0.0.1'", doc: "Host name, address, or path of a Unix socket." },
        Property { decl: "protected int $port = 6379", doc: "Port." },
        Property { decl: "protected float $timeout", doc: "Seconds that connecting may take." },
        Property { decl: "protected string $reserved = ''", doc: "phpredis's fourth argument." },
        Property { decl: "protected int $retry_interval = 0", doc: "Milliseconds between attempts to connect." },
        Property { decl: "protected float $read_timeout", doc: "Seconds that an answer may take." },
        Property { decl: "protected string $auth = ''", doc: "Password." },
        Property { decl: "protected int $dbIndex = 0", doc: "Database." },
        Property { decl: "protected array $options", doc: "Options of each connection." },
    ],
    methods: &[
        Method {
            decl: "public function getHost(): string",
            doc: "The host.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_host)),
        },
        Method {
            decl: "public function withHost(string $host): self",
            doc: "Sets the host name or address, or the path of a Unix socket (then set port 0); default 127.0.0.1.\n\
                  Does not wait.\n@since 0.1.0",
            handler: Some(handler!(with_host)),
        },
        Method {
            decl: "public function getPort(): int",
            doc: "The port.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_port)),
        },
        Method {
            decl: "public function withPort(int $port): self",
            doc: "Sets the port, 0 to 65535; default 6379.\n@throws \\ValueError when it is out of its limits\n\
                  Does not wait.\n@since 0.1.0",
            handler: Some(handler!(with_port)),
        },
        Method {
            decl: "public function getTimeout(): float",
            doc: "Seconds that connecting may take; 0 for no limit.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_timeout)),
        },
        Method {
            decl: "public function withTimeout(float $timeout): self",
            doc: "Sets the seconds that connecting may take; default 0, no limit.\n\
                  @throws \\ValueError when it is negative\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(with_timeout)),
        },
        Method {
            decl: "public function getReserved(): string",
            doc: "What withReserved() set.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_reserved)),
        },
        Method {
            decl: "public function withReserved(string $reserved): self",
            doc: "Sets the fourth argument of Redis::connect(), of which phpredis makes no use; default empty.\n\
                  Does not wait.\n@since 0.1.0",
            handler: Some(handler!(with_reserved)),
        },
        Method {
            decl: "public function getRetryInterval(): int",
            doc: "Milliseconds between attempts to connect.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_retry)),
        },
        Method {
            decl: "public function withRetryInterval(int $retry_interval): self",
            doc: "Sets the milliseconds between attempts to connect; default 0.\n\
                  @throws \\ValueError when it is negative\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(with_retry)),
        },
        Method {
            decl: "public function getReadTimeout(): float",
            doc: "Seconds that an answer may take; 0 for no limit.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_read_timeout)),
        },
        Method {
            decl: "public function withReadTimeout(float $read_timeout): self",
            doc: "Sets the seconds that an answer may take; default 0, PHP's default_socket_timeout.\n\
                  @throws \\ValueError when it is negative\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(with_read_timeout)),
        },
        Method {
            decl: "public function getAuth(): string",
            doc: "The password; empty for none.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_auth)),
        },
        Method {
            decl: "public function withAuth(string $auth): self",
            doc: "Sets the password; default empty, for none.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(with_auth)),
        },
        Method {
            decl: "public function getDbIndex(): int",
            doc: "The number of the database.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_db)),
        },
        Method {
            decl: "public function withDbIndex(int $dbIndex): self",
            doc: "Sets the number of the database; default 0. A connection that comes back with another one is set to this.\n\
                  @throws \\ValueError when it is negative\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(with_db)),
        },
        Method {
            decl: "public function withOption(int $option, mixed $value): self",
            doc: "Sets one option of phpredis for each connection, such as (Redis::OPT_PREFIX, 'shop:').\n\
                  Does not wait.\n@since 0.1.0",
            handler: Some(handler!(with_option)),
        },
        Method {
            decl: "public function setOptions(array $options): self",
            doc: "Sets all options of phpredis: option => value; default none.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(set_options)),
        },
        Method {
            decl: "public function getOptions(): array",
            doc: "The options of phpredis.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_options)),
        },
    ],
    native: false,
    lazy: None,
    entry: entry!(),
};

/// `Apus\Database\RedisPool`.
pub(super) static POOL: Class = Class {
    name: "Apus\\Database\\RedisPool",
    modifiers: "",
    extends: "Apus\\ConnectionPool",
    implements: &[],
    doc: "A pool of phpredis connections. get() gives a plain Redis. One that was idle is checked by ECHO. put() discards an open\n\
          MULTI or pipeline, and selects the database that it was made with; WATCH and subscriptions end with their user's\n\
          own calls.\n@since 0.1.0",
    constants: &[],
    properties: &[Property {
        decl: "protected Apus\\Database\\RedisConfig $config",
        doc: "Where and as whom it connects; read whenever a connection is made.",
    }],
    methods: &[Method {
        decl: "public function __construct(Apus\\Database\\RedisConfig $config, int $size = 64)",
        doc: "A pool without connections.\n\
              @param int $size connections of this process at most, 1 to 100000; default 64\n\
              @throws \\Apus\\ConnectionPool\\Exception OPTION when redis is not loaded\n\
              @throws \\ValueError when $size is out of its limits\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(construct_pool)),
    }],
    native: true,
    lazy: None,
    entry: entry!(),
};
