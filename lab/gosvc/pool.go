package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/unstall/unstall/lab/resp"
)

// The sizes of the pool.
const (
	few  = 4
	many = 64
)

// pool asks a database over a pool of connections: database/sql's own, or one
// guarded by a channel.
func pool(o options) (http.HandlerFunc, error) {
	if o.dependency == "" {
		return nil, errNoDependency
	}
	size := many
	if o.sick {
		size = few
	}
	var query func(ctx context.Context, item string) (string, error)
	switch o.via {
	case "sql":
		query = overSQL(o.dependency, size)
	case "semaphore":
		query = overSemaphore(o.dependency, size)
	default:
		return nil, fmt.Errorf("-via %s: use sql or semaphore", o.via)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := query(r.Context(), r.URL.Path)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, value)
	}, nil
}

func overSQL(addr string, size int) func(context.Context, string) (string, error) {
	db := sql.OpenDB(connector(addr))
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return func(ctx context.Context, item string) (value string, err error) {
		err = db.QueryRowContext(ctx, "GET "+item).Scan(&value)
		return value, err
	}
}

func overSemaphore(addr string, size int) func(context.Context, string) (string, error) {
	client := &resp.Client{Addr: addr}
	permits := make(chan struct{}, size)
	return func(_ context.Context, item string) (string, error) {
		permits <- struct{}{}
		defer func() { <-permits }()
		value, err := client.Get(item)
		return string(value), err
	}
}

// connector is a database/sql driver for a RESP server. Its queries read GET key.
type connector string

func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := resp.Dial(string(c))
	return &dbConn{conn}, err
}

func (c connector) Driver() driver.Driver { return c }

func (c connector) Open(string) (driver.Conn, error) { return c.Connect(context.Background()) }

var errOnlyQueries = errors.New("this driver knows queries only")

type dbConn struct{ *resp.Conn }

func (*dbConn) Prepare(string) (driver.Stmt, error) { return nil, errOnlyQueries }
func (*dbConn) Begin() (driver.Tx, error)           { return nil, errOnlyQueries }

func (c *dbConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	value, err := c.Get(query[len("GET "):])
	if err != nil {
		return nil, err
	}
	return &oneRow{value: string(value)}, nil
}

type oneRow struct {
	value string
	read  bool
}

func (*oneRow) Columns() []string { return []string{"value"} }
func (*oneRow) Close() error      { return nil }

func (r *oneRow) Next(into []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, into[0] = true, r.value
	return nil
}
