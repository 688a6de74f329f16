using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    /// <summary>Says which of two comes first. Structs, so that the compiler makes a merge of its own for each.</summary>
    internal interface IOrder<T>
    {
        bool Less(T x, T y);
    }

    internal readonly struct OrderBy<T> : IOrder<T>
    {
        readonly IComparer<T> _comparer;

        internal OrderBy(IComparer<T> comparer) => _comparer = comparer;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool Less(T x, T y) => _comparer.Compare(x, y) < 0;
    }

    /// <summary>The elements' own order: of integers one instruction, since the compiler knows which type it is.</summary>
    internal readonly struct NaturalOrder<T> : IOrder<T>
    {
        readonly IComparer<T> _comparer;

        internal NaturalOrder(IComparer<T> comparer) => _comparer = comparer;

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool Less(T x, T y)
        {
            if (typeof(T) == typeof(int)) return (int)(object)x! < (int)(object)y!;
            if (typeof(T) == typeof(long)) return (long)(object)x! < (long)(object)y!;
            if (typeof(T) == typeof(uint)) return (uint)(object)x! < (uint)(object)y!;
            if (typeof(T) == typeof(ulong)) return (ulong)(object)x! < (ulong)(object)y!;
            if (typeof(T) == typeof(short)) return (short)(object)x! < (short)(object)y!;
            if (typeof(T) == typeof(ushort)) return (ushort)(object)x! < (ushort)(object)y!;
            if (typeof(T) == typeof(byte)) return (byte)(object)x! < (byte)(object)y!;
            if (typeof(T) == typeof(char)) return (char)(object)x! < (char)(object)y!;
            return _comparer.Compare(x, y) < 0;
        }
    }

    /// <summary>Merges sorted chunks to one sorted list, with as few chunks more as can be.</summary>
    /// <remarks>What is merged goes to other chunks; those that were read to their end are the next to be written.
    /// Two more than there are suffice: of each side one is half read.</remarks>
    internal sealed class ChunkMerge<T, TOrder> where TOrder : struct, IOrder<T>
    {
        readonly TOrder _order;
        readonly Stack<T[]> _free = new Stack<T[]>();
        Exception? _thrown;

        internal ChunkMerge(TOrder order) => _order = order;

        /// <summary>Merges all. If a comparison throws, it returns that; all elements are there then, in some order.</summary>
        internal Exception? All(ref ChunkTable<T> chunks, int count)
        {
            int used = (int)(((long)count + Chunk<T>.ListMask) >> Chunk<T>.ListShift);
            for (long width = 1; width < used && _thrown == null; width *= 2)
            {
                var merged = ChunkTable<T>.Empty;
                for (long at = 0; at < used; at += 2 * width)
                {
                    int middle = (int)Math.Min(at + width, used), end = (int)Math.Min(at + 2 * width, used);
                    if (_thrown != null || InOrder(chunks, middle, end))
                    {
                        for (int i = (int)at; i < end; i++) merged.Add(chunks[i]);
                    }
                    else
                    {
                        Pair(chunks, (int)at, middle, end, count, ref merged);
                    }
                }
                for (int i = used; i < chunks.Count; i++) merged.Add(chunks[i]);
                chunks = merged;
            }
            return _thrown;
        }

        bool InOrder(in ChunkTable<T> chunks, int middle, int end)
        {
            if (middle == end) return true;
            try
            {
                return !_order.Less(chunks[middle][0], chunks[middle - 1][Chunk<T>.ListMask]);
            }
            catch (Exception e)
            {
                _thrown = e;
                return true;
            }
        }

        /// <summary>Merges the chunks before the middle with those from there on. Only the last of all is not full.</summary>
        void Pair(in ChunkTable<T> chunks, int a, int middle, int b_end, int count, ref ChunkTable<T> merged)
        {
            int b = middle, length = Chunk<T>.ListLength;
            T[] left = chunks[a], right = chunks[b], to = Take();
            int i = 0, j = 0, k = 0, rightEnd = LengthOf(b, count);
            while (true)
            {
                // For so many steps no chunk ends, whichever side they take from.
                int steps = Math.Min(Math.Min(length - i, rightEnd - j), length - k);
                Steps(left, ref i, right, ref j, to, ref k, steps);
                if (k == length)
                {
                    merged.Add(to);
                    k = 0;
                    to = null!; // what was just read to its end will do
                }
                if (i == length)
                {
                    Clear(left);
                    _free.Push(left);
                    if (++a == middle) break;
                    left = chunks[a];
                    i = 0;
                }
                if (j == rightEnd)
                {
                    Clear(right);
                    _free.Push(right);
                    if (++b == b_end) break;
                    right = chunks[b];
                    rightEnd = LengthOf(b, count);
                    j = 0;
                }
                to ??= Take();
            }
            // One side is at its end: the rest of the other follows.
            for (; a < middle; a++, i = 0) Rest(chunks[a], i, length, ref to, ref k, ref merged);
            for (; b < b_end; b++, j = 0) Rest(chunks[b], j, LengthOf(b, count), ref to, ref k, ref merged);
            if (k > 0) merged.Add(to);
            else if (to != null) _free.Push(to);
        }

        void Steps(T[] left, ref int left_i, T[] right, ref int right_j, T[] to, ref int to_k, int steps)
        {
            int i = left_i, j = right_j, k = to_k;
            try
            {
                if (_thrown == null)
                {
                    for (int end = k + steps; k < end; k++)
                    {
                        T x = left[i], y = right[j];
                        if (_order.Less(y, x))
                        {
                            to[k] = y;
                            j++;
                        }
                        else
                        {
                            to[k] = x;
                            i++;
                        }
                    }
                }
                else
                {
                    Array.Copy(left, i, to, k, steps);
                    i += steps;
                    k += steps;
                }
            }
            catch (Exception e)
            {
                _thrown = e;
            }
            left_i = i;
            right_j = j;
            to_k = k;
        }

        void Rest(T[] from, int i, int end, ref T[] to, ref int k, ref ChunkTable<T> merged)
        {
            if (k == 0 && i == 0)
            {
                if (to != null) _free.Push(to);
                to = null!;
                merged.Add(from);
                return;
            }
            while (i < end)
            {
                to ??= Take();
                int n = Math.Min(end - i, to.Length - k);
                Array.Copy(from, i, to, k, n);
                i += n;
                k += n;
                if (k == to.Length)
                {
                    merged.Add(to);
                    to = null!;
                    k = 0;
                }
            }
            Clear(from);
            _free.Push(from);
        }

        T[] Take() => _free.Count > 0 ? _free.Pop() : new T[Chunk<T>.ListLength];

        static int LengthOf(int chunk, int count) => (int)Math.Min(Chunk<T>.ListLength, count - ((long)chunk << Chunk<T>.ListShift));

        static void Clear(T[] chunk)
        {
            if (Chunk<T>.HasReferences) Array.Clear(chunk, 0, chunk.Length);
        }
    }
}
