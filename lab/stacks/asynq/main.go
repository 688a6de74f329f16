// Command asynq takes orders for prints of photos: net/http, pgxpool on PostgreSQL, and tasks in
// Redis by asynq, whose workers run in the same process.
package main

import (
	"context"
	"encoding/json"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/hibiken/asynq"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	orders, err := openOrders(ctx, os.Getenv("ADDR_DB"))
	if err != nil {
		log.Fatal(err)
	}
	client := asynq.NewClient(asynq.RedisClientOpt{Addr: os.Getenv("ADDR_REDIS"), PoolSize: 24})
	previews := newPreviews(client)
	if err := startWorkers(previews); err != nil {
		log.Fatal(err)
	}
	go orderSheets(ctx, client)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", answer(func(ctx context.Context, id int) (any, error) { return orders.find(ctx, id) }))
	mux.HandleFunc("GET /customers/{id}/turnover", answer(func(ctx context.Context, id int) (any, error) { return orders.turnover(ctx, id) }))
	mux.HandleFunc("GET /papers/{id}", answer(func(ctx context.Context, _ int) (any, error) { return orders.papers(ctx) }))
	mux.HandleFunc("POST /photos/{id}/preview", answer(func(ctx context.Context, id int) (any, error) { return previews.draw(ctx, id) }))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := &http.Server{Addr: os.Getenv("ADDR"), Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	slog.Info("ended", "err", server.ListenAndServe())
}

// answer makes a handler of a function that returns what to send for a number in the path.
func answer(find func(ctx context.Context, id int) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		found, err := find(r.Context(), id)
		if err != nil {
			slog.Error("no answer", "path", r.URL.Path, "err", err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(found); err != nil {
			slog.Error("not sent", "path", r.URL.Path, "err", err)
		}
	}
}
