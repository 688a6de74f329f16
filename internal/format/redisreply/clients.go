package redisreply

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// clients is an answer to CLIENT LIST: a line for each connection,
//
//	id=7 addr=10.0.0.7:51234 laddr=10.0.0.2:6379 fd=8 name= age=3 idle=0 flags=N … qbuf=26 … obl=0 oll=0 omem=0 … cmd=client|list …
//
// https://redis.io/docs/latest/commands/client-list/.
type clients struct {
	at     int64
	hosts  map[string]*host
	output float64 // bytes, of the client that has most
	query  float64
	asked  float64 // bytes, of all clients but blocked ones
	n      int
	where  []string // they connected
}

type host struct {
	connections, young, blocked, output, query float64
	last                                       map[string]float64
}

// isClient knows such a line.
func isClient(s string) bool {
	rest, ok := strings.CutPrefix(s, "id=")
	return ok && strings.Contains(rest[:min(len(rest), 80)], " addr=")
}

func (c *clients) beginList(at int64) { *c = clients{at: at, hosts: make(map[string]*host)} }

// addClient adds a connection, false if the line is none.
func (c *clients) addClient(s string) bool {
	if !isClient(s) {
		return false
	}
	of := make(map[string]string)
	for f := range strings.FieldsSeq(s) {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "addr", "laddr", "age", "flags", "qbuf", "obl", "omem", "cmd", "name":
			of[name] = value
		}
	}
	c.addAddress(of["addr"], of["laddr"])
	if of["name"] == own {
		return true
	}
	number := func(name string) float64 {
		v, err := strconv.ParseFloat(of[name], 64)
		if err != nil || !(v >= 0 && v < 1e15) {
			return 0
		}
		return v
	}
	c.n++
	at := addressOf(hostOf(of["addr"]))
	h := c.hosts[at]
	if h == nil {
		if len(c.hosts) == mostNames {
			at = "others"
			if h = c.hosts[at]; h == nil {
				h = &host{last: make(map[string]float64)}
			}
		} else {
			h = &host{last: make(map[string]float64)}
		}
		c.hosts[at] = h
	}
	h.connections++
	if age, ok := of["age"]; ok && (age == "0" || age == "1") {
		h.young++
	}
	if strings.Contains(of["flags"], "b") {
		h.blocked++
	} else {
		c.asked += number("qbuf") // behind a blocked one whole commands wait
	}
	output := number("omem") + number("obl")
	h.output += output
	h.query += number("qbuf")
	c.output, c.query = max(c.output, output), max(c.query, number("qbuf"))
	if cmd := cleanName(of["cmd"]); cmd != "" && len(h.last) < 100 {
		h.last[cmd]++
	}
	return true
}

// addAddress adds the address that a client connected to: laddr says it since 6.2, and of a UNIX
// socket addr is its path and 0.
func (c *clients) addAddress(addr, laddr string) {
	at := laddr
	if path, ok := strings.CutSuffix(addr, ":0"); ok && strings.HasPrefix(path, "/") {
		at = "unix:" + path
	}
	if at = strings.ToValidUTF8(at, "?"); at == "" || len(at) > 200 || len(c.where) == mostAddresses || slices.Contains(c.where, at) {
		return
	}
	c.where = append(c.where, at)
}

// mostAddresses bounds the addresses of a server; it listens at one or two.
const mostAddresses = 8

// hostOf returns an address without its port; a UNIX socket's is its path and 0.
func hostOf(addr string) string {
	i := strings.LastIndexByte(addr, ':')
	switch {
	case strings.HasPrefix(addr, "/"), i == 0:
		return "unix"
	case i < 0:
		return addr
	}
	return strings.Trim(addr[:i], "[]")
}

// addFigures adds the figures of each address to those of the parser.
func (c *clients) addFigures(p *parser) {
	at := c.at
	if at == 0 {
		at = p.answerTime()
	}
	add := func(series, of string, v float64) {
		if of != "" {
			series += ":" + of
		}
		p.told.addPoint(at, p.began, told{series, v, level})
	}
	for name, h := range c.hosts {
		add(evidence.SeriesRedisHostClients, name, h.connections)
		add(evidence.SeriesRedisHostYoung, name, h.young)
		add(evidence.SeriesRedisHostBlocked, name, h.blocked)
		add(evidence.SeriesRedisHostOutput, name, h.output)
		add(evidence.SeriesRedisHostQuery, name, h.query)
		for cmd, n := range h.last {
			add(evidence.SeriesRedisHostLast, name+" "+cmd, n)
		}
	}
	add(evidence.SeriesRedisMostOutput, "", c.output)
	add(evidence.SeriesRedisMostQuery, "", c.query)
	add(evidence.SeriesRedisAllQuery, "", c.asked)
	if p.looked[0] == 0 {
		p.looked[0], p.looked[2] = at, p.began
	}
	p.looked[1] = at
	for _, at := range c.where {
		p.setFact(evidence.FactListens, evidence.Link+at, math.NaN())
	}
	c.hosts = nil
}
