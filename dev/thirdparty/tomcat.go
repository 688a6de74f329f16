package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tomcat runs from its distribution with its own configuration: only ports differ.
var tomcat = program{
	name:  "tomcat",
	fetch: maven{{"org.apache.tomcat:tomcat:10.1.34:zip", "35027460556940e182ebcda21aeae58a1711029383c5499dcb08efdeaefe51ce"}},
	start: func(p *place) {
		p.main, p.backend = p.addressOf("http"), 60*time.Millisecond
		_ = os.CopyFS(filepath.Join(p.dir, "conf"), os.DirFS(filepath.Join(p.home, "conf")))
		tomcatSet(p, `port="8080"`, `address="127.0.0.1" port="`+p.main[len("127.0.0.1:"):]+`"`)
		tomcatSet(p, `port="8005"`, `port="-1"`)
		writePages(p, filepath.Join(p.dir, "webapps/shop"))
		for _, d := range []string{"logs", "temp", "work"} {
			_ = os.Mkdir(filepath.Join(p.dir, d), 0o755)
		}
		p.bin = javaProgram(17)
		p.args = []string{"-Xmx256m", "-cp", filepath.Join(p.home, "bin/bootstrap.jar") + ":" + filepath.Join(p.home, "bin/tomcat-juli.jar"),
			"-Dcatalina.home=" + p.home, "-Dcatalina.base=" + p.dir, "-Djava.io.tmpdir=" + filepath.Join(p.dir, "temp"),
			"org.apache.catalina.startup.Bootstrap", "start"}
		p.ready, p.warm, p.patience = requestPages(p), 12*time.Second, time.Minute
		p.load = pageLoad(60, 40, 80)
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 60 small pages, 40 lists, and 80 pages a second that ask a backend which takes 60 ms"},
		{name: "four-threads", truth: "maxThreads=\"4\": 66 backend pages a second at most, 80 are asked for", sick: func(p *place) {
			tomcatSet(p, `protocol="HTTP/1.1"`, `protocol="HTTP/1.1" maxThreads="4" minSpareThreads="4"`)
		}},
		{name: "slow-backend", truth: "the backend takes 400 ms", sick: func(p *place) { p.backend = 400 * time.Millisecond }},
		{name: "young-1m", truth: "-Xmn1m: a collection for every list", sick: func(p *place) { p.prependOptions("-Xmn1m", "-XX:+UseParallelGC") }},
		{name: "heap-20m", truth: "-Xmx20m: less than it needs", sick: func(p *place) { p.args[0] = "-Xmx20m" }},
		{name: "quota", truth: "a CPU quota of 0.25 CPUs", sick: func(p *place) { p.quota = .25 }},
	},
}

func tomcatSet(p *place, old, to string) {
	at := filepath.Join(p.dir, "conf/server.xml")
	b, _ := os.ReadFile(at)
	_ = os.WriteFile(at, []byte(strings.Replace(string(b), old, to, 1)), 0o644)
}
