//! `Apus\Database\PDOPool` and `Apus\Database\PDOConfig`.

use apus_zend::arg::Made;
use apus_zend::object::Object;
use apus_zend::value::View;
use apus_zend::{Array, Raise, Value, engine};

use super::class::{Size, configured};
use super::config::{self, Config};
use super::core::PoolHandle;
use super::php;
use crate::coroutine::construct;

/// The port on which a driver's server listens unless it is told otherwise; 0 where the driver knows it better.
fn default_port(driver: &str) -> i64 {
    match driver {
        "mysql" => 3306,
        "pgsql" => 5432,
        _ => 0,
    }
}

fn port_of(config: &Config) -> i64 {
    match config.value(slot::config::PORT).view() {
        View::Int(port) => port,
        _ => default_port(&config.text(slot::config::DRIVER)),
    }
}

fn get_port(config: Object, _: u32) -> Result<i64, Raise> {
    Ok(port_of(&Config::of(&config.into())?))
}

fn has_socket(config: Object) -> bool {
    !php::string(&config.slot(slot::config::UNIX_SOCKET)).is_empty()
}

fn available_drivers() -> Result<Value, Raise> {
    config::expect_class("pdo")?;
    php::function("pdo_drivers", &[])
}

fn construct_pool(config: Object, size: Size) -> Result<Made<PoolHandle, 2>, Raise> {
    configured(config, slot::pool::CONFIG, size, "pdo")
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
            driver: config.text(slot::config::DRIVER),
            host: config.text(slot::config::HOST),
            port: port_of(config),
            socket: config.text(slot::config::UNIX_SOCKET),
            dbname: config.text(slot::config::DBNAME),
            charset: config.text(slot::config::CHARSET),
        }
    }

    fn dsn(&self) -> Result<String, String> {
        let Self { driver, dbname, .. } = self;
        Ok(match driver.as_str() {
            "mysql" => self.mysql(),
            "pgsql" => self.pgsql()?,
            "sqlite" => format!("sqlite:{dbname}"),
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
    let options = match config.value(slot::config::OPTIONS) {
        options if matches!(options.view(), View::Array(_)) => options,
        _ => Array::new(0)?.into(),
    };
    // Drivers of files take a user name for a mistake, or have none.
    let (user, password) = match source.driver.as_str() {
        "sqlite" => (Value::null(), Value::null()),
        _ => (config.value(slot::config::USERNAME), config.value(slot::config::PASSWORD)),
    };
    construct("PDO", None, &[php::text(&dsn)?, user, password, options]).map(Value::from)
}

apus_zend::stub!("pool/pdo");

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
        ] {
            assert_eq!(source(driver).dsn().as_deref(), Ok(dsn));
        }
        assert!(source("nothing").dsn().unwrap_err().contains("\"nothing\""));
    }

    #[test]
    fn ports_and_sockets() {
        assert!(Source { port: 3307, ..source("mysql") }.dsn().unwrap().contains("port=3307"));
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
