package gauges

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// The page /metrics of Dropwizard's admin port, and other pages with the registry of Dropwizard Metrics as JSON
// (https://metrics.dropwizard.io/4.2.0/manual/servlets.html). Each figure of a pool is a gauge of its own; the gauges of a pool share
// the pool's name:
//
//	{"version":"4.0.0","gauges":{"io.dropwizard.db.ManagedPooledDataSource.main.active":{"value":32},…
//
// Tomcat's pool in Dropwizard, HikariCP's and Jetty's threads are read.

// maxRegistry bounds the length of such a page.
const maxRegistry = 8 << 20

// registryRoles maps the last words of gauges' names to roles.
var registryRoles = map[string]role{
	"active": active, "idle": idle, "size": total, "waiting": pending,
	"ActiveConnections": active, "IdleConnections": idle, "TotalConnections": total, "PendingConnections": pending, "MaxConnections": most,
	"jobs": pending, "utilization": foreign, // of Jetty's threads: a share
}

// isRegistry says whether text begins like such a page.
func isRegistry(text []byte) bool {
	return len(text) > 0 && text[0] == '{' && bytes.Contains(text[:min(len(text), 200)], []byte(`"gauges"`)) && bytes.Contains(text, []byte(`{"value"`)) &&
		(bytes.Contains(text, []byte(`.active"`)) || bytes.Contains(text, []byte(`.ActiveConnections"`)) || bytes.Contains(text, []byte(`.utilization"`)))
}

func (p *parser) readRegistry(a *format.Artifact) error {
	r, err := a.Unwrapped()
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxRegistry))
	if err != nil && len(data) == 0 {
		return err
	}
	values, cut := registryGauges(data)
	figures := make(map[string]map[role]float64)
	for name, v := range values {
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			continue
		}
		of, ok := registryRoles[name[i+1:]]
		if !ok {
			continue
		}
		pool := name[:i]
		if figures[pool] == nil {
			figures[pool] = make(map[role]float64)
		}
		figures[pool][of] = v
	}
	var names []string
	for name := range figures {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		f := figures[name]
		get := func(of role) float64 {
			if v, ok := f[of]; ok {
				return v
			}
			return math.NaN()
		}
		g := gauge{active: get(active), idle: get(idle), pending: get(pending), max: get(most)}
		unit := "connections"
		if share := get(foreign); !math.IsNaN(share) { // Jetty's
			g.active, g.max, unit = share*get(total), get(total), "threads"
		}
		if math.IsNaN(g.max) && g.pending > 0 {
			g.max = get(total) // requests wait because the pool opens no more
		}
		if math.IsNaN(g.active) || math.IsNaN(get(total)) && math.IsNaN(g.max) {
			continue
		}
		p.process.runtime = "jvm"
		parts := strings.Split(strings.TrimSuffix(name, ".pool"), ".")
		p.addReading(p.ensurePool(parts[len(parts)-1], unit, 1), g)
	}
	if cut {
		return format.ErrCut
	}
	return nil
}

// registryGauges returns the gauges with a number; cut: the page breaks off.
func registryGauges(data []byte) (values map[string]float64, cut bool) {
	values = make(map[string]float64)
	at := bytes.Index(data, []byte(`"gauges"`))
	if at < 0 {
		return values, false
	}
	rest := data[at+len(`"gauges"`):]
	open := bytes.IndexByte(rest, '{')
	if open < 0 {
		return values, true
	}
	d := json.NewDecoder(bytes.NewReader(rest[open:]))
	if _, err := d.Token(); err != nil {
		return values, true
	}
	for d.More() && len(values) < maxSubjects*10 {
		key, err := d.Token()
		if err != nil {
			return values, true
		}
		var v struct{ Value json.RawMessage }
		if err := d.Decode(&v); err != nil {
			return values, true
		}
		var n float64
		if name, ok := key.(string); ok && len(v.Value) > 0 && json.Unmarshal(v.Value, &n) == nil && n >= 0 && n < 1e9 {
			values[name] = n
		}
	}
	_, err := d.Token()
	return values, err != nil
}
