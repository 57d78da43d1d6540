module apus/bench/tls/load

go 1.21
