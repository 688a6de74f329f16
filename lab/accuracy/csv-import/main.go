// Command csv-import reads price lists: each is parsed and checked by several goroutines.
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

var list string

func main() {
	var b strings.Builder
	for n := range 7500 {
		fmt.Fprintf(&b, "A-%d,\"screw, M%d\",%d.%02d,EUR\n", n, n%12, n%90, n%100)
	}
	list = b.String()
	http.HandleFunc("POST /import/{supplier}", func(w http.ResponseWriter, r *http.Request) {
		parts := make([]int, 4)
		var group errgroup.Group
		for i := range parts {
			group.Go(func() (err error) {
				parts[i], err = check(r.PathValue("supplier"), list)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, parts)
	})
	http.HandleFunc("GET /suppliers", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "Smith, Jones") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func check(supplier, list string) (cents int, err error) {
	records, err := csv.NewReader(strings.NewReader(list)).ReadAll()
	if err != nil {
		return 0, err
	}
	for _, r := range records {
		price, err := strconv.ParseFloat(r[2], 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", supplier, err)
		}
		cents += int(price * 100)
	}
	return cents, nil
}
