package service

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// enlargeFix returns what helps against a full pool, with the setting of the library whose pool of
// threads it is.
func enlargeFix(c *check.Case, name string) check.Fix {
	what := c.Bundle.Names.Wait(c.Bundle.Names.Lookup(name))
	if what.Kind == evidence.OneAtATime {
		return check.Fix{Text: "if a lock is held around the call, make the call before taking it or hold a lock for each key; if the pool has one connection, give it more", Code: name}
	}
	if x := carriersNamed(c, name); x != nil {
		return moreCarriers(x)
	}
	if what.Kind == evidence.LeakedPool {
		return check.Fix{Text: "end each transaction on every way out of the code that begins it, by a commit or a rollback, also where a request is refused or fails (defer tx.Rollback(), try-with-resources, a transaction block). A larger pool only delays the moment when all are kept", Code: name}
	}
	if what.Kind == evidence.LostPool {
		how := "read the answer to its end or close its body, also where its status is an error or the caller returns early (defer resp.Body.Close() before the status is looked at, try-with-resources, using)"
		if isDatabase(what.Of) {
			how = "close rows and statements, also where the caller returns before it has read all rows (defer rows.Close(), try-with-resources, using, a with block)"
		}
		return check.Fix{Text: "give each connection back on every way out of the code that asked: " + how + ". A larger pool only delays the moment when all are lost", Code: name}
	}
	if what.Kind == evidence.HeldPool {
		return check.Fix{Text: "hold a connection for no longer than the calls on it need: a request that holds one must not wait for a second one of the same pool, so read all rows and close them before the next statement, or use the same connection or transaction for it; nor may it call another service or compute while it holds one. A larger pool only delays the moment when all are held. From outside, a semaphore around the call looks like a pool of connections", Code: name}
	}
	if what.Kind == evidence.RequestLimit {
		return check.Fix{Text: "raise this limit within the program (a bulkhead, a semaphore, a queue's concurrency, a pool of workers) if " + what.Of + ", which most of those that are let through wait for, can take more; or give routes that do not call it a limit of their own", Code: name}
	}
	if what.Places > 0 && what.Kind != evidence.PoolThread { // known by its connections alone
		fix := enlargePool(name)
		fix.Text += "; from outside, a semaphore around the call looks like a pool of connections"
		return fix
	}
	moreThreads := "give the pool more threads if the resource they wait for can handle more (needed = requests per second × seconds each is held), or hold each for less time"
	pool := ""
	if what.Kind == evidence.PoolThread && c.OnThreads() {
		pool = what.Of
	}
	for _, x := range threadLimits(c) {
		if x.Workers && x.Words() == name {
			pool = x.Place
		}
	}
	setting := ""
	if pool != "" {
		setting = c.Threads().PoolSize(c.Subject, pool)
	}
	switch {
	case setting != "":
		return check.Fix{Text: moreThreads + ": " + setting, Code: name}
	case what.Kind == evidence.PoolThread:
		return check.Fix{Text: moreThreads, Code: cmp.Or(poolCode(c, pool), name)}
	}
	return enlargePool(name)
}

// poolCode returns the program's function in which looks found a pool's threads most often, at work or waiting; "" if they found none.
func poolCode(c *check.Case, pool string) (most string) {
	if pool == "" {
		return ""
	}
	seen := make(map[string]int)
	looks := c.Threads().Samples(c.Subject)
	for i := range looks {
		v := &looks[i].View
		if v.State == evidence.Idle || v.Owner == "" || v.Pool != pool && !threadstack.IsCutName(pool, v.Pool) {
			continue
		}
		seen[v.Owner] += looks[i].Count
		if n := seen[v.Owner]; n > seen[most] || n == seen[most] && v.Owner < most {
			most = v.Owner
		}
	}
	return most
}

// awaitedLimit returns how many a limit lets in that requests await; limited without a number is one that different parts of
// the recording show with different numbers.
func awaitedLimit(c *check.Case, name evidence.NameID) (places int, limited bool) {
	text := c.Bundle.Names.Text(name)
	if strings.HasPrefix(text, "limit at ") {
		return math.MaxInt, true
	}
	_, err := fmt.Sscanf(text, "limit of %d at", &places)
	return places, err == nil
}

// formatPlaces writes how many places a pool needs so that waits stay short when so many are held
// on average; "" where that is not known. At most [comfortable] of them are in use then.
func formatPlaces(needed float64) string {
	if needed <= 0 {
		return ""
	}
	return fmt.Sprintf("with %.0f places, of which requests hold %s on average, waits stay short at this load: ", math.Ceil(needed/comfortable.Value), units.Num(needed))
}
