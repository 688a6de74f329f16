// Package phpfpm reads what the process manager of PHP, PHP-FPM, publishes about itself: 5.4 to 8.5.
//
//	status page     text or JSON, with or without its workers (?full), one answer after the other   sapi/fpm/fpm/fpm_status.c
//	access log      lines by access.format: who asked for what, how long, how much CPU and memory   sapi/fpm/fpm/fpm_log.c
//	slow log        PHP stacks of requests that took longer than request_slowlog_timeout             sapi/fpm/fpm/fpm_php_trace.c
//	php-fpm.log     that a pool has as many workers as it may, is short of them, lost one            sapi/fpm/fpm/fpm_process_ctl.c
//	configuration   pools, where they listen, how many workers they may have                         https://www.php.net/manual/install.fpm.configuration.php
//
// (all of https://github.com/php/php-src). A pool of workers is a pool like others: its gauges have
// the names of connection pools. Probes put a line above each answer of the status page, and below
// it the number of connections that the kernel holds until a worker accepts them:
//
//	== 1795268461318000000 php-fpm status of 4711 ==
//	{"pool":"www","process manager":"static", … }
//	listen queue of www: 12
//
// The package's opinion: a worker serves one request at a time, so further requests wait in
// the backlog of the socket, before PHP counts any time. The status page shows that backlog
// only for TCP (fpm_socket_get_listening_queue); for a UNIX socket it writes 0, and 0
// as the backlog's size, which means "unknown" and is no figure.
package phpfpm

import (
	"bytes"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

const runtime = "php-fpm"

// Bounds of what is kept.
const (
	mostPools    = 256
	mostReadings = 1 << 20
	mostRoutes   = 1000
	mostEntries  = 100_000
	longestName  = 200
)

// newSubject returns the process that the rows are about.
func newSubject(b *evidence.Builder) evidence.SubjectID {
	return b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: runtime})
}

// poolName returns the name of a pool of workers among other pools.
func poolName(pool string) string {
	return evidence.Wait{Kind: evidence.WorkerPool, By: "PHP-FPM", Of: pool}.String()
}

// clipName bounds a name, and makes it valid text.
func clipName(b []byte) string {
	return string(bytes.ToValidUTF8(b[:min(len(b), longestName)], []byte("?")))
}

// logTime reads the time that FPM's own logs begin a line with, "[23-Nov-2026 08:00:00.123456] ", and
// returns what follows it. It has no zone: FPM writes local time.
func logTime(line []byte) (at int64, rest []byte, ok bool) {
	if len(line) < len("[23-Nov-2026 08:00:00]") || line[0] != '[' {
		return 0, nil, false
	}
	end := bytes.IndexByte(line[:min(len(line), 40)], ']')
	if end < 0 {
		return 0, nil, false
	}
	t, err := time.Parse("02-Jan-2006 15:04:05.999999", string(line[1:end]))
	if err != nil || t.Year() < 2000 || t.Year() > 2200 {
		return 0, nil, false
	}
	return t.UnixNano(), bytes.TrimLeft(line[end+1:], " "), true
}

// ofPool reads "[pool www] " before the rest of a message.
func ofPool(text []byte) (pool string, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(text, []byte("[pool "))
	if !ok {
		return "", text, false
	}
	name, rest, ok := bytes.Cut(rest, []byte("]"))
	if !ok || len(name) == 0 || len(name) > longestName {
		return "", text, false
	}
	return clipName(name), bytes.TrimLeft(rest, " "), true
}

// parseWhole reads a whole number that is not negative.
func parseWhole(text []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text[:min(len(text), 20)])), 10, 64)
	return n, err == nil && n >= 0
}
