// Package redis asks a Redis server (from 4 on; Valkey and KeyDB answer alike) what it knows of
// itself, over its own protocol. It only reads: no setting is changed, its latency monitor is not
// switched on, nothing is reset.
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
// and redis.log: what it wrote to its log meanwhile, where that can be read here.
//
// A password is that of the URL, else of REDISCLI_AUTH, as redis-cli takes it; it is in no artifact.
//
// The package's opinion: a server with one thread for all pays for each question, so that a question is
// asked as often as its answer is worth it; and what clients asked for is not ours to keep.
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

// own is how connections of ours are called, so that what they asked is told from what others did.
const own = "unstall"

// schemes are those of URLs that lead to a server.
var schemes = []string{"redis", "rediss", "valkey", "valkeys", "unix"}

// isURL says whether a URL is of ours.
func isURL(u *url.URL) bool { return u != nil && slices.Contains(schemes, u.Scheme) }

// findAccess connects to what a URL names, else to a socket that a server listens on. If that
// fails the access says why; a server that the user named by its process is recorded without.
func findAccess(ctx context.Context, t discover.Target) []probe.Access {
	if !isURL(t.URL) && (t.PID == 0 || t.Runtime != "redis") {
		return nil
	}
	s, err := openServer(ctx, t)
	if err != nil {
		return []probe.Access{missingAccess(t, err)}
	}
	_ = s.client.Close() // it may take long until it is recorded
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

// Client asks a server for single answers.
type Client struct{ s *server }

// Dial connects as recording does. The error is one line: where, why, and what to do.
func Dial(ctx context.Context, t discover.Target) (*Client, error) {
	s, err := openServer(ctx, t)
	if err != nil {
		return nil, err
	}
	return &Client{s}, nil
}

// Where is the server's address, without secrets.
func (c *Client) Where() string { return c.s.shown }

// Info is its answer to INFO.
func (c *Client) Info(ctx context.Context) (string, error) { return c.s.askInfo(ctx) }

// Close gives the connection back.
func (c *Client) Close() error { return c.s.client.Close() }
