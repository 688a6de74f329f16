// Command chi is the shop on chi and database/sql, with pprof beside its own paths.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"

	"github.com/go-chi/chi/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
)

type shop struct {
	db       *sql.DB
	client   *http.Client
	attempts int
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	db, err := sql.Open("pgx", "postgres://shop@"+os.Getenv("ADDR_DB")+"/shop?sslmode=disable")
	if err != nil {
		log.Fatal(err)
	}
	size := 16
	if fault("pool-small") {
		size = 2
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	s := &shop{db: db, client: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 128}}, attempts: 1}
	if fault("retry-storm") {
		s.client.Timeout, s.attempts = 120*time.Millisecond, 3
	}
	r := chi.NewRouter()
	r.Get("/orders/{id}", s.order)
	r.Get("/customers/{id}/turnover", s.turnover)
	r.Get("/quotes/{id}", s.quote)
	r.Mount("/debug", http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func answer(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		v = map[string]string{"error": err.Error()}
	}
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	var cents int64
	err := s.db.QueryRowContext(r.Context(), "select total_cents from orders where id = $1", chi.URLParam(r, "id")).Scan(&cents)
	answer(w, map[string]int64{"cents": cents}, err)
}

func (s *shop) turnover(w http.ResponseWriter, r *http.Request) {
	var cents int64
	err := s.db.QueryRowContext(r.Context(), "select archived_turnover($1)", chi.URLParam(r, "id")).Scan(&cents)
	answer(w, map[string]int64{"cents": cents}, err)
}

// quote asks the supplier, again at once when that takes too long.
func (s *shop) quote(w http.ResponseWriter, r *http.Request) {
	var quote json.RawMessage
	var err error
	for range s.attempts {
		if quote, err = s.ask(r.Context(), chi.URLParam(r, "id")); err == nil || r.Context().Err() != nil {
			break
		}
	}
	answer(w, quote, err)
}

func (s *shop) ask(ctx context.Context, product string) (json.RawMessage, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+os.Getenv("ADDR_SUPPLIER")+"/quote/"+product, nil)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("supplier: %s", response.Status)
	}
	return io.ReadAll(response.Body)
}
