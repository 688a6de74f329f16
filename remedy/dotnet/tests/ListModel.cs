using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

namespace Unstall.Collections.Tests
{
    // The same random operations on List<T> and ChunkedList<T>: results, exceptions and contents compared. Sizes walk
    // to and across the ends of chunks.
    sealed class ListModel<T>
    {
        readonly Random _random;
        readonly Func<int, T> _make;
        readonly IComparer<T> _comparer;
        readonly List<T> _a = new List<T>();
        readonly ChunkedList<T> _b = new ChunkedList<T>();
        long _operations;

        public ListModel(int seed, Func<int, T> make, IComparer<T> comparer)
        {
            (_random, _make, _comparer) = (new Random(seed), make, comparer);
        }

        T Any() => _make(_random.Next(200));

        T[] Some(int n) => Enumerable.Range(0, n).Select(_ => Any()).ToArray();

        // An index that is now and then outside.
        int Index() => _random.Next(40) == 0 ? _random.Next(-2, _a.Count + 3) : _random.Next(Math.Max(1, _a.Count));

        int Length(int from) => _random.Next(40) == 0 ? _random.Next(-2, _a.Count + 3) : _random.Next(Math.Max(1, _a.Count - from + 1));

        public long Run(int steps)
        {
            int full = Chunk<T>.ListLength, target = 0;
            for (int step = 0; step < steps; step++)
            {
                if (step % 60 == 0)
                {
                    int most = Math.Max(4, Math.Min(full * _random.Next(1, 6), 40_000));
                    int end = _random.Next(Math.Max(1, most / full) + 1) * full; // where a chunk ends
                    target = _random.Next(4) == 0 ? _random.Next(20) : Math.Max(0, Math.Min(end, 40_000) + _random.Next(-3, 4));
                    Move(target);
                    Compare();
                }
                try
                {
                    Step(_random.Next(46));
                }
                catch (Different e)
                {
                    throw new Different($"step {step} with {_a.Count} elements: {e.Message}");
                }
                _operations++;
                Check.Equal(_a.Count, _b.Count, "Count");
                if (Math.Abs(_a.Count - target) > 3 * full + 50) Move(target);
            }
            Compare();
            return _operations;
        }

        void Move(int target)
        {
            if (_a.Count > target)
            {
                int at = _random.Next(target + 1), n = _a.Count - target;
                _a.RemoveRange(at, n);
                _b.RemoveRange(at, n);
            }
            else if (_random.Next(2) == 0)
            {
                T[] more = Some(target - _a.Count);
                _a.AddRange(more);
                _b.AddRange(more);
            }
            else
            {
                while (_a.Count < target)
                {
                    T item = Any();
                    _a.Add(item);
                    _b.Add(item);
                    _operations++;
                }
            }
        }

        void Compare()
        {
            Check.Sequence(_a, _b, "elements");
            int i = 0;
            foreach (T item in _b) Check.Equal(_a[i++], item, "foreach");
            Check.Equal(_a.Count, i, "foreach's end");
            for (i = 0; i < _a.Count; i++) Check.Equal(_a[i], _b[i], "index");
            i = 0;
            foreach (Span<T> chunk in _b.Chunks)
            {
                foreach (T item in chunk) Check.Equal(_a[i++], item, "chunk");
            }
            Check.Equal(_a.Count, i, "chunks' end");
            Check.Sequence(_a.ToArray(), _b.ToArray(), "ToArray");
            _operations += 4 * _a.Count;
        }

        void Both<R>(string what, Func<R> a, Func<R> b) => Check.Same(what, a, b);

        void Both(string what, Action a, Action b) => Check.Same(what, a, b);

