using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    /// <summary>
    /// A dictionary whose keys and values lie in chunks of at most 64 KB, so that it never allocates in the large object
    /// heap. It does what <see cref="Dictionary{TKey, TValue}"/> does, with the same results and exceptions.
    /// </summary>
    /// <remarks>
    /// <para>When it grows, keys and values stay where they are; only the places their chains begin are made anew.</para>
    /// <para>Adding ends enumerations; removing, clearing and giving a key another value do not, as in
    /// <see cref="Dictionary{TKey, TValue}"/> from .NET 5 on.</para>
    /// <para>Not for concurrent use, but for any number of readers while nobody writes.</para>
    /// </remarks>
    /// <typeparam name="TKey">The type of keys.</typeparam>
    /// <typeparam name="TValue">The type of values.</typeparam>
    [DebuggerDisplay("Count = {Count}")]
    [DebuggerTypeProxy(typeof(DictionaryView<,>))]
    public sealed partial class ChunkedDictionary<TKey, TValue> : IDictionary<TKey, TValue>, IReadOnlyDictionary<TKey, TValue>, IDictionary where TKey : notnull
    {
        struct Entry
        {
            internal int Hash;
            internal int Next; // in the chain, −1 behind the last; below that it is free: Free − the next free one
            internal TKey Key;
            internal TValue Value;
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
        readonly IEqualityComparer<TKey>? _comparer; // null for a value type's own, which the compiler can inline

        /// <summary>Creates an empty dictionary, which allocates nothing more yet.</summary>
        public ChunkedDictionary() : this(0, null) { }

        /// <summary>Creates an empty dictionary.</summary>
        /// <param name="comparer">Says which keys are equal; null for the keys' own.</param>
        public ChunkedDictionary(IEqualityComparer<TKey>? comparer) : this(0, comparer) { }

        /// <summary>Creates an empty dictionary with room for a number of keys.</summary>
        /// <param name="capacity">How many.</param>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
        public ChunkedDictionary(int capacity) : this(capacity, null) { }

        /// <summary>Creates an empty dictionary with room for a number of keys.</summary>
        /// <param name="capacity">How many.</param>
        /// <param name="comparer">Says which keys are equal; null for the keys' own.</param>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
        public ChunkedDictionary(int capacity, IEqualityComparer<TKey>? comparer)
        {
            if (capacity < 0) Throw.OutOfRange(nameof(capacity));
            if (default(TKey)! == null) _comparer = comparer ?? EqualityComparer<TKey>.Default;
            else if (comparer != null && !ReferenceEquals(comparer, EqualityComparer<TKey>.Default)) _comparer = comparer;
            _buckets = Buckets.Empty;
            _entries = ChunkTable<Entry>.Empty;
            _free = -1;
            Reserve(capacity);
        }

        /// <summary>Creates a dictionary of the keys and values of another.</summary>
        /// <param name="dictionary">The other.</param>
        /// <exception cref="ArgumentNullException"><paramref name="dictionary"/> is null.</exception>
        public ChunkedDictionary(IDictionary<TKey, TValue> dictionary) : this(dictionary, null) { }

        /// <summary>Creates a dictionary of the keys and values of another.</summary>
        /// <param name="dictionary">The other.</param>
        /// <param name="comparer">Says which keys are equal; null for the keys' own.</param>
        /// <exception cref="ArgumentNullException"><paramref name="dictionary"/> is null.</exception>
        /// <exception cref="ArgumentException">Two keys are equal for the comparer.</exception>
        public ChunkedDictionary(IDictionary<TKey, TValue> dictionary, IEqualityComparer<TKey>? comparer) : this(dictionary?.Count ?? 0, comparer)
        {
            if (dictionary == null) Throw.Null(nameof(dictionary));
            foreach (KeyValuePair<TKey, TValue> pair in dictionary!) Add(pair.Key, pair.Value);
        }

        /// <summary>Creates a dictionary of keys with their values.</summary>
        /// <param name="collection">Keys with their values.</param>
        /// <exception cref="ArgumentNullException"><paramref name="collection"/> is null.</exception>
        /// <exception cref="ArgumentException">Two keys are equal.</exception>
        public ChunkedDictionary(IEnumerable<KeyValuePair<TKey, TValue>> collection) : this(collection, null) { }

        /// <summary>Creates a dictionary of keys with their values.</summary>
        /// <param name="collection">Keys with their values.</param>
        /// <param name="comparer">Says which keys are equal; null for the keys' own.</param>
        /// <exception cref="ArgumentNullException"><paramref name="collection"/> is null.</exception>
        /// <exception cref="ArgumentException">Two keys are equal.</exception>
        public ChunkedDictionary(IEnumerable<KeyValuePair<TKey, TValue>> collection, IEqualityComparer<TKey>? comparer)
            : this((collection as ICollection<KeyValuePair<TKey, TValue>>)?.Count ?? 0, comparer)
        {
            if (collection == null) Throw.Null(nameof(collection));
            foreach (KeyValuePair<TKey, TValue> pair in collection!) Add(pair.Key, pair.Value);
        }

        /// <summary>The number of keys.</summary>
        public int Count => _used - _freeCount;

        /// <summary>Says which keys are equal.</summary>
        public IEqualityComparer<TKey> Comparer => _comparer ?? EqualityComparer<TKey>.Default;

        /// <summary>The value of a key. Set, it adds the key if it is not there.</summary>
        /// <param name="key">The key.</param>
        /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
        /// <exception cref="KeyNotFoundException">It is not there.</exception>
        public TValue this[TKey key]
        {
            get
            {
                int i = Find(key);
                if (i < 0) throw new KeyNotFoundException($"The given key '{key}' was not present in the dictionary.");
                return _entries[i >> Shift][i & Mask].Value;
            }
            set => Insert(key, out _) = value;
        }

        /// <summary>Adds a key with its value.</summary>
        /// <param name="key">The key.</param>
        /// <param name="value">The value.</param>
        /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
        /// <exception cref="ArgumentException">It is there already.</exception>
        public void Add(TKey key, TValue value)
        {
            ref TValue to = ref Insert(key, out bool exists);
            if (exists) throw new ArgumentException($"An item with the same key has already been added. Key: {key}");
            to = value;
        }

        /// <summary>Adds a key with its value, unless it is there already.</summary>
        /// <param name="key">The key.</param>
        /// <param name="value">The value.</param>
        /// <returns>Whether it was added.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
        public bool TryAdd(TKey key, TValue value)
        {
            ref TValue to = ref Insert(key, out bool exists);
            if (!exists) to = value;
            return !exists;
        }

        /// <summary>The value of a key, to change it in place; a key that is not there is added with the type's default
        /// value. It is good until a key is added or removed.</summary>
        /// <param name="key">The key.</param>
        /// <param name="exists">Whether it was there.</param>
        /// <returns>A reference to the value.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
        public ref TValue GetValueRefOrAddDefault(TKey key, out bool exists) => ref Insert(key, out exists);

        /// <summary>Whether a key is there.</summary>
        /// <param name="key">The key.</param>
        /// <returns>Whether it is.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
        public bool ContainsKey(TKey key) => Find(key) >= 0;

        /// <summary>Whether a key has a value.</summary>
        /// <param name="value">The value.</param>
        /// <returns>Whether one has.</returns>
        public bool ContainsValue(TValue value)
        {
            foreach (KeyValuePair<TKey, TValue> pair in this)
            {
                if (EqualityComparer<TValue>.Default.Equals(pair.Value, value)) return true;
            }
            return false;
        }

        /// <summary>Finds the value of a key.</summary>
        /// <param name="key">The key.</param>
        /// <param name="value">The value, or the type's default one.</param>
        /// <returns>Whether the key is there.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
        public bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value)
        {
            int i = Find(key);
            value = i >= 0 ? _entries[i >> Shift][i & Mask].Value : default!;
            return i >= 0;
        }

        /// <summary>Removes a key.</summary>
        /// <param name="key">The key.</param>
        /// <returns>Whether it was there.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
        public bool Remove(TKey key)
        {
            int i = Find(key);
            if (i >= 0) RemoveEntry(i);
            return i >= 0;
        }

        /// <summary>Removes a key.</summary>
        /// <param name="key">The key.</param>
        /// <param name="value">The value it had, or the type's default one.</param>
        /// <returns>Whether it was there.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="key"/> is null.</exception>
        public bool Remove(TKey key, [MaybeNullWhen(false)] out TValue value)
        {
            int i = Find(key);
            value = i >= 0 ? _entries[i >> Shift][i & Mask].Value : default!;
            if (i >= 0) RemoveEntry(i);
            return i >= 0;
        }
    }
}
