//! What a client of the figures asks for: as much of HTTP/1.1 as that takes.

/// What there is to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// All figures as text that Prometheus reads (0.0.4).
    Metrics,
    /// The same as `OpenMetrics` 1.0.
    OpenMetrics,
    /// The state of the server as JSON.
    Status,
}

/// The head of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// Something that there is; of which only the head is wanted, or all of it.
    Page {
        page: Page,
        bodyless: bool,
    },
    Unknown,
    NoSuchMethod,
    Malformed,
    TooLarge,
}

/// Whether the head is there to its empty line.
pub(crate) fn is_whole(input: &[u8]) -> bool {
    input.windows(4).any(|four| four == b"\r\n\r\n")
}

impl Head {
    /// Reads a head that is there to its empty line.
    pub(crate) fn read(input: &[u8]) -> Self {
        let text = String::from_utf8_lossy(input);
        let mut lines = text.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Self::Malformed;
        };
        if !version.starts_with("HTTP/1.") {
            return Self::Malformed;
        }
        let bodyless = match method {
            "GET" => false,
            "HEAD" => true,
            _ => return Self::NoSuchMethod,
        };
        let page = match target.split('?').next().unwrap_or_default() {
            "/metrics" if lines.any(asks_for_open_metrics) => Page::OpenMetrics,
            "/metrics" => Page::Metrics,
            "/status" => Page::Status,
            _ => return Self::Unknown,
        };
        Self::Page { page, bodyless }
    }
}

fn asks_for_open_metrics(line: &str) -> bool {
    let field = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("accept"));
    field.is_some_and(|(_, value)| value.to_ascii_lowercase().contains("application/openmetrics-text"))
}
