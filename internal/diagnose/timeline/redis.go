package timeline

import (
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// addRedisCharts adds what a Redis server reported repeatedly.
func (l *layout) addRedisCharts() {
	told := l.findSeries(evidence.SeriesRedisUptime)
	if len(told) == 0 {
		return
	}
	r := metrics.RedisOf(l.b, l.subject, metrics.Whole)
	if r == nil || r.Single {
		return
	}
	clock := told[0].Clock
	for _, x := range []struct {
		id, title, unit string
		rates           bool
		all             figures
	}{
		{"redis-commands", "commands of Redis", "1/s", true, figures{{evidence.SeriesRedisCommands, "commands", "commands"}, {evidence.SeriesRedisMisses, "misses", "keys not found"},
			{evidence.SeriesRedisEvicted, "evicted", "keys evicted"}, {evidence.SeriesRedisErrors, "errors", "errors"}}},
		{"redis-main", "CPU of the main thread of Redis", "cores", true, figures{{evidence.SeriesRedisMainUser, "user", "user"}, {evidence.SeriesRedisMainSystem, "system", "system"}}},
		{"redis-net", "network of Redis", "bytes/s", true, figures{{evidence.SeriesRedisNetOut, "out", "sent"}, {evidence.SeriesRedisNetIn, "in", "received"}}},
		{"redis-memory", "memory of Redis", "bytes", false, figures{{evidence.SeriesRedisUsedMemory, "used", "used"}, {evidence.SeriesRedisRSS, "rss", "resident"}}},
		{"redis-clients", "clients of Redis", "1", false, figures{{evidence.SeriesRedisConnected, "connected", "connected"}, {evidence.SeriesRedisBlocked, "blocked", "waiting on purpose"}}},
		{"redis-connections", "connections opened to Redis", "1/s", true, figures{{evidence.SeriesRedisConnections, "opened", "opened"}, {evidence.SeriesRedisRejected, "refused", "refused"}}},
	} {
		c := Chart{ID: x.id, Title: x.title, Unit: x.unit}
		for _, f := range x.all {
			k := r.Curve(f.series)
			if x.rates {
				k = r.Rate(f.series)
			}
			if k.Known() {
				c.addCurve(l.buildCurve(f.id, f.title, &evidence.Series{Subject: l.subject, Clock: clock, Name: f.series, Unit: x.unit, T: k.T, V: k.V, Origin: k.Origin}))
			}
		}
		l.addChart(c)
	}
	c := Chart{ID: "redis-ping", Title: "PING of Redis by the recorder", Unit: "ns"}
	for _, s := range l.findSeries(evidence.SeriesRedisPing) {
		c.addCurve(l.buildReadings("ping", "round trip", s))
	}
	l.addChart(c)
}
