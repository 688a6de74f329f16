package accesslog

import (
	"slices"
	"strings"
)

// The keys of structured logs, in snake case, best first.
var (
	startKeys = []string{"start_utc", "start_local", "start_time", "request_start", "request_start_time", "started_at", "start", "begin", "begin_time", "grpc_start_time"}
	timeKeys  = []string{"msec", "time_msec", "time_iso8601", "ts", "timestamp", "@timestamp", "time", "time_local", "datetime", "date_time", "date", "t", "asctime", "logged_at",
		"log_time", "access_time", "event_time", "_time", "end_time", "finished_at", "timestamp_ms", "ts_ms", "timestamp_ns", "time_ms"}

	durationKeys = []string{"request_time", "request_duration", "response_time", "duration", "latency", "elapsed", "elapsed_time", "took", "time_taken", "taken_time", "reqtime",
		"req_time", "rt", "response_duration", "req_duration", "request_latency", "response_latency", "resp_time", "res_time", "processing_time", "process_time", "proc_time",
		"handler_duration", "handle_time", "handling_time", "execution_time", "exec_time", "total_time", "total_duration", "time_elapsed", "responsetime", "requesttime", "elapsedtime",
		"dur", "lat", "cost", "cost_time", "time_cost", "spent", "time_spent", "event_duration", "grpc_time", "http_duration", "tat"}
	upstreamKeys = []string{"upstream_response_time", "urt", "upstream_time", "upstream_service_time", "x_envoy_upstream_service_time", "origin_duration", "upstream_duration",
		"upstream_latency", "upstream_response_duration", "backend_time", "backend_duration", "backend_response_time", "apptime", "origin_response_time"}

	methodKeys  = []string{"method", "request_method", "http_method", "http_request_method", "req_method", "verb", "cs_method"}
	pathKeys    = []string{"http_route", "route", "path_template", "endpoint", "path", "request_path", "req_path", "url_path", "http_path", "uri", "request_uri", "req_uri", "url", "request_url", "req_url", "http_url", "http_target", "target", "handler", "x_envoy_origin_path", "cs_uri_stem"}
	requestKeys = []string{"request", "request_line", "req", "http_request"}
	statusKeys  = []string{"status", "status_code", "response_code", "http_status", "http_status_code", "http_response_status_code", "response_status", "response_status_code", "downstream_status",
		"resp_status", "res_status", "statuscode", "code", "sc_status"}
	connectKeys = []string{"upstream_connect_time", "uct", "upstream_connect", "upstream_connect_duration", "connect_time"}
	traceKeys   = []string{"trace_id", "traceid", "otel_trace_id", "dd_trace_id", "traceparent", "x_amzn_trace_id", "request_id", "requestid", "req_id", "reqid", "x_request_id", "correlation_id", "x_correlation_id", "unique_id"}
	peerKeys    = []string{"upstream_addr", "upstream_host", "service_addr", "service_url", "upstream_address", "upstream", "backend", "origin_host"}
	flagKeys    = []string{"response_flags", "response_flag"}
	serviceKeys = []string{"grpc_service", "rpc_service"}
	rpcKeys     = []string{"grpc_method", "rpc_method", "rpc"}
	codeKeys    = []string{"grpc_code", "rpc_grpc_status_code", "grpc_status"}
)

// unitSuffixes are endings of keys that name their unit: duration_ms, latencyMs.
var unitSuffixes = []struct {
	suffix string
	unit   int64
}{
	{"_nanoseconds", 1}, {"_nanos", 1}, {"_nsec", 1}, {"_ns", 1},
	{"_microseconds", 1e3}, {"_microsec", 1e3}, {"_micros", 1e3}, {"_usec", 1e3}, {"_us", 1e3}, {"_µs", 1e3},
	{"_milliseconds", 1e6}, {"_millisecond", 1e6}, {"_millisec", 1e6}, {"_millis", 1e6}, {"_msec", 1e6}, {"_ms", 1e6},
	{"_seconds", 1e9}, {"_secs", 1e9}, {"_sec", 1e9}, {"_s", 1e9},
}

// bareUnits are keys that consist only of a unit; D is Apache's %D by custom.
var bareUnits = map[string]int64{"ms": 1e6, "us": 1e3, "ns": 1, "millis": 1e6, "micros": 1e3, "D": 1e3}

// unitUnknown marks a key that does not name its unit.
const unitUnknown = -1

// durationKey returns the rank of a key among those that name a request's duration,
// and its unit; -1 if it names none.
func durationKey(key string, list []string) (rank int, unit int64) {
	if u, ok := bareUnits[key]; ok && list[0] == durationKeys[0] {
		return len(list), u
	}
	for _, name := range keyNames(key) {
		if name == "event_duration" {
			return slices.Index(list, name), 1 // Elastic Common Schema
		}
		if i := slices.Index(list, name); i >= 0 {
			return i, unitUnknown
		}
		for _, s := range unitSuffixes {
			base, ok := strings.CutSuffix(name, s.suffix)
			if !ok {
				continue
			}
			base = strings.TrimSuffix(base, "_in")
			if i := slices.Index(list, base); i >= 0 {
				return i, s.unit
			}
		}
		if i := slices.Index(list, strings.TrimSuffix(name, "_human")); i >= 0 {
			return i, unitUnknown
		}
	}
	return -1, 0
}

// rankOf returns the place of a key in a list, -1 if it is absent. Keys of nested
// objects rank behind all others.
func rankOf(key string, list []string) int {
	for i, name := range keyNames(key) {
		if r := slices.Index(list, name); r >= 0 {
			return r + i*len(list)
		}
	}
	return -1
}

// keyNames returns the names under which a key is looked up: the whole, and without the
// names of the objects around it. Headers have no names, as they are no figures.
func keyNames(key string) []string {
	name := toSnakeCase(key)
	if strings.Contains(name, "header") {
		return nil
	}
	names := []string{strings.ReplaceAll(name, ".", "_")}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		names = append(names, name[i+1:])
	}
	return names
}

// toSnakeCase converts durationMs, StartUTC and cs-method to duration_ms, start_utc
// and cs_method.
func toSnakeCase(key string) string {
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		c := key[i]
		switch {
		case c == '-' || c == ' ':
			b.WriteByte('_')
		case c >= 'A' && c <= 'Z':
			if i > 0 && (key[i-1] >= 'a' && key[i-1] <= 'z' || isDigit(key[i-1]) || key[i-1] >= 'A' && key[i-1] <= 'Z' && i+1 < len(key) && key[i+1] >= 'a' && key[i+1] <= 'z') {
				b.WriteByte('_')
			}
			b.WriteByte(c + 'a' - 'A')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
