package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// artemis is ActiveMQ Artemis: producers send persistent messages and wait for the receipt, in
// STOMP; consumers take them.
var artemis = program{
	name:  "artemis",
	fetch: maven{{"org.apache.activemq:apache-artemis:2.39.0:zip:bin", "ae3fc589e239815a4dd9d68e136a3277a916b38f377ceded07f625c811247596"}},
	start: func(p *place) {
		p.main = p.addressOf("stomp")
		p.bin = javaProgram(17)
		base := filepath.Join(p.dir, "broker")
		create := exec.Command("bash", filepath.Join(p.home, "bin/artemis"), "create", base, "--silent", "--user", "any", "--password", "any",
			"--allow-anonymous", "--no-web", "--no-autotune", "--nio", "--no-amqp-acceptor", "--no-mqtt-acceptor", "--no-hornetq-acceptor", "--no-stomp-acceptor",
			"--default-port", fmt.Sprint(p.portFor("stomp")), "--host", "127.0.0.1")
		create.Env = append(os.Environ(), "JAVACMD="+p.bin)
		if out, err := create.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "thirdparty: artemis create: %v: %s\n", err, out)
		}
		p.args = []string{"-Xmx256m", "-cp", filepath.Join(p.home, "lib/artemis-boot.jar"),
			"-Dartemis.home=" + p.home, "-Dartemis.instance=" + base, "-Ddata.dir=" + base + "/data", "-Dartemis.instance.etc=" + base + "/etc",
			"-Djava.security.auth.login.config=" + base + "/etc/login.config",
			"org.apache.activemq.artemis.boot.Artemis", "run"}
		p.warm, p.patience = 8*time.Second, time.Minute
		p.load = []traffic{stompConsume(5), stompSend(150, 2000)}
	},
	variants: []variant{
		{name: "healthy", truth: "healthy: 150 messages of 2 KB a second, each kept on disk before its receipt"},
		{name: "heap-32m", truth: "-Xmx32m: hardly more than it needs", sick: func(p *place) { p.args[0] = "-Xmx32m" }},
		{name: "one-journal-write", truth: "journal-buffer-timeout = 50 ms: the journal is written 20 times a second", sick: func(p *place) {
			artemisSet(p, "<journal-datasync>true</journal-datasync>", "<journal-datasync>true</journal-datasync><journal-buffer-timeout>50000000</journal-buffer-timeout>")
		}},
		{name: "quota", truth: "a CPU quota of 0.2 CPUs", sick: func(p *place) { p.quota = .2 }},
	},
}

func artemisSet(p *place, old, to string) {
	at := filepath.Join(p.dir, "broker/etc/broker.xml")
	b, _ := os.ReadFile(at)
	_ = os.WriteFile(at, []byte(strings.Replace(string(b), old, to, 1)), 0o644)
}

func stompSend(rate float64, size int) traffic {
	text := string(bodyText(size))
	return protocolLoad(rate, 20, func(ctx context.Context, p *place, i int) (exchange, error) {
		c, err := stompDial(ctx, p)
		if err != nil {
			return nil, err
		}
		return func(n int) (string, error) {
			receipt := fmt.Sprintf("%d-%d", i, n)
			if err := c.sendFrame("SEND", text, "destination:orders", "destination-type:ANYCAST", "persistent:true", "receipt:"+receipt); err != nil {
				return "SEND orders", err
			}
			f, err := c.readFrame()
			if err == nil && !strings.HasPrefix(f, "RECEIPT") {
				err = fmt.Errorf("%.100s", f)
			}
			return "SEND orders", err
		}, nil
	})
}

func stompConsume(consumers int) traffic {
	return func(ctx context.Context, p *place, to *rows) error {
		for i := range consumers {
			c, err := stompDial(ctx, p)
			if err != nil {
				return err
			}
			if err := c.sendFrame("SUBSCRIBE", "", "destination:orders", "subscription-type:ANYCAST", fmt.Sprint("id:", i), "ack:auto"); err != nil {
				return err
			}
			go io.Copy(io.Discard, c.in)
		}
		<-ctx.Done()
		return nil
	}
}

type stompClient struct {
	conn net.Conn
	in   *bufio.Reader
}

func stompDial(ctx context.Context, p *place) (*stompClient, error) {
	conn, err := net.Dial("tcp", p.main)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	c := &stompClient{conn, bufio.NewReader(conn)}
	if err := c.sendFrame("CONNECT", "", "accept-version:1.2", "host:127.0.0.1"); err != nil {
		return nil, err
	}
	f, err := c.readFrame()
	if err == nil && !strings.HasPrefix(f, "CONNECTED") {
		err = fmt.Errorf("%.100s", f)
	}
	return c, err
}

func (c *stompClient) sendFrame(command, text string, headers ...string) error {
	_, err := io.WriteString(c.conn, command+"\n"+strings.Join(headers, "\n")+"\n\n"+text+"\x00")
	return err
}

func (c *stompClient) readFrame() (string, error) {
	f, err := c.in.ReadString(0)
	return strings.TrimLeft(f, "\n"), err
}
