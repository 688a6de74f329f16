package phpfpm

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

// Config reads the configuration of pools, from its files, or as internal/collect/probe/phpfpm writes it: without
// possible secrets, and with the file of each pool.
var Config = format.Format{
	Name:  "phpfpm-config",
	About: "configuration of PHP-FPM's pools (www.conf): where they listen, pm.max_children",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		section, listens, manages := false, false, false
		for line := range bytes.Lines(head) {
			line = bytes.TrimSpace(line)
			key, _, _ := bytes.Cut(line, []byte("="))
			switch key = bytes.TrimSpace(key); {
			case len(line) > 2 && line[0] == '[' && line[len(line)-1] == ']':
				section = true
			case string(key) == "listen":
				listens = section
			case string(key) == "pm.max_children":
				manages = section
			}
		}
		return format.SureIf(listens && manages)
	},
	Parse: parseConfig,
}

func parseConfig(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	subject := evidence.SubjectID(-1)
	pool, file := "", ""
	pools := 0
	fact := func(key, value string, number float64, line int64) {
		if subject < 0 {
			subject = newSubject(b)
		}
		b.FactAt(subject, key, value, number, line)
	}
	table := evidence.Table{Title: "php-fpm pools", Columns: []string{"pool", "setting", "value"}}
	err := a.Lines(func(l format.Line) bool {
		text := bytes.TrimSpace(l.Text)
		if len(text) == 0 || text[0] == ';' || text[0] == '#' {
			return l.Number&0xfff != 0 || ctx.Err() == nil
		}
		if text[0] == '[' && text[len(text)-1] == ']' {
			pool, file = clipName(text[1:len(text)-1]), ""
			if pools++; pool == "global" {
				pool = ""
			}
			return pools <= mostPools
		}
		k, v, ok := bytes.Cut(text, []byte("="))
		if !ok || pool == "" {
			return true
		}
		key, value := string(bytes.TrimSpace(k[:min(len(k), 64)])), clipName(bytes.Trim(bytes.TrimSpace(v), `"'`))
		value = strings.ReplaceAll(value, "$pool", pool)
		switch key {
		case "unstall.file":
			file = value
			return true
		case "listen":
			fact(evidence.FactListens, pool+evidence.Link+ListenAddress(value), math.NaN(), l.Number)
		case "pm.max_children":
			if n, err := strconv.Atoi(value); err == nil && n > 0 && n < 1e6 {
				fact(evidence.FactWorkersMost, pool, float64(n), l.Number)
				where := key
				if file != "" {
					where += " in " + file
				}
				fact(evidence.FactWorkersSetting, pool+evidence.Link+where, float64(n), l.Number)
			}
		case "pm", "pm.start_servers", "pm.min_spare_servers", "pm.max_spare_servers", "pm.max_requests", "pm.status_path", "pm.status_listen", "listen.backlog",
			"request_slowlog_timeout", "request_terminate_timeout":
		default:
			return true
		}
		table.Rows = append(table.Rows, []string{pool, key, value})
		return len(table.Rows) < mostRoutes
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	case subject < 0:
		return errors.New("php-fpm configuration: none of its pools says where it listens or how many workers it may have")
	case err != nil:
		b.Warnf(0, "the file is incomplete: %v", err)
		b.Cut()
	}
	b.Table(table)
	return nil
}

// ListenAddress returns where a pool listens, in the form of a web server's access log ($upstream_addr): "9000" is
// every address of the host, and a server on the host uses the first one of loopback.
func ListenAddress(value string) string {
	switch {
	case strings.HasPrefix(value, "/"):
		return "unix:" + value
	case value != "" && strings.Trim(value, "0123456789") == "":
		return "127.0.0.1:" + value
	}
	for _, any := range []string{"0.0.0.0:", "*:", "[::]:"} {
		if port, ok := strings.CutPrefix(value, any); ok {
			return "127.0.0.1:" + port
		}
	}
	return value
}
