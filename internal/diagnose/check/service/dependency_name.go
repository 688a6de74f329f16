package service

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// drivers say by the code of well-known clients what they call, in the words in which the kernel's view of connections names it
// (internal/format/exchanges); "" is whatever speaks HTTP, which has an address alone.
var drivers = []struct{ code, product string }{
	{"org.postgresql.", "PostgreSQL"}, {"io.r2dbc.postgresql.", "PostgreSQL"}, {"io.vertx.pgclient.", "PostgreSQL"}, {"github.com/jackc/pg", "PostgreSQL"},
	{"github.com/lib/pq", "PostgreSQL"}, {"pgconn", "PostgreSQL"}, {"pgx", "PostgreSQL"}, {"psycopg", "PostgreSQL"}, {"libpq", "PostgreSQL"}, {"asyncpg", "PostgreSQL"}, {"Npgsql", "PostgreSQL"},
	{"com.mysql.", "MySQL/MariaDB"}, {"org.mariadb.", "MySQL/MariaDB"}, {"io.vertx.mysqlclient.", "MySQL/MariaDB"}, {"github.com/go-sql-driver/mysql", "MySQL/MariaDB"}, {"mysqlConn", "MySQL/MariaDB"},
	{"pymysql", "MySQL/MariaDB"}, {"_mysql", "MySQL/MariaDB"}, {"MySqlConnector", "MySQL/MariaDB"}, {"MySql.Data", "MySQL/MariaDB"},
	{"redis.clients.", "Redis"}, {"io.lettuce.", "Redis"}, {"org.redisson.", "Redis"}, {"github.com/redis/go-redis", "Redis"}, {"github.com/go-redis/", "Redis"},
	{"github.com/gomodule/redigo", "Redis"}, {"StackExchange.Redis", "Redis"}, {"hiredis", "Redis"},
	{"com.mongodb.", "MongoDB"}, {"go.mongodb.org/mongo-driver", "MongoDB"}, {"MongoDB.Driver", "MongoDB"},
	{"com.microsoft.sqlserver.", "SQL Server"}, {"Microsoft.Data.SqlClient", "SQL Server"}, {"oracle.jdbc.", "Oracle"}, {"com.datastax.", "Cassandra"},
	{"java.net.Inet4AddressImpl.", nameServer}, {"java.net.Inet6AddressImpl.", nameServer}, {"getaddrinfo", nameServer}, {"net.(*Resolver).", nameServer}, {"System.Net.Dns.", nameServer},
	{"google.golang.org/grpc", "gRPC"}, {"io.grpc.", "gRPC"}, {"Grpc.Net.Client", "gRPC"}, {"grpc/_channel", "gRPC"},
	{"jdk.internal.net.http.", ""}, {"java.net.http.", ""}, {"okhttp3.", ""}, {"org.apache.http.", ""}, {"org.apache.hc.", ""}, {"sun.net.www.", ""},
	{"net/http", ""}, {"System.Net.Http", ""},
}

// productOf returns the product that the client on a stack calls; false if no known client is on
// it.
func productOf(functions []string) (product string, known bool) {
	for _, f := range functions {
		for _, d := range drivers {
			if strings.Contains(f, d.code) {
				return d.product, true
			}
		}
	}
	return "", false
}

// nameDependency names what slow requests wait for by product, address and the operation they
// mostly ask for: "PostgreSQL at 10.0.0.7:5432 (SELECT orders)" instead of
// "PgPreparedStatement.executeQuery in Shop.order()". Where connections were not watched it is the
// product alone; what is not known keeps its name.
func nameDependency(c *check.Case, name string) string {
	x := exchangedOf(c)
	if x == nil || len(x.calls) == 0 {
		if product, known := productOf(stackOf(c, name)); known && product != "" && !strings.Contains(name, product) {
			return fmt.Sprintf("%s (%s)", product, name)
		}
		return name
	}
	took := x.whileSlow(c)
	if id := c.Bundle.Names.Lookup(name); id != 0 && took[id] != nil { // it is one of these already
		return took[id].addOperation(c, name)
	}
	functions := stackOf(c, name)
	product, known := productOf(functions)
	if !known {
		return name
	}
	var best, all int64
	var top evidence.NameID
	for _, to := range slices.Sorted(maps.Keys(took)) {
		text := c.Bundle.Names.Text(to)
		if fits := product == "" && isAddress(text) || product != "" && strings.HasPrefix(text, product+" at "); !fits {
			continue
		}
		all += took[to].ns
		if took[to].ns > best {
			top, best = to, took[to].ns
		}
	}
	if top == 0 || float64(best) < mostOfCalls.Value*float64(all) {
		return name
	}
	return took[top].addOperation(c, c.Bundle.Names.Text(top))
}

