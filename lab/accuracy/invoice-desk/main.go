// Invoice-desk prints invoices, which is quick, and the statement of a year, which adds
// up all of them and rightly takes a while.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	_ "net/http/pprof"
	"os"
	"slices"
	"strconv"
	"time"
)

type invoice struct {
	Number   int       `json:"number"`
	Customer int       `json:"customer"`
	Date     time.Time `json:"date"`
	Lines    []line    `json:"lines"`
}

type line struct {
	Article string `json:"article"`
	Pieces  int    `json:"pieces"`
	Cents   int    `json:"cents"`
}

type ledger struct{ invoices []invoice }

func newLedger(n int) *ledger {
	random := rand.New(rand.NewPCG(7, 11))
	l := &ledger{}
	day := time.Date(2021, 1, 1, 8, 0, 0, 0, time.UTC)
	for i := range n {
		in := invoice{Number: i, Customer: random.IntN(4000), Date: day.Add(time.Duration(i) * 50 * time.Minute)}
		for range 1 + random.IntN(6) {
			in.Lines = append(in.Lines, line{fmt.Sprintf("A-%04d", random.IntN(900)), 1 + random.IntN(9), 100 + random.IntN(9900)})
		}
		l.invoices = append(l.invoices, in)
	}
	return l
}

func (l *ledger) invoice(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || n < 0 || n >= len(l.invoices) {
		http.Error(w, "no such invoice", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(l.invoices[n])
}

type total struct {
	Article string `json:"article"`
	Pieces  int    `json:"pieces"`
	Cents   int    `json:"cents"`
}

// statement adds up a year by article and ranks them, as the accountant wants it.
func (l *ledger) statement(w http.ResponseWriter, r *http.Request) {
	year, err := strconv.Atoi(r.PathValue("year"))
	if err != nil {
		http.Error(w, "no such year", http.StatusNotFound)
		return
	}
	sums := map[string]*total{}
	for _, in := range l.invoices {
		if in.Date.Year() != year {
			continue
		}
		for _, x := range in.Lines {
			t := sums[x.Article]
			if t == nil {
				t = &total{Article: x.Article}
				sums[x.Article] = t
			}
			t.Pieces += x.Pieces
			t.Cents += x.Pieces * x.Cents
		}
	}
	ranked := make([]*total, 0, len(sums))
	for _, t := range sums {
		ranked = append(ranked, t)
	}
	slices.SortFunc(ranked, func(a, b *total) int { return cmp.Or(b.Cents-a.Cents, cmp.Compare(a.Article, b.Article)) })
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(ranked)
}

func main() {
	l := newLedger(40_000)
	http.HandleFunc("GET /invoice/{number}", l.invoice)
	http.HandleFunc("GET /statement/{year}", l.statement)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
