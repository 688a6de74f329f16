package redis

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

func TestMain(m *testing.M) {
	_ = os.Unsetenv("REDISCLI_AUTH")
	probetest.Main(m, map[string]func([]string){"record": recorder})
}

// recorder records a server until it is killed, and says when it has begun.
func recorder(args []string) {
	u, _ := url.Parse(args[0])
	sink := probetest.NewSink()
	go func() {
		for sink.Text("redis.txt") == "" || !strings.Contains(sink.Text("redis.txt"), "== ") {
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Println("records")
	}()
	for _, a := range findAccess(context.Background(), discover.Target{URL: u}) {
		_ = a.Record(context.Background(), probe.Plan{For: time.Hour}, sink)
	}
}

// running is a server of its own, which ends with the test.
type running struct {
	*goredis.Client
	pid    int
	addr   string
	tls    string
	socket string
	dir    string
}

func serve(t *testing.T, settings ...string) *running {
	t.Helper()
	binary := tooltest.Find(t, "redis")
	r := &running{dir: t.TempDir(), addr: free(t), tls: free(t)}
	r.socket = filepath.Join(r.dir, "r.sock")
	_, port, _ := net.SplitHostPort(r.addr)
	_, tlsPort, _ := net.SplitHostPort(r.tls)
	certificate(t, r.dir)
	c := exec.Command(binary, append([]string{"--bind", "127.0.0.1", "--port", port, "--unixsocket", r.socket, "--save", "", "--dir", r.dir, "--logfile", filepath.Join(r.dir, "redis.log"),
		"--tls-port", tlsPort, "--tls-cert-file", filepath.Join(r.dir, "crt"), "--tls-key-file", filepath.Join(r.dir, "key"), "--tls-ca-cert-file", filepath.Join(r.dir, "crt"), "--tls-auth-clients", "no"}, settings...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	r.pid = c.Process.Pid
	r.Client = goredis.NewClient(&goredis.Options{Network: "unix", Addr: r.socket, Password: "hunter2", Protocol: 2, DisableIdentity: true, MaxRetries: -1})
	t.Cleanup(func() { _ = r.Client.Close() })
	for deadline := time.Now().Add(20 * time.Second); ; {
		err := r.Ping(t.Context()).Err()
		if err == nil || strings.Contains(err.Error(), "AUTH") {
			return r
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(r.dir, "redis.log"))
			t.Fatalf("%v\n%s", err, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// certificate makes one that nobody else has signed.
func certificate(t *testing.T, dir string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"crt": {Type: "CERTIFICATE", Bytes: der}, "key": {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// target is what a user typed, without looking for the process.
func target(t *testing.T, typed string) discover.Target {
	t.Helper()
	u, err := url.Parse(typed)
	if err != nil {
		t.Fatal(err)
	}
	return discover.Target{Arg: typed, URL: u, Runtime: "redis"}
}

// state is all that a server is set to, and its latency events.
func (r *running) state(t *testing.T) string {
	t.Helper()
	all, err := r.Do(t.Context(), "CONFIG", "GET", "*").StringSlice()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := 0; i+1 < len(all); i += 2 {
		lines = append(lines, all[i]+" "+all[i+1])
	}
	slices.Sort(lines)
	events, err := r.Do(t.Context(), "LATENCY", "LATEST").Slice()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(append(lines, fmt.Sprint(events)), "\n")
}

// TestWays records a server in each way that there is to it, with a user of its own, and holds that neither
// passwords, nor names of keys, clients or users are stored, and that nothing is changed.
func TestWays(t *testing.T) {
	r := serve(t, "--requirepass", "hunter2", "--slowlog-log-slower-than", "0", "--latency-monitor-threshold", "7")
	if err := r.Do(t.Context(), "ACL", "SETUSER", "watcher", "on", ">hunter3", "-@all", "+info", "+ping", "+slowlog|get", "+latency|latest", "+latency|history", "+latency|histogram", "+memory|stats", "+config|get", "+client|list", "+cluster|info", "+hello").Err(); err != nil {
		t.Fatal(err)
	}
	other := goredis.NewClient(&goredis.Options{Addr: r.addr, Password: "hunter2", ClientName: "hunter4", Protocol: 2})
	defer other.Close()
	if err := other.Set(t.Context(), "session:hunter5", "hunter6", 0).Err(); err != nil {
		t.Fatal(err)
	}
	before := r.state(t)
	for _, way := range []string{
		"redis://:hunter2@" + r.addr,
		"redis://watcher:hunter3@" + r.addr,
		"unix://:hunter2@" + r.socket,
		"rediss://:hunter2@" + r.tls,
		"rediss://:hunter2@" + r.tls + "?cacert=" + filepath.Join(r.dir, "crt"),
	} {
		t.Run(strings.Split(way, ":")[0], func(t *testing.T) {
			a := probetest.One(t, findAccess, target(t, way))
			if strings.Contains(fmt.Sprintf("%+v", a), "hunter") || len(a.SwitchesOn) > 0 {
				t.Errorf("%+v", a)
			}
			rec := probetest.Begin(t, a)
			rec.Wait(t, "redis.txt", func(b []byte) bool { return strings.Count(string(b), " INFO of ") > 0 })
			if err := other.Set(t.Context(), "session:hunter5", "hunter6", 0).Err(); err != nil {
				t.Fatal(err)
			}
			rec.Wait(t, "redis.txt", func(b []byte) bool {
				return strings.Count(string(b), " INFO of ") > 1 && strings.Contains(string(b), " LATENCY HISTOGRAM of ")
			})
			if err := rec.End(); err != nil {
				t.Fatal(err)
			}
			rec.Quiet(t)
			for _, kept := range rec.Kept {
				if at := strings.Index(kept.String(), "hunter"); at >= 0 {
					t.Errorf("%s keeps %.80q", kept.Meta.Name, kept.String()[at-20:])
				}
			}
			b := rec.Read(t, "redis.txt")
			b.Unify()
			b.Align()
			x := metrics.RedisOf(b, 0, metrics.Whole)
			switch {
			case x == nil || x.Looks < 3 || x.Single:
				t.Fatalf("%+v", x)
			case x.Release.Product == "" || x.Command("set") == nil || !(x.Pings.Number > 0) || len(x.Hosts) == 0 || !x.Slow.Watched || x.Policy == "":
				t.Errorf("%+v", x)
			}
			if set := x.Command("set"); set.Count != 1 || set.Calls.Number <= 0 {
				t.Errorf("%+v", set)
			}
			if ping := x.Command("ping"); ping != nil {
				t.Errorf("its own PING is among the commands: %+v", ping)
			}
			sets := slices.DeleteFunc(x.Slow.Entries, func(s metrics.RedisSlow) bool { return s.Command != "SET" })
			if len(sets) < 2 || sets[0].Arguments != 2 || sets[0].Bytes != int64(len("session:hunter5hunter6")) || !strings.HasPrefix(sets[0].Client, "127.0.0.1:") {
				t.Errorf("%+v", sets)
			}
			for _, s := range x.Slow.Entries {
				if strings.HasPrefix(s.Command, "SLOWLOG") || s.Command == "PING" && strings.HasPrefix(way, "unix") {
					t.Errorf("its own %s is among the slow ones", s.Command)
				}
			}
		})
	}
	if after := r.state(t); after != before {
		t.Errorf("it changed the server from\n%s\nto\n%s", before, after)
	}
}

// TestFound finds a server by its process, reads its log, and tells what it was not allowed to see.
func TestFound(t *testing.T) {
	r := serve(t, "--rename-command", "CONFIG", "", "--rename-command", "SLOWLOG", "other")
	x, err := discover.Resolve(t.Context(), fmt.Sprint(r.pid), nil)
	if err != nil {
		t.Fatal(err)
	}
	x.Runtime = "redis"
	a := probetest.One(t, findAccess, x)
	if a.Where != "unix://"+r.socket {
		t.Errorf("by %s", a.Where)
	}
	s := probetest.Record(t, a, probe.Plan{For: 1500 * time.Millisecond})
	var lacks []string
	for _, l := range s.Lacks {
		lacks = append(lacks, l.What+": "+l.Why)
	}
	slices.Sort(lacks)
	if got := strings.Join(lacks, "\n"); got != "settings: CONFIG is renamed or switched off (rename-command)\nslow commands: SLOWLOG is renamed or switched off (rename-command)" {
		t.Errorf("lacks %q", got)
	}
	b := s.Read(t, "redis.txt")
	if got := b.Subjects[0]; got.PID != r.pid || !strings.HasPrefix(got.Version, "Redis ") {
		t.Errorf("%+v", got)
	}

	log := serve(t)
	x.PID, x.Listens = log.pid, []discover.Listener{{Path: log.socket}}
	rec := probetest.Begin(t, probetest.One(t, findAccess, x))
	rec.Wait(t, "redis.txt", probetest.Some)
	if err := log.Do(t.Context(), "BGSAVE").Err(); err != nil {
		t.Fatal(err)
	}
	for {
		info, err := log.Info(t.Context(), "persistence").Result()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(info, "rdb_bgsave_in_progress:0") && strings.Contains(info, "rdb_saves:1") {
			break
		}
	}
	if err := rec.End(); err != nil {
		t.Fatal(err)
	}
	of := metrics.RedisOf(rec.Read(t, "redis.log"), 0, metrics.Whole)
	if of == nil || of.Fork.Saves.Number != 1 || strings.Contains(rec.Text("redis.log"), "just started") {
		t.Errorf("its log tells %+v\n%s", of, rec.Text("redis.log"))
	}
}

// TestKilled checks that a recorder that is killed leaves a server as it was.
func TestKilled(t *testing.T) {
	r := serve(t, "--latency-monitor-threshold", "0")
	before := r.state(t)
	child := probetest.Play(t, "record", nil, "unix://"+r.socket)
	if child.Said != "records" {
		t.Fatal(child.Said)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if after := r.state(t); after != before {
		t.Errorf("it changed the server from\n%s\nto\n%s", before, after)
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		list, err := r.ClientList(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(list, "name="+own) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("its connection is still there: %s", list)
		}
	}
}

// TestRefused holds what is said where a server does not answer.
func TestRefused(t *testing.T) {
	locked := serve(t, "--requirepass", "hunter2")
	if err := locked.Do(t.Context(), "ACL", "SETUSER", "nobody", "on", ">hunter3", "+ping", "+hello").Err(); err != nil {
		t.Fatal(err)
	}
	open := serve(t)
	few := serve(t, "--maxclients", "1")
	if err := few.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"redis://" + locked.addr:                "the server wants a password: REDISCLI_AUTH=PASSWORD unstall redis://" + locked.addr,
		"redis://:wrong@" + locked.addr:         "the server does not take this user and password",
		"redis://somebody:wrong@" + locked.addr: "the server does not take this user and password",
		"redis://nobody:hunter3@" + locked.addr: "this user may not call INFO: ACL SETUSER nobody +info",
		"redis://:hunter2@" + fake(t, "-ERR AUTH <password> called without any password configured for the default user. Are you sure?\r\n"): "the server has no password, and one was given",
		"rediss://" + open.addr:                     "does not use TLS: give redis://",
		"redis://" + open.tls:                       "give rediss://",
		"rediss://" + open.tls + "?cacert=/nowhere": "cacert=/nowhere cannot be read",
		"unix:///nowhere/redis.sock":                "no such socket",
		"redis://" + free(t):                        "connection refused",
		"redis://" + few.addr:                       "takes no more connections (maxclients)",
		"redis://" + fake(t, "-DENIED Redis is running in protected mode because protected mode is enabled\r\n"): "protected mode",
		"redis://" + fake(t, "HTTP/1.1 400 Bad Request\r\n\r\n"):                                                 "no Redis server",
		"redis://" + fake(t, "ERROR\r\n"):                                                                        "no Redis server",
		"redis://" + fake(t, ""):                                                                                 "no Redis server",
		"redis://" + fake(t, "+OK\r\n"):                                                                          "no Redis server",
		"redis://" + fake(t, "-LOADING Redis is loading the dataset in memory\r\n"):                              "LOADING",
		"redis://" + fake(t, "-CLUSTERDOWN The cluster is down\r\n"):                                             "CLUSTERDOWN",
		"redis://" + fake(t, "-ERR unknown command 'INFO'\r\n"):                                                  "INFO is renamed",
	} {
		found := findAccess(t.Context(), target(t, typed))
		if len(found) != 1 || found[0].Missing == nil {
			t.Errorf("%s: %+v", typed, found)
			continue
		}
		got := found[0].Missing.Error()
		if !strings.Contains(got, want) || strings.Contains(got, "\n") || strings.Contains(got, "hunter") || strings.Contains(got, "wrong") {
			t.Errorf("%s: %s; want %q", typed, got, want)
		}
	}
	t.Setenv("REDISCLI_AUTH", "hunter2")
	probetest.One(t, findAccess, target(t, "redis://"+locked.addr))
}

// fake answers everything alike.
func fake(t *testing.T, answer string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				room := make([]byte, 4096)
				for {
					n, err := c.Read(room)
					if err != nil || answer == "" {
						return
					}
					for range strings.Count(string(room[:n]), "*") { // of a pipeline
						if _, err := c.Write([]byte(answer)); err != nil {
							return
						}
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestWentAway checks that a recording outlives its server, and says so once.
func TestWentAway(t *testing.T) {
	r := serve(t)
	rec := probetest.Begin(t, probetest.One(t, findAccess, target(t, "redis://"+r.addr)))
	rec.Wait(t, "redis.txt", func(b []byte) bool { return strings.Contains(string(b), "redis_version:") })
	if err := syscall.Kill(r.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if rec.Warned("the connection broke") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it says nothing")
		}
	}
	if err := rec.End(); err != nil {
		t.Error(err)
	}
	if len(rec.Warnings) != 1 {
		t.Errorf("%q", rec.Warnings)
	}
	if b := rec.Read(t, "redis.txt"); len(b.Covered(-1, evidence.CoverRedis)) != 1 {
		t.Error("what it told before is lost")
	}
}
