package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// zookeeper is asked in its own protocol (jute records, a length before each).
var zookeeper = program{
	name: "zookeeper",
	fetch: mavenTree{"org.apache.zookeeper", "zookeeper", "3.9.3", "ad6570105768d18382a762325b4460368b7089a5a77c053e682b17942e0e72b5",
		[]string{"io.dropwizard.metrics:metrics-core:4.1.12.1", "org.xerial.snappy:snappy-java:1.1.10.5"}},
	start: func(p *place) {
		p.main = p.addressOf("client")
		config := fmt.Sprintf("tickTime=2000\ndataDir=%s/data\nclientPort=%d\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n", p.dir, p.portFor("client"))
		_ = os.WriteFile(filepath.Join(p.dir, "zoo.cfg"), []byte(config), 0o644)
		p.bin = javaProgram(17)
		p.args = []string{"-Xmx256m", "-cp", filepath.Join(p.home, "jar") + "/*", "org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg"}
		p.ready = func(context.Context) error { return zkServes(p.main) }
		p.prepare = func(ctx context.Context) error { return zkFill(ctx, p, 2000, 5000) }
		p.warm, p.patience = 8*time.Second, time.Minute
		p.load = []traffic{zkLoad(60, true), zkLoad(600, false)}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 60 writes and 600 reads a second, 10 MB of data"},
		{name: "heap-22m", truth: "-Xmx22m for 10 MB of data", sick: func(p *place) { p.args[0] = "-Xmx22m" }},
		{name: "snapshots", truth: "zookeeper.snapCount=20: a snapshot of all data after 10 to 20 writes", sick: func(p *place) { p.prependOptions("-Dzookeeper.snapCount=20") }},
		{name: "one-request", truth: "zookeeper.request_throttle_max_requests=1: one request in the server at a time, and writes wait for the disk", sick: func(p *place) {
			p.prependOptions("-Dzookeeper.request_throttle_max_requests=1", "-Dzookeeper.request_throttle_stall_time=20")
		}},
		{name: "quota", truth: "a CPU quota of 0.15 CPUs", sick: func(p *place) { p.quota = .15 }},
	},
}

// zkServes checks by a four-letter command whether it does more than listen.
func zkServes(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(c, "srvr"); err != nil {
		return err
	}
	if said, _ := io.ReadAll(c); !strings.Contains(string(said), "Mode: ") {
		return fmt.Errorf("%s", said)
	}
	return nil
}

func zkLoad(rate float64, write bool) traffic {
	text := bodyText(5000)
	return protocolLoad(rate, 20, func(ctx context.Context, p *place, i int) (exchange, error) {
		c, err := zkDial(ctx, p)
		if err != nil {
			return nil, err
		}
		return func(n int) (string, error) {
			path := fmt.Sprintf("/n%d", (n*7+i*101)%2000)
			if write {
				return "setData", c.sendRequest(5, zkSet(path, text))
			}
			return "getData", c.sendRequest(4, append(zkText(path), 0))
		}, nil
	})
}

func zkFill(ctx context.Context, p *place, nodes, size int) error {
	c, err := zkDial(ctx, p)
	if err != nil {
		return err
	}
	text := bodyText(size)
	for i := range nodes {
		b := append(zkText(fmt.Sprintf("/n%d", i)), zkText(string(text))...)
		b = binary.BigEndian.AppendUint32(b, 1) // one entry of the access list
		b = binary.BigEndian.AppendUint32(b, 31)
		b = append(append(b, zkText("world")...), zkText("anyone")...)
		b = binary.BigEndian.AppendUint32(b, 0)
		if err := c.sendRequest(1, b); err != nil {
			return err
		}
	}
	return nil
}

func zkText(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

func zkSet(path string, text []byte) []byte {
	b := append(zkText(path), zkText(string(text))...)
	return binary.BigEndian.AppendUint32(b, 1<<32-1) // any version
}

type zkClient struct {
	conn net.Conn
	xid  uint32
}

func zkDial(ctx context.Context, p *place) (*zkClient, error) {
	conn, err := net.Dial("tcp", p.main)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	c := &zkClient{conn: conn}
	hello := make([]byte, 4+8+4+8)
	binary.BigEndian.PutUint32(hello[12:], 40_000) // ms
	hello = append(hello, zkText(string(make([]byte, 16)))...)
	hello = append(hello, 0)
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(hello))), hello...)); err != nil {
		return nil, err
	}
	_, err = c.readRecord()
	return c, err
}

func (c *zkClient) readRecord() ([]byte, error) {
	var n [4]byte
	if _, err := io.ReadFull(c.conn, n[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(n[:]))
	_, err := io.ReadFull(c.conn, b)
	return b, err
}

// sendRequest sends a request of a type and waits for its response.
func (c *zkClient) sendRequest(kind uint32, record []byte) error {
	c.xid++
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(record)))
	b = binary.BigEndian.AppendUint32(b, c.xid)
	b = binary.BigEndian.AppendUint32(b, kind)
	if _, err := c.conn.Write(append(b, record...)); err != nil {
		return err
	}
	answer, err := c.readRecord()
	if err != nil {
		return err
	}
	if code := int32(binary.BigEndian.Uint32(answer[12:])); code != 0 {
		return fmt.Errorf("error %d", code)
	}
	return nil
}
