//! `Apus\Database\MysqliPool` and `Apus\Database\MysqliConfig`.

use apus_zend::arg::Made;
use apus_zend::object::Object;
use apus_zend::{Raise, Value, engine};

use super::class::{Size, configured};
use super::config::{self, Config};
use super::core::PoolHandle;
use super::php::{self, method};
use crate::coroutine::construct;

fn construct_pool(config: Object, size: Size) -> Result<Made<PoolHandle, 2>, Raise> {
    configured(config, slot::pool::CONFIG, size, "mysqli")
}

/// Connects as a configuration says. Waits.
pub(super) fn connect(config: &Value) -> Result<Value, Raise> {
    let config = Config::of(config)?;
    let mysqli: Value = construct("mysqli", None, &[])?.into();
    config.each_option(slot::config::OPTIONS, |option, value| {
        let set = method(&mysqli, "options", &[Value::int(option), value])?;
        if php::is_false(&set) {
            return Err(engine::throw_error(&format!("mysqli::options() does not take option {option}")));
        }
        Ok(())
    })?;
    let socket = config.value(slot::config::UNIX_SOCKET);
    // mysqli uses a socket only for this host.
    let by_socket = !php::string(&socket).is_empty();
    let host = if by_socket { php::text("localhost")? } else { config.value(slot::config::HOST) };
    let args = [
        host,
        config.value(slot::config::USERNAME),
        config.value(slot::config::PASSWORD),
        config.value(slot::config::DBNAME),
        config.value(slot::config::PORT),
        socket,
    ];
    if php::is_false(&method(&mysqli, "real_connect", &args)?) {
        let why = php::string(&php::function("mysqli_connect_error", &[])?);
        return Err(engine::throw_error(&why));
    }
    let charset = config.text(slot::config::CHARSET);
    if !charset.is_empty() && php::is_false(&method(&mysqli, "set_charset", &[php::text(&charset)?])?) {
        return Err(engine::throw_error(&format!("the server does not know the character set \"{charset}\"")));
    }
    Ok(mysqli)
}

apus_zend::stub!("pool/mysqli");
