// Package all lists the causes. Another cause is a file in its field's folder and a line here.
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

// Causes is in the order in which equal causes are listed.
var Causes = []check.Check{
	golang.ForcedGC, // before pacer-started cycles, because forced ones are avoidable
	golang.GCRate,
	golang.MemoryLimitThrash,
	golang.LockContention,
	golang.GoroutineLeak,
	dotnet.LockContention, // before its look-alikes
	dotnet.ThreadPoolStarvation,
	dotnet.HeapLeak,  // before the collections that the leak causes
	dotnet.GCStarved, // before collections that it makes long
	dotnet.InducedGC, // before collections in general, because induced ones are avoidable
	dotnet.LOHChurn,
	dotnet.MidLife,
	dotnet.Gen2Pause,
	jvm.LockContention, // before its look-alikes
	jvm.PinnedThread,   // before the pool of carriers that it exhausts
	jvm.GCKernelTime,   // before collections that it makes long or frequent
	jvm.GCStarved,
	jvm.OldGenLeak, // before the full collections that the leak causes
	jvm.ExplicitGC, // before collections in general, because explicit ones are avoidable
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
	redis.SlowCommand, // what Redis reports itself comes before what the kernel shows of it
	redis.Fork,
	redis.AOFFsync,
	redis.MemoryLimit,
	redis.BigValue,
	redis.NetworkBound,
	redis.Connections,
	redis.CPUSaturated,    // after the causes that make the thread busy
	service.RowLock,       // before calls that it makes long
	service.CacheStampede, // before calls that it makes long
	service.RetryStorm,
	service.BlockedLoop, // before what the loop waits for, and before the pool, its look-alike
	service.ChattyCalls, // before calls that take long because there are many
	service.DependencySlow,
	service.PoolExhausted,
	service.OverCapacity,
	service.TrafficSurge,
	linux.CPUThrottled,   // before causes that look the same from inside
	linux.NoisyNeighbour, // before the more general of the two
	linux.CPUSaturation,
	linux.THPStall, // before the reclaim that accompanies it, and the faults that it makes long
	linux.Swap,     // before reclaim, which accompanies it
	linux.MemoryReclaim,
	linux.DiskSync,
	linux.DiskBusy,
	linux.Softirq,
	linux.ConntrackFull, // before connections that wait because of it
	linux.Futex,
	linux.PageFaults,
	service.DelayedAck,  // before the entrance, whose unread connections follow from it
	service.AcceptQueue, // where nothing within the service explains late acceptance
	service.OwnWork,     // the last two: what the other causes leave
	service.Waiting,
}
