"""What is measured: W1 (hello world) and W6 (JSON, 1 MB upload, 0.3 MB echo)."""

from dataclasses import dataclass

CONCURRENCIES = (10, 64, 1000)

# Sizes of the posted pictures in bytes.
UPLOAD_BYTES = 1024 * 1024
ECHO_BYTES = 300 * 1024


@dataclass(frozen=True)
class Route:
    name: str
    path: str
    title: str
    body_bytes: int = 0


ROUTES = {
    route.name: route
    for route in (
        Route("hello", "/", "Hello world (W1)"),
        Route("json", "/json", "100-element array as JSON (W6 stage 1)"),
        Route("upload", "/upload", "1 MB upload kept under a UUID (W6 stage 2)", UPLOAD_BYTES),
        Route("echo", "/echo", "0.3 MB upload sent back (W6 stage 3)", ECHO_BYTES),
    )
}


@dataclass(frozen=True)
class Target:
    """A load of wrk on any path, for benchmarks with routes of their own."""

    path: str
    concurrency: int
    # Lines of the request's head.
    headers: tuple[str, ...] = ()
    keep_alive = True
    tool = "wrk"
    # A slow answer is a slow answer, not a failure.
    patient = True

    def seconds(self, base: int) -> int:
        """A thousand requests in flight when a short run ends would cost as much as those answered."""
        return base * 3 if self.concurrency >= 1000 else base


@dataclass(frozen=True)
class Scenario:
    route: str
    concurrency: int
    keep_alive: bool
    tool: str = "wrk"
    headers = ()
    patient = False

    @property
    def name(self) -> str:
        tool = "" if self.tool == "wrk" else f"{self.tool}-"
        close = "" if self.keep_alive else "-close"
        return f"{tool}{self.route}-c{self.concurrency}{close}"

    @property
    def path(self) -> str:
        return ROUTES[self.route].path

    @property
    def title(self) -> str:
        kind = "keep-alive" if self.keep_alive else "connection closed"
        return f"{ROUTES[self.route].title}, c={self.concurrency}, {kind}, {self.tool}"

    def seconds(self, base: int) -> int:
        """A thousand bodies in flight take seconds to come round: in a short run the unfinished ones would outweigh
        those answered, and their cost be charged to these."""
        return base * 5 if ROUTES[self.route].body_bytes and self.concurrency >= 1000 else base


ALL = (
    *(
        Scenario(route, concurrency, keep_alive)
        for route in ROUTES
        for keep_alive in (True, False)
        for concurrency in CONCURRENCIES
    ),
    # The figures W1 is known by were taken with ab at c=10.
    Scenario("hello", 10, True, "ab"),
    Scenario("hello", 10, False, "ab"),
)


# One of each kind: enough to see that everything works and what the order is.
QUICK = ("hello-c64", "hello-c64-close", "hello-c1000", "json-c64-close", "upload-c10", "echo-c10")
