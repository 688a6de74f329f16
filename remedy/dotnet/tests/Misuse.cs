using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

namespace Unstall.Collections.Tests
{
    // What must not be asked: the standard collections' exceptions.
    static class Misuse
    {
        static long _operations;

        static void Same<T>(string what, Func<T> standard, Func<T> ours)
        {
            Check.Same(what, standard, ours);
            _operations++;
        }

        static void Same(string what, Action standard, Action ours)
        {
            Check.Same(what, standard, ours);
            _operations++;
        }

        public static long Run(int seed)
        {
            Creating();
            foreach (int n in new[] { 0, 1, 5, 4_096, 10_000 }) Lists(n);
            foreach (int n in new[] { 0, 1, 5, 10_000 })
            {
                Sets(n);
                Dictionaries(n);
            }
            Same("IReadOnlyCollection", () => ((IReadOnlyCollection<int>)new List<int> { 1 }).Count, () => ((IReadOnlyCollection<int>)new ChunkedHashSet<int> { 1 }).Count);
            return _operations;
        }

        static void Creating()
        {
            Same("list, negative capacity", () => new List<int>(-1).Count, () => new ChunkedList<int>(-1).Count);
            Same("list, null", () => new List<int>(null!).Count, () => new ChunkedList<int>(null!).Count);
            Same("set, negative capacity", () => new HashSet<int>(-1).Count, () => new ChunkedHashSet<int>(-1).Count);
            Same("set, null", () => new HashSet<int>((IEnumerable<int>)null!).Count, () => new ChunkedHashSet<int>((IEnumerable<int>)null!).Count);
            Same("set, null comparer", () => new HashSet<string>((IEqualityComparer<string>)null!).Comparer, () => new ChunkedHashSet<string>((IEqualityComparer<string>?)null).Comparer);
            Same("dictionary, negative capacity", () => new Dictionary<int, int>(-1).Count, () => new ChunkedDictionary<int, int>(-1).Count);
            Same("dictionary, null", () => new Dictionary<int, int>((IDictionary<int, int>)null!).Count, () => new ChunkedDictionary<int, int>((IDictionary<int, int>)null!).Count);
            Same("dictionary, null pairs", () => new Dictionary<int, int>((IEnumerable<KeyValuePair<int, int>>)null!).Count, () => new ChunkedDictionary<int, int>((IEnumerable<KeyValuePair<int, int>>)null!).Count);
            var twice = new[] { new KeyValuePair<int, int>(1, 1), new KeyValuePair<int, int>(1, 2) };
            Same("dictionary, a key twice", () => new Dictionary<int, int>(twice).Count, () => new ChunkedDictionary<int, int>(twice).Count);
        }

