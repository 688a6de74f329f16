using System;
using System.Diagnostics.Tracing;
using System.Threading;

namespace Unstall.Collections.Sample
{
    // Counts allocations in the large object heap by the runtime's own events: each such object gives a tick (those below
    // 100 KB almost each).
    sealed class LargeObjects : EventListener
    {
        const int Marker = 32 << 20;

        readonly ManualResetEventSlim _marked = new ManualResetEventSlim();
        int _seen;
        byte[]? _last;

        protected override void OnEventSourceCreated(EventSource source)
        {
            if (source.Name == "Microsoft-Windows-DotNETRuntime") EnableEvents(source, EventLevel.Verbose, (EventKeywords)1);
        }

        protected override void OnEventWritten(EventWrittenEventArgs e)
        {
            if (e.EventName == null || !e.EventName.StartsWith("GCAllocationTick") || (uint)e.Payload![1]! != 1) return;
            if ((ulong)e.Payload[3]! >= Marker) _marked.Set();
            else if (!_marked.IsSet) _seen++;
        }

        // How many there were. Events come later than what they tell of: it waits for that of an object of its own.
        public long Stop()
        {
            _last = new byte[Marker];
            if (!_marked.Wait(TimeSpan.FromSeconds(20))) throw new InvalidOperationException("the runtime's events did not come");
            return _seen;
        }
    }
}
