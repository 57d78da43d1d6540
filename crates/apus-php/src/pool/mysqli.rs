//! `Apus\Database\MysqliPool` and `Apus\Database\MysqliConfig`.

use apus_zend::value::View;
use apus_zend::{Call, Raise, Value, engine};

use super::class::{construct_with, slot as pool_slot};
use super::config::{self, Config, property};
use super::php::{self, method};
use crate::coroutine::construct;

mod slot {
    pub(super) const HOST: u32 = 0;
    pub(super) const PORT: u32 = 1;
    pub(super) const SOCKET: u32 = 2;
    pub(super) const DBNAME: u32 = 3;
    pub(super) const CHARSET: u32 = 4;
    pub(super) const USERNAME: u32 = 5;
    pub(super) const PASSWORD: u32 = 6;
    pub(super) const OPTIONS: u32 = 7;
}

property!(slot::HOST, get_host by get, with_host by with_text);
property!(slot::PORT, get_port by get, with_port by with_port);
property!(slot::SOCKET, get_socket by get, with_socket by with_optional_text);
property!(slot::DBNAME, get_dbname by get, with_dbname by with_text);
property!(slot::CHARSET, get_charset by get, with_charset by with_text);
property!(slot::USERNAME, get_username by get, with_username by with_text);
property!(slot::PASSWORD, get_password by get, with_password by with_text);
property!(slot::OPTIONS, get_options by get_array, with_options by with_array);

fn construct_pool(call: &Call) -> Result<(), Raise> {
    let given = call.value(0);
    match given.view() {
        View::Object(object) if object.is(&CONFIG) => {}
        _ => return Err(call.type_error(0, "of type Apus\\Database\\MysqliConfig")),
    }
    config::expect_class("mysqli", "mysqli")?;
    construct_with(call, 1)?.set_slot(pool_slot::CONFIG, given);
    Ok(())
}

/// Connects as a configuration says. Waits.
pub(super) fn connect(config: &Value) -> Result<Value, Raise> {
    let config = Config::of(config)?;
    let mysqli: Value = construct("mysqli", None, &[])?.into();
    config.each_option(slot::OPTIONS, |option, value| {
        let set = method(&mysqli, "options", &[Value::int(option), value])?;
        if php::is_false(&set) {
            return Err(engine::throw_error(&format!("mysqli::options() does not take option {option}")));
        }
        Ok(())
    })?;
    let socket = config.value(slot::SOCKET);
    // mysqli uses a socket only for this host.
    let by_socket = !php::string(&socket).is_empty();
    let host = if by_socket { php::text("localhost")? } else { config.value(slot::HOST) };
    let args = [
        host,
        config.value(slot::USERNAME),
        config.value(slot::PASSWORD),
        config.value(slot::DBNAME),
        config.value(slot::PORT),
        socket,
    ];
    if php::is_false(&method(&mysqli, "real_connect", &args)?) {
        let why = php::string(&php::function("mysqli_connect_error", &[])?);
        return Err(engine::throw_error(&why));
    }
    let charset = config.text(slot::CHARSET);
    if !charset.is_empty() && php::is_false(&method(&mysqli, "set_charset", &[php::text(&charset)?])?) {
        return Err(engine::throw_error(&format!("the server does not know the character set \"{charset}\"")));
    }
    Ok(mysqli)
}

apus_zend::stub!("pool/mysqli");
