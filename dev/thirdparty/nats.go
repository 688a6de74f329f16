package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// nats keeps messages in a stream on disk and confirms each; its protocol is text.
var nats = program{
	name: "nats",
	fetch: goModule{module: "github.com/nats-io/nats-server/v2", version: "v2.12.0", main: "",
		sum: "h1:OIwe8jZUqJFrh+hhiyKu8snNib66qsx806OslqJuo74="},
	start: func(p *place) {
		p.main, p.pprof = p.addressOf("client"), "http://"+p.addressOf("prof")+"/debug/pprof"
		p.bin = filepath.Join(p.home, "bin/nats")
		p.args = []string{"-c", "nats.conf"}
		natsConfig(p, "")
		p.prepare = func(ctx context.Context) error {
			c, err := natsDial(ctx, p, 999)
			if err != nil {
				return err
			}
			_, err = c.sendRequest("$JS.API.STREAM.CREATE.ORDERS", `{"name":"ORDERS","subjects":["orders.*"],"storage":"file","max_bytes":500000000}`)
			return err
		}
		p.load = []traffic{natsPublish(300, 2000)}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 300 messages of 2 KB a second, each confirmed"},
		{name: "sync-always", truth: "sync_interval: always: every message is synced to disk before it is confirmed", sick: func(p *place) { natsConfig(p, "sync_interval: always") }},
		{name: "quota", truth: "a CPU quota of 0.05 CPUs", sick: func(p *place) { p.quota = .05 }},
		{name: "gogc", truth: "GOGC=1 in the environment, at 1,500 messages a second", sick: func(p *place) {
			p.addEnv("GOGC=1")
			p.load = []traffic{natsPublish(1500, 8000)}
		}},
	},
}

func natsConfig(p *place, more string) {
	config := fmt.Sprintf("listen: %s\nprof_port: %d\nhttp: %s\njetstream {\n store_dir: %s\n %s\n}\n", p.main, p.portFor("prof"), p.addressOf("monitor"), filepath.Join(p.dir, "js"), more)
	_ = os.WriteFile(filepath.Join(p.dir, "nats.conf"), []byte(config), 0o644)
}

func natsPublish(rate float64, size int) traffic {
	text := string(bodyText(size))
	return protocolLoad(rate, 20, func(ctx context.Context, p *place, i int) (exchange, error) {
		c, err := natsDial(ctx, p, i)
		if err != nil {
			return nil, err
		}
		return func(n int) (string, error) {
			said, err := c.sendRequest("orders."+strconv.Itoa(n%10), text)
			if err == nil && strings.Contains(said, `"error"`) {
				err = fmt.Errorf("%s", said)
			}
			return "PUB orders.*", err
		}, nil
	})
}

// A natsClient sends one request at a time.
type natsClient struct {
	conn  net.Conn
	in    *bufio.Reader
	inbox string
}

func natsDial(ctx context.Context, p *place, i int) (*natsClient, error) {
	conn, err := net.Dial("tcp", p.main)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	c := &natsClient{conn: conn, in: bufio.NewReader(conn), inbox: "_INBOX." + strconv.Itoa(i) + "." + strconv.FormatInt(time.Now().UnixNano(), 36)}
	_, err = fmt.Fprintf(conn, "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true}\r\nSUB %s 1\r\nPING\r\n", c.inbox)
	return c, err
}

func (c *natsClient) sendRequest(subject, text string) (string, error) {
	if _, err := fmt.Fprintf(c.conn, "PUB %s %s %d\r\n%s\r\n", subject, c.inbox, len(text), text); err != nil {
		return "", err
	}
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return "", err
		}
		word := strings.Fields(line)
		switch {
		case len(word) == 0, word[0] == "INFO", word[0] == "PONG", word[0] == "+OK":
		case word[0] == "PING":
			_, _ = io.WriteString(c.conn, "PONG\r\n")
		case word[0] == "MSG":
			n, _ := strconv.Atoi(word[len(word)-1])
			b := make([]byte, n+2)
			_, err := io.ReadFull(c.in, b)
			return string(b[:n]), err
		default:
			return "", fmt.Errorf("%s", line)
		}
	}
}