        static void Lists(int n)
        {
            List<int> a = Enumerable.Range(0, n).ToList();
            var b = new ChunkedList<int>(a);
            IList na = a, nb = b;
            foreach (int i in new[] { int.MinValue, -1, n, n + 1, int.MaxValue })
            {
                Same("get", () => a[i], () => b[i]);
                Same("set", () => a[i] = 1, () => b[i] = 1);
                Same("get as object", () => na[i], () => nb[i]);
                Same("set as object", () => na[i] = 1, () => nb[i] = 1);
                Same("RemoveAt", () => a.RemoveAt(i), () => b.RemoveAt(i));
                if (i != n) Same("Insert", () => a.Insert(i, 1), () => b.Insert(i, 1));
                if (i != n) Same("InsertRange", () => a.InsertRange(i, new[] { 1 }), () => b.InsertRange(i, new[] { 1 }));
                Same("GetRange", () => a.GetRange(i, 1).Count, () => b.GetRange(i, 1).Count);
                Same("GetRange of so many", () => a.GetRange(0, i).Count, () => b.GetRange(0, i).Count);
                Same("RemoveRange", () => a.RemoveRange(i, 1), () => b.RemoveRange(i, 1));
                Same("RemoveRange of so many", () => { if (i != n) a.RemoveRange(0, i); }, () => { if (i != n) b.RemoveRange(0, i); });
                Same("Reverse", () => a.Reverse(i, 1), () => b.Reverse(i, 1));
                Same("Sort", () => a.Sort(i, 1, null), () => b.Sort(i, 1, null));
                Same("BinarySearch", () => a.BinarySearch(i, 1, 0, null), () => b.BinarySearch(i, 1, 0, null));
                Same("IndexOf", () => a.IndexOf(0, i), () => b.IndexOf(0, i));
                Same("LastIndexOf", () => a.LastIndexOf(0, i), () => b.LastIndexOf(0, i));
                Same("FindIndex", () => a.FindIndex(i, _ => true), () => b.FindIndex(i, _ => true));
                Same("FindLastIndex", () => a.FindLastIndex(i, _ => true), () => b.FindLastIndex(i, _ => true));
                Same("CopyTo", () => a.CopyTo(new int[n], i), () => b.CopyTo(new int[n], i));
                Same("CopyTo of an array", () => na.CopyTo(new int[n + 5, 1], 0), () => nb.CopyTo(new int[n + 5, 1], 0));
                if (i < n) Same("Capacity", () => a.Capacity = i, () => b.Capacity = i);
                if (i < 0) Same("EnsureCapacity", () => new List<int>(i).Count, () => b.EnsureCapacity(i));
            }
            Same("CopyTo null", () => a.CopyTo(null!), () => b.CopyTo(null!));
            Same("CopyTo objects", () => na.CopyTo(new object[n], 0), () => nb.CopyTo(new object[n], 0));
            Same("AddRange", () => a.AddRange(null!), () => b.AddRange(null!));
            Same("InsertRange of null", () => a.InsertRange(0, null!), () => b.InsertRange(0, null!));
            Same("RemoveAll", () => a.RemoveAll(null!), () => b.RemoveAll(null!));
            Same("Find", () => a.Find(null!), () => b.Find(null!));
            Same("FindAll", () => a.FindAll(null!).Count, () => b.FindAll(null!).Count);
            Same("Exists", () => a.Exists(null!), () => b.Exists(null!));
            Same("TrueForAll", () => a.TrueForAll(null!), () => b.TrueForAll(null!));
            Same("ForEach", () => a.ForEach(null!), () => b.ForEach(null!));
            Same("ConvertAll", () => a.ConvertAll<int>(null!).Count, () => b.ConvertAll<int>(null!).Count);
            Same("Sort by null", () => a.Sort((Comparison<int>)null!), () => b.Sort((Comparison<int>)null!));
            Same("Sort by nothing", () => a.Sort((IComparer<int>)null!), () => b.Sort((IComparer<int>?)null));
            foreach (object? o in new object?[] { null, "text", 3L, 1 })
            {
                Same("Add an object", () => na.Add(o), () => nb.Add(o));
                Same("Insert an object", () => na.Insert(0, o), () => nb.Insert(0, o));
                Same("Contains an object", () => na.Contains(o), () => nb.Contains(o));
                Same("IndexOf an object", () => na.IndexOf(o), () => nb.IndexOf(o));
                Same("Remove an object", () => na.Remove(o), () => nb.Remove(o));
            }
            Same("Count", () => a.Count, () => b.Count);
            Same("foreach that adds", () => { foreach (int i in a) a.Add(i); }, () => { foreach (int i in b) b.Add(i); });
            Same("foreach that removes", () => { foreach (int i in a) a.Remove(i); }, () => { foreach (int i in b) b.Remove(i); });
            Same("adding itself while reading", () => a.AddRange(a.Where(x => x >= 0)), () => b.AddRange(b.Where(x => x >= 0)));
            Same("AsReadOnly", () => a.AsReadOnly().Count > -1, () => b.AsReadOnly().Count > -1);
        }

