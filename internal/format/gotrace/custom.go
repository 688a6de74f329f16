package gotrace

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Servers whose library is not known are recognised by what all of them do: a
// goroutine that accepts connections starts one goroutine for each, and that
// one reads a request, writes the answer, and comes back to the same read.
//
// Where it first reads is where it waits for requests. Reads
// elsewhere are of dependencies; the last write before it comes back is the end
// of the answer. A goroutine that never writes serves no requests.

// customServer is such a server, by the function its goroutines run.
type customServer struct {
	kind serverKind
	idle map[evidence.StackID]bool // the reads it waits for requests in
}

// notCustom are functions started for connections that do not serve requests
// themselves: their libraries frame requests in other goroutines.
var notCustom = []string{"net/http.", "google.golang.org/grpc", "golang.org/x/net/http2.", "net/rpc.", "crypto/tls.", "runtime."}

// noteAccepted is called with goroutines that an accepting one started.
func (w *world) noteAccepted(g *goroutine) {
	if g.where == nil {
		return
	}
	root := g.where.root
	for _, p := range notCustom {
		if strings.HasPrefix(root, p) {
			return
		}
	}
	c := w.custom[root]
	if c == nil {
		if w.custom == nil {
			w.custom = make(map[string]*customServer)
		}
		c = &customServer{kind: serverKind{name: root}, idle: make(map[evidence.StackID]bool)}
		w.custom[root] = c
	}
	g.conn.server, g.conn.custom = &c.kind, c
}

// customOf is the custom server whose function a stack's goroutine runs, nil for none.
func (w *world) customOf(s *stack) *customServer {
	if s.customs != len(w.custom) { // none is ever taken away
		s.custom, s.customs = w.custom[s.root], len(w.custom)
	}
	return s.custom
}

// joinCustomServer is called with a goroutine that runs a custom server's function and was there
// before the trace.
func (w *world) joinCustomServer(g *goroutine, c *customServer, t int64) {
	g.conn.server, g.conn.custom, g.conn.learnt = &c.kind, c, true
	w.revealRole(g, roleRequests, t)
	if r := g.request; r != nil {
		r.unsure = false
	}
}

// serverStage returns where in its server's loop a goroutine stands.
func (g *goroutine) serverStage() stage {
	if g.where == nil {
		return stageNone
	}
	c := g.conn.custom
	switch {
	case c == nil:
		return g.where.stage
	case g.where.io == ioRead && c.idle[g.where.caller]:
		return stageIdle
	case g.where.io == ioWrite:
		return stageWrite
	}
	return stageHandler
}

// learnIdleRead takes a goroutine's first read as the place where its server waits for requests.
func (c *customServer) learnIdleRead(g *goroutine) {
	if g.where.io == ioRead && !g.conn.learnt {
		g.conn.learnt = true
		c.idle[g.where.caller] = true
	}
}

// inOut is whether a stack reads from or writes to a connection.
type inOut uint8

const (
	ioNone inOut = iota
	ioRead
	ioWrite
	ioAccept
)

// inOuts are those that a goroutine was seen in, a bit each.
type inOuts uint8

func (x inOuts) has(y inOut) bool { return x>>y&1 != 0 }

func inOutOf(funcs []string) inOut {
	for _, f := range funcs {
		switch {
		case strings.HasPrefix(f, "net.(*netFD).accept"), strings.HasPrefix(f, "internal/poll.(*FD).Accept"):
			return ioAccept
		case strings.HasPrefix(f, "internal/poll.(*FD).Read"):
			return ioRead
		case strings.HasPrefix(f, "internal/poll.(*FD).Write"):
			return ioWrite
		}
	}
	return ioNone
}
