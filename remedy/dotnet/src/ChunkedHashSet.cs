using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    /// <summary>
    /// A set whose elements lie in chunks of at most 64 KB, so that it never allocates in the large object heap. It
    /// does what <see cref="HashSet{T}"/> does, with the same results and exceptions.
    /// </summary>
    /// <remarks>
    /// <para>When it grows, elements stay where they are; only the places their chains begin are made anew.</para>
    /// <para>Adding ends enumerations, removing and clearing does not, as in <see cref="HashSet{T}"/> from .NET 5 on.</para>
    /// <para>Not for concurrent use, but for any number of readers while nobody writes.</para>
    /// </remarks>
    /// <typeparam name="T">The type of elements.</typeparam>
    [DebuggerDisplay("Count = {Count}")]
    [DebuggerTypeProxy(typeof(CollectionView<>))]
    public sealed partial class ChunkedHashSet<T> : ISet<T>, IReadOnlyCollection<T>, ICollection
#if NET5_0_OR_GREATER
        , IReadOnlySet<T>
#endif
    {
        struct Entry
        {
            internal int Hash;
            internal int Next; // in the chain, −1 behind the last; below that it is free: Free − the next free one
            internal T Value;
        }

        const int Free = -3, FirstLength = 4;

        static int Shift
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => Chunk<Entry>.TableShift;
        }

        static int Mask
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => (1 << Chunk<Entry>.TableShift) - 1;
        }

        Buckets _buckets;
        ChunkTable<Entry> _entries; // one that grows, then full ones
        int _capacity;
        int _used; // entries from here on were never used
        int _free; // the first free one before, or −1
        int _freeCount;
        int _version;
        readonly IEqualityComparer<T>? _comparer; // null for a value type's own, which the compiler can inline

        /// <summary>Creates an empty set, which allocates nothing more yet.</summary>
        public ChunkedHashSet() : this((IEqualityComparer<T>?)null) { }

        /// <summary>Creates an empty set.</summary>
        /// <param name="comparer">Says what is equal; null for the elements' own.</param>
        public ChunkedHashSet(IEqualityComparer<T>? comparer)
        {
            if (default(T)! == null) _comparer = comparer ?? EqualityComparer<T>.Default;
            else if (comparer != null && !ReferenceEquals(comparer, EqualityComparer<T>.Default)) _comparer = comparer;
            _buckets = Buckets.Empty;
            _entries = ChunkTable<Entry>.Empty;
            _free = -1;
        }

        /// <summary>Creates an empty set with room for a number of elements.</summary>
        /// <param name="capacity">How many.</param>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
        public ChunkedHashSet(int capacity) : this(capacity, null) { }

        /// <summary>Creates an empty set with room for a number of elements.</summary>
        /// <param name="capacity">How many.</param>
        /// <param name="comparer">Says what is equal; null for the elements' own.</param>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
        public ChunkedHashSet(int capacity, IEqualityComparer<T>? comparer) : this(comparer)
        {
            if (capacity < 0) Throw.OutOfRange(nameof(capacity));
            Reserve(capacity);
        }

        /// <summary>Creates a set of the elements of a collection.</summary>
        /// <param name="collection">The elements.</param>
        /// <exception cref="ArgumentNullException"><paramref name="collection"/> is null.</exception>
        public ChunkedHashSet(IEnumerable<T> collection) : this(collection, null) { }

        /// <summary>Creates a set of the elements of a collection.</summary>
        /// <param name="collection">The elements.</param>
        /// <param name="comparer">Says what is equal; null for the elements' own.</param>
        /// <exception cref="ArgumentNullException"><paramref name="collection"/> is null.</exception>
        public ChunkedHashSet(IEnumerable<T> collection, IEqualityComparer<T>? comparer) : this(comparer)
        {
            if (collection == null) Throw.Null(nameof(collection));
            int known = collection is ICollection<T> c ? c.Count : 0;
            Reserve(known);
            UnionWith(collection!);
            if (_capacity > 4 * Count) TrimExcess();
        }

        /// <summary>The number of elements.</summary>
        public int Count => _used - _freeCount;

        /// <summary>Says what is equal.</summary>
        public IEqualityComparer<T> Comparer => _comparer ?? EqualityComparer<T>.Default;

        /// <summary>Whether an element is in the set.</summary>
        /// <param name="item">The element.</param>
        /// <returns>Whether it is.</returns>
        public bool Contains(T item) => Find(item) >= 0;

        /// <summary>Finds the element of the set that equals another.</summary>
        /// <param name="equalValue">The other.</param>
        /// <param name="actualValue">The set's own, or the type's default value.</param>
        /// <returns>Whether there is one.</returns>
        public bool TryGetValue(T equalValue, [MaybeNullWhen(false)] out T actualValue)
        {
            int i = Find(equalValue);
            actualValue = i >= 0 ? _entries[i >> Shift][i & Mask].Value : default!;
            return i >= 0;
        }

        /// <summary>Adds an element, unless it is in the set.</summary>
        /// <param name="item">The element.</param>
        /// <returns>Whether it was added.</returns>
        public bool Add(T item) => Insert(item, out _);

        void ICollection<T>.Add(T item) => Insert(item, out _);

        /// <summary>Removes an element.</summary>
        /// <param name="item">The element.</param>
        /// <returns>Whether it was in the set.</returns>
        public bool Remove(T item)
        {
            int i = Find(item);
            if (i >= 0) RemoveEntry(i);
            return i >= 0;
        }
    }
}
