package main

import (
	"path/filepath"
	"time"
)

// azmcp is Kestrel on .NET 10 in a single trimmed file. Each request begins a session.
var azmcp = program{
	name:  "azmcp",
	fetch: npm{name: "@azure/mcp-linux-x64", version: "2.0.5", sum: "59e49713045a8c78c4915a6368bfc7688e7e9032a74d1fdf6caaa24d05a4dbdb"},
	start: func(p *place) {
		p.main = p.addressOf("http")
		p.bin = filepath.Join(p.home, "package/dist/azmcp")
		p.args = []string{"server", "start", "--transport", "http", "--dangerously-disable-http-incoming-auth"}
		p.env = []string{"HOME=" + p.dir, "ASPNETCORE_URLS=http://" + p.main, "AZURE_MCP_COLLECT_TELEMETRY=false"}
		p.patience = time.Minute
		p.load = []traffic{httpLoad{rate: 100, method: "POST", paths: []string{"/"}, body: []byte(mcpInitialize),
			header: map[string][]string{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}}.sendRequests}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 100 requests a second, each of which begins a session"},
		{name: "quota", truth: "a CPU quota of 0.1 CPUs", sick: func(p *place) { p.quota = .1 }},
	},
}

const mcpInitialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"client","version":"1"}}}`
