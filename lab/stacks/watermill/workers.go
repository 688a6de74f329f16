package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// readings stores what meters have measured, all values of a message in one statement. With
// the fault each value has a statement of its own.
type readings struct{ db *sql.DB }

func (r *readings) do(ctx context.Context, o order) (string, error) {
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback() // says an error when it is committed
	if fault("insert-each") {
		for minute, litres := range o.Values {
			if _, err := tx.ExecContext(ctx, "insert into readings (meter_id, minute, litres) values (?, ?, ?)", o.Meter, minute, litres); err != nil {
				return "", err
			}
		}
	} else {
		rows := make([]string, len(o.Values))
		for minute, litres := range o.Values {
			rows[minute] = fmt.Sprintf("(%d,%d,%d)", o.Meter, minute, litres)
		}
		if _, err := tx.ExecContext(ctx, "insert into readings (meter_id, minute, litres) values "+strings.Join(rows, ",")); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(len(o.Values)), tx.Commit()
}

// alarms sends text messages.
type alarms struct{ client *http.Client }

func newAlarms() *alarms {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return &alarms{client: &http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

func (a *alarms) do(ctx context.Context, o order) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://%s/messages/%d", os.Getenv("ADDR_TEXTS"), o.Meter), nil)
	if err != nil {
		return "", err
	}
	response, err := a.client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	return string(said), err
}
