//! `Apus\Database\PDOPool` and `Apus\Database\PDOConfig`.

use apus_zend::class::{Class, Const, Constant, Method, Property};
use apus_zend::value::View;
use apus_zend::{Array, Call, Raise, Value, engine, handler};

use super::class::{construct_with, slot as pool_slot};
use super::config::{self, Config, property};
use super::php;
use crate::coroutine::construct;
use crate::exception::entry;

mod slot {
    pub(super) const DRIVER: u32 = 0;
    pub(super) const HOST: u32 = 1;
    pub(super) const PORT: u32 = 2;
    pub(super) const SOCKET: u32 = 3;
    pub(super) const DBNAME: u32 = 4;
    pub(super) const CHARSET: u32 = 5;
    pub(super) const USERNAME: u32 = 6;
    pub(super) const PASSWORD: u32 = 7;
    pub(super) const OPTIONS: u32 = 8;
}

property!(slot::DRIVER, get_driver by get, with_driver by with_text);
property!(slot::HOST, get_host by get, with_host by with_text);
property!(slot::SOCKET, get_socket by get, with_socket by with_optional_text);
property!(slot::DBNAME, get_dbname by get, with_dbname by with_text);
property!(slot::CHARSET, get_charset by get, with_charset by with_text);
property!(slot::USERNAME, get_username by get, with_username by with_text);
property!(slot::PASSWORD, get_password by get, with_password by with_text);
property!(slot::OPTIONS, get_options by get_array, with_options by with_array);

/// The port on which a driver's server listens unless it is told otherwise; 0 where the driver knows it better.
fn default_port(driver: &str) -> i64 {
    match driver {
        "mysql" => 3306,
        "pgsql" => 5432,
        _ => 0,
    }
}

fn port_of(config: &Config) -> i64 {
    match config.value(slot::PORT).view() {
        View::Int(port) => port,
        _ => default_port(&config.text(slot::DRIVER)),
    }
}

fn get_port(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    let config = Config::of(&config::this(call)?.into())?;
    call.ret(port_of(&config))
}

fn with_port(call: &Call) -> Result<(), Raise> {
    config::with_port(call, slot::PORT)
}

fn has_socket(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    call.ret(!php::string(&config::this(call)?.slot(slot::SOCKET)).is_empty())
}

fn available_drivers(call: &Call) -> Result<(), Raise> {
    call.expect(0, 0)?;
    config::expect_class("pdo", "pdo")?;
    call.ret(php::function("pdo_drivers", &[])?)
}

fn construct_pool(call: &Call) -> Result<(), Raise> {
    call.expect(1, 2)?;
    let given = call.value(0);
    match given.view() {
        View::Object(object) if CONFIG.get().contains(object) => {}
        _ => return Err(call.type_error(0, "of type Apus\\Database\\PDOConfig")),
    }
    config::expect_class("pdo", "pdo")?;
    construct_with(call, 1)?.set_slot(pool_slot::CONFIG, given);
    Ok(())
}

/// What a data source name is built of.
struct Source {
    driver: String,
    host: String,
    port: i64,
    socket: String,
    dbname: String,
    charset: String,
}

impl Source {
    fn of(config: &Config) -> Self {
        Self {
            driver: config.text(slot::DRIVER),
            host: config.text(slot::HOST),
            port: port_of(config),
            socket: config.text(slot::SOCKET),
            dbname: config.text(slot::DBNAME),
            charset: config.text(slot::CHARSET),
        }
    }

    fn dsn(&self) -> Result<String, String> {
        let Self { driver, dbname, charset, .. } = self;
        let place = |separator: char| {
            if self.port == 0 { self.host.clone() } else { format!("{}{separator}{}", self.host, self.port) }
        };
        Ok(match driver.as_str() {
            "mysql" => self.mysql(),
            "pgsql" => self.pgsql()?,
            "sqlite" => format!("sqlite:{dbname}"),
            "oci" => format!("oci:dbname={}/{dbname};charset={charset}", place(':')),
            "firebird" => format!("firebird:dbname={}:{dbname};charset={charset}", place('/')),
            "dblib" => format!("dblib:host={};dbname={dbname};charset={charset}", place(':')),
            "sqlsrv" => format!("sqlsrv:Server={};Database={dbname}", place(',')),
            "odbc" => format!("odbc:{dbname}"),
            _ => {
                return Err(format!(
                    "no data source name is known for the PDO driver \"{driver}\": use \
                     new Apus\\ConnectionPool(fn() => new PDO(...))"
                ));
            }
        })
    }

    fn mysql(&self) -> String {
        let place = if self.socket.is_empty() {
            format!("host={};port={}", doubled(&self.host), self.port)
        } else {
            format!("unix_socket={}", doubled(&self.socket))
        };
        format!("mysql:{place};dbname={};charset={}", doubled(&self.dbname), doubled(&self.charset))
    }

