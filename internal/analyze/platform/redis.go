package platform

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
)

// Redis is a Redis server, or one of those made of it, which its version says: "Valkey 8.1.2".
var Redis = &Runtime{
	ID:        "redis",
	Title:     "Redis",
	Lane:      "thread",
	Requests:  "a caller's capture",
	Tells:     true,
	Clients:   []string{"redis", "redigo", "jedis", "lettuce", "rueidis", "valkey", "keydb"},
	HugePages: redisHugePages,
	Built:     func(_ string, t discover.Target) string { return t.Version },
	Recognise: &discover.Recogniser{
		Called: "redis",
		Traces: func(p discover.Process) (discover.Seen, bool) {
			return discover.Seen{}, isRedis(p.Comm()) || isRedis(path.Base(p.Exe()))
		},
		Suggested: maybeRedis,
		Answers:   answersPing,
		Schemes:   []string{"redis", "rediss", "valkey", "valkeys", "unix"},
		Way: func(_ discover.Process, listens []discover.Listener) string {
			if len(listens) > 0 {
				return "INFO"
			}
			return ""
		},
	},
}

// redisHugePages is what LATENCY DOCTOR does not know.
func redisHugePages(h HugePages) string {
	switch {
	case h.Kernel == "":
		return ""
	case h.Splits:
		return "on Linux " + h.Kernel + " a write after a fork copies 4 KiB of a huge page, not 2 MiB: huge pages make the fork of BGSAVE shorter, and it gets longer without them"
	}
	return "on Linux " + h.Kernel + " (before 5.8) each first write after a fork copies 2 MiB: Redis is better off without huge pages"
}

// isRedis knows the names its servers come by.
func isRedis(name string) bool {
	switch name {
	case "redis-server", "valkey-server", "keydb-server", "redis-sentinel", "valkey-sentinel":
		return true
	}
	return false
}

// maybeRedis says that a name suggests a server that was renamed or wrapped.
func maybeRedis(name string) bool {
	return !strings.HasSuffix(name, "-cli") && (strings.Contains(name, "redis") || strings.Contains(name, "valkey"))
}

// pingTimeout is long for a server on the same host; one whose only thread is
// busy for longer is not recognised.
const pingTimeout = 100 * time.Millisecond

// answersPing sends PING in RESP, the protocol of Redis, to the first socket that
// can be reached over loopback.
func answersPing(ctx context.Context, listens []discover.Listener) bool {
	for _, l := range listens {
		addr := l.Addr
		if !addr.IsValid() {
			continue
		}
		switch a := addr.Addr(); {
		case a.IsUnspecified() && a.Is4():
			addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), addr.Port())
		case a.IsUnspecified():
			addr = netip.AddrPortFrom(netip.IPv6Loopback(), addr.Port())
		case !a.IsLoopback():
			continue
		}
		return pingRedis(ctx, addr.String())
	}
	return false
}

func pingRedis(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if conn.SetDeadline(deadline) != nil {
		return false
	}
	if _, err := io.WriteString(conn, "*1\r\n$4\r\nPING\r\n"); err != nil {
		return false
	}
	answer, _ := bufio.NewReader(io.LimitReader(conn, 512)).ReadString('\n')
	for _, known := range []string{"+PONG", "-NOAUTH", "-DENIED", "-LOADING", "-MASTERDOWN"} {
		if strings.HasPrefix(answer, known) {
			return true
		}
	}
	return false
}
