package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	runtimes "github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	probes "github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/loadgen"
	"github.com/unstall/unstall/lab/process"
)

// redisServer is a recorded Redis server and its clients.
type redisServer struct {
	settings []string // of redis-server
	fill     func(context.Context, *goredis.Client) error
	clients  []redisClients // the latencies of the first are kept
}

// redisClients are clients that do one thing over and over, each on its own connection.
type redisClients struct {
	n     int
	every time.Duration // interval of each, by the clock; 0: as fast as they can
	from  string        // their address, "" any
	fresh bool          // a new connection each time
	link  float64       // bytes/s that all of them together can read; 0: any
	do    func(context.Context, *goredis.Client, *rand.Rand) error
}

// recordRedis records a Redis server as unstall PID does.
func recordRedis(ctx context.Context, r recording, tmp string, say func(string)) (t *truth, err error) {
	t = &truth{ID: r.id, About: r.about, Recorded: time.Now().UTC().Format(time.RFC3339), Recipe: "go run ./dev/recorder one " + r.id, Cores: runtime.NumCPU()}
	bin, err := build.FindRedis(ctx, true, say)
	if err != nil {
		return nil, err
	}
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	settings := append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", tmp, "--save", "", "--enable-debug-command", "local", "--protected-mode", "no"}, r.redis.settings...)
	server, err := process.Launch(process.Spec{Bin: bin, Args: settings, Log: filepath.Join(tmp, "stdout"), Dir: tmp})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := server.Accepts(ctx, address, 10*time.Second); err != nil {
		return nil, err
	}
	t.Command, t.Toolchain, t.Procs, t.PID = "redis-server "+strings.Join(r.redis.settings, " "), "redis-server", 1, server.PID
	filler := r.redis.clients[0].newClient(address)
	defer filler.Close()
	if r.redis.fill != nil {
		say("filling it")
		if err := r.redis.fill(ctx, filler); err != nil {
			return nil, err
		}
	}
	load := startRedisLoad(ctx, r, address)
	say("warming up")
	if err := sleepContext(ctx, r.warm); err != nil {
		return nil, errors.Join(err, load.stopClients(nil))
	}
	found, err := discover.Resolve(ctx, strconv.Itoa(server.PID), runtimes.Recognisers())
	if err != nil {
		return nil, errors.Join(err, load.stopClients(nil))
	}
	say("recording")
	p := &process.Process{PID: server.PID}
	path, from := filepath.Join(tmp, "capture.unstall"), markOf(p)
	load.startCounting()
	_, err = record.FindOther(ctx, probes.Probes, probes.Kernel, []discover.Target{found}).Record(ctx, record.Options{For: r.capture, Path: path, Tool: "dev/recorder", Command: []string{"unstall", "record"}})
	t.All = from.windowUntil(markOf(p))
	if err := errors.Join(err, load.stopClients(t)); err != nil {
		return nil, err
	}
	t.All.Neighbours = 0 // the clients belong to the recorder: their use cannot be told from that of other programs
	return t, unpackCapture(path, tmp)
}

// newClient returns a client on a connection of its own, which sends only the commands it is
// told to.
func (c redisClients) newClient(address string) *goredis.Client {
	o := &goredis.Options{Addr: address, Protocol: 2, PoolSize: 1, MaxRetries: -1, DisableIdentity: true, ReadTimeout: time.Minute, WriteTimeout: time.Minute, PoolTimeout: time.Minute, DialTimeout: time.Minute}
	if c.from != "" {
		d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(c.from)}}
		o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := d.DialContext(ctx, network, addr)
			if err != nil || c.link == 0 {
				return conn, err
			}
			if tcp, ok := conn.(*net.TCPConn); ok {
				err = tcp.SetReadBuffer(64 << 10)
			}
			return &link{Conn: conn, rate: c.link / float64(c.n)}, err
		}
	}
	return goredis.NewClient(o)
}

// redisLoad is the state of clients while a server is recorded.
type redisLoad struct {
	recording
	stop  context.CancelFunc
	all   sync.WaitGroup
	begin time.Time

	mu     sync.Mutex
	took   []time.Duration // of the first clients, since begin
	failed int64           // of all
	first  error
}

func startRedisLoad(ctx context.Context, r recording, address string) *redisLoad {
	l := &redisLoad{recording: r, begin: time.Now()}
	ctx, l.stop = context.WithCancel(ctx)
	for i, c := range r.redis.clients {
		for n := range c.n {
			l.all.Go(func() { l.runClient(ctx, c, address, i == 0, rand.New(rand.NewPCG(uint64(i), uint64(n)))) })
		}
	}
	return l
}

