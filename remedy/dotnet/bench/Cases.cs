using System;
using System.Collections.Generic;
using System.Linq;

namespace Unstall.Collections.Benchmarks
{
    // One comparison. Standard and Ours prepare what is needed and return the operation, whose result must be the same.
    sealed class Case
    {
        public string Name = "";
        public Func<Func<long>> Standard = null!, Ours = null!;
        public double Asked = double.PositiveInfinity; // the largest ratio
        public bool NoGen2;                            // none of ours
        public double Memory = double.PositiveInfinity; // the largest ratio of bytes allocated
        public string Article = "";                    // what the article measured of its own, on .NET Framework 4.7.2
    }

    static partial class Cases
    {
        public static IEnumerable<Case> All()
        {
            yield return Add(500, 1.1, "2.63×, gen 2 0, memory 1.02×");
            yield return Add(50_000, 0.8, "1.97×, gen 2 124.8 → 0, memory 0.50×", memory: 0.5);
            yield return Union("300", new[] { Range(0, 300), Range(100, 600), Range(300, 1000) }, 1.1, "2.44×, gen 2 0, memory 1.02×");
            yield return Union("30,000", new[] { Range(0, 30_000), Range(10_000, 60_000), Range(30_000, 100_000) }, 0.9, "2.37×, gen 2 664 → 7.8, memory 0.70×");
            foreach (int n in new[] { 500, 50_000, 1_000_000 })
            {
                yield return Index(n);
                yield return Foreach(n);
            }
            yield return ForeachStrings(50_000);
            yield return AddStrings(50_000);
            yield return SetContains(100_000);
            yield return SetRemove(100_000);
            yield return DictionaryAdd(100_000);
            yield return DictionaryGet(100_000);
            yield return ListContains(50_000);
            yield return RemoveAt(50_000);
            yield return Sort(1_000);
            yield return Sort(100_000);
            yield return SortStrings(20_000);
            yield return Grow(10_000_000);
            yield return GrowSet(10_000_000);
        }

        static int[] Range(int from, int count) => Enumerable.Range(from, count).ToArray();

        static int[] Random(int n)
        {
            var random = new Random(1);
            return Enumerable.Range(0, n).Select(_ => random.Next()).ToArray();
        }

        static Case Add(int n, double asked, string article, double memory = double.PositiveInfinity) => new Case
        {
            Name = $"list, add {n:N0}",
            Asked = asked,
            Memory = memory,
            NoGen2 = true,
            Article = article,
            Standard = () => () =>
            {
                var list = new List<int>();
                for (int i = 0; i < n; i++) list.Add(i);
                return list.Count;
            },
            Ours = () => () =>
            {
                var list = new ChunkedList<int>();
                for (int i = 0; i < n; i++) list.Add(i);
                return list.Count;
            },
        };

        static Case Index(int n) => new Case
        {
            Name = $"list, index {n:N0}",
            Asked = 1.3,
            Standard = () =>
            {
                var list = new List<int>(Range(0, n));
                return () => Sum(list);
            },
            Ours = () =>
            {
                var list = new ChunkedList<int>(Range(0, n));
                return () => Sum(list);
            },
        };

        static long Sum(List<int> list)
        {
            long sum = 0;
            for (int i = 0; i < list.Count; i++) sum += list[i];
            return sum;
        }

        static long Sum(ChunkedList<int> list)
        {
            long sum = 0;
            for (int i = 0; i < list.Count; i++) sum += list[i];
            return sum;
        }

        static Case Foreach(int n) => new Case
        {
            Name = $"list, foreach {n:N0}",
            Asked = 1.3,
            Standard = () =>
            {
                var list = new List<int>(Range(0, n));
                return () => SumEach(list);
            },
            Ours = () =>
            {
                var list = new ChunkedList<int>(Range(0, n));
                return () => SumEach(list);
            },
        };

