// Command river serves the counter of a photo lab: bunrouter on net/http, River's queue of jobs and pgx on PostgreSQL,
// and a printing house over HTTP.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/uptrace/bunrouter"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(fmt.Sprintf("postgres://shop@%s/shop?sslmode=disable", os.Getenv("ADDR_DB")))
	if err != nil {
		return err
	}
	config.MaxConns = 16
	db, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	desk := &printDesk{db: db, house: "http://" + os.Getenv("ADDR_HOUSE"), calls: &http.Client{
		Timeout:   20 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 32},
	}}
	if desk.jobs, err = startJobs(ctx, db, desk); err != nil {
		return err
	}

	router := bunrouter.New(bunrouter.Use(reportErrors))
	router.GET("/orders/:id", desk.showOrder)
	router.POST("/prints/:id", desk.print)
	server := &http.Server{Addr: os.Getenv("ADDR"), Handler: router}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// startJobs makes River's tables and starts the workers of this process.
func startJobs(ctx context.Context, db *pgxpool.Pool, desk *printDesk) (*river.Client[pgx.Tx], error) {
	driver := riverpgxv5.New(db)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &printWorker{desk: desk})
	config := &river.Config{
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 16}},
		Workers:       workers,
		FetchCooldown: 5 * time.Millisecond,
	}
	switch {
	case fault("two-workers"):
		config.Queues[river.QueueDefault] = river.QueueConfig{MaxWorkers: 2}
	case fault("poll-only"):
		// As one does behind a pooler that has no LISTEN.
		config.PollOnly = true
	}
	jobs, err := river.NewClient(driver, config)
	if err != nil {
		return nil, err
	}
	return jobs, jobs.Start(ctx)
}

func reportErrors(next bunrouter.HandlerFunc) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, req bunrouter.Request) error {
		err := next(w, req)
		if err != nil {
			log.Print(err)
			http.Error(w, "not now", http.StatusInternalServerError)
		}
		return err
	}
}

type order struct {
	ID     int    `json:"id"`
	Cents  int64  `json:"cents"`
	Status string `json:"status"`
}

func (d *printDesk) showOrder(w http.ResponseWriter, req bunrouter.Request) error {
	id, err := strconv.Atoi(req.Param("id"))
	if err != nil {
		return err
	}
	o := order{ID: id}
	if err := d.db.QueryRow(req.Context(), "select total_cents, status from orders where id = $1", id).Scan(&o.Cents, &o.Status); err != nil {
		return err
	}
	return bunrouter.JSON(w, o)
}
