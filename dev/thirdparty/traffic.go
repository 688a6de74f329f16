package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/load"
)

// traffic makes requests until its context ends.
type traffic func(ctx context.Context, p *place, to *rows) error

// rows keeps every request of all traffics in one file.
type rows struct {
	mu   sync.Mutex
	path string
	file *os.File
	w    *load.RowWriter
}

func newRows(path, url string) (*rows, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &rows{path: path, file: f, w: load.NewRowWriter(f, &load.Plan{URL: url})}, nil
}

func (r *rows) Progress(load.Snapshot) {}

func (r *rows) Rows(of []load.Row) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.w.Write(of)
}

func (r *rows) close() error {
	if err := r.w.Flush(); err != nil {
		return err
	}
	return r.file.Close()
}

// httpLoad is an open loop of HTTP requests.
type httpLoad struct {
	rate    float64
	method  string
	paths   []string
	body    []byte
	header  http.Header
	clients int // connections at most; 0: 400
}

func (h httpLoad) sendRequests(ctx context.Context, p *place, to *rows) error {
	clients := h.clients
	if clients == 0 {
		clients = 400
	}
	_, err := load.Run(ctx, load.Plan{URL: "http://" + p.main + h.paths[0], Paths: h.paths, Method: h.method, Body: h.body,
		Header: h.header, Mode: load.Open, Arrivals: load.Poisson, Rate: h.rate, Connections: clients, Duration: time.Hour}, to)
	return err
}

// An exchange does one request of another protocol's session and returns
// its route.
type exchange func(n int) (route string, err error)

// protocolLoad returns an open loop over that many connections of a protocol other than
// HTTP. A request that finds no free connection waits for one, and its latency
// counts from the intended time.
func protocolLoad(rate float64, connections int, dial func(ctx context.Context, p *place, i int) (exchange, error)) traffic {
	return func(ctx context.Context, p *place, to *rows) error {
		due := make(chan time.Time, 100_000)
		var all sync.WaitGroup
		for i := range connections {
			do, err := dial(ctx, p, i)
			if err != nil {
				return err
			}
			all.Go(func() {
				for n := 0; ; n++ {
					var at time.Time
					select {
					case <-ctx.Done():
						return
					case at = <-due:
					}
					row := load.Row{Intended: at.UnixNano(), Sent: time.Now().UnixNano(), Outcome: evidence.OK, Status: 200}
					var err error
					if row.Route, err = do(n); err != nil {
						if ctx.Err() != nil {
							return
						}
						row.Status, row.Outcome = 500, evidence.Failed
					}
					row.End = time.Now().UnixNano()
					_ = to.Rows([]load.Row{row})
					if err != nil {
						return
					}
				}
			})
		}
		defer all.Wait()
		for next := time.Now(); ctx.Err() == nil; next = next.Add(time.Duration(rand.ExpFloat64() / rate * float64(time.Second))) {
			sleepContext(ctx, time.Until(next))
			select {
			case due <- next:
			default:
			}
		}
		return nil
	}
}

// bodyText returns n bytes of words, which compress like text.
func bodyText(n int) []byte {
	words := []string{"alpha ", "beta ", "gamma ", "delta ", "epsilon ", "zeta ", "eta ", "theta "}
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.Bytes()[:n]
}

// postBody posts a body and returns an error unless the response is 2xx.
func postBody(ctx context.Context, url string, body []byte) error {
	return sendHTTP(ctx, http.MethodPost, url, body)
}

func getURL(ctx context.Context, url string) error { return sendHTTP(ctx, http.MethodGet, url, nil) }

func sendHTTP(ctx context.Context, method, url string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if said, _ := io.ReadAll(io.LimitReader(answer.Body, 300)); answer.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s", answer.Status, said)
	}
	return nil
}
