using System;
using System.Collections.Generic;
using System.Linq;

namespace Unstall.Collections.Benchmarks
{
    // Sets and dictionaries.
    static partial class Cases
    {
        static Case Union(string name, int[][] sources, double asked, string article) => new Case
        {
            Name = $"set, union of ranges of {name} …",
            Asked = asked,
            NoGen2 = true,
            Article = article,
            Standard = () => () =>
            {
                var set = new HashSet<int>();
                foreach (int[] s in sources) set.UnionWith(s);
                return set.Count;
            },
            Ours = () => () =>
            {
                var set = new ChunkedHashSet<int>();
                foreach (int[] s in sources) set.UnionWith(s);
                return set.Count;
            },
        };

        static Case SetContains(int n) => new Case
        {
            Name = $"set, Contains {n:N0}, half there",
            Standard = () =>
            {
                int[] all = Random(n);
                var set = new HashSet<int>(all.Take(n / 2));
                return () => all.Count(set.Contains);
            },
            Ours = () =>
            {
                int[] all = Random(n);
                var set = new ChunkedHashSet<int>(all.Take(n / 2));
                return () => all.Count(set.Contains);
            },
        };

        static Case SetRemove(int n) => new Case
        {
            Name = $"set, Remove and add {n:N0}",
            Standard = () =>
            {
                int[] all = Random(n);
                var set = new HashSet<int>(all);
                return () =>
                {
                    foreach (int i in all) set.Remove(i);
                    foreach (int i in all) set.Add(i);
                    return set.Count;
                };
            },
            Ours = () =>
            {
                int[] all = Random(n);
                var set = new ChunkedHashSet<int>(all);
                return () =>
                {
                    foreach (int i in all) set.Remove(i);
                    foreach (int i in all) set.Add(i);
                    return set.Count;
                };
            },
        };

        static Case DictionaryAdd(int n) => new Case
        {
            Name = $"dictionary, add {n:N0}",
            NoGen2 = true,
            Standard = () => () =>
            {
                var dictionary = new Dictionary<int, int>();
                for (int i = 0; i < n; i++) dictionary.Add(i, i);
                return dictionary.Count;
            },
            Ours = () => () =>
            {
                var dictionary = new ChunkedDictionary<int, int>();
                for (int i = 0; i < n; i++) dictionary.Add(i, i);
                return dictionary.Count;
            },
        };

        static Case DictionaryGet(int n) => new Case
        {
            Name = $"dictionary, get {n:N0}",
            Standard = () =>
            {
                int[] all = Random(n).Distinct().ToArray();
                Dictionary<int, int> dictionary = all.ToDictionary(i => i);
                return () =>
                {
                    long sum = 0;
                    foreach (int i in all) sum += dictionary[i];
                    return sum;
                };
            },
            Ours = () =>
            {
                int[] all = Random(n).Distinct().ToArray();
                var dictionary = new ChunkedDictionary<int, int>(all.ToDictionary(i => i));
                return () =>
                {
                    long sum = 0;
                    foreach (int i in all) sum += dictionary[i];
                    return sum;
                };
            },
        };

        static Case GrowSet(int n) => new Case
        {
            Name = $"set, growth to {n:N0}",
            Standard = () => () =>
            {
                var set = new HashSet<int>();
                for (int i = 0; i < n; i++) set.Add(i);
                return set.Count;
            },
            Ours = () => () =>
            {
                var set = new ChunkedHashSet<int>();
                for (int i = 0; i < n; i++) set.Add(i);
                return set.Count;
            },
        };
    }
}
