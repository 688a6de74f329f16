using System;
using System.Collections.Generic;

namespace Unstall.Collections
{
    // Order: sorting, searching in what is sorted, reversing.
    public sealed partial class ChunkedList<T>
    {
        /// <summary>Sorts the list by the elements' own order. Equal elements may change places.</summary>
        /// <exception cref="InvalidOperationException">Elements cannot be compared.</exception>
        public void Sort() => Sort(0, _count, null);

        /// <summary>Sorts the list. Equal elements may change places.</summary>
        /// <param name="comparer">Compares two elements; null for their own order.</param>
        /// <exception cref="InvalidOperationException">The comparer threw, or elements cannot be compared.</exception>
        public void Sort(IComparer<T>? comparer) => Sort(0, _count, comparer);

        /// <summary>Sorts the list. Equal elements may change places.</summary>
        /// <param name="comparison">Compares two elements.</param>
        /// <exception cref="ArgumentNullException"><paramref name="comparison"/> is null.</exception>
        /// <exception cref="InvalidOperationException">The comparison threw.</exception>
        public void Sort(Comparison<T> comparison)
        {
            if (comparison == null) Throw.Null(nameof(comparison));
            Sort(0, _count, Comparer<T>.Create(comparison!));
        }

        /// <summary>Sorts some elements. Equal ones may change places.</summary>
        /// <param name="index">The first of them.</param>
        /// <param name="count">How many.</param>
        /// <param name="comparer">Compares two elements; null for their own order.</param>
        /// <exception cref="ArgumentOutOfRangeException">One of both is negative.</exception>
        /// <exception cref="ArgumentException">There are not so many.</exception>
        /// <exception cref="InvalidOperationException">The comparer threw, or elements cannot be compared.</exception>
        public void Sort(int index, int count, IComparer<T>? comparer)
        {
            CheckRange(index, count);
            _version++;
            if (count < 2) return;
            int at = index & Chunk<T>.ListMask;
            if (at + count <= Chunk<T>.ListLength)
            {
                Array.Sort(ChunkOf(index), at, count, comparer);
            }
            else if (index == 0 && count == _count)
            {
                SortChunks(comparer);
            }
            else
            {
                ChunkedList<T> range = GetRange(index, count);
                try
                {
                    range.Sort(0, count, comparer);
                }
                finally
                {
                    foreach (Span<T> sorted in range.Chunks) Overwrite(ref index, sorted);
                }
            }
        }

        void Overwrite(ref int index, ReadOnlySpan<T> items)
        {
            while (!items.IsEmpty)
            {
                Span<T> to = Run(index, _count);
                int n = Math.Min(to.Length, items.Length);
                items.Slice(0, n).CopyTo(to);
                items = items.Slice(n);
                index += n;
            }
        }

        void SortChunks(IComparer<T>? comparer)
        {
            for (int i = 0; i < _count; i += Chunk<T>.ListLength)
            {
                Array.Sort(ChunkOf(i), 0, Math.Min(Chunk<T>.ListLength, _count - i), comparer);
            }
            comparer ??= Comparer<T>.Default;
            ChunkTable<T> table = Table;
            Exception? thrown = ReferenceEquals(comparer, Comparer<T>.Default)
                ? new ChunkMerge<T, NaturalOrder<T>>(new NaturalOrder<T>(comparer)).All(ref table, _count)
                : new ChunkMerge<T, OrderBy<T>>(new OrderBy<T>(comparer)).All(ref table, _count);
            Table = table;
            PlaceTail();
            if (thrown != null) throw new InvalidOperationException("Failed to compare two elements in the list.", thrown);
        }

        /// <summary>Finds an element in the list, which is sorted by the elements' own order.</summary>
        /// <param name="item">What the element is equal to.</param>
        /// <returns>Its index, or the complement (~) of the index of the first larger element.</returns>
        /// <exception cref="InvalidOperationException">Elements cannot be compared.</exception>
        public int BinarySearch(T item) => BinarySearch(0, _count, item, null);

        /// <summary>Finds an element in the list, which is sorted.</summary>
        /// <param name="item">What the element is equal to.</param>
        /// <param name="comparer">What it is sorted by; null for the elements' own order.</param>
        /// <returns>Its index, or the complement (~) of the index of the first larger element.</returns>
        /// <exception cref="InvalidOperationException">The comparer threw, or elements cannot be compared.</exception>
        public int BinarySearch(T item, IComparer<T>? comparer) => BinarySearch(0, _count, item, comparer);

        /// <summary>Finds an element among some, which are sorted.</summary>
        /// <param name="index">The first of the some.</param>
        /// <param name="count">How many they are.</param>
        /// <param name="item">What the element is equal to.</param>
        /// <param name="comparer">What they are sorted by; null for the elements' own order.</param>
        /// <returns>Its index, or the complement (~) of the index of the first larger element.</returns>
        /// <exception cref="ArgumentOutOfRangeException">One of both numbers is negative.</exception>
        /// <exception cref="ArgumentException">There are not so many.</exception>
        /// <exception cref="InvalidOperationException">The comparer threw, or elements cannot be compared.</exception>
        public int BinarySearch(int index, int count, T item, IComparer<T>? comparer)
        {
            CheckRange(index, count);
            comparer ??= Comparer<T>.Default;
            int low = index, high = index + count - 1;
            try
            {
                while (low <= high)
                {
                    int middle = low + ((high - low) >> 1);
                    int order = comparer.Compare(ChunkOf(middle)[middle & Chunk<T>.ListMask], item);
                    if (order == 0) return middle;
                    if (order < 0) low = middle + 1;
                    else high = middle - 1;
                }
            }
            catch (Exception e)
            {
                throw new InvalidOperationException("Failed to compare two elements in the list.", e);
            }
            return ~low;
        }

        /// <summary>Turns the order around.</summary>
        public void Reverse() => Reverse(0, _count);

        /// <summary>Turns the order of some elements around.</summary>
        /// <param name="index">The first of them.</param>
        /// <param name="count">How many.</param>
        /// <exception cref="ArgumentOutOfRangeException">One of both is negative.</exception>
        /// <exception cref="ArgumentException">There are not so many.</exception>
        public void Reverse(int index, int count)
        {
            CheckRange(index, count);
            _version++;
            for (int i = index, j = index + count - 1; i < j; i++, j--)
            {
                T[] first = ChunkOf(i), last = ChunkOf(j);
                int a = i & Chunk<T>.ListMask, b = j & Chunk<T>.ListMask;
                T item = first[a];
                first[a] = last[b];
                last[b] = item;
            }
        }
    }
}
