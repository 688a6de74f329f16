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

// products are how many there are; each has ten keys of its own.
const products = 200

// client sends commands to Redis, one after the other or many at once.
type client struct {
	net.Conn
	in  *bufio.Reader
	out *bufio.Writer
	n   int // answers that are still to come
}

func (x *shop) client() (*client, error) {
	c, err := dial(x.store)
	if err != nil {
		return nil, err
	}
	return &client{Conn: c, in: bufio.NewReaderSize(c, 64<<10), out: bufio.NewWriterSize(c, 64<<10)}, nil
}

func (c *client) send(words ...string) {
	fmt.Fprintf(c.out, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(c.out, "$%d\r\n%s\r\n", len(w), w)
	}
	c.n++
}

// flush sends what was put together and reads all answers; an error among them is the last one's.
func (c *client) flush() error {
	if err := c.out.Flush(); err != nil {
		return err
	}
	for ; c.n > 0; c.n-- {
		if err := c.answer(); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) answer() error {
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
			err = c.answer()
		}
	}
	return err
}

// stock fills Redis, and begins the job that asks it beside the shop.
func (x *shop) stock() error {
	c, err := x.client()
	if err != nil {
		return err
	}
	text := strings.Repeat("a fine thing to have, ", 20)
	for id := 0; id < products; id++ {
		key := fmt.Sprintf("product:%d:", id)
		for _, part := range []string{"name", "price", "text", "stock", "images", "rating", "shipping", "vendor", "offers"} {
			c.send("SET", key+part, text)
		}
		for other := 0; other < 8; other++ {
			c.send("RPUSH", key+"related", strconv.Itoa((id+other*7)%products))
		}
	}
	if err := c.flush(); err != nil {
		return err
	}
	for n := 0; n < x.keys; n++ {
		c.send("SET", fmt.Sprintf("visit:%d:%d", n%1000, n), "1")
		if n%2000 == 1999 {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	value := strings.Repeat("0123456789abcdef", 4<<10) // 64 KiB
	for n := 0; n < 16*x.large; n++ {
		c.send("SET", fmt.Sprintf("page:%d", n), value)
		if n%64 == 63 {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	c.send("SET", "large", strconv.Itoa(16*x.large))
	if err := c.flush(); err != nil {
		return err
	}
	switch x.job {
	case "":
		return c.Close()
	case "keys": // a report that lists visitors
		go again(time.Second, func() error {
			c.send("KEYS", "visit:7:*")
			return c.flush()
		})
	default:
		return fmt.Errorf("-job=%s: unknown job", x.job)
	}
	return nil
}

// again does something now and then until it fails.
func again(every time.Duration, do func() error) {
	for range time.Tick(every) {
		if err := do(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
	}
}
