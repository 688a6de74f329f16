// Package sqlwire is a database/sql driver for a server that speaks lines over TCP: a
// statement with its arguments is one line, the answer is one row of one column.
package sqlwire

import (
	"bufio"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"net"
	"strings"
)

// Name is what sql.Open wants.
const Name = "sqlwire"

func init() { sql.Register(Name, connector{}) }

type connector struct{}

func (connector) Open(address string) (driver.Conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReader(c)}, nil
}

type conn struct {
	net.Conn
	in *bufio.Reader
}

func (c *conn) Prepare(query string) (driver.Stmt, error) { return &stmt{c, query}, nil }
func (c *conn) Begin() (driver.Tx, error) {
	_, err := c.send("BEGIN")
	return tx{c}, err
}

func (c *conn) send(line string) (string, error) {
	if _, err := io.WriteString(c.Conn, line+"\n"); err != nil {
		return "", driver.ErrBadConn
	}
	answer, err := c.in.ReadString('\n')
	if err != nil {
		return "", driver.ErrBadConn
	}
	return strings.TrimSuffix(answer, "\n"), nil
}

type tx struct{ c *conn }

func (t tx) Commit() error   { _, err := t.c.send("COMMIT"); return err }
func (t tx) Rollback() error { _, err := t.c.send("ROLLBACK"); return err }

type stmt struct {
	c     *conn
	query string
}

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return strings.Count(s.query, "?") }

func (s *stmt) line(args []driver.Value) string {
	line := s.query
	for _, a := range args {
		line = strings.Replace(line, "?", fmt.Sprint(a), 1)
	}
	return line
}

func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	_, err := s.c.send(s.line(args))
	return driver.RowsAffected(1), err
}

func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	answer, err := s.c.send("GET " + s.line(args))
	return &rows{value: answer}, err
}

type rows struct {
	value string
	done  bool
}

func (*rows) Columns() []string { return []string{"value"} }
func (*rows) Close() error      { return nil }
func (r *rows) Next(dest []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done, dest[0] = true, r.value
	return nil
}
