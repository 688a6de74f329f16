// Command graphql is the catalogue of a book shop: graph-gophers/graphql-go, pgx and
// PostgreSQL. Clients name one of the stored operations and give its variables.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/graph-gophers/graphql-go"
	"github.com/jackc/pgx/v5/pgxpool"
)

const schema = `
	type Query {
		customer(id: Int!): Customer!
		order(id: Int!): Order!
		price(id: Int!): Price!
	}
	type Customer { id: Int! name: String! orders: [Order!]! }
	type Order { id: Int! quantity: Int! note: String! product: Product! }
	type Product { id: Int! name: String! cents: Int! }
	type Price { product: Product! euros: Float! currency: String! }
`

// operations are the stored documents by their names.
var operations = map[string]string{
	"history": `query ($id: Int!) { customer(id: $id) { id name orders { id quantity note product { id name cents } } } }`,
	"order":   `query ($id: Int!) { order(id: $id) { id quantity note product { name } } }`,
	"price":   `query ($id: Int!) { price(id: $id) { product { name cents } euros currency } }`,
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	pool, err := pgxpool.New(context.Background(), "postgres://shop@"+os.Getenv("ADDR_DB")+"/shop?sslmode=disable&pool_max_conns=24")
	if err != nil {
		log.Fatal(err)
	}
	root := &resolver{db: pool, rates: &rates{client: &http.Client{Timeout: 10 * time.Second}}}
	root.rates.refresh()
	if !fault("refresh-under-lock") {
		go root.rates.keepFresh()
	}
	parsed := graphql.MustParseSchema(schema, root, graphql.MaxParallelism(4))
	http.HandleFunc("GET /graphql", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.URL.Query().Get("id"))
		document, ok := operations[r.URL.Query().Get("operation")]
		if err != nil || !ok {
			http.Error(w, "give an operation and an id", http.StatusBadRequest)
			return
		}
		ctx := context.WithValue(r.Context(), loaderKey{}, &productLoader{db: pool, known: map[int32]*product{}})
		response := parsed.Exec(ctx, document, "", map[string]any{"id": id})
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(response); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

// rateAge is how old the rates of currencies may be.
const rateAge = 500 * time.Millisecond

// rates are the rates of currencies that a partner publishes.
type rates struct {
	client *http.Client
	mu     sync.Mutex
	cents  float64
	asked  time.Time
}

// perEuro returns the rate. With the fault it asks the partner for a new one while it holds the lock.
func (x *rates) perEuro() float64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if fault("refresh-under-lock") && time.Since(x.asked) > rateAge {
		x.cents, x.asked = x.ask(), time.Now()
	}
	return x.cents
}

func (x *rates) keepFresh() {
	for range time.Tick(rateAge) {
		x.refresh()
	}
}

func (x *rates) refresh() {
	cents := x.ask()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cents, x.asked = cents, time.Now()
}

// ask returns what the partner says, or 100 if the partner does not answer.
func (x *rates) ask() float64 {
	response, err := x.client.Get("http://" + os.Getenv("ADDR_RATES") + "/rates/EUR")
	if err != nil {
		log.Print(err)
		return 100
	}
	defer response.Body.Close()
	var said struct{ Cents float64 }
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&said); err != nil {
		log.Print(err)
		return 100
	}
	return 100 + said.Cents/10_000
}
