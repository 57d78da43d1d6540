//! `Apus\Http\Router`: the handler for a request by its method and path, with middleware around it.

mod next;
mod pattern;
mod tree;

use std::cell::RefCell;
use std::rc::Rc;

use apus_net::proto::query::percent_decode;
use apus_zend::value::View;
use apus_zend::{Array, Call, Callable, Raise, Value, native};

use self::next::{Chain, Last};
use self::pattern::Pattern;
use self::tree::{Found, Path, Tree};
use super::request::Request;
use crate::runtime::State;

pub(super) use next::NEXT;

/// Routes at most.
const ROUTES: usize = 100_000;
/// How deep groups may lie in groups.
const GROUPS: usize = 32;

/// What routes have in common.
struct Group {
    parent: Option<usize>,
    prefix: Vec<u8>,
    depth: usize,
    middleware: Vec<Callable>,
}

struct Route {
    pattern: Rc<[u8]>,
    names: Rc<[Box<[u8]>]>,
    handler: Callable,
    group: usize,
    middleware: Vec<Callable>,
    /// File and line of the handler, where it is written in PHP.
    place: Option<Rc<str>>,
}

#[derive(Default)]
struct Routes {
    tree: Tree,
    all: Vec<Route>,
    /// The first one is the router itself.
    groups: Vec<Group>,
    fallback: Option<Callable>,
}

/// A router, or a group of one: they share the routes.
struct Router {
    routes: Rc<RefCell<Routes>>,
    group: usize,
}

native!(Router, "Apus\\Http\\Router", |router, held| {
    // Shared with its groups, it is told by none: what has no cycles is freed all the same.
    if Rc::strong_count(&router.routes) == 1
        && let Ok(routes) = router.routes.try_borrow()
    {
        let of_groups = routes.groups.iter().flat_map(|group| &group.middleware);
        let of_routes = routes.all.iter().flat_map(|route| route.middleware.iter().chain([&route.handler]));
        of_groups.chain(of_routes).chain(&routes.fallback).for_each(|callable| held.callable(callable));
    }
});

impl Routes {
    /// The middleware of a group, that of the outermost first.
    fn around(&self, group: usize) -> Vec<Callable> {
        let group = &self.groups[group];
        let mut all = group.parent.map_or_else(Vec::new, |parent| self.around(parent));
        all.extend(group.middleware.iter().map(Callable::share));
        all
    }

    /// The middleware of a route, the outermost first.
    fn around_route(&self, route: &Route) -> Vec<Callable> {
        let mut all = self.around(route.group);
        all.extend(route.middleware.iter().map(Callable::share));
        all
    }

    /// What is for a request.
    fn chain(&self, method: &str, path: &Path) -> Result<Chain, Raise> {
        let (middleware, last) = match self.tree.find(method, path) {
            Found::Route(at, values) => {
                let route = &self.all[at];
                stands_at(route.place.as_ref());
                let params = params(&route.names, path, &values)?;
                (self.around_route(route), Last::Handler(route.handler.share(), params))
            }
            Found::Others(at, allowed) => {
                let status = if method == "OPTIONS" { 204 } else { 405 };
                (self.around_route(&self.all[at]), self.refusal(status, &allowed))
            }
            Found::Nothing if method == "OPTIONS" && path.is_asterisk() => {
                (self.around(0), self.refusal(204, &tree::allowed(self.tree.methods())))
            }
            Found::Nothing => (self.around(0), self.refusal(404, &[])),
        };
        Ok(Chain { middleware, last })
    }

    fn refusal(&self, status: u16, allowed: &[Box<str>]) -> Last {
        // OPTIONS is answered, not refused.
        let fallback = self.fallback.as_ref().filter(|_| status != 204).map(Callable::share);
        Last::Refusal { status, allowed: allowed.join(", "), fallback }
    }
}

/// The handler is the route's from here on, for what the log says of it.
fn stands_at(place: Option<&Rc<str>>) {
    if let (Some(place), Some(task)) = (place, State::existing().and_then(|state| state.engine.current())) {
        task.data().stands_at(place);
    }
}

/// The parameters of a route by their names.
fn params(names: &[Box<[u8]>], path: &Path, values: &[(usize, usize)]) -> Result<Value, Raise> {
    let mut array = Array::new(names.len())?;
    for (name, &(begin, end)) in names.iter().zip(values) {
        array.set_str(name, &path.text[begin..end])?;
    }
    Ok(array.into())
}

fn construct(call: &Call) -> Result<(), Raise> {
    let root = Group { parent: None, prefix: Vec::new(), depth: 0, middleware: Vec::new() };
    let routes = Routes { groups: vec![root], ..Routes::default() };
    call.construct(Router { routes: Rc::new(RefCell::new(routes)), group: 0 })
}

fn rest(call: &Call, from: usize) -> Result<Vec<Callable>, Raise> {
    (from..call.count()).map(|index| call.callable(index)).collect()
}

/// Adds a route: its pattern, handler and middleware are the arguments from `at` on.
fn add(call: &Call, methods: &[Option<&str>], at: usize) -> Result<(), Raise> {
    let router = call.this::<Router>()?;
    let (handler, middleware) = (call.callable(at + 1)?, rest(call, at + 2)?);
    let place = handler.place().map(|(file, line)| format!("{file}:{line}").into());
    let mut routes = router.routes.borrow_mut();
    let full = joined(&routes.groups[router.group].prefix, call.bytes(at)?);
    let pattern = Pattern::parse(&full).map_err(|why| call.value_error(at, &why))?;
    let number = routes.all.len();
    if number >= ROUTES {
        return Err(call.value_error(at, &format!("would be one route more than {ROUTES}")));
    }
    let names = pattern.names.iter().cloned().collect();
    let methods: Vec<Option<Box<str>>> = methods.iter().map(|method| method.map(Box::from)).collect();
    if !routes.tree.insert(pattern, &methods, number) {
        let text = format!("leads to the same paths as a route before it: \"{}\"", String::from_utf8_lossy(&full));
        return Err(call.value_error(at, &text));
    }
    routes.all.push(Route { pattern: full.into(), names, handler, group: router.group, middleware, place });
    drop(routes);
    call.ret(call.object()?)
}

