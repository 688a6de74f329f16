using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    // The table: entries in chunks, chained by bucket.
    public sealed partial class ChunkedHashSet<T>
    {
        /// <summary>The entry of an element, or −1.</summary>
        int Find(T item)
        {
            IEqualityComparer<T>? comparer = _comparer;
            int steps = 0, i;
            if (default(T)! != null && comparer == null)
            {
                int hash = item!.GetHashCode();
                for (i = _buckets[hash] - 1; i >= 0;)
                {
                    ref Entry entry = ref _entries[i >> Shift][i & Mask];
                    if (entry.Hash == hash && EqualityComparer<T>.Default.Equals(entry.Value, item)) break;
                    i = entry.Next;
                    if (steps++ > _capacity) Throw.Concurrent();
                }
            }
            else
            {
                int hash = item == null ? 0 : comparer!.GetHashCode(item);
                for (i = _buckets[hash] - 1; i >= 0;)
                {
                    ref Entry entry = ref _entries[i >> Shift][i & Mask];
                    if (entry.Hash == hash && comparer!.Equals(entry.Value, item)) break;
                    i = entry.Next;
                    if (steps++ > _capacity) Throw.Concurrent();
                }
            }
            return i;
        }

        /// <summary>Adds an element, unless one that equals it is there; either way it says where.</summary>
        bool Insert(T item, out int at)
        {
            IEqualityComparer<T>? comparer = _comparer;
            int steps = 0;
            int hash = default(T)! != null && comparer == null ? item!.GetHashCode() : item == null ? 0 : comparer!.GetHashCode(item);
            ref int bucket = ref _buckets[hash];
            if (default(T)! != null && comparer == null)
            {
                for (at = bucket - 1; at >= 0;)
                {
                    ref Entry entry = ref _entries[at >> Shift][at & Mask];
                    if (entry.Hash == hash && EqualityComparer<T>.Default.Equals(entry.Value, item)) return false;
                    at = entry.Next;
                    if (steps++ > _capacity) Throw.Concurrent();
                }
            }
            else
            {
                for (at = bucket - 1; at >= 0;)
                {
                    ref Entry entry = ref _entries[at >> Shift][at & Mask];
                    if (entry.Hash == hash && comparer!.Equals(entry.Value, item)) return false;
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
            ref Entry added = ref _entries[at >> Shift][at & Mask];
            added.Hash = hash;
            added.Next = bucket - 1;
            added.Value = item;
            bucket = at + 1;
            _version++;
            return true;
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
            if (Chunk<T>.HasReferences) entry.Value = default!;
            _free = i;
            _freeCount++;
        }

        /// <summary>Takes all elements out. The chunks are kept for others: <see cref="TrimExcess()"/> frees them.</summary>
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

        /// <summary>Makes room for a number of elements in all.</summary>
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

        /// <summary>Makes room for a number of elements.</summary>
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

        /// <summary>Frees what is not needed for the elements there are. It ends enumerations.</summary>
        public void TrimExcess()
        {
            ChunkTable<Entry> entries = _entries;
            int used = _used, count = Count;
            if (count == _capacity) return;
            _version++;
            _entries = ChunkTable<Entry>.Empty;
            _capacity = _used = _freeCount = 0;
            _free = -1;
            _buckets = Buckets.Empty;
            Reserve(count);
            for (int i = 0; i < used; i++)
            {
                ref Entry entry = ref entries[i >> Shift][i & Mask];
                if (entry.Next >= -1) _entries[_used >> Shift][_used++ & Mask] = entry;
            }
            if (count > 0) Link(_capacity);
        }
    }
}
