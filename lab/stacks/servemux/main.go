// Command servemux is what an online pharmacy's warehouse serves on net/http alone: parcels in PostgreSQL by database/sql
// and pgx, a table of fees that is kept by singleflight, a courier over HTTP.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := serve(ctx); err != nil {
		slog.Error("not served", "error", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	if fault("few-files") { // what a unit file without LimitNOFILE once gave
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
			return err
		}
	}
	parcels, err := openParcels(ctx, os.Getenv("ADDR_DB"))
	if err != nil {
		return err
	}
	defer parcels.db.Close()
	fees := &fees{courier: newCourier(os.Getenv("ADDR_COURIER")), tariffs: newCourier(os.Getenv("ADDR_TARIFFS"))}
	if _, err := fees.fetch(ctx); err != nil {
		return err
	}
	if !fault("one-flight") {
		go fees.renewRegularly(ctx)
	}
	gate := &gate{}

	mux := http.NewServeMux()
	mux.Handle("GET /parcels/{id}", answer(parcels.find))
	mux.Handle("GET /customers/{id}/parcels", answer(parcels.ofCustomer))
	mux.Handle("POST /parcels/{id}/scan", answer(parcels.scan))
	mux.Handle("GET /parcels/{id}/fee", answer(fees.ofParcel))
	mux.Handle("GET /parcels/{id}/arrival", answer(fees.courier.arrival))
	mux.Handle("GET /gates/{id}/van", answer(gate.wait))
	mux.Handle("GET /admin/turnover", answer(parcels.turnover))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })

	server := &http.Server{Addr: os.Getenv("ADDR"), Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// answer makes a handler of a function that finds what to send for the number in the path, which may be missing.
func answer[T any](find func(ctx context.Context, id int) (T, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := 0, error(nil)
		if text := r.PathValue("id"); text != "" {
			id, err = strconv.Atoi(text)
		}
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
			slog.Warn("not written", "error", err)
		}
	})
}
