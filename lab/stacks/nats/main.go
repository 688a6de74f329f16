// Command nats is the HTTP front of a parcel service: labels are made by workers that it
// reaches through NATS, and prices are compared by asking carriers over HTTP.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

type front struct {
	broker  *nats.Conn
	carrier *http.Client
	calls   *semaphore.Weighted // to carriers, of all requests
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	broker, err := nats.Connect("nats://"+os.Getenv("ADDR_BROKER"), nats.Name("front"), nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	f := &front{broker: broker, carrier: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 128}}, calls: semaphore.NewWeighted(128)}
	if fault("semaphore") {
		f.calls = semaphore.NewWeighted(5)
	}
	http.HandleFunc("POST /labels/{parcel}", f.label)
	http.HandleFunc("GET /prices/{parcel}", f.prices)
	http.HandleFunc("GET /parcels/{parcel}", f.parcel)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func reply(w http.ResponseWriter, text []byte, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(text); err != nil {
		log.Print(err)
	}
}

func (f *front) label(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	m, err := f.broker.RequestWithContext(ctx, "labels.make", []byte(r.PathValue("parcel")))
	if err != nil {
		reply(w, nil, err)
		return
	}
	reply(w, m.Data, nil)
}

// prices asks six carriers at a time.
func (f *front) prices(w http.ResponseWriter, r *http.Request) {
	prices := make([]json.RawMessage, 6)
	all, ctx := errgroup.WithContext(r.Context())
	for i := range prices {
		all.Go(func() (err error) {
			if err := f.calls.Acquire(ctx, 1); err != nil {
				return err
			}
			defer f.calls.Release(1)
			prices[i], err = f.ask(ctx, "/carriers/"+strconv.Itoa(i)+"/"+r.PathValue("parcel"))
			return err
		})
	}
	if err := all.Wait(); err != nil {
		reply(w, nil, err)
		return
	}
	text, err := json.Marshal(prices)
	reply(w, text, err)
}

func (f *front) ask(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+os.Getenv("ADDR_CARRIER")+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := f.carrier.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// parcel is where a parcel is, which the front knows itself.
func (f *front) parcel(w http.ResponseWriter, r *http.Request) {
	text, err := json.Marshal(map[string]string{"parcel": r.PathValue("parcel"), "at": "depot " + strconv.Itoa(len(r.PathValue("parcel")))})
	reply(w, text, err)
}
