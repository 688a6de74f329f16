using System;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    /// <summary>The chunks of a collection, in order; itself without an array of 85,000 bytes.</summary>
    /// <remarks>The first 8,192 are one step away. The check whether a chunk is among them is the one that an array's
    /// bounds need anyway.</remarks>
    internal struct ChunkTable<T>
    {
        internal const int NearShift = 13, NearLength = 1 << NearShift; // 64 KB of references

        internal T[][] Near;
        internal T[][][]? Far;
        internal int Count;

        internal static ChunkTable<T> Empty => new ChunkTable<T> { Near = Array.Empty<T[]>() };

        /// <summary>A chunk. There is no call in it, so that loops need not read everything anew after one.</summary>
        internal T[] this[int chunk]
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get
            {
                T[][] near = Near;
                return (uint)chunk < (uint)near.Length ? near[chunk] : Far![(chunk >> NearShift) - 1][chunk & (NearLength - 1)];
            }
        }

        internal void Set(int chunk, T[] to)
        {
            if (chunk < Near.Length) Near[chunk] = to;
            else Far![(chunk >> NearShift) - 1][chunk & (NearLength - 1)] = to;
        }

        internal void Add(T[] chunk)
        {
            int at = Count;
            if (at < NearLength)
            {
                if (at == 0 || at == Near.Length) Array.Resize(ref Near, at == 0 ? 1 : Math.Min(Math.Max(4, 2 * at), NearLength)); // it may have been truncated to any length
            }
            else
            {
                int page = (at >> NearShift) - 1;
                if (Far == null) Far = new T[4][][];
                if (page == Far.Length) Array.Resize(ref Far, 2 * page);
                if ((at & (NearLength - 1)) == 0) Far[page] = new T[NearLength][];
            }
            Set(at, chunk);
            Count++;
        }

        /// <summary>Forgets the chunks from the n-th on, and what lists them where it can be smaller.</summary>
        internal void Truncate(int n)
        {
            if (n >= Count) return;
            if (n <= NearLength) Far = null;
            for (int i = n; i < Count && (i < NearLength || Far != null); i++) Set(i, null!);
            Count = n;
            if (n < Near.Length) Array.Resize(ref Near, n);
        }
    }
}
