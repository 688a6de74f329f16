using System;
using System.Threading;

namespace CustomsCodes
{
    // The catalogue as it was read last. Who finds it out of date puts another one in its
    // place that is read when it is first asked for, once: a Lazy sees to that, and whoever
    // asks meanwhile waits for it. With FAULT=0 the next one is read before it is needed,
    // and the last one holds until it is there.
    public sealed class CatalogueCache : IDisposable
    {
        static readonly TimeSpan valid = TimeSpan.FromSeconds(2);

        readonly Office office;
        readonly Timer ahead;
        Edition current;

        public CatalogueCache(Office office)
        {
            this.office = office;
            if (Environment.GetEnvironmentVariable("FAULT") != "0")
                return;
            current = new Edition(office);
            _ = current.Content.Value;
            ahead = new Timer(_ => ReadAhead(), null, valid, Timeout.InfiniteTimeSpan);
        }

        public Catalogue Current
        {
            get
            {
                Edition edition = Volatile.Read(ref current);
                if (edition == null || edition.IsOver && ahead == null)
                {
                    var next = new Edition(office);
                    Edition before = Interlocked.CompareExchange(ref current, next, edition);
                    edition = before == edition ? next : before; // another was faster
                }
                return edition.Content.Value;
            }
        }

        void ReadAhead()
        {
            var next = new Edition(office);
            _ = next.Content.Value;
            Volatile.Write(ref current, next);
            ahead.Change(valid, Timeout.InfiniteTimeSpan);
        }

        public void Dispose() => ahead?.Dispose();

        sealed class Edition
        {
            readonly long until = Environment.TickCount64 + (long)valid.TotalMilliseconds;

            public readonly Lazy<Catalogue> Content;

            public Edition(Office office) => Content = new Lazy<Catalogue>(() => Catalogue.ReadFrom(office), LazyThreadSafetyMode.ExecutionAndPublication);

            public bool IsOver => Environment.TickCount64 >= until;
        }
    }
}
