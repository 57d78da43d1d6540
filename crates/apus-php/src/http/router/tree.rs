//! Finding a route by method and path: a tree of segments.

use std::collections::BTreeMap;

use super::pattern::{Param, Pattern, Segment};

/// The route of a method at one place of the tree.
#[derive(Debug)]
struct Leaf {
    /// `None` for any.
    method: Option<Box<str>>,
    route: usize,
}

#[derive(Debug, Default)]
struct Node {
    /// The names are the program's, and few at one place: a hash that nobody foresees would take longer.
    literals: BTreeMap<Box<[u8]>, Node>,
    /// Those that demand most first.
    params: Vec<(Param, Node)>,
    rest: Vec<Leaf>,
    here: Vec<Leaf>,
}

/// All routes.
#[derive(Debug, Default)]
pub(super) struct Tree(Node);

/// A path, decoded after it was split: a slash that was sent as %2F separates nothing.
pub(super) struct Path {
    pub(super) text: Vec<u8>,
    /// Where each segment begins and ends.
    segments: Vec<(usize, usize)>,
}

/// Where the value of each parameter lies in the text of a path.
pub(super) type Values = Vec<(usize, usize)>;

/// What is for a method and a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A route.
    Route(usize, Values),
    /// Routes of other methods: one of them, and all that are.
    Others(usize, Vec<Box<str>>),
    Nothing,
}

impl Path {
    /// Splits and decodes the path of a request.
    pub(super) fn new(raw: &[u8], decode: impl Fn(&[u8]) -> std::borrow::Cow<'_, [u8]>) -> Self {
        let mut this = Self { text: Vec::with_capacity(raw.len()), segments: Vec::with_capacity(8) };
        // `OPTIONS *` asks for no path (RFC 9110 section 9.3.7).
        let Some(path) = raw.strip_prefix(b"/") else { return this };
        for segment in path.split(|&byte| byte == b'/') {
            if !this.segments.is_empty() {
                this.text.push(b'/');
            }
            let begin = this.text.len();
            this.text.extend_from_slice(&decode(segment));
            this.segments.push((begin, this.text.len()));
        }
        this
    }

    /// Whether it stands for the whole server.
    pub(super) fn is_asterisk(&self) -> bool {
        self.segments.is_empty()
    }
}

impl Tree {
    /// All methods that a route is for.
    pub(super) fn methods(&self) -> Vec<Box<str>> {
        let mut all = Vec::new();
        self.0.methods(&mut all);
        all
    }

    /// Adds a route; `false`: there is one for this method and these paths.
    pub(super) fn insert(&mut self, pattern: Pattern, methods: &[Option<Box<str>>], route: usize) -> bool {
        let leaves = self.0.leaves(pattern.segments);
        if methods.iter().any(|method| leaves.iter().any(|leaf| leaf.method == *method)) {
            return false;
        }
        leaves.extend(methods.iter().map(|method| Leaf { method: method.clone(), route }));
        true
    }

    /// Finds the route. HEAD is answered as GET where nothing else is said (RFC 9110 section 9.3.2).
    pub(super) fn find(&self, method: &str, path: &Path) -> Found {
        let mut values = Values::new();
        let mut found = None;
        self.0.search(path, 0, &mut values, &mut |leaves, values| {
            let exact = || leaves.iter().find(|leaf| leaf.method.as_deref().is_none_or(|known| known == method));
            let get = || leaves.iter().find(|leaf| method == "HEAD" && leaf.method.as_deref() == Some("GET"));
            found = exact().or_else(get).map(|leaf| Found::Route(leaf.route, values.clone()));
            found.is_some()
        });
        found.unwrap_or_else(|| self.others(path))
    }

    fn others(&self, path: &Path) -> Found {
        let (mut first, mut methods) = (None, Vec::<Box<str>>::new());
        self.0.search(path, 0, &mut Values::new(), &mut |leaves, _| {
            first = first.or(leaves.first().map(|leaf| leaf.route));
            methods.extend(leaves.iter().filter_map(|leaf| leaf.method.clone()));
            false
        });
        let Some(first) = first else { return Found::Nothing };
        Found::Others(first, allowed(methods))
    }
}

/// The value of an Allow field: HEAD where GET is, and OPTIONS, which is always answered.
pub(super) fn allowed(mut methods: Vec<Box<str>>) -> Vec<Box<str>> {
    if methods.iter().any(|method| **method == *"GET") {
        methods.push("HEAD".into());
    }
    methods.push("OPTIONS".into());
    methods.sort_unstable();
    methods.dedup();
    methods
}

impl Node {
    /// The leaves at the end of these segments, which are made where they are not there.
    fn leaves(&mut self, segments: Vec<Segment>) -> &mut Vec<Leaf> {
        let mut node = self;
        for segment in segments {
            node = match segment {
                Segment::Literal(text) => node.literals.entry(text).or_default(),
                Segment::Param(param) => node.param(param),
                // The last one, as patterns go.
                Segment::Rest => return &mut node.rest,
            };
        }
        &mut node.here
    }

    fn param(&mut self, param: Param) -> &mut Self {
        let at = self.params.iter().position(|(known, _)| *known == param).unwrap_or_else(|| {
            let at = self.params.partition_point(|(known, _)| known.rank() >= param.rank());
            self.params.insert(at, (param, Self::default()));
            at
        });
        &mut self.params[at].1
    }

    fn methods(&self, all: &mut Vec<Box<str>>) {
        all.extend(self.here.iter().chain(&self.rest).filter_map(|leaf| leaf.method.clone()));
        self.literals.values().chain(self.params.iter().map(|(_, node)| node)).for_each(|node| node.methods(all));
    }

