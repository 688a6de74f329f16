using System;
using System.Collections.Generic;

namespace Unstall.Collections
{
    // What adds, inserts, removes and copies.
    public sealed partial class ChunkedList<T>
    {
        /// <summary>Adds the elements of a collection to the end; it may be this list.</summary>
        /// <param name="collection">The elements.</param>
        /// <exception cref="ArgumentNullException"><paramref name="collection"/> is null.</exception>
        public void AddRange(IEnumerable<T> collection)
        {
            switch (collection)
            {
                case null:
                    Throw.Null(nameof(collection));
                    break;
                case T[] array:
                    Append(array);
                    break;
                case ChunkedList<T> list:
                    for (int i = 0, end = list._count; i < end;)
                    {
                        ReadOnlySpan<T> run = list.Run(i, end);
                        Append(run);
                        i += run.Length;
                    }
                    break;
                case List<T> list:
                    for (int i = 0, end = list.Count; i < end;)
                    {
                        int n = Room(end - i);
                        list.CopyTo(i, _tail, _count - _tailStart, n);
                        _count += n;
                        i += n;
                    }
                    _version++;
                    break;
                case ICollection<T> known when known.Count <= Chunk<T>.ListLength && Room(known.Count) >= known.Count:
                    int count = known.Count;
                    known.CopyTo(_tail, _count - _tailStart);
                    _count += count;
                    _version++;
                    break;
                default:
                    foreach (T item in collection) Add(item);
                    break;
            }
        }

        /// <summary>Adds elements to the end.</summary>
        internal void Append(ReadOnlySpan<T> items)
        {
            _version++;
            while (!items.IsEmpty)
            {
                int n = Room(items.Length);
                items.Slice(0, n).CopyTo(_tail.AsSpan(_count - _tailStart));
                _count += n;
                items = items.Slice(n);
            }
        }

        /// <summary>Makes room in _tail behind the last element, and returns for how many of the wanted ones.</summary>
        int Room(int wanted)
        {
            if (wanted == 0) return 0;
            int free = _tail.Length - (_count - _tailStart);
            if (free == 0 || free < wanted && _tail.Length < Chunk<T>.ListLength)
            {
                Grow(_count + wanted);
                free = _tail.Length - (_count - _tailStart);
            }
            return Math.Min(free, wanted);
        }

        /// <summary>Inserts an element.</summary>
        /// <param name="index">Where it will be: from 0 to <see cref="Count"/>.</param>
        /// <param name="item">The element.</param>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> is not in the list.</exception>
        public void Insert(int index, T item)
        {
            if ((uint)index > (uint)_count) Throw.Index();
            if (index == _count)
            {
                Add(item);
                return;
            }
            Open(index, 1);
            ChunkOf(index)[index & Chunk<T>.ListMask] = item;
        }

        /// <summary>Inserts the elements of a collection; it may be this list.</summary>
        /// <param name="index">Where the first will be: from 0 to <see cref="Count"/>.</param>
        /// <param name="collection">The elements.</param>
        /// <exception cref="ArgumentNullException"><paramref name="collection"/> is null.</exception>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> is not in the list.</exception>
        public void InsertRange(int index, IEnumerable<T> collection)
        {
            if (collection == null) Throw.Null(nameof(collection));
            if ((uint)index > (uint)_count) Throw.Index();
            if (index == _count)
            {
                AddRange(collection!);
                return;
            }
            ChunkedList<T> items = collection as ChunkedList<T> ?? new ChunkedList<T>(collection!);
            if (items == this) items = new ChunkedList<T>(this);
            Open(index, items._count);
            for (int i = 0; i < items._count;)
            {
                Span<T> from = items.Run(i, items._count), to = Run(index + i, _count);
                int n = Math.Min(from.Length, to.Length);
                from.Slice(0, n).CopyTo(to);
                i += n;
            }
        }

        /// <summary>Moves the elements from an index on towards the end; what they leave is to be written.</summary>
        void Open(int index, int n)
        {
            _version++;
            int moved = _count - index;
            for (int more = n; more > 0;)
            {
                int room = Room(more);
                _count += room;
                more -= room;
            }
            for (int end = index + moved; end > index;)
            {
                Span<T> from = RunBefore(end, index), to = RunBefore(end + n, index + n);
                int k = Math.Min(from.Length, to.Length);
                from.Slice(from.Length - k).CopyTo(to.Slice(to.Length - k));
                end -= k;
            }
        }

        /// <summary>Removes the first element that equals another.</summary>
        /// <param name="item">The other.</param>
        /// <returns>Whether there was one.</returns>
        public bool Remove(T item)
        {
            int index = IndexOf(item);
            if (index < 0) return false;
            RemoveAt(index);
            return true;
        }

        /// <summary>Removes an element.</summary>
        /// <param name="index">From 0 to <see cref="Count"/> − 1.</param>
        /// <exception cref="ArgumentOutOfRangeException">There is no such element.</exception>
        public void RemoveAt(int index)
        {
            if ((uint)index >= (uint)_count) Throw.Index();
            Close(index, 1);
        }

