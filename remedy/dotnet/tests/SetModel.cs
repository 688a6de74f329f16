using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

namespace Unstall.Collections.Tests
{
    // The same random operations on HashSet<T> and ChunkedHashSet<T>.
    sealed class SetModel<T>
    {
        // HashSet<T> of before .NET 5 ends enumerations when something is removed; later ones do not, nor does ours.
        static readonly bool RemovingEndsEnumerations = Environment.Version.Major < 5;

        readonly Random _random;
        readonly Func<int, T> _make;
        readonly HashSet<T> _a;
        readonly ChunkedHashSet<T> _b;
        readonly IEqualityComparer<T>? _comparer;
        int _range = 100;
        long _operations;

        public SetModel(int seed, Func<int, T> make, IEqualityComparer<T>? comparer)
        {
            (_random, _make, _comparer) = (new Random(seed), make, comparer);
            _a = new HashSet<T>(comparer);
            _b = new ChunkedHashSet<T>(comparer);
        }

        T Any() => _make(_random.Next(_range));

        T[] Some(int n) => Enumerable.Range(0, n).Select(_ => Any()).ToArray();

        public long Run(int steps)
        {
            for (int step = 0; step < steps; step++)
            {
                if (step % 200 == 0)
                {
                    _range = new[] { 3, 20, 300, 5_000, 20_000 }[_random.Next(5)];
                    Move(_random.Next(_range + 1));
                    Compare();
                }
                try
                {
                    Step(_random.Next(32));
                }
                catch (Different e)
                {
                    throw new Different($"step {step} with {_a.Count} elements: {e.Message}");
                }
                _operations++;
                Check.Equal(_a.Count, _b.Count, "Count");
            }
            Compare();
            return _operations;
        }

        void Move(int target)
        {
            foreach (T item in _a.Skip(target).ToList())
            {
                Check.Equal(_a.Remove(item), _b.Remove(item), "Remove");
                _operations++;
            }
            for (int i = 0; i < 2 * target && _a.Count < target; i++)
            {
                T item = Any();
                Check.Equal(_a.Add(item), _b.Add(item), "Add");
                _operations++;
            }
        }

        void Compare()
        {
            var found = new HashSet<T>(_comparer);
            foreach (T item in _b)
            {
                Check.True(_a.Contains(item), $"{item} is too much");
                Check.True(found.Add(item), $"{item} is there twice");
            }
            Check.Equal(_a.Count, found.Count, "elements enumerated");
            foreach (T item in _a) Check.True(_b.Contains(item), $"{item} is missing");
            var copy = new T[_b.Count + 1];
            _b.CopyTo(copy, 1);
            Check.Sequence(_b, copy.Skip(1), "CopyTo");
            _operations += 2 * _a.Count;
        }

        void Both<R>(string what, Func<R> a, Func<R> b) => Check.Same(what, a, b);

        void Both(string what, Action a, Action b) => Check.Same(what, a, b);

        // The other side of set algebra, in all shapes.
        (IEnumerable<T>, IEnumerable<T>) Other()
        {
            T[] some = _random.Next(3) == 0 ? _a.Take(_random.Next(_a.Count + 2)).Concat(Some(_random.Next(3))).ToArray()
                : _random.Next(3) == 0 ? _a.ToArray() : Some(_random.Next(_random.Next(4) == 0 ? 2 * _range : 10));
            switch (_random.Next(9))
            {
                case 0: return (some, some);
                case 1: return (new List<T>(some), new List<T>(some));
                case 2: return (new List<T>(some), new ChunkedList<T>(some));
                case 3: return (new HashSet<T>(some, _comparer), new ChunkedHashSet<T>(some, _comparer));
                case 4: return (new HashSet<T>(some, _comparer), new HashSet<T>(some, _comparer));
                case 5: return (new HashSet<T>(some), new ChunkedHashSet<T>(some));
                case 6: return (some.Where(_ => true), some.Where(_ => true));
                case 7: return (new Counted<T>(some), new Counted<T>(some));
                default: return (_a, _b);
            }
        }

