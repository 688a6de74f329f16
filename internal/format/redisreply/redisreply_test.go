package redisreply

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{
	Format:   Format,
	Modified: 1_795_268_470e9,
	Match: map[string]format.Confidence{
		"# Server\nredis_version:7.0.15\n":                                                        format.Sure,
		"# Server\r\nvalkey_version:8.1.2\r\n":                                                    format.Sure,
		"# Server\nEverything is fine here\n":                                                     format.No,
		"# Clients\nconnected_clients:7\n":                                                        format.Sure,
		"# Memory\nmy_own:1\n":                                                                    format.No,
		"== 1795268461318000000 INFO of 4711 took 81000 ns ==\n":                                  format.Sure,
		"== 1795268461318000000 hsperfdata of 4711 ==\n":                                          format.No,
		"1) 1) (integer) 14\n   2) (integer) 1795268461\n   3) (integer) 15\n   4) 1) \"PING\"\n": format.Sure,
		"1) 1) (integer) 14\n   2) \"something else\"\n":                                          format.No,
		"14\n1795268461\n15\nPING\n":                                                              format.Sure,
		"1795268461\n93\n1795268462\n7\n":                                                         format.Sure,
		"1795268461\n1795268462\n":                                                                format.No,
		"1) 1) (integer) 1795268461\n   2) (integer) 15\n2) 1) (integer) 1795268462\n   2) (integer) 9\n": format.Sure,
		"14\n15\n16\n17\n": format.No,
		"id=7 addr=10.0.0.7:51234 fd=8 name= age=3\n": format.Sure,
		"id=7 name=somebody\n":                        format.No,
		"127.0.0.1:6379> SLOWLOG GET 10\n":            format.Sure,
		"redis 10.0.0.7:6379> slowlog get\n":          format.Sure,
		"  1) (integer) 14\n  2) (integer) 1795268461\n  3) (integer) 15\n  4) 1) \"PING\"\n":    format.Sure,
		"12) 1) (integer) 14\n   2) (integer) 1795268461\n   3) (integer) 15\n 4) 1) \"PING\"\n": format.Sure,
		"1) (integer) 14\n2) (integer) 15\n3) (integer) 16\n":                                    format.No,
		"12) (integer) 14\n13) (integer) 15\n":                                                   format.No,
		"127.0.0.1:6379> GET x\n":                                                                format.No,
		"$ redis-cli -h cache -a secret INFO\n":                                                  format.Sure,
		"$ ls\n":                                                                                 format.No,
		"(error) NOAUTH Authentication required.\n":                                              format.Sure,
		"NOAUTH Authentication required.\n":                                                      format.Sure,
		"ERR something of somebody\n":                                                            format.No,
		"maxmemory\n1073741824\n":                                                                format.Sure,
		"peak.allocated\n12345\n":                                                                format.Sure,
		"fork\n1795268461\n12\n30\n":                                                             format.Sure,
		"Dave, I have observed latency spikes in this Redis instance.\n":                         format.Sure,
		"cluster_state:ok\n":                                                                     format.Sure,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for _, f := range b.Facts {
			if strings.Contains(f.Key, "requirepass") || strings.Contains(f.Key, "masterauth") {
				t.Errorf("keeps %s", f.Key)
			}
		}
	},
}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, long(1000)) }

// long are answers to INFO of many seconds.
func long(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		at := 1_795_268_461e9 + int64(i)*1e9
		fmt.Fprintf(&out, "== %d INFO of 7 took 90000 ns ==\n# Server\r\nredis_version:7.0.15\r\nuptime_in_seconds:%d\r\n# Clients\r\nconnected_clients:%d\r\n# Stats\r\ntotal_commands_processed:%d\r\n# Commandstats\r\n", at, 100+i, 5+i%3, 1000*i)
		for k := range 30 {
			fmt.Fprintf(&out, "cmdstat_c%d:calls=%d,usec=%d,usec_per_call=2.00,rejected_calls=0,failed_calls=0\r\n", k, i*k, 2*i*k)
		}
	}
	return out.Bytes()
}

// TestThinned holds that a recording of many hours keeps growth and extremes, in bounded memory.
func TestThinned(t *testing.T) {
	const looks = 5*mostLooks + 7
	f := newFigures()
	for i := range looks {
		v := 1.
		if i == 2*mostLooks+1 {
			v = 99
		}
		f.addInfo(int64(i+1)*1e9, 1, []told{{evidence.SeriesRedisConnected, v, level}, {evidence.SeriesRedisCommands, float64(i), counter}, {evidence.SeriesRedisCallP50 + ":get", 3, changes}})
	}
	clients, commands := f.series[evidence.SeriesRedisConnected], f.series[evidence.SeriesRedisCommands]
	if n := len(clients.t); n > 2*mostLooks {
		t.Errorf("%d points", n)
	}
	most := 0.
	for _, v := range clients.v {
		most = max(most, v)
	}
	if last := len(commands.v) - 1; most != 99 || commands.v[0] != 0 || commands.v[last] != looks-1 {
		t.Errorf("most clients %g, commands %g to %g", most, commands.v[0], commands.v[last])
	}
	if n := len(f.series[evidence.SeriesRedisCallP50+":get"].t); n != 1 {
		t.Errorf("%d points of what did not change", n)
	}
}

// TestSecrets holds that nothing of what clients asked for, or of passwords, is kept.
func TestSecrets(t *testing.T) {
	for _, text := range []string{
		"1) 1) (integer) 14\n   2) (integer) 1795268461\n   3) (integer) 15000\n   4) 1) \"SET\"\n      2) \"session:hunter2\"\n      3) \"hunter2\"\n   5) \"10.0.0.7:51234\"\n   6) \"hunter2\"\n",
		"14\n1795268461\n15000\nCONFIG\nSET\nrequirepass\nhunter2\n10.0.0.7:51234\nhunter2\n",
		"maxmemory\n0\nrequirepass\nhunter2\nmasterauth\nhunter2\n",
		"id=7 addr=10.0.0.7:51234 fd=8 name=hunter2 age=3 idle=0 flags=N user=hunter2 cmd=get\n",
		"127.0.0.1:6379> CONFIG GET requirepass\n1) \"requirepass\"\n2) \"hunter2\"\n127.0.0.1:6379> INFO\n# Server\nredis_version:7.0.15\nuptime_in_seconds:5\n",
		"# Server\nredis_version:7.0.15\nuptime_in_seconds:5\n# Commandstats\ncmdstat_get:calls=1,usec=2\n",
	} {
		b, err := suite.Read([]byte(text))
		if err != nil {
			t.Errorf("%.60q: %v", text, err)
		}
		if out := formattest.Render(b, err); strings.Contains(out, "hunter2") {
			t.Errorf("%.60q gives\n%s", text, out)
		}
	}
}
