// Command gopg serves the box office of a theatre: negroni on net/http, go-pg on PostgreSQL, and a bank and an agency over HTTP.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/go-pg/pg/v10"
	"github.com/urfave/negroni/v3"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	db := pg.Connect(&pg.Options{Addr: os.Getenv("ADDR_DB"), User: "shop", Database: "shop", PoolSize: 24})
	calls := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 48}}
	prices := &priceList{db: db, agency: remote{calls, "http://" + os.Getenv("ADDR_AGENCY") + "/seats/"}}
	if err := prices.load(); err != nil {
		log.Fatal(err)
	}
	go prices.keepFresh(ctx)
	tickets := &ticketDesk{db: db, bank: remote{calls, "http://" + os.Getenv("ADDR_BANK") + "/pay/"}}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", answer(func(r *http.Request, id int) (any, error) { return findOrder(r.Context(), db, id) }))
	mux.HandleFunc("GET /prices/{id}", answer(prices.find))
	mux.HandleFunc("GET /offers/{id}", answer(prices.offer))
	mux.HandleFunc("POST /tickets/{id}", answer(tickets.sell))
	chain := negroni.New(negroni.NewRecovery(), negroni.HandlerFunc(limitBody))
	chain.UseHandler(mux)
	server := &http.Server{Addr: os.Getenv("ADDR"), Handler: chain}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	log.Print(server.ListenAndServe())
}

func limitBody(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	next(w, r)
}

// answer writes what a handler found as JSON.
func answer(handle func(r *http.Request, id int) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil {
			http.Error(w, "no number", http.StatusBadRequest)
			return
		}
		found, err := handle(r, id)
		if err != nil {
			log.Print(err)
			http.Error(w, "not now", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(found)
	}
}

// order is a row of orders.
type order struct {
	tableName struct{} `pg:"orders"`

	ID         int    `pg:"id,pk" json:"id"`
	TotalCents int64  `pg:"total_cents" json:"cents"`
	Status     string `pg:"status" json:"status"`
}

func findOrder(ctx context.Context, db *pg.DB, id int) (*order, error) {
	o := &order{}
	return o, db.ModelContext(ctx, o).Where("id = ?", id).Select()
}

// remote is a service of another company, which answers with a receipt.
type remote struct {
	calls *http.Client
	at    string
}

type receipt struct {
	Receipt string `json:"receipt"`
	Cents   int    `json:"cents"`
}

func (s remote) ask(ctx context.Context, id int) (r receipt, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.at+strconv.Itoa(id), nil)
	if err != nil {
		return r, err
	}
	resp, err := s.calls.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	return r, json.NewDecoder(resp.Body).Decode(&r)
}