// runClient runs one client. Its latency counts from when the command was due.
func (l *redisLoad) runClient(ctx context.Context, c redisClients, address string, told bool, r *rand.Rand) {
	client := c.newClient(address)
	defer func() { client.Close() }()
	next := time.Now().Add(time.Duration(r.Float64() * float64(c.every)))
	for ctx.Err() == nil {
		if c.every == 0 {
			next = time.Now()
		} else if sleepContext(ctx, time.Until(next)) != nil {
			return
		}
		if c.fresh {
			client.Close()
			client = c.newClient(address)
		}
		err := c.do(ctx, client, r)
		if ctx.Err() != nil {
			return
		}
		l.mu.Lock()
		switch {
		case err != nil && !errors.Is(err, goredis.Nil):
			l.failed++
			if l.first == nil {
				l.first = err
			}
		case told && next.After(l.begin):
			l.took = append(l.took, time.Since(next))
		}
		l.mu.Unlock()
		next = next.Add(c.every)
	}
}

// startCounting drops the counts so far and starts to count.
func (l *redisLoad) startCounting() {
	l.mu.Lock()
	l.begin, l.took, l.failed = time.Now(), nil, 0
	l.mu.Unlock()
}

// stopClients stops the clients and writes their results into t, unless t is nil.
func (l *redisLoad) stopClients(t *truth) error {
	seconds := time.Since(l.begin).Seconds()
	l.stop()
	l.all.Wait()
	if t == nil {
		return nil
	}
	if len(l.took) == 0 {
		return fmt.Errorf("no client was answered: %w", l.first)
	}
	slices.Sort(l.took)
	at := func(q float64) float64 { return float64(l.took[int(q*float64(len(l.took)-1))]) / 1e6 }
	c := l.redis.clients[0]
	t.Load = &loadgen.Result{Plan: loadgen.Plan{Connections: c.n}, Sent: int64(len(l.took)), Finished: int64(len(l.took)), Failed: l.failed, Seconds: seconds, Achieved: float64(len(l.took)) / seconds,
		Latency: loadgen.Latency{P50: at(.5), P90: at(.9), P99: at(.99), Max: at(1)}, First: l.begin.UnixNano()}
	if c.every > 0 {
		t.Load.Plan.Rate = float64(c.n) / c.every.Seconds()
	}
	return nil
}

// redisFixture returns a capture of a server alone.
func redisFixture(id, about string, r recording) recording {
	r = newFixture(id, about, r)
	r.accessLog = false
	return r
}

// redisDo is what a client does repeatedly.
type redisDo = func(context.Context, *goredis.Client, *rand.Rand) error

func readOne(keys int) redisDo {
	return func(ctx context.Context, c *goredis.Client, r *rand.Rand) error {
		return c.Get(ctx, "session:"+strconv.Itoa(r.IntN(keys))).Err()
	}
}

func writeOne(keys, size int) redisDo {
	value := strings.Repeat("v", size)
	return func(ctx context.Context, c *goredis.Client, r *rand.Rand) error {
		return c.Set(ctx, "session:"+strconv.Itoa(r.IntN(keys)), value, 0).Err()
	}
}

func sendCommand(words ...any) redisDo {
	return func(ctx context.Context, c *goredis.Client, _ *rand.Rand) error { return c.Do(ctx, words...).Err() }
}

// populateSessions returns a function that makes that many values of sessions.
func populateSessions(keys, size int) func(context.Context, *goredis.Client) error {
	return populateKeys("session", keys, size)
}

func populateKeys(name string, keys, size int) func(context.Context, *goredis.Client) error {
	return func(ctx context.Context, c *goredis.Client) error {
		return c.Do(ctx, "DEBUG", "POPULATE", keys, name, size).Err()
	}
}

// fillHash returns a function that makes a hash of that many fields beside other values.
func fillHash(name string, fields int, then func(context.Context, *goredis.Client) error) func(context.Context, *goredis.Client) error {
	return func(ctx context.Context, c *goredis.Client) error {
		for at := 0; at < fields; at += 1000 {
			pairs := make([]any, 0, 2000)
			for i := at; i < min(fields, at+1000); i++ {
				pairs = append(pairs, "field:"+strconv.Itoa(i), "value:"+strconv.Itoa(i))
			}
			if err := c.HSet(ctx, name, pairs...).Err(); err != nil {
				return err
			}
		}
		return then(ctx, c)
	}
}

