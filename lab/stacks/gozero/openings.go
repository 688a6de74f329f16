package main

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/zeromicro/go-zero/core/executors"
	"github.com/zeromicro/go-zero/core/stores/sqlx"
)

// openings stores openings of boxes, many by one statement. A box opens when its opening is stored.
type openings struct {
	db   sqlx.SqlConn
	bulk *executors.BulkExecutor
}

type opening struct {
	locker, code int
	stored       chan error
}

// newOpenings collects openings for 4 ms; with the fault it leaves the interval of the executor,
// which is a second.
func newOpenings(db sqlx.SqlConn) *openings {
	o := &openings{db: db}
	options := []executors.BulkOption{executors.WithBulkTasks(500)}
	if !fault("bulk-interval") {
		options = append(options, executors.WithBulkInterval(4*time.Millisecond))
	}
	o.bulk = executors.NewBulkExecutor(o.insert, options...)
	return o
}

func (o *openings) store(ctx context.Context, locker int) (code int, err error) {
	one := opening{locker: locker, code: rand.IntN(1000000), stored: make(chan error, 1)}
	if err := o.bulk.Add(one); err != nil {
		return 0, err
	}
	select {
	case err := <-one.stored:
		return one.code, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (o *openings) insert(tasks []any) {
	values := make([]any, 0, 2*len(tasks))
	for _, t := range tasks {
		one := t.(opening)
		values = append(values, one.locker, one.code)
	}
	_, err := o.db.Exec("insert into openings (locker, code) values (?, ?)"+strings.Repeat(", (?, ?)", len(tasks)-1), values...)
	for _, t := range tasks {
		t.(opening).stored <- err
	}
}