        /// <summary>Removes elements that follow one another.</summary>
        /// <param name="index">The first of them.</param>
        /// <param name="count">How many.</param>
        /// <exception cref="ArgumentOutOfRangeException">One of both is negative.</exception>
        /// <exception cref="ArgumentException">There are not so many.</exception>
        public void RemoveRange(int index, int count)
        {
            CheckRange(index, count);
            if (count > 0) Close(index, count);
        }

        void Close(int index, int n)
        {
            _version++;
            for (int i = index; i < _count - n;)
            {
                Span<T> from = Run(i + n, _count), to = Run(i, _count);
                int k = Math.Min(from.Length, to.Length);
                from.Slice(0, k).CopyTo(to);
                i += k;
            }
            SetCount(_count - n);
        }

        /// <summary>Removes the elements that match.</summary>
        /// <param name="match">Says which.</param>
        /// <returns>How many there were.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        public int RemoveAll(Predicate<T> match)
        {
            if (match == null) Throw.Null(nameof(match));
            int kept = FindIndex(match!);
            if (kept < 0) return 0;
            for (int i = kept + 1; i < _count; i++)
            {
                T item = this[i];
                if (!match!(item))
                {
                    ChunkOf(kept)[kept & Chunk<T>.ListMask] = item;
                    kept++;
                }
            }
            int removed = _count - kept;
            SetCount(kept);
            _version++;
            return removed;
        }

        /// <summary>A new list of some elements.</summary>
        /// <param name="index">The first of them.</param>
        /// <param name="count">How many.</param>
        /// <returns>The list.</returns>
        /// <exception cref="ArgumentOutOfRangeException">One of both is negative.</exception>
        /// <exception cref="ArgumentException">There are not so many.</exception>
        public ChunkedList<T> GetRange(int index, int count)
        {
            CheckRange(index, count);
            var range = new ChunkedList<T>(count);
            for (int end = index + count; index < end;)
            {
                ReadOnlySpan<T> run = Run(index, end);
                range.Append(run);
                index += run.Length;
            }
            return range;
        }

        /// <summary>Copies all elements.</summary>
        /// <param name="array">To where.</param>
        /// <exception cref="ArgumentNullException"><paramref name="array"/> is null.</exception>
        /// <exception cref="ArgumentException">The array is too short.</exception>
        public void CopyTo(T[] array) => CopyTo(0, array, 0, _count);

        /// <summary>Copies all elements.</summary>
        /// <param name="array">To where.</param>
        /// <param name="arrayIndex">The index of the first in the array.</param>
        /// <exception cref="ArgumentNullException"><paramref name="array"/> is null.</exception>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="arrayIndex"/> is negative.</exception>
        /// <exception cref="ArgumentException">The array is too short.</exception>
        public void CopyTo(T[] array, int arrayIndex) => CopyTo(0, array, arrayIndex, _count);

        /// <summary>Copies elements that follow one another.</summary>
        /// <param name="index">The first of them.</param>
        /// <param name="array">To where.</param>
        /// <param name="arrayIndex">The index of the first in the array.</param>
        /// <param name="count">How many.</param>
        /// <exception cref="ArgumentNullException"><paramref name="array"/> is null.</exception>
        /// <exception cref="ArgumentOutOfRangeException">An index or the number is negative.</exception>
        /// <exception cref="ArgumentException">There are not so many, or the array is too short.</exception>
        public void CopyTo(int index, T[] array, int arrayIndex, int count)
        {
            if (_count - index < count) Throw.TooShort();
            if (array == null) Throw.Null(nameof(array));
            if (index < 0) Throw.OutOfRange(nameof(index));
            if (arrayIndex < 0) Throw.OutOfRange(nameof(arrayIndex));
            if (count < 0) Throw.OutOfRange(nameof(count));
            if (array!.Length - arrayIndex < count) Throw.TooShort();
            for (int end = index + count; index < end;)
            {
                T[] chunk = ChunkOf(index);
                int at = index & Chunk<T>.ListMask, n = Math.Min(chunk.Length - at, end - index);
                Array.Copy(chunk, at, array, arrayIndex, n);
                index += n;
                arrayIndex += n;
            }
        }

        /// <summary>All elements in one array, which is a large object if it has 85,000 bytes.</summary>
        /// <returns>The array.</returns>
        public T[] ToArray()
        {
            if (_count == 0) return Array.Empty<T>();
            var array = new T[_count];
            CopyTo(array);
            return array;
        }

        void CheckRange(int index, int count)
        {
            if (index < 0) Throw.OutOfRange(nameof(index));
            if (count < 0) Throw.OutOfRange(nameof(count));
            if (_count - index < count) Throw.TooShort();
        }
    }

    /// <summary>Spans for lists.</summary>
    /// <remarks>Beside the class, as those of <see cref="List{T}"/> are: arrays go to the method of the class.</remarks>
    public static class ChunkedListExtensions
    {
        /// <summary>Adds elements to the end.</summary>
        /// <typeparam name="T">The type of elements.</typeparam>
        /// <param name="list">The list.</param>
        /// <param name="source">The elements.</param>
        /// <exception cref="ArgumentNullException"><paramref name="list"/> is null.</exception>
        public static void AddRange<T>(this ChunkedList<T> list, ReadOnlySpan<T> source)
        {
            if (list == null) Throw.Null(nameof(list));
            list!.Append(source);
        }
    }
}
