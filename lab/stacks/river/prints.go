package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/uptrace/bunrouter"
)

// printDesk takes pictures, has them printed by a job, and tells the customer the receipt.
type printDesk struct {
	db    *pgxpool.Pool
	jobs  *river.Client[pgx.Tx]
	house string
	calls *http.Client

	last    atomic.Int64
	waiting sync.Map // of channels of receipts, by ticket
}

// printArgs are the arguments of a job, as they are kept in PostgreSQL.
type printArgs struct {
	Picture string `json:"picture"`
	Ticket  int64  `json:"ticket"`
}

func (printArgs) Kind() string { return "print" }

type receipt struct {
	Receipt string `json:"receipt"`
	Cents   int    `json:"cents"`
}

// print queues a job, so that a picture is printed even if this process ends, and waits for its receipt.
func (d *printDesk) print(w http.ResponseWriter, req bunrouter.Request) error {
	args := printArgs{Picture: req.Param("id"), Ticket: d.last.Add(1)}
	done := make(chan receipt, 1)
	d.waiting.Store(args.Ticket, done)
	defer d.waiting.Delete(args.Ticket)
	if _, err := d.jobs.Insert(req.Context(), args, nil); err != nil {
		return err
	}
	select {
	case r := <-done:
		return bunrouter.JSON(w, r)
	case <-req.Context().Done():
		return req.Context().Err()
	}
}

type printWorker struct {
	river.WorkerDefaults[printArgs]

	desk *printDesk
}

// Work has a picture printed.
func (w *printWorker) Work(ctx context.Context, job *river.Job[printArgs]) error {
	r, err := w.desk.callHouse(ctx, job.Args.Picture)
	if err != nil {
		return err
	}
	if done, ok := w.desk.waiting.Load(job.Args.Ticket); ok {
		done.(chan receipt) <- r
	}
	return nil
}

func (d *printDesk) callHouse(ctx context.Context, picture string) (r receipt, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.house+"/print/"+picture, nil)
	if err != nil {
		return r, err
	}
	answer, err := d.calls.Do(req)
	if err != nil {
		return r, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return r, fmt.Errorf("the printing house says %s", answer.Status)
	}
	return r, json.NewDecoder(answer.Body).Decode(&r)
}
