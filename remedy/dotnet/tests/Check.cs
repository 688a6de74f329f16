using System;
using System.Collections;
using System.Collections.Generic;

namespace Unstall.Collections.Tests
{
    // What a test says when the two differ.
    sealed class Different : Exception
    {
        public Different(string message) : base(message) { }
    }

    static class Check
    {
        public static void Equal<T>(T wanted, T got, string what)
        {
            if (!EqualityComparer<T>.Default.Equals(wanted, got)) throw new Different($"{what}: {got}, not {wanted}");
        }

        public static void True(bool holds, string what)
        {
            if (!holds) throw new Different(what);
        }

        // Does the same with both: the same results, or exceptions of the same type.
        public static void Same<T>(string what, Func<T> standard, Func<T> ours)
        {
            (T wanted, Type? thrown) = Outcome(standard);
            (T got, Type? threw) = Outcome(ours);
            if (thrown != threw) throw new Different($"{what}: {Name(threw)}, not {Name(thrown)}");
            if (thrown == null) Equal(wanted, got, what);
        }

        public static void Same(string what, Action standard, Action ours)
        {
            Same(what, () => { standard(); return true; }, () => { ours(); return true; });
        }

        static string Name(Type? thrown) => thrown == null ? "no exception" : thrown.Name;

        static (T, Type?) Outcome<T>(Func<T> run)
        {
            try
            {
                return (run(), null);
            }
            catch (Exception e)
            {
                return (default!, e.GetType());
            }
        }

        public static void Sequence<T>(IEnumerable<T> wanted, IEnumerable<T> got, string what)
        {
            using IEnumerator<T> a = wanted.GetEnumerator(), b = got.GetEnumerator();
            for (int i = 0; ; i++)
            {
                bool more = a.MoveNext();
                if (more != b.MoveNext()) throw new Different($"{what}: {(more ? "ends" : "goes on")} at {i}");
                if (!more) return;
                if (!EqualityComparer<T>.Default.Equals(a.Current, b.Current)) throw new Different($"{what}[{i}]: {b.Current}, not {a.Current}");
            }
        }
    }

    // A collection that says how many it has, and nothing else that anybody could know.
    sealed class Counted<T> : ICollection<T>
    {
        readonly T[] _items;
        public Counted(T[] items) => _items = items;
        public int Count => _items.Length;
        public bool IsReadOnly => true;
        public void Add(T item) => throw new NotSupportedException();
        public void Clear() => throw new NotSupportedException();
        public bool Contains(T item) => Array.IndexOf(_items, item) >= 0;
        public void CopyTo(T[] array, int index) => _items.CopyTo(array, index);
        public bool Remove(T item) => throw new NotSupportedException();
        public IEnumerator<T> GetEnumerator() => ((IEnumerable<T>)_items).GetEnumerator();
        IEnumerator IEnumerable.GetEnumerator() => _items.GetEnumerator();
    }

    sealed class ByRemainder : IEqualityComparer<int>
    {
        readonly int _by;
        public ByRemainder(int by) => _by = by;
        public bool Equals(int x, int y) => x % _by == y % _by;
        public int GetHashCode(int x) => x % _by;
    }

    sealed class SameHash : IEqualityComparer<int>
    {
        public bool Equals(int x, int y) => x == y;
        public int GetHashCode(int x) => -7;
    }
}