// scanKeys walks all keys with SCAN, some at a time.
func scanKeys(ctx context.Context, c *goredis.Client, _ *rand.Rand) error {
	var cursor uint64
	for {
		_, next, err := c.Scan(ctx, cursor, "session:9*", 500).Result()
		if cursor = next; err != nil || cursor == 0 {
			return err
		}
	}
}

const spin = `local n = 0; for i = 1, tonumber(ARGV[1]) do n = n + i % 7 end; return n`

// redisServers returns the fixtures of Redis's causes.
func redisServers() []recording {
	of := func(fill func(context.Context, *goredis.Client) error, clients ...redisClients) recording {
		return recording{redis: &redisServer{fill: fill, clients: clients}, warm: time.Second, capture: 10 * time.Second, noisy: true}
	}
	set := func(r recording, settings ...string) recording {
		return r.withChange(func(r *recording) { r.redis.settings = settings })
	}
	slow, quick := []bound{{"clients' p99 ms", 10, 0}}, []bound{{"clients' p90 ms", 0, 10}}
	expect := func(r recording, b []bound) recording { return r.withChange(func(r *recording) { r.expect = b }) }
	readers := redisClients{n: 8, every: 20 * ms, do: readOne(100_000)}
	writers := redisClients{n: 8, every: 20 * ms, do: writeOne(10_000, 200)}
	some := populateSessions(100_000, 100)
	large := populateSessions(1_500_000, 1000)
	return []recording{
		redisFixture("redis.slow-command/sick", "sessions in Redis; another host asks for KEYS twice a second", expect(of(populateSessions(1_000_000, 40), readers,
			redisClients{n: 1, every: 600 * ms, from: "127.0.0.7", do: sendCommand("KEYS", "session:9*")}), slow)),
		redisFixture("redis.slow-command/sick-hgetall", "sessions in Redis; another host reads all of a hash of 200,000 fields", expect(of(fillHash("catalogue", 200_000, some), readers,
			redisClients{n: 1, every: 500 * ms, from: "127.0.0.7", do: sendCommand("HGETALL", "catalogue")}), slow)),
		redisFixture("redis.slow-command/sick-script", "sessions in Redis; a script computes", expect(of(some, readers,
			redisClients{n: 1, every: 300 * ms, do: sendCommand("EVAL", spin, 0, 3_000_000)}), slow)),
		redisFixture("redis.slow-command/healthy", "the same sessions; the other host walks the keys by SCAN", expect(of(populateSessions(1_000_000, 40), readers,
			redisClients{n: 1, every: 600 * ms, from: "127.0.0.7", do: scanKeys}), quick)),
		redisFixture("redis.memory-limit/sick", "a cache that may have half the memory that its values need", set(of(populateKeys("page", 40_000, 2000), redisClients{n: 8, every: 5 * ms, do: readThrough(40_000, 2000)}), "--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru")),
		redisFixture("redis.memory-limit/sick-refused", "sessions that are kept until memory is used up, with no policy to evict any", set(of(nil, redisClients{n: 8, every: 5 * ms, do: writeKeptValues(2000)}), "--maxmemory", "16mb")),
		redisFixture("redis.memory-limit/healthy", "the same cache with room for all of its values", expect(set(of(populateKeys("page", 10_000, 2000), redisClients{n: 8, every: 5 * ms, do: readThrough(10_000, 2000)}), "--maxmemory", "128mb", "--maxmemory-policy", "allkeys-lru"), quick)),
		redisFixture("redis.aof-fsync/sick", "each write is synced to disk before it is answered", set(of(some, writers), "--appendonly", "yes", "--appendfsync", "always")),
		redisFixture("redis.aof-fsync/healthy", "the same writes, synced once a second by another thread", expect(set(of(some, writers), "--appendonly", "yes", "--appendfsync", "everysec"), quick)),
		redisFixture("redis.fork/sick", "1.5 million values of 1 kB; a snapshot is begun as soon as the last one is done", set(of(large, readers,
			redisClients{n: 1, every: 2500 * ms, do: startSnapshot}), "--rdbcompression", "no")),
		redisFixture("redis.fork/healthy", "a hundred thousand small values; snapshots as often", expect(of(some, readers,
			redisClients{n: 1, every: 2500 * ms, do: startSnapshot}), quick)),
		redisFixture("redis.connections/sick", "a connection for each command", of(some, redisClients{n: 6, every: 10 * ms, fresh: true, do: readOne(100_000)})),
		redisFixture("redis.connections/healthy", "the same commands on connections that are kept", expect(of(some, redisClients{n: 6, every: 10 * ms, do: readOne(100_000)}), quick)),
		redisFixture("redis.big-value/sick", "beside sessions, values of 8 MB are read and written some times a second", of(fillExport(8<<20, some), readers,
			redisClients{n: 3, every: 250 * ms, from: "127.0.0.7", do: sendCommand("GET", "export")}, redisClients{n: 1, every: 500 * ms, do: rewriteExport(8 << 20)})),
		redisFixture("redis.big-value/healthy", "the same bytes a second in values of 8 kB", expect(of(populateSessions(10_000, 8<<10), readers,
			redisClients{n: 3, every: 25 * ms, from: "127.0.0.7", do: pipelinedReads(100)}), quick)),
		redisFixture("redis.network-bound/sick", "answers of 200 kB over a link of 20 MB/s, for which clients of one host ask all at once", of(fillExport(200<<10, some), readers,
			redisClients{n: 4, from: "127.0.0.7", link: 20e6, do: pipelineCommand("GET", "export", 60)})),
		redisFixture("redis.network-bound/healthy", "the same over a link that takes them", expect(of(fillExport(200<<10, some), readers,
			redisClients{n: 4, every: 500 * ms, from: "127.0.0.7", link: 400e6, do: pipelineCommand("GET", "export", 10)}), quick)),
	}
}

