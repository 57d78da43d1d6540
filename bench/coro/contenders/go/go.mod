module apus.invalid/bench/coro

go 1.21