        void Step(int kind)
        {
            T item = Any();
            (IEnumerable<T> a, IEnumerable<T> b) = kind < 15 || kind > 24 ? (_a, _b) : Other();
            switch (kind)
            {
                case 0: case 1: case 2: case 3: case 4: Both("Add", () => _a.Add(item), () => _b.Add(item)); break;
                case 5: case 6: case 7: case 8: Both("Remove", () => _a.Remove(item), () => _b.Remove(item)); break;
                case 9: case 10: case 11: Both("Contains", () => _a.Contains(item), () => _b.Contains(item)); break;
                case 12: Both("TryGetValue", () => (_a.TryGetValue(item, out T x), x), () => (_b.TryGetValue(item, out T x), x)); break;
                case 13: if (_random.Next(10) == 0) Both("Clear", () => _a.Clear(), () => _b.Clear()); break;
                case 14: { int odd = _random.Next(2, 9); Predicate<T> p = e => ((e?.GetHashCode() ?? 0) & 0xffff) % odd == 0; Both("RemoveWhere", () => _a.RemoveWhere(p), () => _b.RemoveWhere(p)); break; }
                case 15: Both("UnionWith", () => _a.UnionWith(a), () => _b.UnionWith(b)); break;
                case 16: if (_random.Next(3) == 0) Both("IntersectWith", () => _a.IntersectWith(a), () => _b.IntersectWith(b)); break;
                case 17: if (_random.Next(3) == 0) Both("ExceptWith", () => _a.ExceptWith(a), () => _b.ExceptWith(b)); break;
                case 18: if (_random.Next(3) == 0) Both("SymmetricExceptWith", () => _a.SymmetricExceptWith(a), () => _b.SymmetricExceptWith(b)); break;
                case 19: Both("IsSubsetOf", () => _a.IsSubsetOf(a), () => _b.IsSubsetOf(b)); break;
                case 20: Both("IsProperSubsetOf", () => _a.IsProperSubsetOf(a), () => _b.IsProperSubsetOf(b)); break;
                case 21: Both("IsSupersetOf", () => _a.IsSupersetOf(a), () => _b.IsSupersetOf(b)); break;
                case 22: Both("IsProperSupersetOf", () => _a.IsProperSupersetOf(a), () => _b.IsProperSupersetOf(b)); break;
                case 23: Both("Overlaps", () => _a.Overlaps(a), () => _b.Overlaps(b)); break;
                case 24: Both("SetEquals", () => _a.SetEquals(a), () => _b.SetEquals(b)); break;
                case 25: _b.TrimExcess(); break;
                case 26: { int k = _random.Next(2 * _range); Check.True(_b.EnsureCapacity(k) >= k, "EnsureCapacity"); break; }
                case 27:
                    {
                        int room = _random.Next(_a.Count + 3), at = _random.Next(-1, 3), n = _random.Next(-1, _a.Count + 3);
                        Both("CopyTo", () => _a.CopyTo(new T[room], at, n), () => _b.CopyTo(new T[room], at, n));
                        break;
                    }
                case 28: Enumerating(item); break;
                case 29:
                    {
                        var copy = new ChunkedHashSet<T>(_b, _comparer);
                        Check.True(copy.SetEquals(_a) && copy.Count == _a.Count, "a copy");
                        Check.True(ChunkedHashSet<T>.CreateSetComparer().Equals(copy, _b), "the set comparer");
                        break;
                    }
                default: Both("Count", () => _a.Count, () => _b.Count); break;
            }
        }

        void Enumerating(T item)
        {
            IEnumerator<T> a = _a.GetEnumerator(), b = ((IEnumerable<T>)_b).GetEnumerator();
            int far = _random.Next(3) == 0 ? _a.Count + 1 : _random.Next(Math.Min(20, _a.Count + 1));
            for (; far > 0; far--) Both("MoveNext", () => a.MoveNext(), () => b.MoveNext());
            Both("Current as an object", () => { _ = ((IEnumerator)a).Current; }, () => { _ = ((IEnumerator)b).Current; });
            switch (_random.Next(RemovingEndsEnumerations ? 2 : 4))
            {
                case 0: _a.Add(item); _b.Add(item); break;
                case 2: _a.Remove(item); _b.Remove(item); break;
                case 3: _a.Clear(); _b.Clear(); break;
            }
            bool same = _random.Next(2) == 0; // order may differ after removals: whether there is one more may, too
            if (same) Both("Reset after a change", () => a.Reset(), () => b.Reset());
            else if (_a.Count == 0) Both("MoveNext after a change", () => a.MoveNext(), () => b.MoveNext());
            else Both("MoveNext after a change", () => { a.MoveNext(); }, () => { b.MoveNext(); });
        }
    }
}