        static long SumEach(List<int> list)
        {
            long sum = 0;
            foreach (int i in list) sum += i;
            return sum;
        }

        static long SumEach(ChunkedList<int> list)
        {
            long sum = 0;
            foreach (int i in list) sum += i;
            return sum;
        }

        static string[] Strings(int n) => Random(n).Select(i => "s" + i).ToArray();

        static Case ForeachStrings(int n) => new Case
        {
            Name = $"list of strings, foreach {n:N0}",
            Asked = 1.3,
            Standard = () =>
            {
                var list = new List<string>(Strings(n));
                return () => Lengths(list);
            },
            Ours = () =>
            {
                var list = new ChunkedList<string>(Strings(n));
                return () => Lengths(list);
            },
        };

        static long Lengths(List<string> list)
        {
            long sum = 0;
            foreach (string s in list) sum += s.Length;
            return sum;
        }

        static long Lengths(ChunkedList<string> list)
        {
            long sum = 0;
            foreach (string s in list) sum += s.Length;
            return sum;
        }

        static Case AddStrings(int n) => new Case
        {
            Name = $"list of strings, add {n:N0}",
            Standard = () =>
            {
                string[] strings = Strings(n);
                return () =>
                {
                    var list = new List<string>();
                    foreach (string s in strings) list.Add(s);
                    return list.Count;
                };
            },
            Ours = () =>
            {
                string[] strings = Strings(n);
                return () =>
                {
                    var list = new ChunkedList<string>();
                    foreach (string s in strings) list.Add(s);
                    return list.Count;
                };
            },
        };

        static Case ListContains(int n) => new Case
        {
            Name = $"list, Contains, the last of {n:N0}",
            Standard = () =>
            {
                var list = new List<int>(Range(0, n));
                return () => list.Contains(n - 1) ? 1 : 0;
            },
            Ours = () =>
            {
                var list = new ChunkedList<int>(Range(0, n));
                return () => list.Contains(n - 1) ? 1 : 0;
            },
        };

        static Case RemoveAt(int n) => new Case
        {
            Name = $"list, RemoveAt and Insert amid {n:N0}",
            Standard = () =>
            {
                var list = new List<int>(Range(0, n));
                return () =>
                {
                    list.RemoveAt(n / 3);
                    list.Insert(n / 3, n / 3);
                    return list[n / 3];
                };
            },
            Ours = () =>
            {
                var list = new ChunkedList<int>(Range(0, n));
                return () =>
                {
                    list.RemoveAt(n / 3);
                    list.Insert(n / 3, n / 3);
                    return list[n / 3];
                };
            },
        };

        static Case Sort(int n) => new Case
        {
            Name = $"list, sort {n:N0} random",
            Standard = () =>
            {
                int[] all = Random(n);
                return () =>
                {
                    var list = new List<int>(all);
                    list.Sort();
                    return list[n / 2];
                };
            },
            Ours = () =>
            {
                int[] all = Random(n);
                return () =>
                {
                    var list = new ChunkedList<int>(all);
                    list.Sort();
                    return list[n / 2];
                };
            },
        };

        static Case SortStrings(int n) => new Case
        {
            Name = $"list of strings, sort {n:N0} by ordinal",
            Standard = () =>
            {
                string[] all = Strings(n);
                return () =>
                {
                    var list = new List<string>(all);
                    list.Sort(StringComparer.Ordinal);
                    return list[n / 2].Length;
                };
            },
            Ours = () =>
            {
                string[] all = Strings(n);
                return () =>
                {
                    var list = new ChunkedList<string>(all);
                    list.Sort(StringComparer.Ordinal);
                    return list[n / 2].Length;
                };
            },
        };

        static Case Grow(int n) => new Case
        {
            Name = $"list, growth to {n:N0}",
            Standard = Add(n, 0, "").Standard,
            Ours = Add(n, 0, "").Ours,
        };
    }
}
