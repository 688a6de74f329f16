// Command redisclients runs clients of the Redis at ADDR_SERVICE, or at the address in -of. Each argument is a crowd of
// clients: words of the form name=value, a colon, and commands separated by " ; ", which each client calls in turn:
//
//	redisclients 'fill=200000 : SET session:{n} {x300}' \
//	             'conns=20 rate=400 : GET session:{0-199999} ; INCR hits' \
//	             'from=127.0.0.9 every=2s : KEYS session:*'
//
// In commands {n} is a counter, {0-99} a random number of that range, {x300} 300 letters. The words of a crowd:
//
//	fill=N       call N times in pipelines before the other crowds begin; then the program listens at ADDR, if set, to
//	             show that it is ready
//	conns=N      connections (default 1)
//	rate=R       calls per second of the whole crowd, at random times; without rate and every each client calls again when
//	             it has its answer
//	every=2s     time between the calls of a client
//	after=1s     delay before the crowd begins
//	pipe=N       calls sent at once
//	from=IP      the clients' address
//	fresh=yes    a new connection for each call
//	leak=yes     a new connection for each call, never closed
//
// At its end the program writes how long calls took.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var of = flag.String("of", "service", "whose ADDR_NAME is asked")

func main() {
	flag.Parse()
	log.SetFlags(0)
	address := os.Getenv("ADDR_" + strings.ToUpper(*of))
	var all []*crowd
	for i, text := range flag.Args() {
		c, err := parse(text, uint64(i))
		if err != nil {
			log.Fatalf("%s: %v", text, err)
		}
		c.address = address
		all = append(all, c)
	}
	for _, c := range all {
		if c.fill > 0 {
			if err := c.prepare(); err != nil {
				log.Fatalf("%s: %v", c.text, err)
			}
		}
	}
	if at := os.Getenv("ADDR"); at != "" {
		ready, err := net.Listen("tcp", at)
		if err != nil {
			log.Fatal(err)
		}
		defer ready.Close()
	}
	for _, c := range all {
		if c.fill > 0 {
			continue
		}
		if c.leak {
			go c.leakConnections()
			continue
		}
		for k := range c.conns {
			go c.runClient(k)
		}
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, os.Interrupt)
	<-end
	for _, c := range all {
		c.printTimes()
	}
}

// crowd is a group of clients that send the same commands.
type crowd struct {
	text, address string
	number        uint64

	fill, conns, pipe int
	rate              float64
	every, after      time.Duration
	from              net.IP
	fresh, leak       bool
	calls             [][]string

	count  atomic.Int64
	failed atomic.Int64
	mu     sync.Mutex
	took   []time.Duration
	why    string // the last error
}

func parse(text string, number uint64) (*crowd, error) {
	c := &crowd{text: text, number: number, conns: 1, pipe: 1}
	settings, calls, ok := strings.Cut(text, ": ")
	if !ok {
		return nil, errors.New("there is no colon")
	}
	for _, word := range strings.Fields(settings) {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "fill":
			c.fill, err = strconv.Atoi(value)
			c.pipe = 200
		case "conns":
			c.conns, err = strconv.Atoi(value)
		case "pipe":
			c.pipe, err = strconv.Atoi(value)
		case "rate":
			c.rate, err = strconv.ParseFloat(value, 64)
		case "every":
			c.every, err = time.ParseDuration(value)
		case "after":
			c.after, err = time.ParseDuration(value)
		case "from":
			if c.from = net.ParseIP(value); c.from == nil {
				err = errors.New("no address")
			}
		case "fresh":
			c.fresh = value == "yes"
		case "leak":
			c.leak = value == "yes"
		default:
			err = errors.New("unknown")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", word, err)
		}
	}
	for _, call := range strings.Split(calls, " ; ") {
		words := splitWords(call)
		if len(words) == 0 {
			return nil, errors.New("an empty command")
		}
		c.calls = append(c.calls, words)
	}
	return c, nil
}

