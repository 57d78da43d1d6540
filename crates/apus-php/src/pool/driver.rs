//! What the pool knows of the classes that connect: how to see that one is alive, and how to clean it.

use apus_zend::engine::ClassEntry;
use apus_zend::value::View;
use apus_zend::{Callable, Raise, Value, hook};

use super::conn::Conn;
use super::options::random_number;
use super::php::{attempt, attempt_silently, bound, function, integer, is_false, method, string, text};

/// `PDO::ATTR_DRIVER_NAME`
const ATTR_DRIVER_NAME: i64 = 16;
/// `MySQL`'s "server has gone away" and "lost connection": the connection is over.
const MYSQL_GONE: [i64; 2] = [2006, 2013];
/// `pg_transaction_status()`: inside a transaction, inside a failed one.
const PG_OPEN: [i64; 2] = [2, 3];

/// What a connection is. Methods that are called whenever it comes back are kept.
pub(super) enum Kind {
    /// Something that only the program knows.
    Plain,
    /// A PDO.
    Pdo(Box<Pdo>),
    /// A mysqli.
    Mysqli,
    /// A Redis of phpredis.
    Redis(Box<Redis>),
    /// A `PgSql\Connection`.
    Pgsql,
}

/// What is kept of a PDO.
pub(super) struct Pdo {
    driver: String,
    in_transaction: Callable,
    error_code: Callable,
}

/// What is kept of a Redis.
pub(super) struct Redis {
    /// The database that it was given.
    database: i64,
    mode: Callable,
    current: Callable,
}

/// What came of cleaning a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cleaned {
    /// There was nothing to do.
    Nothing,
    /// It was brought back to its first state.
    Quietly,
    /// The same, and its user should know what was left open.
    Reported(&'static str),
    /// It is of no use any more.
    Broken,
}

impl Kind {
    /// What `value`, just made, is.
    pub(super) fn of(value: &Value) -> Result<Self, Raise> {
        let View::Object(object) = value.view() else { return Ok(Self::Plain) };
        let is = |name| ClassEntry::find(name).is_some_and(|class| object.is_of(class));
        Ok(if is("pdo") {
            let driver = string(&method(value, "getAttribute", &[Value::int(ATTR_DRIVER_NAME)])?);
            let (in_transaction, error_code) = (bound(value, "inTransaction")?, bound(value, "errorCode")?);
            Self::Pdo(Box::new(Pdo { driver, in_transaction, error_code }))
        } else if is("mysqli") {
            Self::Mysqli
        } else if is("redis") {
            let (mode, current) = (bound(value, "getMode")?, bound(value, "getDBNum")?);
            Self::Redis(Box::new(Redis { database: integer(&current.call(&[])?), mode, current }))
        } else if is("pgsql\\connection") {
            Self::Pgsql
        } else {
            Self::Plain
        })
    }

    /// Whether [`is_alive`] can tell anything.
    pub(super) fn can_check(&self) -> bool {
        match self {
            Self::Plain => false,
            Self::Pdo(pdo) => pdo.driver != "sqlite",
            Self::Mysqli | Self::Redis(_) | Self::Pgsql => true,
        }
    }
}

/// Asks the server something cheap. The answer is one that nobody else can have asked for: a connection on which the
/// rest of an earlier answer is still to come is of no use either. Waits.
pub(super) fn is_alive(conn: &Conn) -> Result<bool, Raise> {
    let value = conn.value();
    let nonce = i64::from(random_number());
    let answer = attempt_silently(|| match &conn.kind {
        Kind::Pdo(pdo) if pdo.driver != "sqlite" => {
            first(&method(value, "query", &[probe(&pdo.driver, nonce)?])?, "fetchColumn")
        }
        Kind::Mysqli => first(&method(value, "query", &[probe("", nonce)?])?, "fetch_column"),
        Kind::Redis(_) => method(value, "echo", &[text(&nonce.to_string())?]),
        Kind::Pgsql => {
            let result = function("pg_query", &[value.share(), probe("", nonce)?])?;
            if is_false(&result) {
                Ok(result)
            } else {
                function("pg_fetch_result", &[result, Value::int(0), Value::int(0)])
            }
        }
        Kind::Plain | Kind::Pdo(_) => Ok(Value::int(nonce)),
    })?;
    Ok(answer.is_some_and(|answer| integer(&answer) == nonce))
}

fn probe(driver: &str, nonce: i64) -> Result<Value, Raise> {
    text(&match driver {
        "oci" => format!("SELECT {nonce} FROM DUAL"),
        "firebird" => format!("SELECT {nonce} FROM RDB$DATABASE"),
        _ => format!("SELECT {nonce}"),
    })
}

/// The first value of a query's result, unless the query failed.
fn first(result: &Value, fetch: &str) -> Result<Value, Raise> {
    if is_false(result) { Ok(result.share()) } else { method(result, fetch, &[]) }
}

/// Whether it is known, without asking anybody, to be as it was when it was made: neither dead nor in a transaction.
pub(super) fn is_at_rest(conn: &Conn) -> bool {
    // SAFETY: what `Kind::of` has found to be a PDO.
    matches!(conn.kind, Kind::Pdo(_)) && unsafe { hook::is_at_rest(conn.value()) }
}

