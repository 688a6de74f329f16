package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// products is their number; each has ten keys of its own.
const products = 200

// client sends commands to Redis, one after the other or many at once.
type client struct {
	net.Conn
	in  *bufio.Reader
	out *bufio.Writer
	n   int // answers that are still to come
}

func (x *shop) newClient() (*client, error) {
	c, err := dialAddress(x.store)
	if err != nil {
		return nil, err
	}
	return &client{Conn: c, in: bufio.NewReaderSize(c, 64<<10), out: bufio.NewWriterSize(c, 64<<10)}, nil
}

func (c *client) sendCommand(words ...string) {
	fmt.Fprintf(c.out, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(c.out, "$%d\r\n%s\r\n", len(w), w)
	}
	c.n++
}

// flushCommands sends the commands and reads all answers; it returns the first error.
func (c *client) flushCommands() error {
	if err := c.out.Flush(); err != nil {
		return err
	}
	for ; c.n > 0; c.n-- {
		if err := c.readAnswer(); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) readAnswer() error {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '-':
		return fmt.Errorf("redis: %s", strings.TrimSpace(line[1:]))
	case '$':
		if n >= 0 {
			_, err = io.CopyN(io.Discard, c.in, int64(n)+2)
		}
	case '*':
		for ; n > 0 && err == nil; n-- {
			err = c.readAnswer()
		}
	}
	return err
}

// fillRedis fills Redis, and starts the job that sends commands to it beside the shop.
func (x *shop) fillRedis() error {
	c, err := x.newClient()
	if err != nil {
		return err
	}
	text := strings.Repeat("a fine thing to have, ", 20)
	for id := 0; id < products; id++ {
		key := fmt.Sprintf("product:%d:", id)
		for _, part := range []string{"name", "price", "text", "stock", "images", "rating", "shipping", "vendor", "offers"} {
			c.sendCommand("SET", key+part, text)
		}
		for other := 0; other < 8; other++ {
			c.sendCommand("RPUSH", key+"related", strconv.Itoa((id+other*7)%products))
		}
	}
	if err := c.flushCommands(); err != nil {
		return err
	}
	for n := 0; n < x.keys; n++ {
		c.sendCommand("SET", fmt.Sprintf("visit:%d:%d", n%1000, n), "1")
		if n%2000 == 1999 {
			if err := c.flushCommands(); err != nil {
				return err
			}
		}
	}
	value := strings.Repeat("0123456789abcdef", 4<<10) // 64 KiB
	for n := 0; n < 16*x.large; n++ {
		c.sendCommand("SET", fmt.Sprintf("page:%d", n), value)
		if n%64 == 63 {
			if err := c.flushCommands(); err != nil {
				return err
			}
		}
	}
	c.sendCommand("SET", "large", strconv.Itoa(16*x.large))
	if err := c.flushCommands(); err != nil {
		return err
	}
	switch x.job {
	case "":
		return c.Close()
	case "keys": // a report that lists visitors
		go repeatEvery(time.Second, func() error {
			c.sendCommand("KEYS", "visit:7:*")
			return c.flushCommands()
		})
	default:
		return fmt.Errorf("-job=%s: unknown job", x.job)
	}
	return nil
}

// repeatEvery calls do at an interval until it fails.
func repeatEvery(every time.Duration, do func() error) {
	for range time.Tick(every) {
		if err := do(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
	}
}
