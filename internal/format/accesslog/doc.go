// Package accesslog reads the access logs of HTTP servers and proxies, and
// structured logs that carry a time and a duration per request.
//
// The formats, the moment that their time marks, and the unit of their duration:
//
//	nginx text        $time_local 1 s, $time_iso8601 1 s, $msec 1 ms: completion; $request_time s     https://nginx.org/en/docs/http/ngx_http_log_module.html
//	nginx JSON        the same by key                                                                 (escape=json, any keys)
//	Apache            %t 1 s: start; %{end:…}t: completion; %D µs, %T s, %{ms}T, %{us}T               https://httpd.apache.org/docs/2.4/mod/mod_log_config.html
//	Tomcat            %t 1 s: completion, unless %{begin:…}t; %D ms up to 9, µs from 10; %T s, 3 decimals   AbstractAccessLogValve.java
//	Envoy, Istio      START_TIME 1 ms: start; DURATION ms; upstream service time ms                   https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage
//	Traefik           CLF 1 s: start, 12ms; JSON StartUTC: start, Duration and OriginDuration ns      pkg/middlewares/accesslog/logdata.go
//	Caddy 2           ts: completion; duration s                                                      https://caddyserver.com/docs/logging
//	HAProxy httplog   %tr (1.7+; earlier the accept date) 1 ms: start; TR/Tw/Tc/Tr/Ta ms              https://docs.haproxy.org/3.0/configuration.html#8.2.3
//	AWS load balancers   classic 1 µs: start; application 1 µs: completion; three processing times s   https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
//	                                                                                                  https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html
//	upstream times    nginx $upstream_connect_time, HAProxy TR Tw Tc, the balancers' three times and Envoy's REQUEST_DURATION and
//	                  RESPONSE_TX_DURATION are states of their own: reading the request, queued, connecting, sending the answer
//	ids               trace_id, request_id, traceparent, X-Amzn-Trace-Id: the request's key, to be found by in other sources
//	IIS, CloudFront   W3C extended, date and time 1 s UTC: completion; time-taken ms (IIS), s         https://www.w3.org/TR/WD-logfile.html
//	                  https://learn.microsoft.com/windows/win32/http/w3c-logging                      https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html
//	uWSGI             ctime 1 s: start; msecs or micros                                               https://uwsgi-docs.readthedocs.io/en/latest/LogFormat.html
//	gin, chi, gunicorn, morgan and similar: completion; values carry their unit or have 3 or 6 decimals (s)
//	JSON lines, logfmt, LTSV: keys such as time and duration_ms; completion unless the key says start
//
// Its opinion: a file has one layout, found from its first lines and applied to
// the rest. A trailing integer does not name its unit, so the unit is inferred
// from the order of lines and the size of values, and each inference is a
// warning. A log without durations yields a rate and advice, never a latency.
// Stamps are kept as they are logged, truncated: many requests then share a
// second, and the clock's Slack says so to code that joins them with other evidence.
package accesslog
