module apus/bench/tls/go

go 1.21