// fillExport returns a function that makes one large value beside others.
func fillExport(size int, then func(context.Context, *goredis.Client) error) func(context.Context, *goredis.Client) error {
	return func(ctx context.Context, c *goredis.Client) error {
		return errors.Join(rewriteExport(size)(ctx, c, nil), then(ctx, c))
	}
}

func rewriteExport(size int) redisDo {
	value := strings.Repeat("v", size)
	return func(ctx context.Context, c *goredis.Client, _ *rand.Rand) error {
		return c.Set(ctx, "export", value, 0).Err()
	}
}

// pipelineCommand sends one command n times before it reads an answer.
func pipelineCommand(name, key string, n int) redisDo {
	return func(ctx context.Context, c *goredis.Client, _ *rand.Rand) error {
		p := c.Pipeline()
		for range n {
			p.Do(ctx, name, key)
		}
		_, err := p.Exec(ctx)
		return err
	}
}

func pipelinedReads(n int) redisDo {
	return func(ctx context.Context, c *goredis.Client, r *rand.Rand) error {
		p := c.Pipeline()
		for range n {
			p.Get(ctx, "session:"+strconv.Itoa(r.IntN(10_000)))
		}
		_, err := p.Exec(ctx)
		return err
	}
}

// link is a connection with a limited rate, bytes/s.
type link struct {
	net.Conn
	rate float64
	next time.Time
}

func (l *link) Read(b []byte) (int, error) {
	time.Sleep(time.Until(l.next))
	n, err := l.Conn.Read(b[:min(len(b), 64<<10)])
	now := time.Now()
	if l.next.Before(now) {
		l.next = now
	}
	l.next = l.next.Add(time.Duration(float64(n) / l.rate * 1e9))
	return n, err
}

// readThrough reads a value, and writes it if it is missing.
func readThrough(keys, size int) redisDo {
	value := strings.Repeat("v", size)
	return func(ctx context.Context, c *goredis.Client, r *rand.Rand) error {
		key := "page:" + strconv.Itoa(r.IntN(keys))
		err := c.Get(ctx, key).Err()
		if errors.Is(err, goredis.Nil) {
			return c.Set(ctx, key, value, time.Hour).Err()
		}
		return err
	}
}

// writeKeptValues returns a function that writes values which are never removed.
func writeKeptValues(size int) redisDo {
	value := strings.Repeat("v", size)
	return func(ctx context.Context, c *goredis.Client, r *rand.Rand) error {
		err := c.Set(ctx, "session:"+strconv.Itoa(r.IntN(1<<30)), value, 0).Err()
		if err != nil { // the server is full: existing values can still be read
			return c.Get(ctx, "session:0").Err()
		}
		return nil
	}
}

// startSnapshot starts a snapshot unless one is under way.
func startSnapshot(ctx context.Context, c *goredis.Client, _ *rand.Rand) error {
	if err := c.BgSave(ctx).Err(); err != nil && !strings.Contains(err.Error(), "already in progress") {
		return err
	}
	return nil
}
