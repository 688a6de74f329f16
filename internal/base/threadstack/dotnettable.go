package threadstack

import "github.com/unstall/unstall/internal/base/evidence"

// dotnetRoles are the methods that threads of a kind begin with.
//
//	3.1   _ThreadPoolWaitCallback.PerformWaitCallback, called by native code, which also
//	      has a thread of the pool fire the timers that are due
//	6–    PortableThreadPool: https://github.com/dotnet/runtime/tree/main/src/libraries/System.Private.CoreLib/src/System/Threading
//	8–    WindowsThreadPool, with System.Threading.ThreadPool.UseWindowsThreadPool
var dotnetRoles = []struct {
	prefix string
	role   Role
}{
	{"System.Threading.PortableThreadPool+WorkerThread.", Worker},
	{"System.Threading.PortableThreadPool+GateThread.", Gate},
	{"System.Threading.PortableThreadPool+WaitThread.", Runtime},
	{"System.Threading.PortableThreadPool+IOCompletionPoller.", IO},
	{"System.Threading.WindowsThreadPool.DispatchCallback", Worker},
	{"System.Threading._ThreadPoolWaitCallback.PerformWaitCallback", Worker},
	{"System.Threading._ThreadPoolWaitOrTimerCallback.", Worker},
	{"System.Threading.ThreadPoolWorkQueue.Dispatch", Worker},
	{"System.Threading.TimerQueue.AppDomainTimerCallback", Worker},
	{"System.Threading.TimerQueue.FireNextTimers", Worker},
	{"System.Threading._IOCompletionCallback.", IO},
	{"System.Threading.TimerQueue.TimerThread", Timer},
	{"System.Threading.TimerQueue+TimerThread", Timer},
	{"System.Net.Sockets.SocketAsyncEngine.EventLoop", IO},
	{"System.Net.Sockets.SocketAsyncEngine+<>c.", IO},
	{"System.GC.RunFinalizers", Finalizer},
	{"System.Threading.TieredCompilation", Runtime},
	{"System.Runtime.TieredCompilation", Runtime},
	{"System.Diagnostics.Tracing.", Runtime},
	{"System.IO.FileSystemWatcher+RunningInstance.", Runtime},
	{"System.Runtime.InteropServices.PosixSignalRegistration", Runtime},
	{"Microsoft.Extensions.Logging.Console.ConsoleLoggerProcessor.", Runtime},
	{"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.Heartbeat.", Runtime},
	{"Microsoft.AspNetCore.Server.Kestrel.Transport.Libuv.Internal.LibuvThread.", IO},
}

// dispatchFrames are on the stack of a pool thread with a work item.
var dispatchFrames = []string{"System.Threading.ThreadPoolWorkQueue.Dispatch", "System.Threading._ThreadPoolWaitCallback.", "System.Threading._ThreadPoolWaitOrTimerCallback.",
	"System.Threading.TimerQueue.FireNextTimers"}

// requestFrames are on the stack of a thread that works on a request; serverFrames begin alike, but their threads serve none.
var (
	requestFrames = []string{"Microsoft.AspNetCore.", "System.Web.HttpRuntime.", "System.Web.HttpApplication", "System.Web.Hosting.PipelineRuntime", "Microsoft.Owin."}
	serverFrames  = []string{"Microsoft.AspNetCore.Connections.", "Microsoft.AspNetCore.Http.Connections.Client.", "Microsoft.AspNetCore.SignalR.Client.",
		"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.", "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.ConnectionDispatcher",
		"Microsoft.AspNetCore.Server.Kestrel.Transport.", "Microsoft.AspNetCore.Server.Kestrel.Core.KestrelServer", "Microsoft.AspNetCore.Builder.WebApplication.",
		"Microsoft.AspNetCore.Hosting.WebHostExtensions.", "Microsoft.AspNetCore.Hosting.WebHost", "Microsoft.AspNetCore.Hosting.GenericWebHost"}
)

// dotnetWait is a method in which a thread waits.
type dotnetWait struct {
	prefix  string
	state   evidence.Kind
	pattern string   // "" keeps the pattern found further in
	rank    int      // a lower one further out does not replace a higher one
	native  bool     // only if the thread was in native code: else it has just been called
	not     []string // what must not follow the prefix
}

// Ranks: the primitives that all waits use; what is waited for; the network and files, which both use.
const (
	rankPrimitive = 1 + iota
	rankTask
	rankIO
)

