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
        // All but the first are full length; so is the first once there is another.
        // These are fields of a ChunkTable; compilers before .NET 8 keep what they read of a list for a whole loop only if
        // it is a field of its own.
        T[][] _near;
        T[][][]? _far;
        int _chunkCount;

        // The chunk that the last element is in, or the next one will be, and the index of its first element:
        // 0 <= _count - _tailStart <= _tail.Length. Empty if there are no chunks.
        T[] _tail;
        int _tailStart;

        int _count;
        int _version;

        /// <summary>Creates an empty list, which allocates nothing more yet.</summary>
        public ChunkedList()
        {
            _near = null!; // until there is a chunk: an empty one costs a look-up, since it is of a generic type
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
            get => _chunkCount <= 1 ? _tail.Length : (int)Math.Min((long)_chunkCount << Chunk<T>.ListShift, int.MaxValue);
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
                T[][] near = _near;
                int chunk = (int)((uint)index >> Chunk<T>.ListShift);
                if ((uint)chunk < (uint)near.Length) return near[chunk][index & Chunk<T>.ListMask];
                return _far![(chunk >> ChunkTable<T>.NearShift) - 1][chunk & (ChunkTable<T>.NearLength - 1)][index & Chunk<T>.ListMask];
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

        /// <summary>Makes room behind the last element, whose chunk is full or too small: _tail has it afterwards.</summary>
        /// <param name="wanted">How many elements there will soon be.</param>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        void Grow(int wanted)
        {
            if (wanted < 0) throw new OutOfMemoryException();
            int length = _tail.Length;
            if (length < Chunk<T>.ListLength)
            {
                Resize(Math.Min(Math.Max(wanted, length == 0 ? Chunk<T>.FirstLength : 2 * length), Chunk<T>.ListLength));
                return;
            }
            int next = _count >> Chunk<T>.ListShift;
            if (next == _chunkCount) AddChunk(new T[Chunk<T>.ListLength]);
            _tail = ChunkOf(_count);
            _tailStart = _count;
        }

        /// <summary>Makes the only chunk shorter or longer, or the first one.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        void Resize(int length)
        {
            var to = new T[length];
            new ReadOnlySpan<T>(_tail, 0, _count).CopyTo(to);
            _tail = to;
            if (_chunkCount == 0)
            {
                _near = new T[1][];
                _chunkCount = 1;
            }
            _near[0] = to;
        }

        /// <summary>Makes room for a number of elements in all.</summary>
        void Reserve(int capacity)
        {
            int length = Chunk<T>.ListLength;
            if (_chunkCount <= 1)
            {
                if (capacity <= _tail.Length) return;
                if (_tail.Length < length) Resize(Math.Min(capacity, length));
            }
            long wanted = ((long)capacity + length - 1) >> Chunk<T>.ListShift;
            while (_chunkCount < wanted) AddChunk(new T[length]);
        }

        /// <summary>Frees what is not needed for a number of elements, which is not less than there are.</summary>
        void Release(int capacity)
        {
            if (capacity == 0)
            {
                Table = ChunkTable<T>.Empty;
                _tail = Array.Empty<T>();
                _tailStart = 0;
                return;
            }
            ChunkTable<T> table = Table;
            table.Truncate((int)(((long)capacity + Chunk<T>.ListMask) >> Chunk<T>.ListShift));
            Table = table;
            if (_chunkCount == 0) return;
            PlaceTail();
            if (_chunkCount == 1 && capacity < _tail.Length) Resize(capacity);
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
            if (_chunkCount > 1 || _count < (int)(_tail.Length * 0.9)) Release(_count);
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
            int chunk = Math.Max(_count - 1, 0) >> Chunk<T>.ListShift;
            _tail = ChunkOf(chunk << Chunk<T>.ListShift);
            _tailStart = chunk << Chunk<T>.ListShift;
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        T[] ChunkOf(int index)
        {
            T[][] near = _near;
            int chunk = (int)((uint)index >> Chunk<T>.ListShift);
            if ((uint)chunk < (uint)near.Length) return near[chunk];
            return _far![(chunk >> ChunkTable<T>.NearShift) - 1][chunk & (ChunkTable<T>.NearLength - 1)];
        }

        ChunkTable<T> Table
        {
            get => new ChunkTable<T> { Near = _near, Far = _far, Count = _chunkCount };
            set => (_near, _far, _chunkCount) = (value.Near, value.Far, value.Count);
        }

        void AddChunk(T[] chunk)
        {
            ChunkTable<T> table = Table;
            table.Add(chunk);
            Table = table;
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