        void Step(int kind)
        {
            int i = Index(), n = Length(i), k = _random.Next(8) == 0 ? _random.Next(2 * Chunk<T>.ListLength + 2) % 9000 : _random.Next(8);
            T item = Any();
            switch (kind)
            {
                case 0: case 1: case 2: Both("Add", () => _a.Add(item), () => _b.Add(item)); break;
                case 3: case 4: Both("Insert", () => _a.Insert(i, item), () => _b.Insert(i, item)); break;
                case 5: case 6: Both("RemoveAt", () => _a.RemoveAt(i), () => _b.RemoveAt(i)); break;
                case 7: Both("Remove", () => _a.Remove(item), () => _b.Remove(item)); break;
                case 8: case 9: case 10: Both("get", () => _a[i], () => _b[i]); break;
                case 11: case 12: Both("set", () => _a[i] = item, () => _b[i] = item); break;
                case 13: { T[] s = Some(k); Both("AddRange of an array", () => _a.AddRange(s), () => _b.AddRange(s)); break; }
                case 14: { var s = new List<T>(Some(k)); Both("AddRange of a list", () => _a.AddRange(s), () => _b.AddRange(s)); break; }
                case 15: { var s = new ChunkedList<T>(Some(k)); Both("AddRange of a chunked one", () => _a.AddRange(s), () => _b.AddRange(s)); break; }
                case 16: { T[] s = Some(k); Both("AddRange of a sequence", () => _a.AddRange(s.Where(_ => true)), () => _b.AddRange(s.Where(_ => true))); break; }
                case 17: { var s = new Counted<T>(Some(k)); Both("AddRange of a collection", () => _a.AddRange(s), () => _b.AddRange(s)); break; }
                case 18: { T[] s = Some(k); Both("AddRange of a span", () => _a.AddRange(s), () => _b.AddRange(new ReadOnlySpan<T>(s))); break; }
                case 19: { T[] s = Some(k); Both("InsertRange", () => _a.InsertRange(i, s), () => _b.InsertRange(i, s)); break; }
                case 20: { T[] s = Some(k % 50); Both("InsertRange of a sequence", () => _a.InsertRange(i, s.Where(_ => true)), () => _b.InsertRange(i, s.Where(_ => true))); break; }
                case 21: if (_a.Count < 5000) Both("AddRange of itself", () => _a.AddRange(_a), () => _b.AddRange(_b)); break;
                case 22: if (_a.Count < 5000) Both("InsertRange of itself", () => _a.InsertRange(i, _a), () => _b.InsertRange(i, _b)); break;
                case 23: n = Math.Min(n, 50); Both("RemoveRange", () => _a.RemoveRange(i, n), () => _b.RemoveRange(i, n)); break;
                case 24: { T x = Any(), y = Any(); Predicate<T> p = e => Equals(e, x) || Equals(e, y); Both("RemoveAll", () => _a.RemoveAll(p), () => _b.RemoveAll(p)); break; }
                case 25: Both("IndexOf", () => _a.IndexOf(item), () => _b.IndexOf(item)); break;
                case 26: Both("IndexOf from", () => _a.IndexOf(item, i), () => _b.IndexOf(item, i)); break;
                case 27: Both("IndexOf among", () => _a.IndexOf(item, i, n), () => _b.IndexOf(item, i, n)); break;
                case 28: Both("LastIndexOf", () => _a.LastIndexOf(item), () => _b.LastIndexOf(item)); break;
                case 29: Both("LastIndexOf up to", () => _a.LastIndexOf(item, i), () => _b.LastIndexOf(item, i)); break;
                case 30: Both("LastIndexOf among", () => _a.LastIndexOf(item, i, n), () => _b.LastIndexOf(item, i, n)); break;
                case 31: Both("Contains", () => _a.Contains(item), () => _b.Contains(item)); break;
                case 32: Both("Reverse", () => _a.Reverse(i, n), () => _b.Reverse(i, n)); break;
                case 33: if (_random.Next(4) == 0) Both("Sort", () => _a.Sort(_comparer), () => _b.Sort(_comparer)); break;
                case 34: if (_random.Next(4) == 0) Both("Sort some", () => _a.Sort(i, n, _comparer), () => _b.Sort(i, n, _comparer)); break;
                case 35:
                    if (_random.Next(4) != 0) break;
                    Both("Sort by a comparison", () => _a.Sort((x, y) => _comparer.Compare(y, x)), () => _b.Sort((x, y) => _comparer.Compare(y, x)));
                    Both("Reverse all", () => _a.Reverse(), () => _b.Reverse());
                    Both("BinarySearch", () => _a.BinarySearch(item, _comparer), () => _b.BinarySearch(item, _comparer));
                    break;
                case 36: Both("GetRange", () => string.Join(",", _a.GetRange(i, n).Take(100)), () => string.Join(",", _b.GetRange(i, n).Take(100))); break;
                case 37:
                    {
                        int room = _random.Next(Math.Max(1, n + 4)), at = _random.Next(-1, 3);
                        var x = new T[room];
                        var y = new T[room];
                        Both("CopyTo", () => _a.CopyTo(i, x, at, n), () => _b.CopyTo(i, y, at, n));
                        Check.Sequence(x, y, "CopyTo's array");
                        break;
                    }
                case 38: { Predicate<T> p = e => Equals(e, item); Both("FindIndex", () => _a.FindIndex(i, n, p), () => _b.FindIndex(i, n, p)); break; }
                case 39: { Predicate<T> p = e => Equals(e, item); Both("FindLastIndex", () => _a.FindLastIndex(i, n, p), () => _b.FindLastIndex(i, n, p)); break; }
                case 40:
                    {
                        Predicate<T> p = e => Equals(e, item);
                        Both("Find", () => _a.Find(p), () => _b.Find(p));
                        Both("FindLast", () => _a.FindLast(p), () => _b.FindLast(p));
                        Both("FindAll", () => _a.FindAll(p).Count, () => _b.FindAll(p).Count);
                        Both("Exists", () => _a.Exists(p), () => _b.Exists(p));
                        Both("TrueForAll", () => _a.TrueForAll(e => !p(e)), () => _b.TrueForAll(e => !p(e)));
                        break;
                    }
                case 41:
                    {
                        int capacity = _b.Capacity, full = Chunk<T>.ListLength;
                        _b.TrimExcess();
                        bool asOfList = capacity <= full && _b.Count >= (int)(capacity * 0.9); // which frees less than a tenth of it for nobody
                        int least = _b.Count <= full ? _b.Count : (_b.Count + full - 1) / full * full;
                        Check.Equal(asOfList ? capacity : least, _b.Capacity, "Capacity after TrimExcess");
                        break;
                    }

                case 42: _b.Capacity = _b.Count + _random.Next(3 * Chunk<T>.ListLength) % 20_000; break;
                case 43: Check.True(_b.EnsureCapacity(k) >= k, "EnsureCapacity"); break;
                case 44: if (_random.Next(10) == 0) Both("Clear", () => _a.Clear(), () => _b.Clear()); break;
                case 45: Enumerating(i, item); break;
            }
        }

