using System;
using System.Collections;
using System.Collections.Generic;

namespace Unstall.Collections
{
    // Set algebra.
    public sealed partial class ChunkedHashSet<T>
    {
        /// <summary>Adds the elements of a collection.</summary>
        /// <param name="other">The elements.</param>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public void UnionWith(IEnumerable<T> other)
        {
            switch (other)
            {
                case null:
                    Throw.Null(nameof(other));
                    break;
                case T[] array:
                    foreach (T item in array) Insert(item, out _);
                    break;
                case ChunkedList<T> list:
                    foreach (T item in list) Insert(item, out _);
                    break;
                case ChunkedHashSet<T> set:
                    foreach (T item in set) Insert(item, out _);
                    break;
                case List<T> list:
                    foreach (T item in list) Insert(item, out _);
                    break;
                case HashSet<T> set:
                    foreach (T item in set) Insert(item, out _);
                    break;
                default:
                    foreach (T item in other) Insert(item, out _);
                    break;
            }
        }

        /// <summary>Removes the elements of a collection.</summary>
        /// <param name="other">The elements.</param>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public void ExceptWith(IEnumerable<T> other)
        {
            if (other == null) Throw.Null(nameof(other));
            if (Count == 0) return;
            if (other == this)
            {
                Clear();
                return;
            }
            foreach (T item in other!) Remove(item);
        }

        /// <summary>Removes the elements that are not in a collection.</summary>
        /// <param name="other">The collection.</param>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public void IntersectWith(IEnumerable<T> other)
        {
            if (other == null) Throw.Null(nameof(other));
            if (Count == 0 || other == this) return;
            if (other is ICollection<T> known && known.Count == 0)
            {
                Clear();
                return;
            }
            if (Alike(other!) is ICollection<T> set)
            {
                RemoveWhere(item => !set.Contains(item));
                return;
            }
            Marks marks = Mark(other!, false, out _, out _);
            for (int i = 0; i < _used; i++)
            {
                if (_entries[i >> Shift][i & Mask].Next >= -1 && !marks[i]) RemoveEntry(i);
            }
        }

        /// <summary>Removes the elements that are in a collection too, and adds those that are only there.</summary>
        /// <param name="other">The collection.</param>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public void SymmetricExceptWith(IEnumerable<T> other)
        {
            if (other == null) Throw.Null(nameof(other));
            if (Count == 0)
            {
                UnionWith(other!);
                return;
            }
            if (other == this)
            {
                Clear();
                return;
            }
            IEnumerable<T> once = Alike(other!) ?? new ChunkedHashSet<T>(other!, _comparer);
            foreach (T item in once)
            {
                if (!Remove(item)) Add(item);
            }
        }

        /// <summary>Whether all elements are in a collection.</summary>
        /// <param name="other">The collection.</param>
        /// <returns>Whether they are.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public bool IsSubsetOf(IEnumerable<T> other)
        {
            if (other == null) Throw.Null(nameof(other));
            if (Count == 0 || other == this) return true;
            if (Alike(other!) is ICollection<T> set) return Count <= set.Count && AllIn(set);
            Mark(other!, false, out int found, out _);
            return found == Count;
        }

        /// <summary>Whether all elements are in a collection, and others are there too.</summary>
        /// <param name="other">The collection.</param>
        /// <returns>Whether it is so.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public bool IsProperSubsetOf(IEnumerable<T> other)
        {
            if (other == null) Throw.Null(nameof(other));
            if (other == this) return false;
            if (Alike(other!) is ICollection<T> set) return Count < set.Count && AllIn(set);
            Mark(other!, false, out int found, out bool others);
            return found == Count && others;
        }

        /// <summary>Whether all elements of a collection are in the set.</summary>
        /// <param name="other">The collection.</param>
        /// <returns>Whether they are.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public bool IsSupersetOf(IEnumerable<T> other)
        {
            if (other == null) Throw.Null(nameof(other));
            if (Alike(other!) is ICollection<T> set && set.Count > Count) return false;
            foreach (T item in other!)
            {
                if (!Contains(item)) return false;
            }
            return true;
        }