    /// Shows the leaves that a path leads to, the most specific first, until `visit` says that it is enough. As each
    /// place of the tree has one way to it, none is looked at twice.
    fn search(
        &self,
        path: &Path,
        depth: usize,
        values: &mut Values,
        visit: &mut dyn FnMut(&[Leaf], &Values) -> bool,
    ) -> bool {
        let Some(&(begin, end)) = path.segments.get(depth) else {
            return !self.here.is_empty() && visit(&self.here, values);
        };
        let segment = &path.text[begin..end];
        if self.literals.get(segment).is_some_and(|node| node.search(path, depth + 1, values, visit)) {
            return true;
        }
        for (param, node) in &self.params {
            if let Some((from, to)) = param.find(segment) {
                values.push((begin + from, begin + to));
                if node.search(path, depth + 1, values, visit) {
                    return true;
                }
                values.pop();
            }
        }
        if self.rest.is_empty() {
            return false;
        }
        values.push((begin, path.text.len()));
        let enough = visit(&self.rest, values);
        values.pop();
        enough
    }
}

#[cfg(test)]
mod tests {
    use apus_net::proto::query::percent_decode;

    use super::*;

    fn tree(routes: &[&str]) -> Tree {
        let mut tree = Tree::default();
        for (at, route) in routes.iter().enumerate() {
            let (method, pattern) = route.split_once(' ').unwrap();
            let method = (method != "*").then(|| method.into());
            assert!(tree.insert(Pattern::parse(pattern.as_bytes()).unwrap(), &[method], at), "{route}");
        }
        tree
    }

    fn find(tree: &Tree, method: &str, path: &str) -> (Option<usize>, Vec<String>) {
        let path = Path::new(path.as_bytes(), percent_decode);
        match tree.find(method, &path) {
            Found::Route(route, values) => {
                let text =
                    |&(begin, end): &(usize, usize)| String::from_utf8_lossy(&path.text[begin..end]).into_owned();
                (Some(route), values.iter().map(text).collect())
            }
            Found::Others(_, methods) => (None, methods.iter().map(ToString::to_string).collect()),
            Found::Nothing => (None, Vec::new()),
        }
    }

    fn some(route: usize, values: &[&str]) -> (Option<usize>, Vec<String>) {
        (Some(route), values.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_most_specific_first() {
        let tree = tree(&["GET /a/{x}", "GET /a/b", r"GET /a/{x:\d+}", "GET /a/{rest...}", "GET /a/v{x}", "GET /"]);
        assert_eq!(find(&tree, "GET", "/a/b"), some(1, &[]));
        assert_eq!(find(&tree, "GET", "/a/12"), some(2, &["12"]));
        assert_eq!(find(&tree, "GET", "/a/v2"), some(4, &["2"]));
        assert_eq!(find(&tree, "GET", "/a/c"), some(0, &["c"]));
        assert_eq!(find(&tree, "GET", "/a/c/d"), some(3, &["c/d"]));
        assert_eq!(find(&tree, "GET", "/a/"), some(3, &[""]));
        assert_eq!(find(&tree, "GET", "/"), some(5, &[]));
        assert_eq!(find(&tree, "GET", "/a").0, None);
        assert_eq!(find(&tree, "GET", "*").0, None);
    }

    #[test]
    fn goes_back_where_a_way_leads_nowhere() {
        let tree = tree(&["GET /a/b/c", "GET /{x}/b/d", "GET /{x}/{y}/{z...}", "POST /a/b"]);
        assert_eq!(find(&tree, "GET", "/a/b/d"), some(1, &["a"]));
        assert_eq!(find(&tree, "GET", "/a/b/e"), some(2, &["a", "b", "e"]));
    }

    #[test]
    fn methods() {
        let tree = tree(&["GET /a/{x}", "POST /a/me", "* /any", "HEAD /h", "GET /h"]);
        assert_eq!(find(&tree, "GET", "/a/me"), some(0, &["me"]), "another route has the method");
        assert_eq!(find(&tree, "HEAD", "/a/1"), some(0, &["1"]));
        assert_eq!(find(&tree, "HEAD", "/h"), some(3, &[]));
        assert_eq!(find(&tree, "BREW", "/any"), some(2, &[]));
        let allow = find(&tree, "DELETE", "/a/me");
        assert_eq!(allow, (None, ["GET", "HEAD", "OPTIONS", "POST"].map(String::from).to_vec()));
        assert_eq!(find(&tree, "get", "/a/1").0, None, "methods have their case (RFC 9110 section 9.1)");
    }

    #[test]
    fn decodes_after_splitting() {
        let tree = tree(&["GET /f/{name}", "GET /r/{rest...}", "GET /ü"]);
        assert_eq!(find(&tree, "GET", "/f/a%2Fb%20c"), some(0, &["a/b c"]));
        assert_eq!(find(&tree, "GET", "/r/a%2Fb/c"), some(1, &["a/b/c"]));
        assert_eq!(find(&tree, "GET", "/%C3%BC"), some(2, &[]));
        assert_eq!(find(&tree, "GET", "/f/"), (None, Vec::new()));
    }

    #[test]
    fn one_route_for_a_method_and_the_same_paths() {
        let mut tree = tree(&["GET /a/{x}"]);
        let mut insert = |pattern: &str, method: &str| {
            tree.insert(Pattern::parse(pattern.as_bytes()).unwrap(), &[Some(method.into())], 9)
        };
        assert!(!insert("/a/{y}", "GET"), "names make no difference");
        assert!(insert("/a/{y}", "POST"));
        assert!(insert(r"/a/{y:\d}", "GET"));
    }
}
