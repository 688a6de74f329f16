package gopprof

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/probe"
)

// explainRefusal reports what a status other than 200 means, and returns the outcome. The texts
// are those of serveError in https://go.dev/src/net/http/pprof/pprof.go.
func (r *recording) explainRefusal(p piece, s *refused) outcome {
	switch {
	case s.status == http.StatusInternalServerError && strings.Contains(s.text, "Could not enable"):
		r.warnOnce("%s: %s: another profiler is using it; unstall retries and records the rest", r.shown, s.text)
		return busy
	case s.status == http.StatusBadRequest && strings.Contains(s.text, "WriteTimeout"):
		// Up to Go 1.22; later versions extend the deadline.
		r.warnOnce("%s: %s: %s: unstall records shorter ones instead", r.shown, p.path, s.text)
		return tooLong
	case s.status == http.StatusNotFound, s.status == http.StatusUnauthorized, s.status == http.StatusForbidden:
		r.addLack(profileTitle(p.path), s.Error(), "serve all of net/http/pprof under "+r.shown)
		return ended
	}
	r.warnOnce("%s: %s: %v", r.shown, p.path, s)
	return broken
}

func profileTitle(path string) string {
	switch path {
	case "profile":
		return "CPU profile"
	case "trace":
		return "execution trace"
	case "heap":
		return "heap and memory statistics"
	}
	return path + " profile"
}

func (r *recording) addLack(what, why, do string) {
	r.sink.Lack(probe.Lack{What: what, Why: why, Do: do})
}

// listedSamples returns how many samples of a profile the index page counts. A profile without
// samples is not requested: some servers, VictoriaMetrics one of them, answer a request for the
// mutex profile by sampling for ten seconds.
func listedSamples(index []byte, profile string) (count int, ok bool) {
	m := regexp.MustCompile(`(\d+)\s*(?:</td>)?\s*<td><a href=[^>]*>` + profile + `</a>`).FindSubmatch(index)
	if m == nil {
		return 0, false
	}
	count, err := strconv.Atoi(string(m[1]))
	return count, err == nil
}

// isSampled says whether the program records where it waits for locks: the text of the mutex
// profile begins with its rate, that of the block profile shows it only by its samples. A profile
// that the version does not have (mutex: before Go 1.8) counts as not sampled.
func (r *recording) isSampled(ctx context.Context, lock string) bool {
	head, err := r.readHead(ctx, lock, "debug=1", 2*grace)
	if err != nil {
		return false
	}
	if _, rate, ok := bytes.Cut(head, []byte("sampling period=")); ok {
		return !bytes.HasPrefix(rate, []byte("0\n"))
	}
	return bytes.Contains(head, []byte(" @ 0x"))
}

// waitSettled waits until the handlers whose connection was closed have stopped. Stopping a CPU profile takes 0.2 s. Handlers of Go 1.5 and
// 1.6 do not notice a closed connection; their profiles last a few seconds.
func (r *recording) waitSettled(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for off := 0; off < 2; { // a request may not have reached its handler yet
		on, err := r.isStillOn(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			return // the target ended
		case err != nil || on:
			off = 0
		default:
			off++
		}
		if !probe.Wait(ctx, 50*time.Millisecond) {
			r.warnOnce("%s: a profile or trace is still running: one that unstall started ends by itself within %.0f s", r.shown, max(profileRound, time.Until(r.end)).Seconds())
			return
		}
	}
}

// isStillOn says whether a handler whose connection was closed still works.
func (r *recording) isStillOn(ctx context.Context) (bool, error) {
	a, err := r.requestPath(ctx, "goroutine", "debug=1", grace)
	if err != nil {
		return false, err
	}
	defer a.Close()
	var handlers []string
	if r.cut["profile"] {
		handlers = append(handlers, "net/http/pprof.Profile+")
	}
	if r.cut["trace"] {
		handlers = append(handlers, "net/http/pprof.Trace+")
	}
	return anyOf(a.Body, handlers...)
}

// anyOf searches for texts in the lines of a stream.
func anyOf(in io.Reader, texts ...string) (bool, error) {
	lines := bufio.NewScanner(io.LimitReader(in, mostProfile))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		for _, t := range texts {
			if bytes.Contains(lines.Bytes(), []byte(t)) {
				return true, nil
			}
		}
	}
	return false, lines.Err()
}
