using System;
using System.Collections.Generic;
using System.Linq;

namespace Unstall.Collections.Tests
{
    static class Sorting
    {
        public static long Run(int seed, bool all)
        {
            var random = new Random(seed);
            long operations = 0;
            foreach (int n in all ? new[] { 2, 4_095, 4_096, 4_097, 8_193, 12_288, 50_000, 300_001, 2_000_000 } : new[] { 2, 4_095, 4_096, 4_097, 8_193, 12_288, 50_000 })
            {
                int[] numbers = Enumerable.Range(0, n).Select(_ => random.Next()).ToArray();
                Compare(numbers);
                Compare(numbers.Select(x => x % 10).ToArray());
                Compare(Enumerable.Range(0, n).ToArray());
                Compare(Enumerable.Range(0, n).Reverse().ToArray());
                Compare(Enumerable.Range(0, n).Select(x => x == n - 1 ? -1 : x).ToArray());
                Compare(numbers.Select(x => x * 4_000_000_000L - x).ToArray());
                Compare(numbers.Select(x => (uint)x * 2).ToArray());
                Compare(numbers.Select(x => x % 5 == 0 ? double.NaN : -x / 7.0).ToArray());
                if (n <= 50_000) Compare(numbers.Select(x => "s" + x).ToArray());
                operations += 20 * n;

                // An order in which many are equal: sorted, and nothing lost.
                var some = new ChunkedList<string?>(numbers.Select(x => x % 9 == 0 ? null : "x" + x));
                some.Sort(Comparer<string?>.Create((x, y) => (x?.Length ?? 0) - (y?.Length ?? 0)));
                for (int i = 1; i < n; i++) Check.True((some[i - 1]?.Length ?? 0) <= (some[i]?.Length ?? 0), "sorted by length");
                Check.Sequence(numbers.Select(x => x % 9 == 0 ? null : "x" + x).OrderBy(x => x, StringComparer.Ordinal), some.OrderBy(x => x, StringComparer.Ordinal), "elements sorted by length");

                // A comparison that throws while chunks are merged: InvalidOperationException, as List's, and nothing lost.
                // (Within a chunk some may be lost, as in a List.)
                int inChunks = 0, full = Chunk<int>.ListLength;
                for (int i = 0; i < n; i += full)
                {
                    Array.Sort(numbers.Skip(i).Take(full).ToArray(), Comparer<int>.Create((x, y) => { inChunks++; return x.CompareTo(y); }));
                }
                foreach (int more in new[] { 0, 1, 2, 1_000, n / 2, n, 2 * n })
                {
                    int left = inChunks + more;
                    var broken = new ChunkedList<int>(numbers);
                    try
                    {
                        broken.Sort((x, y) => --left < 0 ? throw new FormatException() : x.CompareTo(y));
                    }
                    catch (InvalidOperationException e)
                    {
                        Check.True(e.InnerException is FormatException, "the inner exception");
                        Check.Sequence(numbers.OrderBy(x => x), broken.OrderBy(x => x), "elements after a sort that threw");
                        broken.Sort();
                        Check.Sequence(numbers.OrderBy(x => x), broken, "a sort after one that threw");
                    }
                }
                Check.Same("a comparison that throws", () => new List<int>(numbers).Sort((x, y) => throw new FormatException()), () => new ChunkedList<int>(numbers).Sort((x, y) => throw new FormatException()));
            }
            Check.Same("Sort of what cannot be compared", () => new List<object>(new object[5000].Select(_ => new object())).Sort(), () => new ChunkedList<object>(new object[5000].Select(_ => new object())).Sort());
            Check.Same("BinarySearch of what cannot be compared", () => new List<object> { new object() }.BinarySearch(new object()), () => new ChunkedList<object> { new object() }.BinarySearch(new object()));
            return operations;
        }

        static void Compare<T>(T[] items)
        {
            var a = new List<T>(items);
            var b = new ChunkedList<T>(items);
            a.Sort();
            b.Sort();
            Check.Sequence(a, b, "Sort");
            foreach (T item in items.Take(100)) Check.Equal(a.BinarySearch(item), b.BinarySearch(item), "BinarySearch");
            b.Add(items[0]);
            b.RemoveAt(items.Length);
            Check.Sequence(a, b, "Sort, and one more");
            b.Clear();
            b.AddRange(items);
            a.Clear();
            a.AddRange(items);
            int at = items.Length / 5, n = items.Length / 2;
            a.Sort(at, n, null);
            b.Sort(at, n, null);
            Check.Sequence(a, b, "Sort of some");
        }
    }
}
