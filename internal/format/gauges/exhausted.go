package gauges

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// exhaustion is a library's message that a request waited in vain for a place of a pool.
// Figures are read behind words, which are "" if the message has none.
type exhaustion struct {
	mark    string // of the line
	pool    string // kind of the pool
	runtime string // "" any
	waited  string // words before the time waited
	limit   string // words before how long it may wait, for lines that do not tell how long it did
	unit    float64
	active  string // words before how many were in use
	size    string // words before how many there may be
	idle    string
	full    bool // it is made when all are in use
}

const millisecond, second = 1e6, 1e9

// exhaustions are the messages of libraries, from their sources:
//
//	org.apache.tomcat.jdbc.pool.ConnectionPool, com.alibaba.druid.pool.DruidDataSource, GenericObjectPool of Commons Pool 1 and 2,
//	com.mchange.v2.resourcepool, io.agroal.pool, Dropwizard's pool (which is Tomcat's), Apache HttpClient, Reactor Pool, MongoDB's
//	drivers, Redisson, R2DBC, UCP; Npgsql, SqlClient and MySqlConnector; SQLAlchemy and psycopg; ActiveRecord; knex and tarn, Sequelize,
//	Prisma; go-redis; DBConnection of Elixir
var exhaustions = []exhaustion{
	{mark: "Pool empty. Unable to fetch a connection in ", pool: "Tomcat JDBC", runtime: "jvm", waited: "fetch a connection in ", unit: second, active: "busy:", size: "size:", idle: "idle:"},
	{mark: "wait millis ", pool: "Druid", runtime: "jvm", waited: "wait millis ", unit: millisecond, active: ", active ", size: "maxActive "},
	{mark: "Timeout waiting for idle object", pool: "Commons Pool", runtime: "jvm", waited: "borrowMaxWaitDuration=PT", unit: second},
	{mark: "Cannot get a connection, pool exhausted", pool: "Commons DBCP", runtime: "jvm"},
	{mark: "An attempt by a client to checkout a Connection has timed out", pool: "c3p0", runtime: "jvm"},
	{mark: "Sorry, acquisition timeout!", pool: "Agroal", runtime: "jvm"},
	{mark: "Timeout waiting for connection from pool", pool: "Apache HttpClient", runtime: "jvm"},
	{mark: "has been pending for more than the configured timeout of ", pool: "Reactor", runtime: "jvm", waited: "configured timeout of ", unit: millisecond},
	{mark: "while waiting for a connection to server", pool: "MongoDB driver", runtime: "jvm", waited: "Timed out after ", unit: millisecond, active: "connections in use by other operations: ", size: "maxPoolSize: "},
	{mark: "The connection pool has been exhausted, either raise MaxPoolSize", pool: "Npgsql", runtime: "dotnet", waited: "or Timeout (currently ", unit: second, size: "(currently ", full: true}, // up to 5
	{mark: "The connection pool has been exhausted, either raise", pool: "Npgsql", runtime: "dotnet", waited: "'Timeout' (currently ", unit: second, size: "(currently ", full: true},
	{mark: "prior to obtaining a connection from the pool", pool: "SqlClient", runtime: "dotnet"},
	{mark: "QueuePool limit of size ", pool: "SQLAlchemy QueuePool", waited: "timed out, timeout ", unit: second, size: "of size "},
	{mark: "could not obtain a connection from the pool within ", pool: "ActiveRecord", waited: "(waited ", limit: "pool within ", unit: second},
	{mark: "could not obtain a database connection within ", pool: "ActiveRecord", waited: "(waited ", limit: "connection within ", unit: second, size: "max pool size is currently ", full: true}, // Rails up to 4
	{mark: "Timeout acquiring a connection. The pool is probably full", pool: "knex"},
	{mark: "timed out while waiting to acquire a resource from com.mchange", pool: "c3p0", runtime: "jvm"},
	{mark: "Creating emergency threads for unassigned pending tasks", pool: "c3p0", runtime: "jvm"}, // all threads that make, test and close connections are busy
	{mark: "Unable to acquire connection! Increase connection pool size", pool: "Redisson", runtime: "jvm"},
	{mark: "Connection acquisition timed out after ", pool: "R2DBC", runtime: "jvm", waited: "timed out after ", unit: millisecond},
	{mark: "All connections in the Universal Connection Pool are in use", pool: "Oracle UCP", runtime: "jvm"},
	{mark: "Connect Timeout expired. All pooled connections are in use", pool: "MySqlConnector", runtime: "dotnet"},
	{mark: "couldn't get a connection after ", pool: "psycopg", waited: "connection after ", unit: second},
	{mark: "Timed out fetching a new connection from the connection pool", pool: "Prisma", waited: "connection pool timeout: ", unit: second, size: "connection limit: "},
	{mark: "redis: connection pool timeout", pool: "go-redis", runtime: "go"},
	{mark: "ConnectionAcquireTimeoutError", pool: "Sequelize"},
	{mark: "connection not available and request was dropped from queue after ", pool: "DBConnection", waited: "from queue after ", unit: millisecond},
}

