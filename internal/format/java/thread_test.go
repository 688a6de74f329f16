package java

import "testing"

func TestPool(t *testing.T) {
	for name, want := range map[string]string{
		"http-nio-8080-exec-12":    "http-nio-8080-exec",
		"dw-20 - GET /audits/426":  "dw",
		"dw-7 - POST /orders":      "dw",
		"dw-17":                    "dw",
		"worker 3: DELETE /a/b":    "worker",
		"GET /only":                "GET /only",
		"TARGET-1":                 "TARGET",
		"qtp1883919084-35":         "qtp",
		"GC task thread#0 (Paral)": "GC task thread",
	} {
		if got := Pool(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
