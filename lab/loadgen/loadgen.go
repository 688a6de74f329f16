// Package loadgen is the labs' small load generator: it sends requests over keep-alive HTTP/1.1
// connections, either at intended times that do not wait for answers (open loop)
// or as fast as answers come (closed loop), and counts them exactly.
//
// Its opinion: a recording is useful only if the number of its requests is known.
// So the number of requests is an input; every request is sent, and is answered or
// reported as unanswered; and latency counts from the intended time.
// The load package does the rest: search for knees, draw histograms, shape
// traffic.
package loadgen

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Plan says what to send.
type Plan struct {
	Requests    int           `json:"requests"`
	Rate        float64       `json:"rate,omitempty"` // per second; 0: closed loop
	Poisson     bool          `json:"poisson,omitempty"`
	Connections int           `json:"connections"`       // the most requests under way at once
	Paths       []string      `json:"paths"`             // taken in turn
	Tokens      int           `json:"tokens,omitempty"`  // bearer tokens t0000000 … to take in turn
	Timeout     time.Duration `json:"timeout,omitempty"` // of one request; 0: 30 s
	Seed        int64         `json:"seed,omitempty"`
}

// For returns the plan with as many requests as its rate gives in d.
func (p Plan) For(d time.Duration) Plan {
	p.Requests = int(p.Rate * d.Seconds())
	return p
}

// Result is the result of a run. Latencies are of requests that were answered with
// 2xx, in ms from the intended time (closed loop: from sending).
type Result struct {
	Plan       Plan             `json:"plan"`
	Sent       int64            `json:"sent"`
	Finished   int64            `json:"finished"` // answered, whatever the status
	Failed     int64            `json:"failed"`   // of those, not 2xx
	Unanswered int64            `json:"unanswered"`
	ByPath     map[string]int64 `json:"finished_by_path"`
	Seconds    float64          `json:"seconds"`  // first intended to last answer
	Achieved   float64          `json:"achieved"` // answers per second
	Latency
	LagP99 float64 `json:"send_lag_p99_ms"` // intended until sent, with a connection free: the generator's own fault
	First  int64   `json:"first_ns"`
	Last   int64   `json:"last_ns"`
	Error  string  `json:"error,omitempty"` // of the first that was not answered

	samples []sample
}

// Latency describes the requests that were answered with 2xx, in ms.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P90 float64 `json:"p90_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

// Client holds connections to a service.
type Client struct {
	addr string
	free chan *conn
	n    int
}

type conn struct {
	net.Conn
	in *bufio.Reader
}

// Dial opens n connections.
func Dial(addr string, n int) (*Client, error) {
	c := &Client{addr: addr, free: make(chan *conn, n), n: n}
	for range n {
		one, err := dialConn(addr)
		if err != nil {
			c.Close()
			return nil, err
		}
		c.free <- one
	}
	return c, nil
}

func dialConn(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, in: bufio.NewReader(c)}, nil
}

// Close closes the connections; none may be in use.
func (c *Client) Close() {
	for {
		select {
		case one := <-c.free:
			if one.Conn != nil {
				one.Close()
			}
		default:
			return
		}
	}
}

// sample is one request: when its answer came, ns since the epoch, and its
// latency and send lag, ns.
type sample struct{ end, latency, lag int64 }

// Run sends the requests of the plan over the open connections and waits for every
// answer. It ends early with the context, and then still waits for requests under way.
func (c *Client) Run(ctx context.Context, p Plan) Result {
	if p.Timeout == 0 {
		p.Timeout = 30 * time.Second
	}
	p.Connections = c.n
	var (
		sent, failed, unanswered atomic.Int64
		all                      sync.WaitGroup
		mu                       sync.Mutex
		result                   = Result{Plan: p, ByPath: map[string]int64{}}
		random                   = rand.New(rand.NewSource(p.Seed + 1))
	)
	begin := time.Now()
	intended := begin
	for i := 0; i < p.Requests && ctx.Err() == nil; i++ {
		if p.Rate > 0 {
			sleepUntil(intended)
		}
		asked := time.Now()
		one := <-c.free
		if p.Rate == 0 {
			intended = time.Now()
		}
		waited := time.Since(asked) // for a connection: caused by the service, not by the generator
		at, path, token := intended, p.Paths[i%len(p.Paths)], p.bearerToken(i)
		all.Add(1)
		go func() {
			defer all.Done()
			lag := time.Since(at) - waited
			sent.Add(1)
			status, err := one.getPath(c.addr, path, token, p.Timeout)
			latency := time.Since(at)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				if unanswered.Add(1) == 1 {
					result.Error = err.Error()
				}
				one.Close()
				if fresh, err := dialConn(c.addr); err == nil {
					one = fresh
				}
			default:
				result.ByPath[path]++
				if status/100 != 2 {
					failed.Add(1)
				} else {
					result.samples = append(result.samples, sample{at.Add(latency).UnixNano(), int64(latency), int64(lag)})
				}
			}
			c.free <- one
		}()
		if p.Rate > 0 {
			intended = intended.Add(p.nextGap(random))
		}
	}
	all.Wait()
	end := time.Now()
	result.Sent, result.Failed, result.Unanswered = sent.Load(), failed.Load(), unanswered.Load()
	result.Finished = result.Sent - result.Unanswered
	result.First, result.Last, result.Seconds = begin.UnixNano(), end.UnixNano(), end.Sub(begin).Seconds()
	result.Achieved = float64(result.Finished) / result.Seconds
	result.Latency = result.Within(0, math.MaxInt64)
	var lags []int64
	for _, s := range result.samples {
		lags = append(lags, s.lag)
	}
	result.LagP99 = quantileMillis(lags, .99)
	return result
}

// sleepUntil sleeps in the kernel: the runtime's own timers fire up to a
// millisecond late in an otherwise idle program.
func sleepUntil(t time.Time) {
	for d := time.Until(t); d > 0; d = time.Until(t) {
		wait := syscall.NsecToTimespec(int64(min(d, 100*time.Millisecond)))
		syscall.Nanosleep(&wait, nil)
	}
}

func (p Plan) nextGap(random *rand.Rand) time.Duration {
	gap := float64(time.Second) / p.Rate
	if p.Poisson {
		gap *= random.ExpFloat64()
	}
	return time.Duration(gap)
}

func (p Plan) bearerToken(i int) string {
	if p.Tokens == 0 {
		return ""
	}
	return fmt.Sprintf("t%07d", i%p.Tokens)
}

// Within returns the latency of requests whose answers came between two instants.
func (r *Result) Within(from, until int64) Latency {
	var v []int64
	for _, s := range r.samples {
		if from <= s.end && s.end <= until {
			v = append(v, s.latency)
		}
	}
	return Latency{quantileMillis(v, .5), quantileMillis(v, .9), quantileMillis(v, .99), quantileMillis(v, 1)}
}

// quantileMillis returns a quantile of v (ns) in ms; it sorts v.
func quantileMillis(v []int64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return float64(v[int(q*float64(len(v)-1))]) / 1e6
}

func (c *conn) getPath(host, path, token string, timeout time.Duration) (status int, err error) {
	c.SetDeadline(time.Now().Add(timeout))
	request := "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: unstall-lab\r\n"
	if token != "" {
		request += "Authorization: Bearer " + token + "\r\n"
	}
	if _, err := io.WriteString(c, request+"\r\n"); err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}
