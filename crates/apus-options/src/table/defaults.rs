//! Defaults that are no constants.

/// CPU cores this process may run on.
pub(super) fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get().min(1024) as u32)
}

pub(super) fn cors_methods() -> Vec<String> {
    ["GET", "HEAD", "POST"].map(str::to_owned).to_vec()
}

/// Code, templates and what pages load; not what programs write: caches, uploads, logs.
pub(super) fn watch_patterns() -> Vec<String> {
    const PATTERNS: &str = "*.php *.phtml *.inc *.module *.html *.htm *.twig *.latte *.tpl *.css *.js *.mjs *.yaml \
                            *.yml *.neon *.toml .env* .user.ini composer.lock !.* !node_modules !vendor !cache !var \
                            !storage !uploads !tmp";
    PATTERNS.split_whitespace().map(str::to_owned).collect()
}
