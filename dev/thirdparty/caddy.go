package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// caddy serves files, compressed, and passes requests on to a backend.
var caddy = program{
	name: "caddy",
	fetch: goModule{module: "github.com/caddyserver/caddy/v2", version: "v2.10.2", main: "cmd/caddy",
		sum: "h1:g/gTYjGMD0dec+UgMw8SnfmJ3I9+M2TdvoRL/Ovu6U8="},
	start: func(p *place) {
		p.main, p.pprof = p.addressOf("http"), "http://"+p.addressOf("admin")+"/debug/pprof"
		p.backend = time.Millisecond
		files := filepath.Join(p.dir, "files")
		_ = os.Mkdir(files, 0o755)
		_ = os.WriteFile(filepath.Join(files, "small.html"), bodyText(2<<10), 0o644)
		_ = os.WriteFile(filepath.Join(files, "page.html"), bodyText(40<<10), 0o644)
		config := fmt.Sprintf(`{
	admin %s
	auto_https off
	persist_config off
}
http://%s {
	bind 127.0.0.1
	handle /api/* {
		reverse_proxy %s
	}
	handle {
		root * %s
		encode gzip
		file_server
	}
}
`, p.addressOf("admin"), p.main, p.addressOf("backend"), files)
		_ = os.WriteFile(filepath.Join(p.dir, "Caddyfile"), []byte(config), 0o644)
		p.bin = filepath.Join(p.home, "bin/caddy")
		p.args = []string{"run", "--adapter", "caddyfile", "--config", "Caddyfile"}
		p.env = []string{"HOME=" + p.dir, "XDG_DATA_HOME=" + p.dir, "XDG_CONFIG_HOME=" + p.dir}
		p.load = []traffic{
			httpLoad{rate: 150, paths: []string{"/small.html"}}.sendRequests,
			httpLoad{rate: 60, paths: []string{"/page.html"}, header: map[string][]string{"Accept-Encoding": {"gzip"}}}.sendRequests,
			httpLoad{rate: 100, paths: []string{"/api/orders", "/api/items"}}.sendRequests,
		}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: files, gzip, and a backend that answers in 1 ms"},
		{name: "slow-backend", truth: "the backend of /api takes 120 ms", sick: func(p *place) { p.backend = 120 * time.Millisecond }},
		{name: "backend-of-4", truth: "the backend answers 4 at a time, 50 ms each: 80 of 100 requests a second", sick: func(p *place) {
			p.backend, p.within = 50*time.Millisecond, 4
		}},
		{name: "quota", truth: "a CPU quota of 0.15 CPUs", sick: func(p *place) { p.quota = .15 }},
		{name: "neighbours", truth: "healthy all the same: 8 processes burn CPU on the same machine, and it needs little", sick: func(p *place) { p.burn = 8 }},
	},
}
