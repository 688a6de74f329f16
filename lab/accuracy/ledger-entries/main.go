// Command ledger-entries books entries of a ledger (chi, database/sql). Balances of all
// accounts are kept in memory; an entry is one transaction on one of three connections.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"strconv"
	"sync"

	"github.com/unstall/unstall/lab/accuracy/sqlwire"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

type account struct {
	IBAN    string
	Owner   *string
	History []*posting
}

type posting struct {
	Cents int64
	Text  string
	Other *account
}

type ledger struct {
	db *sql.DB

	mu       sync.RWMutex
	accounts []*account
}

func main() {
	db, err := sql.Open(sqlwire.Name, os.Getenv("ADDR_DB"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(3)
	db.SetMaxIdleConns(3)
	l := &ledger{db: db}
	for n := range 40_000 {
		owner := fmt.Sprint("holder ", n)
		a := &account{IBAN: fmt.Sprintf("XX%020d", n), Owner: &owner}
		for p := range 8 {
			a.History = append(a.History, &posting{Cents: int64(p * n), Text: "opening " + strconv.Itoa(p), Other: a})
		}
		l.accounts = append(l.accounts, a)
	}
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer)
	r.Get("/entries/{account}", l.book)
	r.HandleFunc("/debug/pprof/*", pprof.Index)
	r.HandleFunc("/debug/pprof/profile", pprof.Profile)
	r.HandleFunc("/debug/pprof/trace", pprof.Trace)
	r.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	r.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (l *ledger) book(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(chi.URLParam(r, "account"))
	tx, err := l.db.BeginTx(r.Context(), nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer tx.Rollback()
	var row string
	if err := tx.QueryRow("SELECT balance FROM accounts WHERE id = ?", n).Scan(&row); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	statement := l.statement(n, row)
	if _, err := tx.Exec("INSERT INTO entries VALUES (?)", n); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	tx.Commit()
	json.NewEncoder(w).Encode(statement[len(statement)-5:])
}

// statement renders the account as it would be printed, for the audit.
func (l *ledger) statement(n int, row string) []map[string]any {
	l.mu.RLock()
	a := l.accounts[n%len(l.accounts)]
	l.mu.RUnlock()
	var out []map[string]any
	for i := range 400 {
		p := a.History[i%len(a.History)]
		out = append(out, map[string]any{"iban": p.Other.IBAN, "text": p.Text + strconv.Itoa(i), "cents": p.Cents, "row": row})
	}
	return out
}
