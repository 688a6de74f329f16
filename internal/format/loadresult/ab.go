package loadresult

import "strings"

// ab is a closed loop; it counts from the beginning of the connection, or from the
// send on one that is kept alive, in whole ms. "Failed requests" also counts answers
// of another length than the first, so the failures are taken from the
// breakdown below it.

func newAB() *run {
	r := &run{}
	r.Tool = "ab"
	r.Mode = "closed"
	r.FromSend = true
	return r
}

func abStarts(line string, cur *run) bool {
	return strings.HasPrefix(line, "This is ApacheBench") ||
		strings.HasPrefix(line, "Server Software:") && (cur == nil || cur.section != "")
}

func abText(r *run, line string) bool {
	if strings.HasPrefix(line, "Percentage of the requests") {
		r.section = "percentiles"
		return true
	}
	f := strings.Fields(line)
	if len(f) == 0 {
		return true
	}
	if strings.HasPrefix(line, "Server Software:") {
		r.section = "server" // the value may be empty
	}
	if f[0] == "min" { // the columns of the connection times
		r.section = strings.Join(f, " ")
		return true
	}
	if r.section == "percentiles" && strings.HasSuffix(f[0], "%") && len(f) > 1 {
		q, ok := parsePercent(f[0])
		v, ok2 := parseDuration(f[1] + "ms")
		if ok && ok2 {
			r.addQuantile(q, v)
		}
		r.ended = r.ended || q == 1
		return ok && ok2
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return true
	}
	if v := strings.Fields(value); len(v) > 0 {
		return r.abFigure(name, v)
	}
	return true
}

func (r *run) abFigure(name string, v []string) (ok bool) {
	switch name {
	case "Server Hostname":
		r.URL = "http://" + v[0]
		return true
	case "Server Port":
		if v[0] == "443" {
			r.URL = strings.Replace(r.URL, "http:", "https:", 1)
		} else if v[0] != "80" {
			r.URL += ":" + v[0]
		}
		return true
	case "Document Path":
		r.URL += v[0]
		return true
	case "Concurrency Level":
		var n int64
		n, ok = parseCount(v[0])
		r.Connection = int(min(n, 1e9))
	case "Time taken for tests":
		r.Duration, ok = parseDuration(v[0] + "s")
	case "Complete requests":
		r.Completed, ok = parseCount(v[0])
		r.counted = true
	case "Failed requests":
		_, ok = parseCount(v[0])
	case "   (Connect": // (Connect: 0, Receive: 0, Length: 12, Exceptions: 0)
		ok = true
		for i := 0; i < len(v); i += 2 {
			if i == 0 || v[i-1] != "Length:" {
				n, isN := parseCount(strings.TrimSuffix(v[i], ")"))
				r.Errors += n
				ok = ok && isN
			}
		}
	case "Non-2xx responses": // redirects are among them
		var n int64
		n, ok = parseCount(v[0])
		r.Errors += n
	case "Requests per second":
		r.Rate, ok = parseScaled(v[0], 1000)
	case "Transfer rate":
		var kb float64
		kb, ok = parseScaled(v[0], 1024)
		r.BytesPerS = kb * 1024
	case "Total": // min, mean, [+/-sd, median,] max
		if r.section == "percentiles" || len(v) < 3 || strings.Contains(r.section, "[+/-sd]") && len(v) < 5 {
			return false
		}
		r.Mean, ok = parseDuration(v[1] + "ms")
		if len(v) == 5 {
			r.Stdev, _ = parseDuration(v[2] + "ms")
		}
		r.Max, _ = parseDuration(v[len(v)-1] + "ms")
	default:
		return true
	}
	return ok
}

// abWhole checks that the output is complete: with -d it ends after the connection times.
func abWhole(r *run) bool { return r.ended || r.section != "percentiles" && r.Max > 0 }