// calledMost returns the dependency that calls spent most of their time at while slow requests
// were under way, if these calls explain most of the waits for dependencies; "" where they went to
// several.
func calledMost(c *check.Case) string {
	x := exchangedOf(c)
	if x == nil {
		return ""
	}
	took := x.whileSlow(c)
	ns := make(map[evidence.NameID]int64)
	var all int64
	for to, a := range took {
		ns[to] = a.ns
		all += a.ns
	}
	top := largestName(ns)
	if top == 0 || float64(ns[top]) < mostOfCalls.Value*float64(all) || float64(ns[top]) < mostOfCalls.Value*float64(c.Ledger.Charges[ledger.Dependency]) {
		return ""
	}
	return c.Bundle.Names.Text(top)
}

var mostOfCalls = check.Threshold{Name: "part of the calls that a name speaks for", Value: .6, Unit: "1",
	Why: "more than any other", Source: "arithmetic: more than half, though a tenth of the calls be of another name"}

// asked is what calls to one place took while slow requests were under way.
type asked struct {
	ns int64
	of map[evidence.NameID]int64 // by what was asked for
}

// addOperation adds to a name what most of the time was asked for.
func (a *asked) addOperation(c *check.Case, name string) string {
	top := largestName(a.of)
	if strings.HasPrefix(name, nameServer) && float64(a.of[top]) < mostOfCalls.Value*float64(a.ns) { // for both types of addresses
		if zone := a.mainZone(c); zone != "" {
			return fmt.Sprintf("%s (%s)", name, zone)
		}
	}
	if top != 0 && 2*a.of[top] > a.ns {
		return fmt.Sprintf("%s (%s)", name, c.Bundle.Names.Text(top))
	}
	return name
}

// whileSlow sums up the calls that overlap slow requests, by dependency.
func (x *exchanged) whileSlow(c *check.Case) map[evidence.NameID]*asked {
	r := &c.Bundle.Requests
	var spans [][2]int64
	for _, row := range c.Ledger.Slow {
		spans = append(spans, [2]int64{r.End.At(row) - r.Latency(row), r.End.At(row)})
	}
	slices.SortFunc(spans, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	united := spans[:0]
	for _, s := range spans {
		if n := len(united); n > 0 && s[0] <= united[n-1][1] {
			united[n-1][1] = max(united[n-1][1], s[1])
			continue
		}
		united = append(united, s)
	}
	out := make(map[evidence.NameID]*asked)
	next := 0
	for i := range x.calls {
		call := &x.calls[i]
		for next < len(united) && united[next][1] < call.begun {
			next++
		}
		if next == len(united) || united[next][0] > call.arrived || call.to == 0 {
			continue
		}
		a := out[call.to]
		if a == nil {
			a = &asked{of: make(map[evidence.NameID]int64)}
			out[call.to] = a
		}
		a.ns += call.answerTime()
		if call.operation != 0 {
			a.of[call.operation] += call.answerTime()
		}
	}
	return out
}

// stackOf returns the functions of a thread that was seen in a wait of that name, or the name
// itself where none was.
func stackOf(c *check.Case, name string) []string {
	samples := c.Threads().Samples(c.Subject)
	for i := range samples {
		v := &samples[i].View
		if reason := v.Reason(); reason == "" || strings.TrimPrefix(reason, "sync I/O: ") != name {
			continue
		}
		return threadstack.Of(c.Bundle, samples[i].Stack).Frames
	}
	return []string{name}
}

// callingCode returns the program's own function from which threads that serve requests were most
// often seen calling a dependency; "" where none was, or they differ.
func callingCode(c *check.Case, name string) string {
	counts := make(map[string]int)
	all := 0
	samples := c.Threads().Samples(c.Subject)
	for i := range samples {
		v := &samples[i].View
		if !v.Request || v.State != evidence.NetWait || v.Owner == "" {
			continue
		}
		functions := threadstack.Of(c.Bundle, samples[i].Stack).Frames
		product, known := productOf(functions)
		if !known || product != "" && !strings.HasPrefix(name, product) || product == "" && !isAddress(name) {
			continue
		}
		all++
		counts[writtenBy(v, functions)]++
	}
	delete(counts, "")
	top := ""
	for owner, n := range counts {
		if n > counts[top] || n == counts[top] && owner < top {
			top = owner
		}
	}
	if 2*counts[top] <= all {
		return ""
	}
	return top
}

// writtenBy returns the innermost function of the program on a stack that is not in a class that a
// framework generated.
func writtenBy(v *threadstack.View, functions []string) string {
	for i := v.User; i >= 0 && i <= v.Outer && i < len(functions); i++ {
		if f := functions[i]; threadstack.IsFunction(f) && !slices.ContainsFunc(generated, func(mark string) bool { return strings.Contains(f, mark) }) {
			return threadstack.Bare(threadstack.Short(f))
		}
	}
	return threadstack.Bare(v.Owner)
}

// generated are in the names of classes that frameworks make at run time.
var generated = []string{"$HibernateProxy$", "$$SpringCGLIB", "$$EnhancerBy", "$$FastClassBy", "_$$_javassist", "_$$_jvst", "ByteBuddy$", "$Proxy", "_ClientProxy", "_Subclass."}