    /// libpq takes the directory of a Unix socket for a host.
    fn pgsql(&self) -> Result<String, String> {
        let host = if self.socket.is_empty() { &self.host } else { &self.socket };
        let mut dsn = format!("pgsql:host={};port={};dbname={}", quoted(host)?, self.port, quoted(&self.dbname)?);
        // MySQL's names, which the configuration holds unless told otherwise, mean UTF-8.
        let encoding = if self.charset.starts_with("utf8") { "UTF8" } else { &self.charset };
        if !encoding.is_empty() {
            dsn = format!("{dsn};client_encoding={}", quoted(encoding)?);
        }
        Ok(dsn)
    }
}

/// PDO ends a value at `;` and reads `;;` as one.
fn doubled(value: &str) -> String {
    value.replace(';', ";;")
}

/// A value as libpq reads it. PDO turns each `;` into a blank before.
fn quoted(value: &str) -> Result<String, String> {
    if value.contains(';') {
        return Err(format!("the value \"{value}\" holds a \";\", which PDO's pgsql driver cannot pass on"));
    }
    let plain = !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/:@".contains(&b));
    if plain {
        return Ok(value.to_owned());
    }
    Ok(format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'")))
}

/// Connects as a configuration says. Waits.
pub(super) fn connect(config: &Value) -> Result<Value, Raise> {
    let config = Config::of(config)?;
    let source = Source::of(&config);
    let dsn = source.dsn().map_err(|why| engine::throw_error(&why))?;
    let options = match config.value(slot::OPTIONS) {
        options if matches!(options.view(), View::Array(_)) => options,
        _ => Array::new(0)?.into(),
    };
    // Drivers of files take a user name for a mistake, or have none.
    let (user, password) = match source.driver.as_str() {
        "sqlite" => (Value::null(), Value::null()),
        _ => (config.value(slot::USERNAME), config.value(slot::PASSWORD)),
    };
    construct("PDO", None, &[php::text(&dsn)?, user, password, options]).map(Value::from)
}

/// `Apus\Database\PDOConfig`.
pub(super) static CONFIG: Class = Class {
    name: "Apus\\Database\\PDOConfig",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "Where and as whom a PDOPool connects. Each with…() changes the object and returns it.\n@since 0.1.0",
    constants: &[Constant {
        name: "DRIVER_MYSQL",
        value: Const::Str("mysql"),
        doc: "The driver that is used unless another is named.",
    }],
    properties: &[
        Property { decl: "protected string $driver = 'mysql'", doc: "PDO's driver." },
        Property { decl: "protected string $host = '127.0.0.1'", doc: "Host name or address." },
        Property { decl: "protected ?int $port = null", doc: "Port; null for the driver's own." },
        Property {
            decl: "protected ?string $unixSocket = null",
            doc: "Path of a Unix socket, instead of host and port.",
        },
        Property { decl: "protected string $dbname = 'test'", doc: "Database." },
        Property { decl: "protected string $charset = 'utf8mb4'", doc: "Character set." },
        Property { decl: "protected string $username = 'root'", doc: "User." },
        Property { decl: "protected string $password = 'root'", doc: "Password." },
        Property { decl: "protected array $options", doc: "PDO attributes of each connection." },
    ],
    methods: CONFIG_METHODS,
    native: false,
    lazy: None,
    entry: entry!(),
};

const CONFIG_METHODS: &[Method] = &[
    Method {
        decl: "public function getDriver(): string",
        doc: "The driver.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_driver)),
    },
    Method {
        decl: "public function withDriver(string $driver): self",
        doc: "Sets the driver: mysql (default), pgsql, sqlite, oci, firebird, dblib, sqlsrv or odbc. Its PHP extension must be loaded.\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(with_driver)),
    },
    Method {
        decl: "public function getHost(): string",
        doc: "The host.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_host)),
    },
    Method {
        decl: "public function withHost(string $host): self",
        doc: "Sets the host name or address; default 127.0.0.1.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(with_host)),
    },
    Method {
        decl: "public function getPort(): int",
        doc: "The port; unless set 3306 for mysql, 5432 for pgsql, else 0: the driver's own.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_port)),
    },
    Method {
        decl: "public function hasUnixSocket(): bool",
        doc: "Whether a Unix socket is set.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(has_socket)),
    },
    Method {
        decl: "public function getUnixSocket(): ?string",
        doc: "The path of the Unix socket; null when none is set.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_socket)),
    },
    Method {
        decl: "public function withUnixSocket(?string $unixSocket): self",
        doc: "Sets the path of a Unix socket, which is used instead of host and port; for pgsql it is the directory of the socket.\n\
              null (default) for none.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(with_socket)),
    },
    Method {
        decl: "public function withPort(int $port): self",
        doc: "Sets the port, 0 to 65535; default: see getPort().\n@throws \\ValueError when it is out of its limits\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(with_port)),
    },
    Method {
        decl: "public function getDbname(): string",
        doc: "The database.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_dbname)),
    },
    Method {
        decl: "public function withDbname(string $dbname): self",
        doc: "Sets the database; default test. For sqlite it is the path of the file or :memory:, for odbc the data source.\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(with_dbname)),
    },
    Method {
        decl: "public function getCharset(): string",
        doc: "The character set.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_charset)),
    },
    Method {
        decl: "public function withCharset(string $charset): self",
        doc: "Sets the character set; default utf8mb4, which means UTF8 to pgsql.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(with_charset)),
    },
    Method {
        decl: "public function getUsername(): string",
        doc: "The user.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_username)),
    },
    Method {
        decl: "public function withUsername(string $username): self",
        doc: "Sets the user; default root.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(with_username)),
    },
    Method {
        decl: "public function getPassword(): string",
        doc: "The password.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_password)),
    },
    Method {
        decl: "public function withPassword(string $password): self",
        doc: "Sets the password; default root.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(with_password)),
    },
    Method {
        decl: "public function getOptions(): array",
        doc: "The PDO attributes.\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(get_options)),
    },
    Method {
        decl: "public function withOptions(array $options): self",
        doc: "Sets the PDO attributes of each connection, such as [PDO::ATTR_TIMEOUT => 2]; default none.\n\
              Does not wait.\n@since 0.1.0",
        handler: Some(handler!(with_options)),
    },
    Method {
        decl: "public static function getAvailableDrivers(): array",
        doc: "The drivers of the loaded PDO extensions.\n\
              @throws \\Apus\\ConnectionPool\\Exception OPTION when PDO is not loaded\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(available_drivers)),
    },
];

/// `Apus\Database\PDOPool`.
pub(super) static POOL: Class = Class {
    name: "Apus\\Database\\PDOPool",
    modifiers: "",
    extends: "Apus\\ConnectionPool",
    implements: &[],
    doc: "A pool of PDO connections. get() gives a plain PDO. One that was idle is checked by a small query;\n\
          an open transaction is rolled back when it comes back.\n@since 0.1.0",
    constants: &[],
    properties: &[Property {
        decl: "protected Apus\\Database\\PDOConfig $config",
        doc: "Where and as whom it connects; read whenever a connection is made.",
    }],
    methods: &[Method {
        decl: "public function __construct(Apus\\Database\\PDOConfig $config, int $size = 64)",
        doc: "A pool without connections.\n\
              @param int $size connections of this process at most, 1 to 100000; default 64\n\
              @throws \\Apus\\ConnectionPool\\Exception OPTION when PDO is not loaded\n\
              @throws \\ValueError when $size is out of its limits\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(construct_pool)),
    }],
    native: true,
    lazy: None,
    entry: entry!(),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn source(driver: &str) -> Source {
        Source {
            driver: driver.to_owned(),
            host: "db".to_owned(),
            port: default_port(driver),
            socket: String::new(),
            dbname: "shop".to_owned(),
            charset: "utf8mb4".to_owned(),
        }
    }

    #[test]
    fn names_of_data_sources() {
        for (driver, dsn) in [
            ("mysql", "mysql:host=db;port=3306;dbname=shop;charset=utf8mb4"),
            ("pgsql", "pgsql:host=db;port=5432;dbname=shop;client_encoding=UTF8"),
            ("sqlite", "sqlite:shop"),
            ("oci", "oci:dbname=db/shop;charset=utf8mb4"),
            ("firebird", "firebird:dbname=db:shop;charset=utf8mb4"),
            ("sqlsrv", "sqlsrv:Server=db;Database=shop"),
        ] {
            assert_eq!(source(driver).dsn().as_deref(), Ok(dsn));
        }
        assert!(source("nothing").dsn().unwrap_err().contains("\"nothing\""));
    }

    #[test]
    fn ports_and_sockets() {
        assert_eq!(Source { port: 1522, ..source("oci") }.dsn().unwrap(), "oci:dbname=db:1522/shop;charset=utf8mb4");
        let socket = Source { socket: "/run/db.sock".to_owned(), ..source("mysql") };
        assert_eq!(socket.dsn().unwrap(), "mysql:unix_socket=/run/db.sock;dbname=shop;charset=utf8mb4");
        let socket = Source { socket: "/run/pg".to_owned(), ..source("pgsql") };
        assert_eq!(socket.dsn().unwrap(), "pgsql:host=/run/pg;port=5432;dbname=shop;client_encoding=UTF8");
    }

    #[test]
    fn values_cannot_add_settings() {
        let mysql = Source { dbname: "a;host=evil".to_owned(), ..source("mysql") };
        assert_eq!(mysql.dsn().unwrap(), "mysql:host=db;port=3306;dbname=a;;host=evil;charset=utf8mb4");
        let pgsql = Source { dbname: "a b' host=evil".to_owned(), ..source("pgsql") };
        assert!(pgsql.dsn().unwrap().contains(r"dbname='a b\' host=evil'"));
        assert!(Source { dbname: "a;host=evil".to_owned(), ..source("pgsql") }.dsn().is_err());
    }
}
