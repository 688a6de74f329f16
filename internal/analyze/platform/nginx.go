package platform

import "github.com/unstall/unstall/internal/collect/discover"

// Nginx is a web server made of nginx: a master, and workers that each serve many connections
// at a time. What its requests took is in its access log.
var Nginx = &Runtime{
	ID:        "nginx",
	Title:     "nginx",
	Versioned: "nginx",
	Lane:      "worker",
	Master:    true,
	Requests:  "an access log with $request_time, $upstream_response_time and $upstream_addr",
	Recognise: &discover.Recogniser{
		Called: "nginx",
		Traces: func(p discover.Process) (discover.Seen, bool) {
			switch p.Comm() {
			case "nginx", "openresty", "angie", "freenginx":
				return discover.Seen{}, true
			}
			return discover.Seen{}, false
		},
	},
}
