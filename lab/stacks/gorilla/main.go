// Command gorilla books the berths of a harbour: gorilla/mux, bun and PostgreSQL, pilots
// over HTTP, and a list of all containers in memory.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gorilla/mux"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/driver/pgdriver"
)

// Berth is a place at a quay.
type Berth struct {
	bun.BaseModel `bun:"table:berths"`
	ID            int    `bun:"id,pk" json:"id"`
	Quay          string `bun:"quay" json:"quay"`
	Metres        int    `bun:"metres" json:"metres"`
}

// Booking is a berth that a ship has taken, with its pilot.
type Booking struct {
	bun.BaseModel `bun:"table:bookings"`
	ID            int64  `bun:"id,pk,autoincrement" json:"id"`
	BerthID       int    `bun:"berth_id" json:"berth"`
	Ship          string `bun:"ship" json:"ship"`
	Pilot         string `bun:"pilot" json:"pilot"`
}

type harbour struct {
	db     *bun.DB
	pilots *http.Client
	yard   *yard
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	pool := sql.OpenDB(pgdriver.NewConnector(pgdriver.WithAddr(os.Getenv("ADDR_DB")), pgdriver.WithInsecure(true),
		pgdriver.WithUser("shop"), pgdriver.WithDatabase("shop"), pgdriver.WithTimeout(20*time.Second)))
	pool.SetMaxOpenConns(40)
	pool.SetMaxIdleConns(40)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	h := &harbour{db: bun.NewDB(pool, pgdialect.New()), pilots: &http.Client{Transport: transport, Timeout: 20 * time.Second}, yard: fillYard()}

	r := mux.NewRouter()
	r.HandleFunc("/berths/{id:[0-9]+}", answer(h.berth)).Methods(http.MethodGet)
	r.HandleFunc("/berths/{id:[0-9]+}/bookings", answer(h.book)).Methods(http.MethodPost)
	r.HandleFunc("/containers/{id:[0-9]+}", answer(h.container)).Methods(http.MethodGet)
	r.HandleFunc("/manifests/{id:[0-9]+}", h.manifest).Methods(http.MethodGet)
	r.HandleFunc("/tides/{id:[0-9]+}", answer(h.tide)).Methods(http.MethodGet)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

// answer makes a handler of a function that returns what to send.
func answer(find func(ctx context.Context, id int) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(mux.Vars(r)["id"])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		found, err := find(r.Context(), id)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(found); err != nil {
			log.Print(err)
		}
	}
}

func (h *harbour) berth(ctx context.Context, id int) (any, error) {
	var found Berth
	err := h.db.NewSelect().Model(&found).Where("id = ?", id).Scan(ctx)
	return found, err
}

// book takes a berth for a ship as soon as a pilot is found. Bookings of the same berth
// must not overlap, for which an advisory lock is held; with the fault there is one for the
// whole harbour.
func (h *harbour) book(ctx context.Context, id int) (any, error) {
	key := 7000 + id%2000
	if fault("advisory-lock") {
		key = 7000
	}
	one := Booking{BerthID: id % 2000, Ship: fmt.Sprintf("ship %d", id)}
	err := h.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) (err error) {
		if _, err = tx.ExecContext(ctx, "select pg_advisory_xact_lock(?)", key); err != nil {
			return err
		}
		if one.Pilot, err = h.findPilot(ctx, id); err != nil {
			return err
		}
		_, err = tx.NewInsert().Model(&one).Exec(ctx)
		return err
	})
	return one, err
}

func (h *harbour) findPilot(ctx context.Context, id int) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/pilots/%d", os.Getenv("ADDR_PILOTS"), id), nil)
	if err != nil {
		return "", err
	}
	response, err := h.pilots.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	return string(said), err
}

// tide waits for the next tide table, which comes within five seconds.
func (h *harbour) tide(ctx context.Context, id int) (any, error) {
	next := time.NewTimer(5 * time.Second)
	defer next.Stop()
	select {
	case <-next.C:
		return map[string]int{"gauge": id, "centimetres": 120 + id%300}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
