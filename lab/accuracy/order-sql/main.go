// Command order-sql lists orders (gorilla/mux, database/sql).
package main

import (
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"

	"github.com/gorilla/mux"

	"github.com/unstall/unstall/lab/accuracy/sqlwire"
)

type app struct{ db *sql.DB }

func main() {
	db, err := sql.Open(sqlwire.Name, os.Getenv("ADDR_DB"))
	if err != nil {
		log.Fatal(err)
	}
	limit := 3
	if os.Getenv("FAULT") == "0" {
		limit = 30
	}
	db.SetMaxOpenConns(limit)
	db.SetMaxIdleConns(limit)
	a := app{db}
	r := mux.NewRouter()
	r.HandleFunc("/orders/{customer}", a.orders)
	r.HandleFunc("/terms", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("30 days net")) })
	r.PathPrefix("/debug/pprof").Handler(http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (a app) orders(w http.ResponseWriter, r *http.Request) {
	var answer []string
	for _, query := range []string{"SELECT id FROM orders WHERE customer = ?", "SELECT sum FROM open WHERE customer = ?"} {
		var row string
		if err := a.db.QueryRowContext(r.Context(), query, mux.Vars(r)["customer"]).Scan(&row); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer = append(answer, row)
	}
	json.NewEncoder(w).Encode(answer)
}