// findExhaustion returns the message about an exhausted pool in a line, nil if there is none.
func findExhaustion(line []byte) *exhaustion {
	// All messages have one of these words; most lines of a log have none.
	if !bytes.Contains(line, []byte("ool")) && !bytes.Contains(line, []byte("idle object")) && !bytes.Contains(line, []byte("wait millis ")) &&
		!bytes.Contains(line, []byte("acquisition timeout")) && !bytes.Contains(line, []byte("checkout a Connection")) && !bytes.Contains(line, []byte("has been pending")) && !bytes.Contains(line, []byte("while waiting for a conn")) &&
		!bytes.Contains(line, []byte("onnection acquisition")) && !bytes.Contains(line, []byte("to acquire a resource")) && !bytes.Contains(line, []byte("get a connection after")) &&
		!bytes.Contains(line, []byte("AcquireTimeout")) && !bytes.Contains(line, []byte("dropped from queue")) && !bytes.Contains(line, []byte("emergency threads")) &&
		!bytes.Contains(line, []byte("obtain a database connection")) {
		return nil
	}
	for i := range exhaustions {
		x := &exhaustions[i]
		_, rest, ok := bytes.Cut(line, []byte(x.mark))
		if ok && (x.active == "" || x.mark != "wait millis " || bytes.Contains(line, []byte(x.active))) && !isPlaceholder(rest) {
			return x
		}
	}
	return nil
}

// isPlaceholder says whether what follows a message's words is to be filled in: its source, as pages about errors show it beside the message.
func isPlaceholder(rest []byte) bool { return len(rest) > 0 && (rest[0] == '%' || rest[0] == '{') }

// figureBehind reads the number behind words; NaN without.
func figureBehind(text, words string) float64 {
	if words == "" {
		return math.NaN()
	}
	_, rest, ok := strings.Cut(text, words)
	if !ok {
		return math.NaN()
	}
	n := 0
	for n < len(rest) && n < 12 && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.' && n > 0) {
		n++
	}
	v, err := strconv.ParseFloat(strings.TrimRight(rest[:n], "."), 64)
	if err != nil || v > 1e9 {
		return math.NaN()
	}
	return v
}

// parseReading reads the message's figures of the pool, and how long the request waited in ns.
func (x *exhaustion) parseReading(text string) (g gauge, waited int64) {
	g = gauge{active: figureBehind(text, x.active), idle: figureBehind(text, x.idle), pending: math.NaN(), max: figureBehind(text, x.size)}
	if x.full {
		g.active = g.max
	}
	v := figureBehind(text, x.waited)
	if math.IsNaN(v) {
		v = figureBehind(text, x.limit)
	}
	if v > 0 && v*x.unit < 1e15 {
		waited = int64(v * x.unit)
	}
	return g, waited
}
