module apus-bench/ws

go 1.26

require (
	github.com/coder/websocket v1.8.15
	github.com/gobwas/ws v1.5.0
)

require github.com/gobwas/httphead v0.1.0 // indirect
