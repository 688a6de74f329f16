using System;
using System.Threading;
using System.Threading.Tasks;

namespace Parcels
{
    // What customers who keep a request open are told. They hear of one label in fifty.
    public sealed class Events
    {
        private TaskCompletionSource<string> next = Fresh();
        private int told;

        public async Task<string> Next(TimeSpan atMost)
        {
            using var late = new CancellationTokenSource();
            var heard = Volatile.Read(ref next).Task;
            var first = await Task.WhenAny(heard, Task.Delay(atMost, late.Token));
            late.Cancel();
            return first == heard ? await heard : null;
        }

        public Task Tell(string what)
        {
            if (Interlocked.Increment(ref told) % 50 == 0)
                Interlocked.Exchange(ref next, Fresh()).TrySetResult(what);
            return Task.CompletedTask;
        }

        private static TaskCompletionSource<string> Fresh() => new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