        static void Sets(int n)
        {
            var a = new HashSet<string?>(Enumerable.Range(0, n).Select(i => "s" + i));
            var b = new ChunkedHashSet<string?>(a);
            Same("null is an element", () => a.Add(null), () => b.Add(null));
            Same("null again", () => a.Add(null), () => b.Add(null));
            Same("null is there", () => a.Contains(null), () => b.Contains(null));
            Same("null goes", () => a.Remove(null), () => b.Remove(null));
            Same("UnionWith", () => a.UnionWith(null!), () => b.UnionWith(null!));
            Same("ExceptWith", () => a.ExceptWith(null!), () => b.ExceptWith(null!));
            Same("IntersectWith", () => a.IntersectWith(null!), () => b.IntersectWith(null!));
            Same("SymmetricExceptWith", () => a.SymmetricExceptWith(null!), () => b.SymmetricExceptWith(null!));
            Same("IsSubsetOf", () => a.IsSubsetOf(null!), () => b.IsSubsetOf(null!));
            Same("IsProperSubsetOf", () => a.IsProperSubsetOf(null!), () => b.IsProperSubsetOf(null!));
            Same("IsSupersetOf", () => a.IsSupersetOf(null!), () => b.IsSupersetOf(null!));
            Same("IsProperSupersetOf", () => a.IsProperSupersetOf(null!), () => b.IsProperSupersetOf(null!));
            Same("Overlaps", () => a.Overlaps(null!), () => b.Overlaps(null!));
            Same("SetEquals", () => a.SetEquals(null!), () => b.SetEquals(null!));
            Same("RemoveWhere", () => a.RemoveWhere(null!), () => b.RemoveWhere(null!));
            Same("CopyTo null", () => a.CopyTo(null!), () => b.CopyTo(null!));
            Same("CopyTo too short", () => a.CopyTo(new string[n / 2]), () => b.CopyTo(new string[n / 2]));
            Same("CopyTo from before", () => a.CopyTo(new string[n], -1), () => b.CopyTo(new string[n], -1));
            Same("CopyTo of fewer than none", () => a.CopyTo(new string[n], 0, -1), () => b.CopyTo(new string[n], 0, -1));
            Same("EnsureCapacity", () => a.EnsureCapacity(-1), () => b.EnsureCapacity(-1));
            Same("foreach that adds", () => { foreach (string? s in a) a.Add(s + "x"); }, () => { foreach (string? s in b) b.Add(s + "x"); });
            Same("UnionWith while reading itself", () => a.UnionWith(a.Select(s => s + "y")), () => b.UnionWith(b.Select(s => s + "y")));
        }

        static void Dictionaries(int n)
        {
            var a = new Dictionary<string, int>();
            for (int i = 0; i < n; i++) a.Add("s" + i, i);
            var b = new ChunkedDictionary<string, int>(a);
            IDictionary na = a, nb = b;
            Same("Add null", () => a.Add(null!, 1), () => b.Add(null!, 1));
            Same("TryAdd null", () => a.TryAdd(null!, 1), () => b.TryAdd(null!, 1));
            Same("get null", () => a[null!], () => b[null!]);
            Same("set null", () => a[null!] = 1, () => b[null!] = 1);
            Same("ContainsKey null", () => a.ContainsKey(null!), () => b.ContainsKey(null!));
            Same("TryGetValue null", () => a.TryGetValue(null!, out _), () => b.TryGetValue(null!, out _));
            Same("Remove null", () => a.Remove(null!), () => b.Remove(null!));
            Same("get what is not there", () => a["none"], () => b["none"]);
            Same("Add twice", () => { a.Add("two", 1); a.Add("two", 2); }, () => { b.Add("two", 1); b.Add("two", 2); });
            Same("EnsureCapacity", () => a.EnsureCapacity(-1), () => b.EnsureCapacity(-1));
            Same("TrimExcess", () => a.TrimExcess(-1), () => b.TrimExcess(-1));
            Same("Keys.Add", () => ((ICollection<string>)a.Keys).Add("x"), () => ((ICollection<string>)b.Keys).Add("x"));
            Same("Keys.Remove", () => ((ICollection<string>)a.Keys).Remove("x"), () => ((ICollection<string>)b.Keys).Remove("x"));
            Same("Values.Clear", () => ((ICollection<int>)a.Values).Clear(), () => ((ICollection<int>)b.Values).Clear());
            Same("Values.Contains", () => ((ICollection<int>)a.Values).Contains(3), () => ((ICollection<int>)b.Values).Contains(3));
            foreach (object? key in new object?[] { null, 5, "text" })
            {
                Same("get by an object", () => na[key!], () => nb[key!]);
                Same("set by an object", () => na[key!] = 1, () => nb[key!] = 1);
                Same("set to the wrong type", () => na[key!] = "one", () => nb[key!] = "one");
                Same("set to null", () => na[key!] = null, () => nb[key!] = null);
                Same("Add an object", () => na.Add(key!, 1), () => nb.Add(key!, 1));
                Same("Contains an object", () => na.Contains(key!), () => nb.Contains(key!));
                Same("Remove an object", () => na.Remove(key!), () => nb.Remove(key!));
            }
            Same("CopyTo null", () => na.CopyTo(null!, 0), () => nb.CopyTo(null!, 0));
            Same("CopyTo of the wrong type", () => na.CopyTo(new int[n + 5], 0), () => nb.CopyTo(new int[n + 5], 0));
            Same("foreach that adds", () => { foreach (KeyValuePair<string, int> p in a) a.Add(p.Key + "x", 1); }, () => { foreach (KeyValuePair<string, int> p in b) b.Add(p.Key + "x", 1); });
        }
    }
}
