using System;
using System.Collections.Generic;
using System.Linq;

namespace Unstall.Collections.Tests
{
    // Collections of more chunks than are one step away, across both ends of the first pages of the second level: the
    // elements are so large that each has a chunk of its own, which takes 150 MB and, of the set, 290 MB.
    sealed class Far
    {
        const int Near = ChunkTable<Page>.NearLength;

        readonly Random _random;
        readonly List<int> _a = new List<int>();
        readonly ChunkedList<Page> _b = new ChunkedList<Page>();
        long _operations;

        Far(int seed) => _random = new Random(seed);

        public static long Run(int seed) => new Far(seed).Lists() + Set();

        long Lists()
        {
            Check.Equal(1, Chunk<Page>.ListLength, "elements of a chunk");
            foreach (int size in new[] { Near - 1, Near, Near + 1, 2 * Near - 1, 2 * Near + 1, Near + 9, Near - 200, Near + 3 })
            {
                Move(size);
                Compare();
                for (int i = 0; i < 12; i++) Step();
                Compare();
                if (_random.Next(2) == 0) _b.TrimExcess();
                Sizes.Look(_b);
            }
            Order(Near + 700);
            Move(3);
            _b.TrimExcess();
            Compare();
            _b.Capacity = Near + 2;
            Move(Near + 5);
            Compare();
            Sizes.Look(_b);
            return _operations;
        }

        void Move(int size)
        {
            if (_a.Count > size)
            {
                int at = _random.Next(size), n = _a.Count - size;
                _a.RemoveRange(at, n);
                _b.RemoveRange(at, n);
            }
            else if (_random.Next(2) == 0)
            {
                int[] more = Some(size - _a.Count);
                _a.AddRange(more);
                _b.AddRange(more.Select(i => new Page(i)).ToArray());
            }
            while (_a.Count < size)
            {
                int i = _random.Next();
                _a.Add(i);
                _b.Add(new Page(i));
            }
        }

        int[] Some(int n) => Enumerable.Range(0, n).Select(_ => _random.Next()).ToArray();

        void Compare()
        {
            Check.Equal(_a.Count, _b.Count, "Count");
            Check.Sequence(_a, _b.Select(p => p.Value), "elements");
            for (int i = 0; i < _a.Count; i++)
            {
                Check.Equal(_a[i], _b[i].Value, "index");
                Check.Equal(_a[i], _b.GetChunk(i)[0].Value, "chunk");
            }
            Check.Same("index at the end", () => _a[_a.Count], () => _b[_b.Count].Value);
            _operations += 3 * _a.Count;
        }

        void Step()
        {
            // Mostly where the near ones end.
            int end = _a.Count, i = _random.Next(3) == 0 ? _random.Next(end) : Math.Max(0, Math.Min(Near, end) - 1 - _random.Next(4));
            int[] some = Some(_random.Next(1, 5));
            var pages = some.Select(x => new Page(x)).ToArray();
            int n = Math.Min(_random.Next(5), end - i);
            switch (_random.Next(9))
            {
                case 0: _a.Insert(i, some[0]); _b.Insert(i, pages[0]); break;
                case 1: _a.RemoveAt(i); _b.RemoveAt(i); break;
                case 2: _a.InsertRange(i, some); _b.InsertRange(i, pages); break;
                case 3: _a.RemoveRange(i, n); _b.RemoveRange(i, n); break;
                case 4: _a[i] = some[0]; _b[i] = pages[0]; break;
                case 5: _a.Reverse(i, n); _b.Reverse(i, n); break;
                case 6: Check.Equal(_a.IndexOf(_a[i]), _b.IndexOf(new Page(_a[i])), "IndexOf"); break;
                case 7: Check.Equal(_a.LastIndexOf(_a[i]), _b.LastIndexOf(new Page(_a[i])), "LastIndexOf"); break;
                case 8: _a.RemoveAll(x => x % 100 == 0); _b.RemoveAll(p => p.Value % 100 == 0); break;
            }
            _operations++;
        }

        void Order(int size)
        {
            Move(size);
            _a.Sort();
            _b.Sort();
            Compare();
            Sizes.Look(_b);
            for (int k = 0; k < 100; k++)
            {
                int i = _random.Next(_a.Count);
                Check.Equal(_a[i], _b[_b.BinarySearch(new Page(_a[i]))].Value, "BinarySearch");
            }
            _a.Reverse();
            _b.Reverse();
            Compare();
        }

        static long Set()
        {
            const int n = ChunkTable<Sheet>.NearLength + 300;
            var set = new ChunkedHashSet<Sheet>();
            for (int i = 0; i < n; i++) Check.True(set.Add(new Sheet(i)), "Add");
            for (int i = 0; i < n; i++)
            {
                Check.True(set.Contains(new Sheet(i)) && !set.Add(new Sheet(i)), "Contains");
                if (i % 3 == 0) Check.True(set.Remove(new Sheet(i)), "Remove");
            }
            for (int i = 0; i < n; i++) Check.Equal(i % 3 != 0, set.Contains(new Sheet(i)), "Contains what is left");
            Sizes.Look(set);
            set.TrimExcess();
            Check.Sequence(Enumerable.Range(0, n).Where(i => i % 3 != 0), set.Select(s => s.Value).OrderBy(i => i), "set, trimmed");
            return 5 * n;
        }
    }
}
