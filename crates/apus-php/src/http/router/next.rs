//! What a middleware gets to go on with: `Apus\Http\Router\Next`.

use std::rc::Rc;

use apus_zend::object::Object;
use apus_zend::{Array, Call, Callable, Raise, Value, native};

/// What answers when all middleware has let the request through.
pub(super) enum Last {
    /// A route's handler, and its parameters.
    Handler(Callable, Value),
    /// No route is for it.
    Refusal {
        /// 204 for OPTIONS, else 404 or 405.
        status: u16,
        /// The value of the Allow field; empty for none.
        allowed: String,
        /// The program's own answer.
        fallback: Option<Callable>,
    },
}

/// What one request goes through.
pub(super) struct Chain {
    /// The outermost first.
    pub(super) middleware: Vec<Callable>,
    pub(super) last: Last,
}

struct Next {
    chain: Rc<Chain>,
    at: usize,
}

native!(Next, "Apus\\Http\\Router\\Next", |next, held| {
    if Rc::strong_count(&next.chain) == 1 {
        next.chain.middleware.iter().for_each(|callable| held.callable(callable));
        match &next.chain.last {
            Last::Handler(handler, params) => {
                held.callable(handler);
                held.value(params);
            }
            Last::Refusal { fallback, .. } => fallback.iter().for_each(|callable| held.callable(callable)),
        }
    }
});

impl Chain {
    /// Calls middleware number `at`, or what comes after all of it.
    pub(super) fn run(self: &Rc<Self>, at: usize, request: Value, response: Value) -> Result<Value, Raise> {
        if let Some(middleware) = self.middleware.get(at) {
            let next = Object::new(NEXT.get(), Next { chain: Rc::clone(self), at: at + 1 })?;
            return middleware.call(&[request, response, next.into(), self.params()?]);
        }
        match &self.last {
            Last::Handler(handler, params) => handler.call(&[request, response, params.share()]),
            Last::Refusal { status, allowed, fallback } => {
                refuse(request, response, *status, allowed, fallback.as_ref())
            }
        }
    }

    fn params(&self) -> Result<Value, Raise> {
        match &self.last {
            Last::Handler(_, params) => Ok(params.share()),
            Last::Refusal { .. } => Ok(Array::new(0)?.into()),
        }
    }
}

/// Calls a method of the answer, as PHP code would: it may be of a class that extends it.
fn tell(response: &Value, method: &str, args: &[Value]) -> Result<(), Raise> {
    let mut pair = Array::new(2)?;
    pair.push(response.share())?;
    pair.push(Value::string(method.as_bytes())?)?;
    let callable = Callable::new(&mut pair.into()).map_err(|not| not.or(apus_zend::engine::throw_error))?;
    callable.call(args).map(drop)
}

fn refuse(
    request: Value,
    response: Value,
    status: u16,
    allowed: &str,
    fallback: Option<&Callable>,
) -> Result<Value, Raise> {
    tell(&response, "status", &[Value::int(i64::from(status))])?;
    // RFC 9110 section 15.5.6
    if !allowed.is_empty() {
        tell(&response, "header", &[Value::string(b"Allow")?, Value::string(allowed.as_bytes())?])?;
    }
    if let Some(fallback) = fallback {
        return fallback.call(&[request, response, Value::int(i64::from(status))]);
    }
    let text: &[u8] = match status {
        204 => b"",
        404 => b"404 Not Found\n",
        _ => b"405 Method Not Allowed\n",
    };
    if !text.is_empty() {
        tell(&response, "header", &[Value::string(b"Content-Type")?, Value::string(b"text/plain; charset=utf-8")?])?;
    }
    tell(&response, "end", &[Value::string(text)?])?;
    Ok(Value::null())
}

fn invoke(call: &Call) -> Result<(), Raise> {
    let next = call.this::<Next>()?;
    let chain = Rc::clone(&next.chain);
    call.ret(chain.run(next.at, call.value(0), call.value(1))?)
}

apus_zend::stub!("http/next");
