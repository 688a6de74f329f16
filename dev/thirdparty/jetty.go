package main

import (
	"os"
	"path/filepath"
	"time"
)

// jetty runs from jetty-home with the modules that serve JSPs.
var jetty = program{
	name:  "jetty",
	fetch: maven{{"org.eclipse.jetty:jetty-home:12.0.16:zip", "18f6890eadf17cb7724ef89aca30798b2a8e2de7a0f837e4f48a8055099f5bfa"}},
	start: func(p *place) {
		p.main, p.backend = p.addressOf("http"), 60*time.Millisecond
		writePages(p, filepath.Join(p.dir, "webapps/shop"))
		_ = os.Mkdir(filepath.Join(p.dir, "logs"), 0o755)
		p.bin = javaProgram(25)
		p.args = []string{"-Xmx256m", "-jar", filepath.Join(p.home, "start.jar"), "jetty.home=" + p.home, "jetty.base=" + p.dir,
			"--module=http,ee10-deploy,ee10-jsp,requestlog", "jetty.http.host=127.0.0.1", "jetty.http.port=" + p.main[len("127.0.0.1:"):]}
		p.ready, p.warm, p.patience = requestPages(p), 12*time.Second, time.Minute
		p.load = pageLoad(60, 40, 80)
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 60 small pages, 40 lists, and 80 pages a second that ask a backend which takes 60 ms"},
		{name: "seven-threads", truth: "jetty.threadPool.maxThreads=7, of which some accept and select: about 4 serve, 80 backend pages a second are asked for", sick: func(p *place) {
			p.args = append(p.args, "jetty.threadPool.maxThreads=7", "jetty.threadPool.minThreads=7", "jetty.threadPool.reservedThreads=0")
		}},
		{name: "shenandoah-20m", truth: "-XX:+UseShenandoahGC -Xmx24m: hardly more than it needs", sick: func(p *place) {
			p.args[0] = "-Xmx24m"
			p.prependOptions("-XX:+UseShenandoahGC")
		}},
		{name: "zgc-40m", truth: "-XX:+UseZGC -Xmx40m: hardly more than it needs", sick: func(p *place) {
			p.args[0] = "-Xmx40m"
			p.prependOptions("-XX:+UseZGC")
		}},
		{name: "neighbours", truth: "8 processes burn CPU on the same machine", sick: func(p *place) { p.burn = 8 }},
	},
}
