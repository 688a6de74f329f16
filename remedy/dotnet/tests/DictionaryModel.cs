using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

namespace Unstall.Collections.Tests
{
    // The same random operations on Dictionary<TKey, TValue> and ChunkedDictionary<TKey, TValue>.
    sealed class DictionaryModel<TKey, TValue> where TKey : notnull
    {
        // Before .NET 5 giving a key another value ends enumerations.
        static readonly bool SettingEndsEnumerations = Environment.Version.Major < 5;

        readonly Random _random;
        readonly Func<int, TKey> _key;
        readonly Func<int, TValue> _value;
        readonly Dictionary<TKey, TValue> _a;
        readonly ChunkedDictionary<TKey, TValue> _b;
        readonly IEqualityComparer<TKey>? _comparer;
        int _range = 100;
        long _operations;

        public DictionaryModel(int seed, Func<int, TKey> key, Func<int, TValue> value, IEqualityComparer<TKey>? comparer)
        {
            (_random, _key, _value, _comparer) = (new Random(seed), key, value, comparer);
            _a = new Dictionary<TKey, TValue>(comparer);
            _b = new ChunkedDictionary<TKey, TValue>(comparer);
        }

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
                    Step(_random.Next(26));
                }
                catch (Different e)
                {
                    throw new Different($"step {step} with {_a.Count} keys: {e.Message}");
                }
                _operations++;
                Check.Equal(_a.Count, _b.Count, "Count");
            }
            Compare();
            return _operations;
        }

        void Move(int target)
        {
            foreach (TKey key in _a.Keys.Skip(target).ToList())
            {
                Check.Equal(_a.Remove(key), _b.Remove(key), "Remove");
                _operations++;
            }
            for (int i = 0; i < 2 * target && _a.Count < target; i++)
            {
                TKey key = _key(_random.Next(_range));
                TValue value = _value(_random.Next(1000));
                Check.Equal(_a.TryAdd(key, value), _b.TryAdd(key, value), "TryAdd");
                _operations++;
            }
        }

        void Compare()
        {
            int n = 0;
            foreach (KeyValuePair<TKey, TValue> pair in _b)
            {
                Check.True(_a.TryGetValue(pair.Key, out TValue value), $"{pair.Key} is too much");
                Check.Equal(value, pair.Value, $"value of {pair.Key}");
                n++;
            }
            Check.Equal(_a.Count, n, "keys enumerated");
            foreach (KeyValuePair<TKey, TValue> pair in _a) Check.Equal(pair.Value, _b[pair.Key], $"value of {pair.Key}");
            Check.Sequence(_b.Select(p => p.Key), _b.Keys, "Keys");
            Check.Sequence(_b.Select(p => p.Value), _b.Values, "Values");
            _operations += 4 * _a.Count;
        }

        void Both<R>(string what, Func<R> a, Func<R> b) => Check.Same(what, a, b);

        void Both(string what, Action a, Action b) => Check.Same(what, a, b);

        void Step(int kind)
        {
            TKey key = _key(_random.Next(_range));
            TValue value = _value(_random.Next(1000));
            IDictionary<TKey, TValue> ia = _a, ib = _b;
            IDictionary na = _a, nb = _b;
            var pair = new KeyValuePair<TKey, TValue>(key, value);
            switch (kind)
            {
                case 0: case 1: Both("Add", () => _a.Add(key, value), () => _b.Add(key, value)); break;
                case 2: case 3: Both("TryAdd", () => _a.TryAdd(key, value), () => _b.TryAdd(key, value)); break;
                case 4: case 5: Both("set", () => _a[key] = value, () => _b[key] = value); break;
                case 6: case 7: Both("get", () => _a[key], () => _b[key]); break;
                case 8: case 9: Both("Remove", () => _a.Remove(key), () => _b.Remove(key)); break;
                case 10: Both("Remove with value", () => (_a.Remove(key, out TValue x), x), () => (_b.Remove(key, out TValue x), x)); break;
                case 11: case 12: Both("TryGetValue", () => (_a.TryGetValue(key, out TValue x), x), () => (_b.TryGetValue(key, out TValue x), x)); break;
                case 13: Both("ContainsKey", () => _a.ContainsKey(key), () => _b.ContainsKey(key)); break;
                case 14: if (_range <= 300) Both("ContainsValue", () => _a.ContainsValue(value), () => _b.ContainsValue(value)); break;
                case 15: if (_random.Next(10) == 0) Both("Clear", () => _a.Clear(), () => _b.Clear()); break;
                case 16: Both("Remove a pair", () => ia.Remove(pair), () => ib.Remove(pair)); break;
                case 17: Both("Contains a pair", () => ia.Contains(pair), () => ib.Contains(pair)); break;
                case 18: Both("Add as objects", () => na.Add(key, value), () => nb.Add(key, value)); break;
                case 19: Both("set as objects", () => na[key] = value, () => nb[key] = value); break;
                case 20: Both("get as object", () => na[key], () => nb[key]); break;
                case 21: Both("Contains and Remove an object", () => { bool there = na.Contains(key); na.Remove(key); return there; }, () => { bool there = nb.Contains(key); nb.Remove(key); return there; }); break;
                case 22:
                    if (_random.Next(3) == 0) _b.TrimExcess();
                    else if (_random.Next(2) == 0) _b.TrimExcess(_b.Count + _random.Next(100));
                    else Check.True(_b.EnsureCapacity(_range) >= _range, "EnsureCapacity");
                    break;
                case 23:
                    {
                        ref TValue to = ref _b.GetValueRefOrAddDefault(key, out bool exists);
                        Check.Equal(_a.TryGetValue(key, out TValue was), exists, "GetValueRefOrAddDefault");
                        Check.Equal(was, to, "what GetValueRefOrAddDefault refers to");
                        to = _a[key] = value;
                        break;
                    }
                case 24: Enumerating(key, value); break;
                case 25:
                    {
                        int room = _random.Next(_a.Count + 3), at = _random.Next(-1, 3);
                        Both("CopyTo", () => ia.CopyTo(new KeyValuePair<TKey, TValue>[room], at), () => ib.CopyTo(new KeyValuePair<TKey, TValue>[room], at));
                        Both("CopyTo of keys", () => _a.Keys.CopyTo(new TKey[room], at), () => _b.Keys.CopyTo(new TKey[room], at));
                        Both("CopyTo of values as objects", () => ((ICollection)_a.Values).CopyTo(new object[room], at), () => ((ICollection)_b.Values).CopyTo(new object[room], at));
                        Both("CopyTo of entries", () => na.CopyTo(new DictionaryEntry[room], at), () => nb.CopyTo(new DictionaryEntry[room], at));
                        var copy = new ChunkedDictionary<TKey, TValue>(_b, _comparer);
                        Check.Equal(_a.Count, copy.Count, "a copy's Count");
                        break;
                    }
            }
        }

        void Enumerating(TKey key, TValue value)
        {
            IEnumerator<KeyValuePair<TKey, TValue>> a = _a.GetEnumerator(), b = ((IEnumerable<KeyValuePair<TKey, TValue>>)_b).GetEnumerator();
            IDictionaryEnumerator na = ((IDictionary)_a).GetEnumerator(), nb = ((IDictionary)_b).GetEnumerator();
            IEnumerator<TKey> ka = _a.Keys.GetEnumerator(), kb = ((IEnumerable<TKey>)_b.Keys).GetEnumerator();
            int far = _random.Next(3) == 0 ? _a.Count + 1 : _random.Next(Math.Min(20, _a.Count + 1));
            for (; far > 0; far--)
            {
                Both("MoveNext", () => a.MoveNext(), () => b.MoveNext());
                Both("MoveNext of keys", () => ka.MoveNext(), () => kb.MoveNext());
                Both("MoveNext of entries", () => na.MoveNext(), () => nb.MoveNext());
            }
            Both("Current as an object", () => { _ = ((IEnumerator)a).Current; }, () => { _ = ((IEnumerator)b).Current; });
            Both("Current key as an object", () => { _ = ((IEnumerator)ka).Current; }, () => { _ = ((IEnumerator)kb).Current; });
            Both("Entry", () => { _ = na.Entry; }, () => { _ = nb.Entry; });
            Both("Current's type", () => na.Current!.GetType(), () => nb.Current!.GetType());
            switch (_random.Next(SettingEndsEnumerations ? 4 : 5))
            {
                case 0: _a.TryAdd(key, value); _b.TryAdd(key, value); break;
                case 2: _a.Remove(key); _b.Remove(key); break;
                case 3: _a.Clear(); _b.Clear(); break;
                case 4: if (_a.ContainsKey(key)) { _a[key] = value; _b[key] = value; } break;
            }
            Both("MoveNext after a change", () => { a.MoveNext(); }, () => { b.MoveNext(); });
            Both("Reset after a change", () => ka.Reset(), () => kb.Reset());
        }
    }
}
