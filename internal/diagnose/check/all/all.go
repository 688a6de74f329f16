// Package all lists the causes. One more cause is a file in its field's folder
// and a line here.
package all

import (
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/dotnet"
	"github.com/unstall/unstall/internal/diagnose/check/golang"
	"github.com/unstall/unstall/internal/diagnose/check/jvm"
	"github.com/unstall/unstall/internal/diagnose/check/linux"
	"github.com/unstall/unstall/internal/diagnose/check/redis"
	"github.com/unstall/unstall/internal/diagnose/check/service"
)

// Causes in the order in which equals are listed.
var Causes = []check.Check{
	golang.ForcedGC, // before cycles that the pacer starts, those that need not be
	golang.GCRate,
	golang.MemoryLimitThrash,
	golang.LockContention,
	golang.GoroutineLeak,
	dotnet.LockContention, // before what it looks like
	dotnet.ThreadPoolStarvation,
	dotnet.HeapLeak,  // before the collections it makes
	dotnet.GCStarved, // before collections that are long for it
	dotnet.InducedGC, // before collections in general, those that need not be
	dotnet.LOHChurn,
	dotnet.MidLife,
	dotnet.Gen2Pause,
	jvm.LockContention, // before what it looks like
	jvm.PinnedThread,   // before the pool of carriers that it exhausts
	jvm.GCKernelTime,   // before collections that are long or many for it
	jvm.GCStarved,
	jvm.OldGenLeak, // before the full collections it makes
	jvm.ExplicitGC, // before collections in general, those that need not be
	jvm.MetaspaceGC,
	jvm.CMSConcurrentModeFailure,
	jvm.G1EvacuationFailure,
	jvm.G1Humongous,
	jvm.AllocationStall,
	jvm.DegeneratedGC,
	jvm.Safepoint,
	jvm.FullGC,
	jvm.LongPause,
	jvm.YoungGCRate,
	redis.SlowCommand, // what Redis says of itself comes before what the kernel shows of it
	redis.Fork,
	redis.AOFFsync,
	redis.MemoryLimit,
	redis.BigValue,
	redis.NetworkBound,
	redis.Connections,
	redis.CPUSaturated,    // before it those that make the thread busy
	service.RowLock,       // before calls that take long for it
	service.CacheStampede, // likewise
	service.RetryStorm,
	service.BlockedLoop, // before what the loop waits for, and the pool that it looks like
	service.ChattyCalls, // before calls that take long, which many together do
	service.DependencySlow,
	service.PoolExhausted,
	service.OverCapacity,
	service.TrafficSurge,
	linux.CPUThrottled,   // before what looks the same from inside
	linux.NoisyNeighbour, // the more specific of the two comes first
	linux.CPUSaturation,
	linux.THPStall, // before the reclaim that goes with it, and the faults that it makes long
	linux.Swap,     // before freeing memory, which goes with it
	linux.MemoryReclaim,
	linux.DiskSync,
	linux.DiskBusy,
	linux.Softirq,
	linux.Futex,
	linux.PageFaults,
	service.AcceptQueue, // where nothing within the service is why it takes up requests late
	service.OwnWork,     // the last two: what the others leave
	service.Waiting,
}
