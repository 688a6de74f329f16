// Package redis asks a Redis server (from 4 on; Valkey and KeyDB answer alike) for its own figures, over its own protocol. It only reads:
// it changes no setting, does not switch the latency monitor on, and resets nothing.
//
// Its artifact is redis.txt, as internal/format/redisreply reads it, in the form of redis-cli, each answer below a
// line that says when it came and how long it took:
//
//	INFO everything       every second (INFO all before 6.2); more seldom where it takes long
//	SLOWLOG GET           with it; of arguments only their lengths
//	PING                  every 100 ms: how long others wait, too, while a command keeps its only thread
//	LATENCY …, CLUSTER INFO   every 10 s, where there is anything
//	CLIENT LIST           every 5 s of a few clients, once of thousands: it costs 2 µs each
//	MEMORY STATS          at the beginning and at the end
//	CONFIG GET            once: settings that decide how it answers, no password, path or name
//
// and redis.log: the lines the server logged during the recording, if this host can read them.
//
// The password comes from the URL, else from REDISCLI_AUTH, as in redis-cli. No artifact contains it.
//
// The package's opinion: every request delays a server with a single thread, so a request is only as frequent as its answer is useful. What
// clients asked for is private and not kept.
package redis

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Probe asks Redis servers.
var Probe = probe.Probe{
	Name:  name,
	About: "Redis, Valkey or KeyDB: INFO, slow log, latency, clients and settings, over its own protocol",
	Find:  findAccess,
}

const name = "redis"

// own is the name of this recorder's connections, so that its requests are told from those of others.
const own = "unstall"

// schemes are the schemes of URLs that lead to a server.
var schemes = []string{"redis", "rediss", "valkey", "valkeys", "unix"}

// isURL says whether a URL is of ours.
func isURL(u *url.URL) bool { return u != nil && slices.Contains(schemes, u.Scheme) }

// findAccess connects to the server of a URL, else to a socket that a server listens on. If that fails, the access says why. A server that
// the user named by its process is then recorded without this access.
func findAccess(ctx context.Context, t discover.Target) []probe.Access {
	if !isURL(t.URL) && (t.PID == 0 || t.Runtime != "redis") {
		return nil
	}
	s, err := openServer(ctx, t)
	if err != nil {
		return []probe.Access{missingAccess(t, err)}
	}
	_ = s.client.Close() // the recording may begin much later
	about := t
	about.Runtime = "redis"
	subject := about.Subject()
	if s.version != "" {
		subject.Version = s.version
	}
	if t.PID == 0 {
		subject.Name, subject.Address = s.program, s.address
	}
	return []probe.Access{{
		Probe: name,
		Where: s.shown,
		Record: func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
			return recordServer(ctx, s.place, t, subject, plan, sink)
		},
	}}
}

// missingAccess returns the access to a server that does not answer.
func missingAccess(t discover.Target, err error) probe.Access {
	var why *refusal
	if !errors.As(err, &why) {
		why = &refusal{where: fmt.Sprintf("redis of pid %d", t.PID), why: err.Error()}
	}
	a := probe.Access{
		Probe: name,
		Where: why.where,
		Lacks: []probe.Lack{{What: "what Redis says of itself", Why: why.why, Do: why.do}},
	}
	a.Record = func(context.Context, probe.Plan, probe.Sink) error { return nil }
	if isURL(t.URL) || t.PID == 0 {
		a.Missing, a.Alone = why, isURL(t.URL)
		a.Record = func(context.Context, probe.Plan, probe.Sink) error { return why }
	}
	return a
}

// Client sends single requests to a server.
type Client struct{ s *server }

// Dial connects as a recording does. The error is one line: where, why, and what to do.
func Dial(ctx context.Context, t discover.Target) (*Client, error) {
	s, err := openServer(ctx, t)
	if err != nil {
		return nil, err
	}
	return &Client{s}, nil
}

// Where returns the server's address, without secrets.
func (c *Client) Where() string { return c.s.shown }

// Info returns the server's answer to INFO.
func (c *Client) Info(ctx context.Context) (string, error) { return c.s.askInfo(ctx) }

// Close closes the connection.
func (c *Client) Close() error { return c.s.client.Close() }
