using System;
using System.Collections.Concurrent;
using System.Collections.Generic;

namespace RegattaTimes
{
    // When each boat passed each buoy, in seconds after its start.
    public sealed class Times
    {
        public const int Passages = 9_000_000;

        // With FAULT=0 the times are read one by one, without a lock.
        static readonly bool AtOnce = Environment.GetEnvironmentVariable("FAULT") != "0";

        readonly ConcurrentDictionary<int, int> passed = new ConcurrentDictionary<int, int>(16, Passages);
        readonly KeyValuePair<int, int>[] copied = new KeyValuePair<int, int>[Passages + 100_000];

        public Times()
        {
            for (int passage = 0; passage < Passages; passage++)
                passed[(int)(passage * 1_234_577L % Passages)] = 300 + passage % 4801;
        }

        public void Pass(int passage) => passed.AddOrUpdate(passage, 300, (_, before) => before % 5101 + 1);

        public int Find(int passage) => passed.TryGetValue(passage, out int seconds) ? seconds : 0;

        // Copies all times, for results that do not change while they are printed.
        public int CopyTimes()
        {
            if (AtOnce)
            {
                ((ICollection<KeyValuePair<int, int>>)passed).CopyTo(copied, 0);
                return Passages;
            }
            int at = 0;
            foreach (KeyValuePair<int, int> one in passed)
                copied[at++] = one;
            return at;
        }

        // Returns the best of the times copied last.
        public int FindBest(int of)
        {
            int best = int.MaxValue;
            for (int at = 0; at < of; at += 40)
                best = Math.Min(best, copied[at].Value);
            return best;
        }
    }
}
