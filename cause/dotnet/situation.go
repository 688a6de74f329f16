package dotnet

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/model/threadpool"
	"github.com/unstall/unstall/reading"
)

// ErrNoPool says that nothing of a pool was recorded; what to record is in the text.
var ErrNoPool = errors.New("its pool's threads were not watched: record the process under load (unstall record PID --for 30s)")

// SituationOf is what the simulation of a pool starts from: the pool of the case's
// process as recorded. What a request waits for, and how many are in flight, may not be
// known; the simulation says so.
func SituationOf(c *cause.Case) (threadpool.Situation, error) {
	p := poolOf(c)
	if !p.Threads.Known() && p.seen.worst == nil {
		return threadpool.Situation{}, ErrNoPool
	}
	s := &starving{c: c, pool: p, climb: p.Threads.Climb()}
	pattern, waits, err := s.pattern()
	if err != nil {
		return threadpool.Situation{}, err
	}
	return s.situation(s.needed(), pattern, waits), nil
}

func (s *starving) situation(n need, pattern threadpool.Pattern, waits string) threadpool.Situation {
	c, p := s.c, s.pool
	flying, _ := s.inFlight()
	of := threadpool.Situation{
		Case: threadpool.Case{Version: c.Bundle.Subjects[c.Subject].Version, Cores: int(p.cores), Connections: int(flying),
			Min: s.told(evidence.FactForcedPoolMinimum), Max: s.told(evidence.FactForcedPoolMaximum), Pattern: pattern,
			Service: threadpool.Service{Seconds: n.seconds, From: n.from}},
		Measured: threadpool.Measured{Threads: model.Exactly(p.Size()), Rate: model.Unknown, Latency: model.Unknown, P99: model.Unknown},
		Waits:    waits, Seconds: p.Threads.Span(),
	}
	l := c.Ledger
	if l == nil || l.Requests.To <= l.Requests.From {
		return of
	}
	of.Seconds = float64(l.Requests.To-l.Requests.From) / 1e9
	finished := l.Requests.Count - l.Requests.Unfinished - l.Requests.TimedOut
	of.Measured.Rate = model.Exactly(float64(finished) / of.Seconds)
	if l.Requests.P99 > 0 {
		of.Measured.P99 = model.Exactly(float64(l.Requests.P99) / 1e6)
	}
	of.Measured.Latency = model.Exactly(s.answered())
	if finished >= enoughToCompute && p.cpu > 0 {
		of.Case.CPU = p.cpu * p.cores * of.Seconds / float64(finished)
	}
	return of
}

// enoughToCompute is from how many requests on the CPU of a process is theirs, and not
// what it does anyway.
const enoughToCompute = 200

// answered is the mean latency of the requests that were answered, ms; NaN none was.
func (s *starving) answered() float64 {
	r := &s.c.Bundle.Requests
	var sum, n float64
	for _, i := range s.c.Ledger.Rows {
		if r.Outcome[i] == evidence.OK {
			sum += float64(r.Latency(i)) / 1e6
			n++
		}
	}
	return sum / n
}

// pattern is how most of the pool's blocked threads wait, and in words.
func (s *starving) pattern() (threadpool.Pattern, string, error) {
	p := s.pool
	if p.seen.worst != nil {
		groups := p.seen.waiting(all)
		if len(groups) == 0 || !p.above(float64(p.seen.worst.Pool)) && float64(p.seen.blocked()) < p.cores {
			return threadpool.Await, "", nil
		}
		g := groups[0]
		waits := fmt.Sprintf("%d of %d pool threads blocked in %s %s", g.Pool, p.seen.worst.Pool, method(g.View), on(g.View))
		switch g.View.State {
		case evidence.TaskWait:
			return threadpool.TaskWait, waits, nil
		case evidence.SleepWait, evidence.KindUnknown:
			return threadpool.SleepWait, waits, nil
		case evidence.NetWait, evidence.Syscall:
			return threadpool.Call, waits, nil
		case evidence.LockWait, evidence.PoolWait:
			return "", "", fmt.Errorf("%s: how long others keep what they wait for decides, and the model does not know it", waits)
		}
		return "", "", fmt.Errorf("%s: the model knows waits for tasks, sleeps and synchronous I/O", waits)
	}
	// The runtime says why it adds threads, not where they wait.
	switch release, known := s.release(); {
	case p.Raised[reading.CooperativeBlocking] > 0:
		return threadpool.TaskWait, "pool threads wait for tasks", nil
	case p.Raised[reading.Starvation] > 0 && known && release >= 6:
		return threadpool.SleepWait, "pool threads are blocked, not in waits for tasks", nil
	case p.Raised[reading.Starvation] > 0 || s.climbs():
		return threadpool.TaskWait, "pool threads are blocked", nil
	}
	return threadpool.Await, "", nil
}

// told is what the environment says of the pool's size, 0 nothing. The runtime reads it
// as hexadecimal; DOTNET_ goes before COMPlus_, and is not known before 6.
func (s *starving) told(name string) int {
	release, known := s.release()
	for _, prefix := range []string{"DOTNET_", "COMPlus_"} {
		if prefix == "DOTNET_" && known && release < 6 {
			continue
		}
		f, ok := s.c.Fact(prefix + name)
		if !ok {
			continue
		}
		if n, err := strconv.ParseUint(f.Value, 16, 15); err == nil && n > 0 {
			return int(n)
		}
	}
	return 0
}
