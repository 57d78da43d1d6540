//! Pages that load anew in the browser when the server has reloaded (`script_refresh`): a script at the end of HTML
//! answers, and what it listens to.

use std::rc::Rc;
use std::time::Duration;

use apus_net::{Control, Request, Responder, ResponseHead};
use apus_process::Worker;

/// What the script of a page listens to. No file has a hidden name.
const PATH: &str = "/.apus/refresh";
/// How often the version is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Tells pages that the server has reloaded.
pub(crate) struct Refresh {
    worker: Rc<Worker>,
    control: Rc<Control>,
}

impl Refresh {
    pub(crate) fn new(worker: &Rc<Worker>, control: &Rc<Control>) -> Rc<Self> {
        Rc::new(Self { worker: Rc::clone(worker), control: Rc::clone(control) })
    }

    /// Whether a request is that of a page's script.
    pub(super) fn is_asked(request: &Request) -> bool {
        request.path() == PATH.as_bytes()
    }

    fn version(&self) -> String {
        let (start, reloads) = self.worker.version();
        format!("{start}-{reloads}")
    }

    /// What stands at the end of a page: the script knows the version of the server that was asked for it. `None` where
    /// the answer is not to be a page of its own: browsers tell what they want it for.
    pub(super) fn tail(&self, request: &Request) -> Option<String> {
        let page = |kind: &[u8]| matches!(kind, b"document" | b"iframe" | b"frame");
        // Not all of them do for addresses without TLS.
        let may_be = || request.header(b"accept").is_some_and(|accept| contains(accept, b"text/html"));
        let wanted = request.header(b"sec-fetch-dest").map_or_else(may_be, page)
            && request.header(b"x-requested-with").is_none()
            && request.method() != b"HEAD";
        wanted.then(|| {
            format!(
                "<script>(() => {{ const open = () => {{ const news = new EventSource(\"{PATH}?{}\"); \
                 news.onmessage = () => location.reload(); \
                 news.onerror = () => {{ if (news.readyState === 2) setTimeout(open, 1000); }}; \
                 addEventListener(\"pagehide\", () => news.close()); }}; open(); \
                 addEventListener(\"pageshow\", (event) => {{ if (event.persisted) open(); }}); }})();</script>\n",
                self.version()
            )
        })
    }

    /// Tells one page, once the version is no longer the one that it names.
    pub(super) async fn tell(self: Rc<Self>, request: Request, responder: Responder) {
        let mut head = ResponseHead::new(200);
        (head.has_content_type, head.plain) = (true, true);
        head.push_field(b"Content-Type", b"text/event-stream");
        head.push_field(b"Cache-Control", b"no-store");
        let mut gone = std::pin::pin!(responder.gone());
        // The browser asks again so soon, in milliseconds, when the worker has left.
        if responder.write(&head, b"retry: 200\n\n").is_err() {
            return;
        }
        let known = request.query().unwrap_or_default().to_vec();
        loop {
            if self.version().as_bytes() != known {
                let _ = responder.end(&head, b"data: reloaded\n\n");
                return;
            }
            if self.control.is_draining() {
                let _ = responder.end(&head, b"");
                return;
            }
            if tokio::time::timeout(LOOK, gone.as_mut()).await.is_ok() {
                return;
            }
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// Whether an answer is a page.
pub(super) fn is_page(head: &ResponseHead) -> bool {
    // What has another coding cannot be added to, and what redirects or has no body is not shown.
    let shown = !head.plain && !matches!(head.status, 204 | 205 | 300..400);
    shown
        && head.lines.split(|byte| *byte == b'\n').any(|line| {
            line.split_at_checked(13).is_some_and(|(name, value)| {
                name.eq_ignore_ascii_case(b"content-type:")
                    && value.trim_ascii().get(..9).is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/html"))
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_that_is_shown_is_a_page() {
        let with = |status, lines: &[u8]| {
            let mut head = ResponseHead::new(status);
            head.lines = lines.to_vec();
            is_page(&head)
        };
        assert!(with(200, b"X-A: 1\r\nContent-type: text/html; charset=UTF-8\r\n"));
        assert!(with(500, b"content-type:TEXT/HTML\r\n"));
        assert!(!with(200, b"Content-Type: application/json\r\nX-Kind: text/html\r\n"));
        assert!(!with(302, b"Content-Type: text/html\r\n"));
        assert!(!with(200, b""));
        let mut head = ResponseHead::new(200);
        head.push_field(b"Content-Type", b"text/html");
        head.plain = true;
        assert!(!is_page(&head));
    }
}