        /// <summary>Whether all elements of a collection are in the set, and the set has others too.</summary>
        /// <param name="other">The collection.</param>
        /// <returns>Whether it is so.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public bool IsProperSupersetOf(IEnumerable<T> other)
        {
            if (other == null) Throw.Null(nameof(other));
            if (Count == 0 || other == this) return false;
            Mark(other!, true, out int found, out bool others);
            return found < Count && !others;
        }

        /// <summary>Whether an element is in a collection too.</summary>
        /// <param name="other">The collection.</param>
        /// <returns>Whether one is.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public bool Overlaps(IEnumerable<T> other)
        {
            if (other == null) Throw.Null(nameof(other));
            if (Count == 0) return false;
            foreach (T item in other!)
            {
                if (Contains(item)) return true;
            }
            return false;
        }

        /// <summary>Whether set and collection have the same elements, however often the collection has them.</summary>
        /// <param name="other">The collection.</param>
        /// <returns>Whether they have.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="other"/> is null.</exception>
        public bool SetEquals(IEnumerable<T> other)
        {
            if (other == null) Throw.Null(nameof(other));
            if (other == this) return true;
            if (Alike(other!) is ICollection<T> set) return Count == set.Count && AllIn(set);
            Mark(other!, true, out int found, out bool others);
            return found == Count && !others;
        }

        /// <summary>Removes the elements that match. What it is asked with may not change the set.</summary>
        /// <param name="match">Says which.</param>
        /// <returns>How many there were.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        public int RemoveWhere(Predicate<T> match)
        {
            if (match == null) Throw.Null(nameof(match));
            int removed = 0;
            for (int i = 0; i < _used; i++)
            {
                ref Entry entry = ref _entries[i >> Shift][i & Mask];
                if (entry.Next < -1 || !match!(entry.Value)) continue;
                RemoveEntry(i);
                removed++;
            }
            return removed;
        }

        bool AllIn(ICollection<T> set)
        {
            foreach (T item in this)
            {
                if (!set.Contains(item)) return false;
            }
            return true;
        }

        /// <summary>The collection if it is a set for which the same is equal, else null.</summary>
        ICollection<T>? Alike(IEnumerable<T> other) =>
            other is ChunkedHashSet<T> ours && Comparer.Equals(ours.Comparer) ||
            other is HashSet<T> standard && Comparer.Equals(standard.Comparer) ? (ICollection<T>)other : null;

        /// <summary>Marks the elements that are in a collection, counts them, and says whether others are there.</summary>
        Marks Mark(IEnumerable<T> other, bool untilOthers, out int found, out bool others)
        {
            var marks = new Marks(_used);
            found = 0;
            others = false;
            foreach (T item in other)
            {
                int i = Find(item);
                if (i >= 0)
                {
                    if (marks.Set(i)) found++;
                }
                else
                {
                    others = true;
                    if (untilOthers) break;
                }
            }
            return marks;
        }

        /// <summary>A bit for each entry.</summary>
        readonly struct Marks
        {
            readonly ChunkedList<ulong> _words;

            internal Marks(int n)
            {
                _words = new ChunkedList<ulong>((n + 63) / 64);
                for (int i = 0; i < n; i += 64) _words.Add(0);
            }

            internal bool this[int i] => (_words[i >> 6] >> (i & 63) & 1) != 0;

            internal bool Set(int i)
            {
                if (this[i]) return false;
                _words[i >> 6] |= 1UL << (i & 63);
                return true;
            }
        }

        /// <summary>Says of sets that they are equal if they have the same elements.</summary>
        /// <returns>The comparer.</returns>
        public static IEqualityComparer<ChunkedHashSet<T>?> CreateSetComparer() => new SetComparer();

        sealed class SetComparer : IEqualityComparer<ChunkedHashSet<T>?>
        {
            public bool Equals(ChunkedHashSet<T>? x, ChunkedHashSet<T>? y) => x == null || y == null ? x == y : x.SetEquals(y);

            public int GetHashCode(ChunkedHashSet<T>? set)
            {
                int all = 0;
                if (set == null) return all;
                foreach (T item in set) all ^= item == null ? 0 : EqualityComparer<T>.Default.GetHashCode(item);
                return all;
            }
        }
    }
}