/// A pattern behind a group's prefix; `/` alone is the prefix itself.
fn joined(prefix: &[u8], pattern: &[u8]) -> Vec<u8> {
    if pattern == b"/" && !prefix.is_empty() { prefix.to_vec() } else { [prefix, pattern].concat() }
}

macro_rules! methods {
    ($($function:ident = $method:literal),+) => {
        $(fn $function(call: &Call) -> Result<(), Raise> {
            add(call, &[Some($method)], 0)
        })+
    };
}
methods!(get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE", options = "OPTIONS");

fn any(call: &Call) -> Result<(), Raise> {
    add(call, &[None], 0)
}

fn map(call: &Call) -> Result<(), Raise> {
    let mut methods: Vec<String> = Vec::new();
    for (_, method) in call.array(0)?.iter() {
        match method.view() {
            View::Str(text) if is_method(text) => methods.push(String::from_utf8_lossy(text).into_owned()),
            _ => return Err(call.value_error(0, "must be a list of methods such as \"GET\" (RFC 9110 section 9.1)")),
        }
    }
    methods.sort_unstable();
    methods.dedup();
    if methods.is_empty() {
        return Err(call.value_error(0, "must name a method at least"));
    }
    let methods: Vec<Option<&str>> = methods.iter().map(|method| Some(method.as_str())).collect();
    add(call, &methods, 1)
}

/// Whether it is a token (RFC 9110 section 5.6.2) without lower-case letters, which no known method has.
fn is_method(text: &[u8]) -> bool {
    let is_in = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.len() <= 64 && text.iter().all(is_in)
}

fn group(call: &Call) -> Result<(), Raise> {
    let router = call.this::<Router>()?;
    let prefix = call.bytes(0)?;
    let declare = if matches!(call.view(1), View::Null) { None } else { Some(call.callable(1)?) };
    if !prefix.is_empty() && (prefix[0] != b'/' || prefix.ends_with(b"/")) {
        return Err(call.value_error(0, "must begin with \"/\", and not end with it"));
    }
    let number = {
        let mut routes = router.routes.borrow_mut();
        let depth = routes.groups[router.group].depth + 1;
        if depth > GROUPS || routes.groups.len() > ROUTES {
            return Err(call.value_error(0, &format!("would be a group too many: {GROUPS} may lie within each other")));
        }
        let prefix = [&routes.groups[router.group].prefix[..], prefix].concat();
        routes.groups.push(Group { parent: Some(router.group), prefix, depth, middleware: Vec::new() });
        routes.groups.len() - 1
    };
    let group =
        apus_zend::object::Object::new(ROUTER.get(), Router { routes: Rc::clone(&router.routes), group: number })?;
    if let Some(declare) = declare {
        declare.call(&[group.share().into()])?;
    }
    call.ret(group)
}

fn add_middleware(call: &Call) -> Result<(), Raise> {
    let router = call.this::<Router>()?;
    let middleware = rest(call, 0)?;
    router.routes.borrow_mut().groups[router.group].middleware.extend(middleware);
    call.ret(call.object()?)
}

fn fallback(call: &Call) -> Result<(), Raise> {
    let handler = call.callable(0)?;
    let old = call.this::<Router>()?.routes.borrow_mut().fallback.replace(handler);
    // Its destructor may run PHP code.
    drop(old);
    call.ret(call.object()?)
}

fn find(call: &Call) -> Result<(), Raise> {
    let (method, path) = (call.text(0)?, Path::new(call.bytes(1)?, percent_decode));
    let routes = Rc::clone(&call.this::<Router>()?.routes);
    let routes = routes.borrow();
    let mut array = Array::new(4)?;
    let (status, allowed) = match routes.tree.find(&method, &path) {
        Found::Route(at, values) => {
            let route = &routes.all[at];
            array.set_str(b"pattern", &route.pattern)?;
            array.set(b"params", params(&route.names, &path, &values)?)?;
            array.set(b"handler", route.handler.value())?;
            (200, Vec::new())
        }
        Found::Others(_, allowed) if method == "OPTIONS" => (204, allowed),
        Found::Others(_, allowed) => (405, allowed),
        Found::Nothing => (404, Vec::new()),
    };
    let mut list = Array::new(allowed.len())?;
    for method in allowed {
        list.push(Value::string(method.as_bytes())?)?;
    }
    array.set_int(b"status", status)?;
    array.set(b"allowed", list.into())?;
    call.ret(array)
}

fn invoke(call: &Call) -> Result<(), Raise> {
    let chain = {
        let request = call.value(0).object().ok_or_else(|| call.type_error(0, "of type Apus\\Http\\Request"))?;
        let request = request.payload::<Request>().ok_or_else(|| call.type_error(0, "of type Apus\\Http\\Request"))?;
        let path = Path::new(request.net().path(), percent_decode);
        let method = String::from_utf8_lossy(request.net().method());
        let routes = call.this::<Router>()?.routes.borrow();
        routes.chain(&method, &path)?
    };
    call.ret(Rc::new(chain).run(0, call.value(0), call.value(1))?)
}

apus_zend::stub!("http/router");