/// Whether the connection itself says that it is dead, or was broken off in the middle of an answer. Asks nobody.
pub(super) fn looks_dead(conn: &Conn) -> Result<bool, Raise> {
    let Kind::Pdo(pdo) = &conn.kind else { return Ok(false) };
    if pdo.driver != "mysql" && pdo.driver != "pgsql" {
        return Ok(false);
    }
    let state = pdo.error_code.call(&[])?;
    if !matches!(state.view(), View::Str(b"HY000")) {
        return Ok(false);
    }
    if pdo.driver == "pgsql" {
        // Whatever the server says has a state of its own: this is an error of the connection.
        return Ok(true);
    }
    let info = method(conn.value(), "errorInfo", &[])?;
    let View::Array(info) = info.view() else { return Ok(false) };
    let code = info.iter().nth(1).map(|(_, zval)| integer(&zval.value()));
    Ok(code.is_some_and(|code| MYSQL_GONE.contains(&code)))
}

/// Ends what its user left open. May wait.
pub(super) fn clean(conn: &Conn) -> Result<Cleaned, Raise> {
    let value = conn.value();
    match &conn.kind {
        Kind::Plain => Ok(Cleaned::Nothing),
        Kind::Pdo(pdo) => clean_pdo(value, pdo),
        Kind::Mysqli => clean_mysqli(value),
        Kind::Redis(redis) => clean_redis(value, redis),
        Kind::Pgsql => clean_pgsql(value),
    }
}

const TRANSACTION: Cleaned = Cleaned::Reported("an open transaction, which was rolled back");

/// What `done` makes of a connection: broken unless it is true-ish.
fn unless_failed(done: Option<&Value>, cleaned: Cleaned) -> Cleaned {
    if done.is_some_and(|value| !is_false(value)) { cleaned } else { Cleaned::Broken }
}

fn clean_pdo(value: &Value, pdo: &Pdo) -> Result<Cleaned, Raise> {
    // SAFETY: what `Kind::of` has found to be a PDO.
    if unsafe { hook::leaves_unread(value) } {
        return Ok(Cleaned::Broken);
    }
    let Some(open) = attempt(|| pdo.in_transaction.call(&[]))? else { return Ok(Cleaned::Broken) };
    if !is_false(&open) {
        let done = attempt_silently(|| method(value, "rollBack", &[]))?;
        return Ok(unless_failed(done.as_ref(), TRANSACTION));
    }
    if pdo.driver != "sqlite" {
        return Ok(Cleaned::Nothing);
    }
    // Before PHP 8.4 PDO does not see a transaction that SQL text opened; asking costs no round trip here.
    let done = attempt_silently(|| method(value, "exec", &[text("ROLLBACK")?]))?;
    Ok(if done.is_some_and(|done| !is_false(&done)) { TRANSACTION } else { Cleaned::Nothing })
}

/// mysqli shows no state of its own: one question a return, which `MariaDB` answers and `MySQL` does not know.
fn clean_mysqli(mysqli: &Value) -> Result<Cleaned, Raise> {
    let asked =
        attempt_silently(|| first(&method(mysqli, "query", &[text("SELECT @@in_transaction")?])?, "fetch_column"))?;
    let known = asked.as_ref().filter(|answer| !is_false(answer));
    match known.map(integer) {
        Some(0) => Ok(Cleaned::Nothing),
        Some(_) => {
            let done = attempt_silently(|| method(mysqli, "rollback", &[]))?;
            Ok(unless_failed(done.as_ref(), TRANSACTION))
        }
        None => {
            let done = attempt_silently(|| method(mysqli, "rollback", &[]))?;
            Ok(unless_failed(done.as_ref(), Cleaned::Nothing))
        }
    }
}

fn clean_redis(value: &Value, redis: &Redis) -> Result<Cleaned, Raise> {
    let mut cleaned = Cleaned::Nothing;
    // 0: each command is sent at once; else MULTI or a pipeline collects them.
    if integer(&redis.mode.call(&[])?) != 0 {
        let done = attempt_silently(|| method(value, "discard", &[]))?;
        cleaned =
            unless_failed(done.as_ref(), Cleaned::Reported("an open MULTI or pipeline, whose commands were discarded"));
    }
    if cleaned != Cleaned::Broken && integer(&redis.current.call(&[])?) != redis.database {
        let done = attempt_silently(|| method(value, "select", &[Value::int(redis.database)]))?;
        let done = unless_failed(done.as_ref(), Cleaned::Quietly);
        if done == Cleaned::Broken || cleaned == Cleaned::Nothing {
            cleaned = done;
        }
    }
    Ok(cleaned)
}

fn clean_pgsql(conn: &Value) -> Result<Cleaned, Raise> {
    match integer(&function("pg_transaction_status", &[conn.share()])?) {
        0 => Ok(Cleaned::Nothing),
        status if PG_OPEN.contains(&status) => {
            let done = attempt_silently(|| function("pg_query", &[conn.share(), text("ROLLBACK")?]))?;
            Ok(unless_failed(done.as_ref(), TRANSACTION))
        }
        // A query that runs, or a connection that is gone.
        _ => Ok(Cleaned::Broken),
    }
}
