package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// bookings are requests whose statement waits while a job in the background, which has changed a row of another table, calls a slow service before it commits.
// Some others of them take long by themselves, at any time.
func bookings(said, waiting, holding string, others int) []byte {
	const seconds, held, every = 25, 260 * ms, 700 * ms
	s := newKernelSaw()
	s.lookups(30, seconds, false)
	job := 90
	for at := began + 50*ms; at < began+seconds*1e9; at += every {
		now := s.call(job, at, 200_000, 11, database, said+" open BEGIN")
		now = s.call(job, now+50_000, 300_000, 79, database, said+" open "+holding)
		now = s.call(job, now+50_000, held-1*ms, 140, payments, "http 200 GET /entries/{id}")
		s.call(job, now+50_000, 200_000, 12, database, said+" idle COMMIT")
	}
	for i, at := range s.arrivals(20, seconds) {
		w := s.worker(at)
		took := s.vary(900_000)
		switch since := (at - began - 50*ms) % every; {
		case others > 0 && i%others == 0:
			took = s.vary(150 * ms)
		case at > began+50*ms && since > 1*ms && since < held:
			took = max(took, held+600_000-since)
		}
		end := s.call(w, at+200_000, took, 133, database, said+" idle "+waiting)
		s.request(w, at, end+200_000, 201, "POST /bookings")
	}
	return s.bytes(seconds)
}

// To change a row that names another one by a foreign key, or that others name, databases lock or read these rows of other tables. To read does not wait.
func TestRowLockBehindForeignKey(t *testing.T) {
	for name, x := range map[string]struct {
		text []byte
		says string
	}{
		"an INSERT waits for the row that its key names": {bookings("mysql", "INSERT bookings", "UPDATE shops", 0), "INSERT bookings"},
		"a DELETE waits for rows that may name its row":  {bookings("postgresql", "DELETE shops", "INSERT bookings", 0), "DELETE shops"},
		"a query does not wait for a row":                {bookings("mysql", "SELECT bookings", "UPDATE shops", 0), ""},
		"nor does a statement wait for one that is read": {bookings("mysql", "INSERT bookings", "SELECT shops", 0), ""},
		"most take long at any time":                     {bookings("mysql", "INSERT bookings", "UPDATE shops", 2), ""},
	} {
		v := judgeRowLock(caseOf(t, x.text))
		if found := v.State == check.Supported; found != (x.says != "") || !strings.Contains(v.Title, x.says) || found && !strings.Contains(v.Title, "GET /entries/{id}") {
			t.Errorf("%s: %s: %s %s", name, v.State, v.Title, v.Summary)
		}
	}
}

// A job locks rows and calls a slow service before it commits. Requests for these rows queue behind it, and then one ends the wait of the next, with a short
// transaction: it is the job's that is long.
func TestRowLockOfJobThatManyQueueFor(t *testing.T) {
	const seconds, held, every = 25, 700 * ms, 1900 * ms
	s := newKernelSaw()
	s.lookups(30, seconds, false)
	job := 90
	for at := began + 50*ms; at < began+seconds*1e9; at += every {
		now := s.call(job, at, 200_000, 11, database, "postgresql open BEGIN")
		now = s.call(job, now+50_000, 300_000, 79, database, "postgresql open SELECT huts FOR UPDATE")
		now = s.call(job, now+50_000, held-1*ms, 140, payments, "http 200 GET /sold/{id}")
		s.call(job, now+50_000, 200_000, 12, database, "postgresql idle COMMIT")
	}
	free := int64(0) // when the last of the queue has ended
	for _, at := range s.arrivals(20, seconds) {
		w := s.worker(at)
		now := s.call(w, at+200_000, 150_000, 11, database, "postgresql open BEGIN")
		took := s.vary(900_000)
		if since := (at - began - 50*ms) % every; at > began+50*ms && since > 1*ms && since < held {
			took = max(took, max(at+held-since, free)+600_000-now)
		}
		now = s.call(w, now+50_000, took, 79, database, "postgresql open SELECT huts FOR UPDATE")
		now = s.call(w, now+500_000, 300_000, 88, database, "postgresql open UPDATE huts")
		free = s.call(w, now+500_000, 300_000, 12, database, "postgresql idle COMMIT")
		s.request(w, at, free+200_000, 201, "POST /huts/{id}/beds")
	}
	v := judgeRowLock(caseOf(t, s.bytes(seconds)))
	if v.State != check.Supported || !strings.Contains(v.Title, "GET /sold/{id}") || !strings.Contains(v.Title, "for 699 ms") && !strings.Contains(v.Title, "for 700 ms") {
		t.Errorf("%s: %s %s", v.State, v.Title, v.Summary)
	}
}
