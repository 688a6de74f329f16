package gauges

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Log is HikariCP's account of itself in the log of its program, at the level DEBUG every
// 30 s, and with whoever waited in vain
// (https://github.com/brettwooldridge/HikariCP/blob/dev/src/main/java/com/zaxxer/hikari/pool/HikariPool.java):
//
//	2026-11-21 14:02:00.123 DEBUG … HikariPool-1 - Pool stats (total=10, active=7, idle=3, waiting=0)
//	2026-11-21 14:02:01.123 … HikariPool-1 - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=5)
var Log = format.Format{
	Name:  "hikaricp",
	About: "HikariCP's pool statistics in a log",
	Match: func(head []byte) format.Confidence {
		for line := range bytes.Lines(head) {
			if _, _, ok := hikari(string(line)); ok {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseLog,
}

func parseLog(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := newParser(ctx, b)
	p.process.runtime = "jvm"
	untimed := false
	err := a.Lines(func(l format.Line) bool {
		if l.Number%8192 == 0 && ctx.Err() != nil {
			return false
		}
		if !bytes.Contains(l.Text, []byte("(total=")) {
			return true
		}
		text := string(l.Text)
		name, g, ok := hikari(text)
		if !ok {
			return true
		}
		var zoned bool
		if g.t, zoned, ok = stamp(text); !ok {
			g.t = l.Stamp
		}
		p.unzoned = p.unzoned || !zoned && ok
		if g.t == 0 {
			untimed = true
		}
		p.read(p.pool(name, "connections", l.Number), g)
		return true
	})
	if untimed {
		b.Warnf(0, "pool statistics without a time: only the last is used; log the date and the time of day")
	}
	if len(p.pools) == 0 && err == nil {
		return errors.New("it holds no pool statistics")
	}
	return p.finish(err)
}

// hikari reads a line with statistics; older versions have no total in some.
func hikari(text string) (pool string, g gauge, ok bool) {
	i := strings.LastIndex(text, "(total=")
	if i < 0 {
		return "", g, false
	}
	before := text[:i]
	j := strings.Index(text[i:], ")")
	k := strings.LastIndex(before, " - ")
	if j < 0 || k < 0 || !strings.Contains(before[k:], "tats") && !strings.Contains(before[k:], "is not available") && !strings.Contains(before[k:], "closed") {
		return "", g, false
	}
	g = gauge{active: math.NaN(), idle: math.NaN(), pending: math.NaN(), max: math.NaN()}
	total := math.NaN()
	for _, pair := range strings.Split(text[i+1:i+j], ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		value, most, bounded := strings.Cut(value, "/") // total=10/10, from version 6 on
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || v < 0 || v > 1e9 {
			return "", g, false
		}
		if n, err := strconv.ParseFloat(most, 64); bounded && key == "total" && err == nil {
			g.max = n
		}
		switch key {
		case "total":
			total = v
		case "active":
			g.active = v
		case "idle":
			g.idle = v
		case "waiting":
			g.pending = v
		}
	}
	if math.IsNaN(g.active) {
		return "", g, false
	}
	if math.IsNaN(g.max) && g.pending > 0 {
		g.max = total // who waits does so because no more are opened
	}
	words := strings.Fields(before[:k])
	if len(words) > 0 {
		pool = words[len(words)-1]
	}
	return clip(pool), g, true
}

// stamp is the time that a line of a log begins with.
func stamp(text string) (ns int64, zoned, ok bool) {
	text = strings.TrimLeft(text, " [")
	for _, n := range []int{35, 33, 31, 30, 29, 28, 27, 26, 25, 24, 23, 20, 19} {
		if len(text) > n {
			if t, zoned, ok := instant(strings.TrimRight(text[:n], " ]")); ok {
				return t, zoned, true
			}
		}
	}
	return 0, false, false
}