        // What enumerators say of a change meanwhile.
        void Enumerating(int i, T item)
        {
            IEnumerator<T> a = _a.GetEnumerator(), b = ((IEnumerable<T>)_b).GetEnumerator();
            int far = _random.Next(3) == 0 ? _a.Count + 1 : _random.Next(Math.Min(20, _a.Count + 1));
            for (; far > 0; far--) Both("MoveNext", () => a.MoveNext(), () => b.MoveNext());
            Both("Current as an object", () => ((IEnumerator)a).Current, () => ((IEnumerator)b).Current);
            switch (_random.Next(7))
            {
                case 0: _a.Add(item); _b.Add(item); break;
                case 1: if (_a.Count > 0) { _a.RemoveAt(0); _b.RemoveAt(0); } break;
                case 2: if ((uint)i < (uint)_a.Count) { _a[i] = item; _b[i] = item; } break;
                case 3: _a.Reverse(); _b.Reverse(); break;
                case 4: _a.Insert(0, item); _b.Insert(0, item); break;
                case 5: _a.Sort(_comparer); _b.Sort(_comparer); break;
            }
            Both("MoveNext after a change", () => a.MoveNext(), () => b.MoveNext());
            Both("Reset after a change", () => a.Reset(), () => b.Reset());
            Both("ForEach that changes", () => _a.ForEach(x => { if (_a.Count > 0) _a[0] = x; }), () => _b.ForEach(x => { if (_b.Count > 0) _b[0] = x; }));
        }
    }
}
