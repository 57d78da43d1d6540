//! `Apus\Database\MysqliPool` and `Apus\Database\MysqliConfig`.

use apus_zend::class::{Class, Method, Property};
use apus_zend::value::View;
use apus_zend::{Call, Raise, Value, engine, handler};

use super::class::{construct_with, slot as pool_slot};
use super::config::{self, Config, property};
use super::php::{self, method};
use crate::coroutine::construct;
use crate::exception::entry;

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
    call.expect(1, 2)?;
    let given = call.value(0);
    match given.view() {
        View::Object(object) if CONFIG.get().contains(object) => {}
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

/// `Apus\Database\MysqliConfig`.
pub(super) static CONFIG: Class = Class {
    name: "Apus\\Database\\MysqliConfig",
    modifiers: "",
    extends: "",
    implements: &[],
    doc: "Where and as whom a MysqliPool connects. Each with…() changes the object and returns it.\n@since 0.1.0",
    constants: &[],
    properties: &[
        Property { decl: "protected string $host = '127.0.0.1'", doc: "Host name or address." },
        Property { decl: "protected int $port = 3306", doc: "Port." },
        Property {
            decl: "protected ?string $unixSocket = null",
            doc: "Path of a Unix socket, instead of host and port.",
        },
        Property { decl: "protected string $dbname = 'test'", doc: "Database." },
        Property { decl: "protected string $charset = 'utf8mb4'", doc: "Character set." },
        Property { decl: "protected string $username = 'root'", doc: "User." },
        Property { decl: "protected string $password = 'root'", doc: "Password." },
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
            doc: "Sets the host name or address; default 127.0.0.1.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(with_host)),
        },
        Method {
            decl: "public function getPort(): int",
            doc: "The port.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_port)),
        },
        Method {
            decl: "public function getUnixSocket(): ?string",
            doc: "The path of the Unix socket; null when none is set.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_socket)),
        },
        Method {
            decl: "public function withUnixSocket(?string $unixSocket): self",
            doc: "Sets the path of a Unix socket, which is used instead of host and port. null (default) for none.\n\
                  Does not wait.\n@since 0.1.0",
            handler: Some(handler!(with_socket)),
        },
        Method {
            decl: "public function withPort(int $port): self",
            doc: "Sets the port, 0 to 65535; default 3306.\n@throws \\ValueError when it is out of its limits\n\
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
            doc: "Sets the database; default test.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(with_dbname)),
        },
        Method {
            decl: "public function getCharset(): string",
            doc: "The character set.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_charset)),
        },
        Method {
            decl: "public function withCharset(string $charset): self",
            doc: "Sets the character set; default utf8mb4, empty for the server's own.\nDoes not wait.\n@since 0.1.0",
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
            doc: "The options of mysqli.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(get_options)),
        },
        Method {
            decl: "public function withOptions(array $options): self",
            doc: "Sets what mysqli::options() is called with before each connection is made, such as\n\
                  [MYSQLI_OPT_CONNECT_TIMEOUT => 2]; default none.\nDoes not wait.\n@since 0.1.0",
            handler: Some(handler!(with_options)),
        },
    ],
    native: false,
    lazy: None,
    entry: entry!(),
};

/// `Apus\Database\MysqliPool`.
pub(super) static POOL: Class = Class {
    name: "Apus\\Database\\MysqliPool",
    modifiers: "",
    extends: "Apus\\ConnectionPool",
    implements: &[],
    doc: "A pool of mysqli connections. get() gives a plain mysqli. One that was idle is checked by a small query.\n\
          mysqli does not tell whether a transaction is open: put() asks the server, one round trip; the setting\n\
          `reset` => 'none' saves it for programs that leave none open.\n@since 0.1.0",
    constants: &[],
    properties: &[Property {
        decl: "protected Apus\\Database\\MysqliConfig $config",
        doc: "Where and as whom it connects; read whenever a connection is made.",
    }],
    methods: &[Method {
        decl: "public function __construct(Apus\\Database\\MysqliConfig $config, int $size = 64)",
        doc: "A pool without connections.\n\
              @param int $size connections of this process at most, 1 to 100000; default 64\n\
              @throws \\Apus\\ConnectionPool\\Exception OPTION when mysqli is not loaded\n\
              @throws \\ValueError when $size is out of its limits\nDoes not wait.\n@since 0.1.0",
        handler: Some(handler!(construct_pool)),
    }],
    native: true,
    lazy: None,
    entry: entry!(),
};
