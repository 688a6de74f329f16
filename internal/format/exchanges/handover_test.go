package exchanges

import "testing"

// Threads that read requests hand them to workers, each of which serves one at a time.
func TestHandedOver(t *testing.T) {
	const reader, worker, other = 1, 7, 8
	var requests, calls []exchange
	want := make(map[int]int32)
	for i := range int32(30) {
		at := int64(i) * 1000
		who := []int64{worker, other}[i%2]
		requests = append(requests, exchange{came: at, begun: at, first: at + 900, last: at + 900, thread: reader, other: who})
		want[len(calls)] = i
		calls = append(calls, exchange{begun: at + 100, first: at + 400, last: at + 400, thread: who, other: who, request: -1})
		want[len(calls)] = i
		calls = append(calls, exchange{begun: at + 500, first: at + 800, last: at + 800, thread: who, other: who, request: -1})
	}
	want[len(calls)] = -1
	calls = append(calls, exchange{begun: 950, first: 990, last: 990, thread: worker, other: worker, request: -1}) // before it gets the next
	if n := handedOver(requests, calls); n != 60 {
		t.Errorf("%d calls are of requests", n)
	}
	for i := range calls {
		if calls[i].request != want[i] {
			t.Errorf("call %d is of request %d, want %d", i, calls[i].request, want[i])
		}
	}
	for i := range requests { // the threads that read also answer
		requests[i].thread = requests[i].other
	}
	for i := range calls {
		calls[i].request = -1
	}
	if n := handedOver(requests, calls); n != 0 {
		t.Errorf("%d calls are of requests, though nothing was handed over", n)
	}
}
