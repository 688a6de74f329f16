package metrics_test

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// About huge pages LATENCY DOCTOR is right up to Linux 5.7 and wrong from 5.8 on.
func TestRedisDoctor(t *testing.T) {
	const said = "127.0.0.1:6379> LATENCY DOCTOR\nDave, I have observed latency spikes in this Redis instance. You don't mind talking about it, do you Dave?\n\n1. fork: 4 latency spikes (average 80ms, mean deviation 2ms, period 3.00 sec). Worst all time event 85ms. Fork rate is 25.00 GB/sec (good).\n\n" +
		"I have a few advices for you:\n\n- I detected a non zero amount of anonymous huge pages used by your process. To disable THP support use the command 'echo never > /sys/kernel/mm/transparent_hugepage/enabled'.\n"
	for release, want := range map[string]string{"4.4.0-210-generic": "", "5.7.19": "", "5.8.0": "wrong on Linux 5.8.0", "6.18.44-fc": "wrong on Linux 6.18.44-fc", "": "right only up to Linux 5.7"} {
		b := redisBundle(t, said, info(0, "used_memory:1000000000"), info(10, "used_memory:1000000000"))
		if release != "" {
			b.Facts = append(b.Facts, evidence.Fact{Subject: 0, Key: evidence.FactKernel, Value: release})
		}
		var found bool
		for _, a := range metrics.RedisOf(b, 0, metrics.Whole).DoctorSays() {
			if a.About != "huge pages" {
				continue
			}
			found = true
			if !a.Said || (want == "") != (a.But == "") || !strings.Contains(a.But, want) {
				t.Errorf("Linux %s: %+v", release, a)
			}
		}
		if !found {
			t.Errorf("Linux %s: nothing is said of huge pages", release)
		}
	}
}

// MEMORY DOCTOR finds nothing in a server that refuses writes.
func TestRedisMemoryDoctor(t *testing.T) {
	r := redisOf(t, metrics.Whole, info(0, "used_memory:50000000", "maxmemory:50000000", "errorstat_OOM:count=1"), info(10, "used_memory:50000000", "maxmemory:50000000", "errorstat_OOM:count=900"))
	all := r.DoctorSays()
	if len(all) != 1 || all[0].Doctor != metrics.MemoryDoctor || all[0].Said || !strings.Contains(all[0].But, "maxmemory") {
		t.Errorf("%+v", all)
	}
	r = redisOf(t, metrics.Whole, info(0, "used_memory:50000000"), info(10, "used_memory:50000000"), "latency-monitor-threshold\n0\n")
	if all = r.DoctorSays(); len(all) != 1 || all[0].About != "nothing" {
		t.Errorf("%+v", all)
	}
}

func TestSplitsHugePages(t *testing.T) {
	for release, want := range map[string][2]bool{"6.1.0-18-amd64": {true, true}, "5.8.0": {true, true}, "5.10-rc1": {true, true}, "5.4.0": {false, true}, "4.15.0-20": {false, true}, "": {}, "x.y": {}, "6": {}} {
		if splits, known := metrics.SplitsHugePages(release); splits != want[0] || known != want[1] {
			t.Errorf("%q: %v, %v", release, splits, known)
		}
	}
}