// splitWords splits at blanks, except within single quotes.
func splitWords(text string) (words []string) {
	for i, part := range strings.Split(text, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

// prepare calls fill times.
func (c *crowd) prepare() error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	random := c.newRandom(0)
	for done := 0; done < c.fill; done += c.pipe {
		if err := conn.callTimes(c, min(c.pipe, c.fill-done), random); err != nil {
			return err
		}
	}
	return nil
}

// newRandom returns a client's random numbers, the same in each run.
func (c *crowd) newRandom(client int) *rand.Rand {
	return rand.New(rand.NewPCG(c.number, uint64(client)))
}

// runClient calls until the program ends.
func (c *crowd) runClient(k int) {
	random := c.newRandom(k)
	time.Sleep(c.after)
	var conn *connection
	next := time.Now().Add(time.Duration(random.Float64() * float64(c.nextPause(random))))
	for {
		if c.rate > 0 || c.every > 0 {
			time.Sleep(time.Until(next))
			next = next.Add(c.nextPause(random))
			if late := time.Now(); next.Before(late.Add(-time.Second)) {
				next = late // it does not make up for more than a second
			}
		}
		began := time.Now()
		var err error
		if conn == nil {
			conn, err = c.dial()
		}
		if err == nil {
			err = conn.callTimes(c, c.pipe, random)
		}
		c.note(time.Since(began), err)
		if conn != nil && (err != nil && !errors.As(err, new(refusal)) || c.fresh) {
			conn.Close()
			conn = nil
		}
		if err != nil && conn == nil {
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// nextPause returns the time until a client's next call.
func (c *crowd) nextPause(random *rand.Rand) time.Duration {
	if c.every > 0 {
		return c.every
	}
	if c.rate > 0 {
		return time.Duration(random.ExpFloat64() * float64(c.conns) / c.rate * float64(time.Second))
	}
	return 0
}

// leakConnections opens connections and keeps them open.
func (c *crowd) leakConnections() {
	random := c.newRandom(0)
	var held []*connection
	for {
		time.Sleep(c.nextPause(random))
		began := time.Now()
		conn, err := c.dial()
		if err == nil {
			if err = conn.callTimes(c, c.pipe, random); err == nil {
				held = append(held, conn)
			} else {
				conn.Close()
			}
		}
		c.note(time.Since(began), err)
	}
}

func (c *crowd) note(took time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, took)
	if err != nil {
		c.failed.Add(1)
		c.why = err.Error()
	}
}

// printTimes writes how long calls took.
func (c *crowd) printTimes() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.took) == 0 {
		return
	}
	slices.Sort(c.took)
	at := func(q float64) time.Duration {
		return c.took[min(len(c.took)-1, int(q*float64(len(c.took))))].Round(time.Microsecond)
	}
	log.Printf("%s: %d calls, p50 %v, p99 %v, max %v, %d failed %s", c.text[:min(len(c.text), 70)], len(c.took), at(.5), at(.99), at(1), c.failed.Load(), c.why)
}

// connection speaks RESP.
type connection struct {
	net.Conn
	in  *bufio.Reader
	out []byte
}

func (c *crowd) dial() (*connection, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	if c.from != nil {
		d.LocalAddr = &net.TCPAddr{IP: c.from}
	}
	conn, err := d.Dial("tcp", c.address)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, in: bufio.NewReaderSize(conn, 32<<10)}, nil
}

// refusal is an error answer of the server.
type refusal string

func (r refusal) Error() string { return string(r) }

// callTimes sends all commands of a crowd a number of times at once, and reads the answers.
func (conn *connection) callTimes(c *crowd, times int, random *rand.Rand) error {
	conn.out = conn.out[:0]
	for range times {
		n := c.count.Add(1) - 1
		for _, words := range c.calls {
			conn.out = fmt.Appendf(conn.out, "*%d\r\n", len(words))
			for _, w := range words {
				w = fillWord(w, n, random)
				conn.out = strconv.AppendInt(append(conn.out, '$'), int64(len(w)), 10)
				conn.out = append(append(append(conn.out, "\r\n"...), w...), "\r\n"...)
			}
		}
	}
	if _, err := conn.Write(conn.out); err != nil {
		return err
	}
	var refused error
	for range times * len(c.calls) {
		if err := conn.skipAnswer(); errors.As(err, new(refusal)) {
			refused = err
		} else if err != nil {
			return err
		}
	}
	return refused
}

// skipAnswer reads one answer and discards it.
func (conn *connection) skipAnswer() error {
	line, err := conn.in.ReadString('\n')
	if err != nil {
		return err
	}
	line = strings.TrimSpace(line)
	if line == "" {
		return io.ErrUnexpectedEOF
	}
	switch line[0] {
	case '-':
		return refusal(line[1:])
	case '$':
		n, err := strconv.Atoi(line[1:])
		if err != nil || n < 0 {
			return err
		}
		_, err = conn.in.Discard(n + 2)
		return err
	case '*':
		n, err := strconv.Atoi(line[1:])
		for i := 0; i < n && err == nil; i++ {
			err = conn.skipAnswer()
		}
		return err
	}
	return nil
}

// fillWord replaces {n}, {0-99} and {x300} in a word.
func fillWord(word string, n int64, random *rand.Rand) string {
	if !strings.Contains(word, "{") {
		return word
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(word, "{")
		out.WriteString(before)
		inside, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			if found {
				out.WriteString("{" + rest)
			}
			return out.String()
		}
		word = after
		low, high, isRange := strings.Cut(inside, "-")
		switch {
		case inside == "n":
			out.WriteString(strconv.FormatInt(n, 10))
		case strings.HasPrefix(inside, "x"):
			size, _ := strconv.Atoi(inside[1:])
			letters(&out, size, random)
		case isRange:
			a, _ := strconv.ParseInt(low, 10, 64)
			b, _ := strconv.ParseInt(high, 10, 64)
			out.WriteString(strconv.FormatInt(a+random.Int64N(max(1, b-a+1)), 10))
		default:
			out.WriteString("{" + inside + "}")
		}
	}
}

// page is the source of letters.
var page = func() string {
	words := strings.Fields("lamp desk chair shelf sofa mirror carpet blue green oak steel glass order paid sent back")
	random := rand.New(rand.NewPCG(1, 2))
	var out strings.Builder
	for out.Len() < 64<<10 {
		fmt.Fprintf(&out, "%s-%d,", words[random.IntN(len(words))], random.IntN(10_000))
	}
	return out.String()
}()

func letters(out *strings.Builder, size int, random *rand.Rand) {
	for size > 0 {
		from := random.IntN(len(page) - 1)
		part := page[from:min(len(page), from+size)]
		out.WriteString(part)
		size -= len(part)
	}
}
