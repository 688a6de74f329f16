using System;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    /// <summary>Where the chain of each hash begins: the entry's index + 1, or 0.</summary>
    /// <remarks>Their number is a prime, as in the standard collections: hashes in steps of any size spread, and those
    /// in a row stay in a row, which caches like. The remainder is taken with two multiplications (Lemire, Kaser, Kurz:
    /// Faster remainder by direct computation, 2019) instead of a division.</remarks>
    internal struct Buckets
    {
        const int Shift = 14, ChunkLength = 1 << Shift, Mask = ChunkLength - 1; // 64 KB

        ChunkTable<int> _chunks;
        ulong _multiplier;

        /// <summary>How many there are.</summary>
        internal int Length;

        static readonly int[][] None = { new int[1] };

        /// <summary>One that is never written to: nothing is found in it.</summary>
        internal static Buckets Empty => new Buckets { _chunks = new ChunkTable<int> { Near = None, Count = 1 }, _multiplier = ulong.MaxValue };

        /// <summary>The bucket of a hash.</summary>
        internal ref int this[int hash]
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get
            {
                // The multiplier of the empty one makes 0 of everything but what is 0 already.
                int at = IntPtr.Size == 8 ? (int)(((((_multiplier * (uint)hash) >> 32) + 1) * (uint)Length) >> 32) : Divided((uint)hash);
                return ref _chunks[at >> Shift][at & Mask];
            }
        }

        int Divided(uint hash) => Length == 0 ? 0 : (int)(hash % (uint)Length);

        /// <summary>Makes them at least so many, all empty. Full chunks are used again.</summary>
        internal void Reset(int wanted)
        {
            Length = Prime.AtLeast(wanted);
            _multiplier = ulong.MaxValue / (uint)Length + 1;
            ChunkTable<int> before = _chunks;
            _chunks = ChunkTable<int>.Empty;
            int used = 0;
            for (int left = Length; left > 0; left -= ChunkLength)
            {
                int length = Math.Min(left, ChunkLength);
                int[]? again = null;
                while (again == null && used < before.Count)
                {
                    again = before[used++];
                    if (again.Length != length || again == None[0]) again = null;
                }
                if (again != null) Array.Clear(again, 0, length);
                _chunks.Add(again ?? new int[length]);
            }
        }

        /// <summary>Empties all.</summary>
        internal void Clear()
        {
            if (Length == 0) return;
            for (int i = 0; i < _chunks.Count; i++) Array.Clear(_chunks[i], 0, _chunks[i].Length);
        }
    }

    internal static class Prime
    {
        /// <summary>The smallest prime from a number on, or the largest one that an int can be.</summary>
        internal static int AtLeast(int n)
        {
            if (n <= 3) return 3;
            for (long p = (uint)n | 1; p < int.MaxValue; p += 2)
            {
                if (Is(p)) return (int)p;
            }
            return int.MaxValue;
        }

        static bool Is(long odd)
        {
            for (long d = 3; d * d <= odd; d += 2)
            {
                if (odd % d == 0) return false;
            }
            return true;
        }
    }
}
