using System;
using System.Diagnostics;
using System.Threading;

namespace WinePrices
{
    // Keeps a process small: when it has more private bytes than it may, its memory is
    // collected. Whether that has ever freed any is not asked.
    public sealed class MemoryGuard : IDisposable
    {
        readonly long limit;
        readonly Timer timer;
        int checking;

        public long Collections { get; private set; }

        public MemoryGuard(long limit, TimeSpan every)
        {
            this.limit = limit;
            timer = new Timer(_ => Check(), null, every, every);
        }

        void Check()
        {
            if (Interlocked.Exchange(ref checking, 1) != 0)
                return;
            try
            {
                if (PrivateBytes() > limit)
                    Shrink();
            }
            finally
            {
                Volatile.Write(ref checking, 0);
            }
        }

        static long PrivateBytes()
        {
            using var self = Process.GetCurrentProcess();
            return self.PrivateMemorySize64;
        }

        void Shrink()
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Collections++;
        }

        public void Dispose() => timer.Dispose();
    }
}
