using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    /// <summary>
    /// A list whose elements lie in chunks of at most 16 KB, so that it never allocates in the large object heap. It
    /// does what <see cref="List{T}"/> does, with the same results and exceptions.
    /// </summary>
    /// <remarks>
    /// <para>A small list is one array that grows as that of <see cref="List{T}"/>. What grows beyond a chunk gets
    /// further ones and is not copied any more. Indexing is a shift and a mask.</para>
    /// <para>Not for concurrent use, but for any number of readers while nobody writes.</para>
    /// <para>An element of 85,000 bytes or more is itself a large object: lists of such are not what this is for.</para>
    /// </remarks>
    /// <typeparam name="T">The type of elements.</typeparam>
    [DebuggerDisplay("Count = {Count}")]
    [DebuggerTypeProxy(typeof(CollectionView<>))]
    public sealed partial class ChunkedList<T> : IList<T>, IReadOnlyList<T>, IList
    {
        const int FirstLength = 4;

        // The chunks, each full length, once there is more than one. A small list has _tail alone.
        ChunkTable<T> _chunks;

        // The chunk of the last element, or an empty one before the first, and the index of its first element.
        // It may be full: 0 <= _count - _tailStart <= _tail.Length.
        T[] _tail;
        int _tailStart;

        int _count;
        int _version;

        /// <summary>Creates an empty list, which allocates nothing more yet.</summary>
        public ChunkedList()
        {
            _chunks = ChunkTable<T>.Empty;
            _tail = Array.Empty<T>();
        }

        /// <summary>Creates an empty list with room for a number of elements.</summary>
        /// <param name="capacity">The number of elements; beyond a chunk it is rounded up to full chunks.</param>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
        public ChunkedList(int capacity) : this()
        {
            if (capacity < 0) Throw.OutOfRange(nameof(capacity));
            Reserve(capacity);
        }

        /// <summary>Creates a list of the elements of a collection.</summary>
        /// <param name="collection">The elements.</param>
        /// <exception cref="ArgumentNullException"><paramref name="collection"/> is null.</exception>
        public ChunkedList(IEnumerable<T> collection) : this()
        {
            if (collection == null) Throw.Null(nameof(collection));
            AddRange(collection!);
            _version = 0;
        }

        /// <summary>The number of elements.</summary>
        public int Count => _count;

        /// <summary>How many elements there is room for. Set, it frees chunks or adds them, and is rounded up to full
        /// chunks if it is more than one.</summary>
        /// <exception cref="ArgumentOutOfRangeException">It is set to less than <see cref="Count"/>.</exception>
        public int Capacity
        {
            get => _chunks.Count == 0 ? _tail.Length : (int)Math.Min((long)_chunks.Count << Chunk<T>.ListShift, int.MaxValue);
            set
            {
                if (value < _count) Throw.OutOfRange(nameof(value));
                if (value > Capacity) Reserve(value);
                else Release(value);
            }
        }

        /// <summary>The element at an index.</summary>
        /// <param name="index">From 0 to <see cref="Count"/> − 1.</param>
        /// <exception cref="ArgumentOutOfRangeException">There is no such element.</exception>
        public T this[int index]
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get
            {
                if ((uint)index >= (uint)_count) Throw.Index();
                T[][] near = _chunks.Near;
                int chunk = index >> Chunk<T>.ListShift;
                if ((uint)chunk < (uint)near.Length) return near[chunk][index & Chunk<T>.ListMask];
                T[] tail = _tail;
                if ((uint)index < (uint)tail.Length) return tail[index]; // small: no others begin at 0 and are not near
                return _chunks[chunk][index & Chunk<T>.ListMask];
            }
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            set
            {
                if ((uint)index >= (uint)_count) Throw.Index();
                _version++;
                ChunkOf(index)[index & Chunk<T>.ListMask] = value;
            }
        }

        /// <summary>Adds an element to the end.</summary>
        /// <param name="item">The element.</param>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public void Add(T item)
        {
            _version++;
            T[] tail = _tail;
            int count = _count;
            int at = count - _tailStart;
            if ((uint)at < (uint)tail.Length)
            {
                _count = count + 1;
                tail[at] = item;
            }
            else
            {
                AddToNext(item);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        void AddToNext(T item)
        {
            Grow(_count + 1);
            _tail[_count++ - _tailStart] = item;
        }

        /// <summary>Makes room behind the last element, whose chunk is full: _tail has it afterwards.</summary>
        /// <param name="wanted">How many elements there will soon be.</param>
        void Grow(int wanted)
        {
            if (wanted < 0) throw new OutOfMemoryException();
            int length = _tail.Length;
            if (length < Chunk<T>.ListLength)
            {
                Array.Resize(ref _tail, Math.Min(Math.Max(wanted, Math.Max(FirstLength, 2 * length)), Chunk<T>.ListLength));
                return;
            }
            if (_chunks.Count == 0) _chunks.Add(_tail);
            int next = _count >> Chunk<T>.ListShift;
            if (next == _chunks.Count) _chunks.Add(new T[Chunk<T>.ListLength]);
            _tail = _chunks[next];
            _tailStart = _count;
        }

        /// <summary>Makes room for a number of elements in all.</summary>
        void Reserve(int capacity)
        {
            int length = Chunk<T>.ListLength;
            if (_chunks.Count == 0)
            {
                if (capacity <= _tail.Length) return;
                Array.Resize(ref _tail, Math.Min(capacity, length));
                if (capacity <= length) return;
                _chunks.Add(_tail);
            }
            long wanted = ((long)capacity + length - 1) >> Chunk<T>.ListShift;
            while (_chunks.Count < wanted) _chunks.Add(new T[length]);
        }

        /// <summary>Frees what is not needed for a number of elements, which is not less than there are.</summary>
        void Release(int capacity)
        {
            int length = Chunk<T>.ListLength;
            if (capacity > length)
            {
                _chunks.Truncate((int)(((long)capacity + length - 1) >> Chunk<T>.ListShift));
                if (_chunks.Count > 0) PlaceTail();
                return;
            }
            if (_chunks.Count > 0)
            {
                _tail = _chunks[0];
                _tailStart = 0;
                _chunks = ChunkTable<T>.Empty;
            }
            if (capacity == 0) _tail = Array.Empty<T>();
            else if (capacity < _tail.Length) Array.Resize(ref _tail, capacity);
        }

        /// <summary>Makes room for a number of elements, and grows at least as adding would.</summary>
        /// <param name="capacity">The number of elements.</param>
        /// <returns>How many there is room for.</returns>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
        public int EnsureCapacity(int capacity)
        {
            if (capacity < 0) Throw.OutOfRange(nameof(capacity));
            if (capacity > Capacity)
            {
                _version++;
                Reserve(Math.Max(capacity, Math.Min(2 * Math.Min(_tail.Length, Chunk<T>.ListLength), Chunk<T>.ListLength)));
            }
            return Capacity;
        }

        /// <summary>Frees chunks without elements, and shrinks the only one if a tenth of it or more is free.</summary>
        public void TrimExcess()
        {
            if (_chunks.Count > 0 || _count < (int)(_tail.Length * 0.9)) Release(_count);
        }

        /// <summary>Takes all elements out. The chunks are kept for others: <see cref="TrimExcess()"/> frees them.</summary>
        public void Clear()
        {
            _version++;
            SetCount(0);
        }

        /// <summary>Ends the list earlier, and clears what was behind.</summary>
        void SetCount(int count)
        {
            if (Chunk<T>.HasReferences)
            {
                for (int i = count; i < _count;)
                {
                    Span<T> run = Run(i, _count);
                    run.Clear();
                    i += run.Length;
                }
            }
            _count = count;
            if (count <= _tailStart && _tailStart > 0) PlaceTail();
        }

        void PlaceTail()
        {
            int chunk = _count == 0 ? 0 : (_count - 1) >> Chunk<T>.ListShift;
            _tail = _chunks[chunk];
            _tailStart = chunk << Chunk<T>.ListShift;
        }

        /// <summary>The chunk of an index. The only one of a small list is asked with what the mask leaves: itself.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        T[] ChunkOf(int index)
        {
            T[][] near = _chunks.Near;
            int chunk = index >> Chunk<T>.ListShift;
            if ((uint)chunk < (uint)near.Length) return near[chunk];
            T[] tail = _tail;
            return (uint)index < (uint)tail.Length ? tail : _chunks[chunk];
        }

        /// <summary>The places from an index to the end of its chunk, or to an end before. There may be no elements in
        /// them yet.</summary>
        Span<T> Run(int index, int end)
        {
            T[] chunk = ChunkOf(index);
            int at = index & Chunk<T>.ListMask;
            return new Span<T>(chunk, at, Math.Min(chunk.Length - at, end - index));
        }

        /// <summary>The places before an index from the beginning of their chunk on, or from a start behind that.</summary>
        Span<T> RunBefore(int end, int start)
        {
            T[] chunk = ChunkOf(end - 1);
            int length = Math.Min(((end - 1) & Chunk<T>.ListMask) + 1, end - start);
            return new Span<T>(chunk, ((end - 1) & Chunk<T>.ListMask) + 1 - length, length);
        }
    }
}
