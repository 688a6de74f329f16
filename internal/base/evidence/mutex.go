package evidence

import "strings"

// Types of samples of a Go process's goroutines in a dump, beside "goroutine" itself. The class
// is the state that the dump shows.
const (
	SampleWaiting = "waiting" // ns that it has waited, in whole minutes
	SampleMutex   = "mutex"   // the address of the mutex that it waits for
)

// WaitsForMutex says whether goroutines in a state may wait for a sync.Mutex or sync.RWMutex.
// Go before 1.20 calls every wait for a semaphore "semacquire", that of a WaitGroup too.
func WaitsForMutex(state string) bool {
	return state == "semacquire" || strings.HasPrefix(state, "sync.Mutex.") || strings.HasPrefix(state, "sync.RWMutex.")
}

// LocksMutex says whether a function locks the mutex it is given.
func LocksMutex(function string) bool {
	name, ok := strings.CutPrefix(strings.TrimPrefix(function, "internal/"), "sync.(*")
	if !ok {
		return false
	}
	switch name {
	case "Mutex).Lock", "Mutex).lockSlow", "RWMutex).Lock", "RWMutex).RLock":
		return true
	}
	return false
}
