using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;

namespace MemoryGuard
{
    // Who is told when the process has come to its limit.
    public interface IMemoryObserver
    {
        void LimitReached(long privateBytes, long limit);
    }

    // Compares the private bytes of the process with a part of the memory it may have,
    // once a second, and tells its observers when there are more. However much of the
    // machine's memory is free, it does not look at that.
    public sealed class PrivateBytesMonitor : IDisposable
    {
        private static readonly TimeSpan Infrequently = TimeSpan.FromSeconds(2);

        private readonly List<IMemoryObserver> observers = new List<IMemoryObserver>();
        private readonly Timer timer;
        private DateTime told = DateTime.MinValue;

        public PrivateBytesMonitor(int percent)
        {
            Limit = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 100 * percent;
            timer = new Timer(_ => MonitorThread(), null, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(1));
        }

        public long Limit { get; }

        public void Subscribe(IMemoryObserver observer)
        {
            lock (observers)
                observers.Add(observer);
        }

        public void Dispose() => timer.Dispose();

        private void MonitorThread()
        {
            var bytes = PrivateBytes();
            if (bytes > Limit && DateTime.UtcNow - told > Infrequently)
                CollectInfrequently(bytes);
        }

        private void CollectInfrequently(long bytes)
        {
            told = DateTime.UtcNow;
            AlertObservers(bytes);
        }

        private void AlertObservers(long bytes)
        {
            IMemoryObserver[] all;
            lock (observers)
                all = observers.ToArray();
            foreach (var observer in all)
                observer.LimitReached(bytes, Limit);
        }

        // What is resident and no file's: /proc/self/statm counts pages.
        private static long PrivateBytes()
        {
            var fields = File.ReadAllText("/proc/self/statm").Split(' ');
            return (long.Parse(fields[1]) - long.Parse(fields[2])) * Environment.SystemPageSize;
        }
    }

    // Has the memory collected that is private to the process.
    public sealed class CollectingObserver : IMemoryObserver
    {
        public void LimitReached(long privateBytes, long limit) => RequestGC();

        private static void RequestGC() => GC.Collect();
    }
}
