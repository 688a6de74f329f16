// Command connect is the stock of a warehouse on Connect: levels, prices and lists by RPC over HTTP.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type warehouse struct {
	mu    sync.Mutex
	items map[int]*item
}

// item is a product on its shelves.
type item struct {
	Number  int      `json:"number"`
	Name    string   `json:"name"`
	Shelves []*shelf `json:"shelves"`
}

type shelf struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	items, err := strconv.Atoi(os.Getenv("ITEMS"))
	if err != nil {
		log.Fatalf("ITEMS: %v", err)
	}
	if fault("gc-percent") {
		debug.SetGCPercent(6)
	}
	w := &warehouse{items: make(map[int]*item, items)}
	for n := range items {
		i := &item{Number: n, Name: "Item " + strconv.Itoa(n)}
		for s := range 4 {
			i.Shelves = append(i.Shelves, &shelf{Name: "shelf " + strconv.Itoa(n%97) + "/" + strconv.Itoa(s), Count: n % 13})
		}
		w.items[n] = i
	}
	mux := http.NewServeMux()
	serve(mux, "/stock.v1.Stock/Level", w.level)
	serve(mux, "/stock.v1.Stock/Price", w.price)
	serve(mux, "/stock.v1.Stock/List", w.list)
	server := http.Server{Addr: os.Getenv("ADDR"), Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// serve registers a procedure that has no side effects, so that clients may call it by GET.
func serve[Out any](mux *http.ServeMux, name string, call func(context.Context, int) (*Out, error)) {
	mux.Handle(name, connect.NewUnaryHandler(name, func(ctx context.Context, r *connect.Request[wrapperspb.Int64Value]) (*connect.Response[Out], error) {
		out, err := call(ctx, int(r.Msg.GetValue()))
		if err != nil {
			return nil, connect.NewError(connect.CodeInternal, err)
		}
		return connect.NewResponse(out), nil
	}, connect.WithIdempotency(connect.IdempotencyNoSideEffects)))
}

// level counts what is left of an item, and takes one.
func (w *warehouse) level(_ context.Context, number int) (*wrapperspb.Int64Value, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.items[number%len(w.items)]
	left := 0
	for _, s := range i.Shelves {
		left += s.Count
	}
	i.Shelves[0].Count = (i.Shelves[0].Count + 1) % 50
	return wrapperspb.Int64(int64(left)), nil
}

// price is signed, so that a shop can show that it got it.
func (w *warehouse) price(_ context.Context, number int) (*wrapperspb.StringValue, error) {
	sum := sha256.Sum256([]byte(strconv.Itoa(number)))
	for range 60_000 {
		sum = sha256.Sum256(sum[:])
	}
	return wrapperspb.String(strconv.Itoa(int(sum[0])) + " cents"), nil
}

// listed is the number of items on a list.
const listed = 3000

// list writes the items of a part of the warehouse. With the fault the lock is held until all is written.
func (w *warehouse) list(_ context.Context, part int) (*wrapperspb.BytesValue, error) {
	w.mu.Lock()
	if fault("marshal-under-lock") {
		defer w.mu.Unlock()
		text, err := json.Marshal(w.pick(part))
		return wrapperspb.Bytes(text), err
	}
	copies := w.pick(part)
	w.mu.Unlock()
	text, err := json.Marshal(copies)
	return wrapperspb.Bytes(text), err
}

// pick copies the items of a part.
func (w *warehouse) pick(part int) []item {
	picked := make([]item, 0, listed)
	for n := range listed {
		i := *w.items[(part*listed+n)%len(w.items)]
		shelves := make([]*shelf, 0, len(i.Shelves))
		for _, s := range i.Shelves {
			same := *s
			shelves = append(shelves, &same)
		}
		i.Shelves = shelves
		picked = append(picked, i)
	}
	return picked
}