// dotnetWaits, first match wins.
var dotnetWaits = []dotnetWait{
	{"System.Threading.Thread.Sleep", evidence.SleepWait, "Thread.Sleep", rankPrimitive, false, nil},
	{"System.Threading.Thread.Join", evidence.SyncWait, "Thread.Join", rankPrimitive, false, nil},
	{"System.Threading.Monitor.Wait", evidence.SyncWait, "Monitor.Wait", rankPrimitive, false, nil},
	{"System.Threading.Monitor.ObjWait", evidence.SyncWait, "Monitor.Wait", rankPrimitive, false, nil},
	{"System.Threading.Condition.", evidence.SyncWait, "Monitor.Wait", rankPrimitive, false, nil},
	{"System.Threading.Monitor.Enter", evidence.LockWait, "lock", rankPrimitive, false, nil},
	{"System.Threading.Monitor.ReliableEnter", evidence.LockWait, "lock", rankPrimitive, false, nil},
	{"System.Threading.Monitor.TryEnter", evidence.LockWait, "lock", rankPrimitive, false, nil},
	{"System.Threading.Lock.", evidence.LockWait, "lock", rankPrimitive, false, []string{"Exit"}},
	{"System.Threading.ReaderWriterLock", evidence.LockWait, "ReaderWriterLock", rankPrimitive, false, []string{".Exit", ".Release", "Slim.Exit"}},
	{"System.Threading.WaitHandle.WaitAny", evidence.SyncWait, "WaitHandle.WaitAny", rankPrimitive, false, nil},
	{"System.Threading.WaitHandle.WaitAll", evidence.SyncWait, "WaitHandle.WaitAll", rankPrimitive, false, nil},
	{"System.Threading.WaitHandle.", evidence.SyncWait, "WaitHandle.WaitOne", rankPrimitive, false, nil},
	{"System.Threading.ManualResetEventSlim.Wait", evidence.SyncWait, "ManualResetEventSlim.Wait", rankPrimitive, false, nil},
	{"System.Threading.CountdownEvent.Wait", evidence.SyncWait, "CountdownEvent.Wait", rankPrimitive, false, nil},
	{"System.Threading.Barrier.SignalAndWait", evidence.SyncWait, "Barrier.SignalAndWait", rankPrimitive, false, nil},
	{"System.Threading.SpinWait.SpinUntil", evidence.SyncWait, "SpinWait.SpinUntil", rankPrimitive, false, nil},
	{"System.Threading.SemaphoreSlim.Wait", evidence.PoolWait, "SemaphoreSlim.Wait", rankPrimitive, false, []string{"Async"}},
	{"System.Collections.Concurrent.BlockingCollection.TryTake", evidence.SyncWait, "BlockingCollection.Take", rankPrimitive, false, nil},
	{"System.Collections.Concurrent.BlockingCollection.Take", evidence.SyncWait, "BlockingCollection.Take", rankPrimitive, false, nil},
	{"System.Collections.Concurrent.BlockingCollection.", evidence.SyncWait, "BlockingCollection.Add", rankPrimitive, false, []string{"GetConsumingEnumerable"}},
	{"System.Diagnostics.Process.WaitForExit", evidence.SyncWait, "Process.WaitForExit", rankPrimitive, false, []string{"Async"}},

	{"System.Threading.Tasks.Task.SpinThenBlockingWait", evidence.TaskWait, taskWait, rankTask, false, nil},
	{"System.Threading.Tasks.Task.InternalWait", evidence.TaskWait, taskWait, rankTask, false, nil},
	{"System.Threading.Tasks.Task.WaitAll", evidence.TaskWait, "Task.WaitAll", rankTask, false, nil},
	{"System.Threading.Tasks.Task.WaitAny", evidence.TaskWait, "Task.WaitAny", rankTask, false, nil},
	{"System.Threading.Tasks.Task.Wait", evidence.TaskWait, ".Wait()", rankTask, false, []string{"Async"}},
	{"System.Threading.Tasks.Task.GetResultCore", evidence.TaskWait, ".Result", rankTask, false, nil},
	{"System.Threading.Tasks.Task.get_Result", evidence.TaskWait, ".Result", rankTask, false, nil},
	{"System.Threading.Tasks.ValueTask.get_Result", evidence.TaskWait, ".Result", rankTask, false, nil},
	{"System.Runtime.CompilerServices.TaskAwaiter.", evidence.TaskWait, awaiter, rankTask, true, []string{"UnsafeOnCompleted", "OnCompleted", "OutputWaitEtwEvents", "<"}},
	{"System.Runtime.CompilerServices.ConfiguredTaskAwaitable+ConfiguredTaskAwaiter.GetResult", evidence.TaskWait, awaiter, rankTask, true, nil},
	{"System.Runtime.CompilerServices.ValueTaskAwaiter.GetResult", evidence.TaskWait, awaiter, rankTask, true, nil},
	{"System.Runtime.CompilerServices.ConfiguredValueTaskAwaitable+ConfiguredValueTaskAwaiter.GetResult", evidence.TaskWait, awaiter, rankTask, true, nil},
	{"System.Threading.Tasks.Parallel.", evidence.TaskWait, "Parallel", rankTask, true, []string{"<"}},
	{"System.Threading.Tasks.TaskReplicator.", evidence.TaskWait, "Parallel", rankTask, true, nil},
	{"System.Linq.Parallel.", evidence.TaskWait, "PLINQ", rankTask, true, nil},

	{"System.Net.Sockets.Socket.Receive", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.Sockets.Socket.Send", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.Sockets.Socket.Connect", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.Sockets.Socket.Accept", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.Sockets.Socket.Poll", evidence.NetWait, "", rankIO, true, nil},
	{"System.Net.Sockets.Socket.Select", evidence.NetWait, "", rankIO, true, nil},
	{"System.Net.Sockets.SocketAsyncContext.PerformSyncOperation", evidence.NetWait, "", rankIO, true, nil},
	{"System.Net.Sockets.NetworkStream.Read", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.Sockets.NetworkStream.Write", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.Sockets.TcpClient.Connect", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.Security.SslStream.Read", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.Security.SslStream.Write", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.Security.SslStream.Authenticate", evidence.NetWait, "", rankIO, true, nil},
	{"System.Net.Http.HttpClient.Send", evidence.NetWait, "", rankIO, true, []string{"Async"}},
	{"System.Net.HttpWebRequest.GetResponse", evidence.NetWait, "", rankIO, true, nil},
	{"System.Net.WebClient.", evidence.NetWait, "", rankIO, true, nil},
	{"System.Net.Dns.Get", evidence.NetWait, "", rankIO, true, nil},
	{"System.Net.NameResolutionPal.", evidence.NetWait, "", rankIO, true, nil},
	{"System.Data.SqlClient.Sql", evidence.NetWait, "", rankIO, true, nil},
	{"Microsoft.Data.SqlClient.Sql", evidence.NetWait, "", rankIO, true, nil},
	{"Npgsql.Npgsql", evidence.NetWait, "", rankIO, true, nil},
	{"MySqlConnector.MySql", evidence.NetWait, "", rankIO, true, nil},
	{"MySql.Data.MySqlClient.MySql", evidence.NetWait, "", rankIO, true, nil},
	{"Oracle.ManagedDataAccess.Client.Oracle", evidence.NetWait, "", rankIO, true, nil},
	{"MongoDB.Driver.Mongo", evidence.NetWait, "", rankIO, true, nil},
	{"StackExchange.Redis.Redis", evidence.NetWait, "", rankIO, true, nil},
	{"StackExchange.Redis.ConnectionMultiplexer.ExecuteSync", evidence.NetWait, "", rankIO, true, nil},
	{"RabbitMQ.Client.", evidence.NetWait, "", rankIO, true, nil},
	{"System.IO.FileStream.", evidence.Syscall, "", rankIO, true, nil},
	{"System.IO.RandomAccess.", evidence.Syscall, "", rankIO, true, nil},
	{"System.IO.File.", evidence.Syscall, "", rankIO, true, nil},
	{"System.IO.Strategies.", evidence.Syscall, "", rankIO, true, nil},
	{"System.IO.Pipes.", evidence.Syscall, "", rankIO, true, nil},
	{"System.IO.Stream.CopyTo", evidence.KindUnknown, "", rankIO, true, []string{"Async"}},
	{"System.IO.StreamReader.Read", evidence.KindUnknown, "", rankIO, true, []string{"Async"}},
	{"System.IO.StreamWriter.", evidence.KindUnknown, "", rankIO, true, nil},
	{"System.IO.BufferedStream.", evidence.KindUnknown, "", rankIO, true, nil},
	{"System.ConsolePal", evidence.Syscall, "", rankIO, true, nil},
	{"System.Console.", evidence.Syscall, "", rankIO, true, nil},
}

const (
	awaiter  = "GetAwaiter().GetResult()"
	taskWait = ".Result or .Wait()" // what was called is not on the stack: inlined, or left out by .NET 10's stack walks
)

// HiddenSleep is the pattern of a thread whose own code seems to call native code itself, before .NET 6: there Thread.Sleep is inlined into
// its caller and leaves no frame.
const HiddenSleep = "Thread.Sleep or native code"

// beforeSix are on every stack of a pool's thread, or of one the program started, of
// .NET Core 3.1 and .NET 5, and on none of later versions.
var beforeSix = []string{"System.Threading._ThreadPoolWaitCallback.", "System.Threading.ThreadHelper."}

// asyncPlumbing starts or continues the body of an async method.
var asyncPlumbing = []string{"System.Runtime.CompilerServices.AsyncMethodBuilderCore.", "System.Runtime.CompilerServices.AsyncTaskMethodBuilder",
	"System.Runtime.CompilerServices.AsyncValueTaskMethodBuilder", "System.Runtime.CompilerServices.AsyncVoidMethodBuilder"}

// waitPlumbing spins before it waits, or lies between native code and the calls above.
var waitPlumbing = append([]string{"System.Threading.", "Microsoft.Win32.SafeHandles.", "System.Net.Sockets.", "System.IO.", "Internal.",
	"System.Runtime.InteropServices.", "System.StubHelpers"}, nativeCalls...)

// nativeCalls are frames that show a call into native code where the native frame itself is missing.
var nativeCalls = []string{"Interop", "dynamicClass.IL_STUB_PInvoke", "ILStubClass.IL_STUB_PInvoke", "DynamicClass.IL_STUB_PInvoke"}
