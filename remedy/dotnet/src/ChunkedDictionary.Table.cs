using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    // The table: entries in chunks, chained by bucket.
    public sealed partial class ChunkedDictionary<TKey, TValue>
    {
        /// <summary>The entry of a key, or −1.</summary>
        int Find(TKey key)
        {
            if (key == null) Throw.Null(nameof(key));
            IEqualityComparer<TKey>? comparer = _comparer;
            int steps = 0, i;
            if (default(TKey)! != null && comparer == null)
            {
                int hash = key!.GetHashCode();
                for (i = _buckets[hash] - 1; i >= 0;)
                {
                    ref Entry entry = ref _entries[i >> Shift][i & Mask];
                    if (entry.Hash == hash && EqualityComparer<TKey>.Default.Equals(entry.Key, key)) break;
                    i = entry.Next;
                    if (steps++ > _capacity) Throw.Concurrent();
                }
            }
            else
            {
                int hash = comparer!.GetHashCode(key);
                for (i = _buckets[hash] - 1; i >= 0;)
                {
                    ref Entry entry = ref _entries[i >> Shift][i & Mask];
                    if (entry.Hash == hash && comparer!.Equals(entry.Key, key)) break;
                    i = entry.Next;
                    if (steps++ > _capacity) Throw.Concurrent();
                }
            }
            return i;
        }

        /// <summary>Adds a key, unless it is there; either way it says where its value is, which for a new key is the default.</summary>
        ref TValue Insert(TKey key, out bool exists)
        {
            if (key == null) Throw.Null(nameof(key));
            IEqualityComparer<TKey>? comparer = _comparer;
            int steps = 0, at;
            exists = true;
            int hash = default(TKey)! != null && comparer == null ? key!.GetHashCode() : comparer!.GetHashCode(key);
            ref int bucket = ref _buckets[hash];
            if (default(TKey)! != null && comparer == null)
            {
                for (at = bucket - 1; at >= 0;)
                {
                    ref Entry entry = ref _entries[at >> Shift][at & Mask];
                    if (entry.Hash == hash && EqualityComparer<TKey>.Default.Equals(entry.Key, key)) return ref entry.Value;
                    at = entry.Next;
                    if (steps++ > _capacity) Throw.Concurrent();
                }
            }
            else
            {
                for (at = bucket - 1; at >= 0;)
                {
                    ref Entry entry = ref _entries[at >> Shift][at & Mask];
                    if (entry.Hash == hash && comparer!.Equals(entry.Key, key)) return ref entry.Value;
                    at = entry.Next;
                    if (steps++ > _capacity) Throw.Concurrent();
                }
            }
            if (_freeCount > 0)
            {
                at = _free;
                _free = Free - _entries[at >> Shift][at & Mask].Next;
                _freeCount--;
            }
            else
            {
                if (_used == _capacity)
                {
                    Grow();
                    bucket = ref _buckets[hash];
                }
                at = _used++;
            }
            ref Entry fresh = ref _entries[at >> Shift][at & Mask];
            fresh.Hash = hash;
            fresh.Next = bucket - 1;
            fresh.Key = key;
            fresh.Value = default!;
            bucket = at + 1;
            _version++;
            exists = false;
            return ref fresh.Value;
        }

        void RemoveEntry(int i)
        {
            ref Entry entry = ref _entries[i >> Shift][i & Mask];
            ref int link = ref _buckets[entry.Hash];
            if (link == i + 1)
            {
                link = entry.Next + 1;
            }
            else
            {
                int before = link - 1, steps = 0;
                for (; ; )
                {
                    ref Entry other = ref _entries[before >> Shift][before & Mask];
                    if (other.Next == i)
                    {
                        other.Next = entry.Next;
                        break;
                    }
                    before = other.Next;
                    if (before < 0 || steps++ > _capacity) Throw.Concurrent();
                }
            }
            entry.Next = Free - _free;
            if (Chunk<TKey>.HasReferences) entry.Key = default!;
            if (Chunk<TValue>.HasReferences) entry.Value = default!;
            _free = i;
            _freeCount++;
        }

        /// <summary>Takes all keys out. The chunks are kept for others: <see cref="TrimExcess()"/> frees them.</summary>
        public void Clear()
        {
            if (_used == 0) return;
            _buckets.Clear();
            for (int i = 0; i < _used; i += Mask + 1)
            {
                Array.Clear(_entries[i >> Shift], 0, Math.Min(Mask + 1, _used - i));
            }
            _used = _freeCount = 0;
            _free = -1;
        }

        /// <summary>Makes room for one more.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        void Grow()
        {
            if (_capacity <= Mask)
            {
                Reserve(Math.Min(Math.Max(FirstLength, 2 * _capacity), Mask + 1));
                return;
            }
            AddChunk();
            if (_capacity > _buckets.Length) Link((int)Math.Min(2 * (long)_buckets.Length, int.MaxValue));
        }

        void AddChunk()
        {
            if (_capacity + Mask + 1 < 0) throw new OutOfMemoryException();
            _entries.Add(new Entry[Mask + 1]);
            _capacity += Mask + 1;
        }

        /// <summary>Makes room for a number of keys in all.</summary>
        void Reserve(int capacity)
        {
            if (capacity <= _capacity) return;
            if (_capacity <= Mask)
            {
                var first = new Entry[Math.Min(capacity, Mask + 1)];
                if (_used > 0) Array.Copy(_entries[0], first, _used);
                if (_capacity == 0) _entries.Add(first);
                else _entries.Set(0, first);
                _capacity = first.Length;
            }
            while (_capacity < capacity) AddChunk();
            if (_capacity > _buckets.Length) Link(_capacity);
        }

        /// <summary>Makes the buckets so many and chains all entries anew.</summary>
        void Link(int buckets)
        {
            _buckets.Reset(buckets);
            for (int from = 0; from < _used; from += Mask + 1)
            {
                Entry[] chunk = _entries[from >> Shift];
                int n = Math.Min(chunk.Length, _used - from);
                for (int i = 0; i < n; i++)
                {
                    ref Entry entry = ref chunk[i];
                    if (entry.Next < -1) continue;
                    ref int bucket = ref _buckets[entry.Hash];
                    entry.Next = bucket - 1;
                    bucket = from + i + 1;
                }
            }
        }

        /// <summary>Makes room for a number of keys.</summary>
        /// <param name="capacity">How many.</param>
        /// <returns>How many there is room for.</returns>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
        public int EnsureCapacity(int capacity)
        {
            if (capacity < 0) Throw.OutOfRange(nameof(capacity));
            if (capacity > _capacity)
            {
                _version++;
                Reserve(capacity);
            }
            return _capacity;
        }

        /// <summary>Frees what is not needed for the keys there are. It ends enumerations.</summary>
        public void TrimExcess() => TrimExcess(Count);

        /// <summary>Frees what is not needed for a number of keys. It ends enumerations.</summary>
        /// <param name="capacity">How many.</param>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is less than <see cref="Count"/>.</exception>
        public void TrimExcess(int capacity)
        {
            ChunkTable<Entry> entries = _entries;
            int used = _used;
            if (capacity < Count) Throw.OutOfRange(nameof(capacity));
            if (capacity >= _capacity) return;
            _version++;
            _entries = ChunkTable<Entry>.Empty;
            _capacity = _used = _freeCount = 0;
            _free = -1;
            _buckets = Buckets.Empty;
            Reserve(capacity);
            for (int i = 0; i < used; i++)
            {
                ref Entry entry = ref entries[i >> Shift][i & Mask];
                if (entry.Next >= -1) _entries[_used >> Shift][_used++ & Mask] = entry;
            }
            if (capacity > 0) Link(_capacity);
        }
    }
}
