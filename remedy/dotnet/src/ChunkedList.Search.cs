using System;
using System.Collections.Generic;
using System.Collections.ObjectModel;
using System.Diagnostics.CodeAnalysis;

namespace Unstall.Collections
{
    // What finds elements, and what does something with each.
    public sealed partial class ChunkedList<T>
    {
        /// <summary>Whether an element equals another.</summary>
        /// <param name="item">The other.</param>
        /// <returns>Whether one does.</returns>
        public bool Contains(T item) => _count != 0 && IndexOf(item) >= 0;

        /// <summary>The first element that equals another.</summary>
        /// <param name="item">The other.</param>
        /// <returns>Its index, or −1.</returns>
        public int IndexOf(T item) => IndexIn(item, 0, _count);

        /// <summary>The first element from an index on that equals another.</summary>
        /// <param name="item">The other.</param>
        /// <param name="index">From where on: 0 to <see cref="Count"/>.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> is not in the list.</exception>
        public int IndexOf(T item, int index)
        {
            if (index > _count) Throw.Index();
            if (index < 0) Throw.OutOfRange("startIndex");
            return IndexIn(item, index, _count);
        }

        /// <summary>The first element of some that equals another.</summary>
        /// <param name="item">The other.</param>
        /// <param name="index">The first of the some.</param>
        /// <param name="count">How many they are.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentOutOfRangeException">They are not in the list.</exception>
        public int IndexOf(T item, int index, int count)
        {
            if (index > _count) Throw.Index();
            if (count < 0 || index > _count - count) Throw.OutOfRange(nameof(count));
            if (index < 0) Throw.OutOfRange("startIndex");
            return IndexIn(item, index, index + count);
        }

        int IndexIn(T item, int index, int end)
        {
            while (index < end)
            {
                T[] chunk = ChunkOf(index);
                int at = index & Chunk<T>.ListMask, n = Math.Min(chunk.Length - at, end - index);
                int found = Array.IndexOf(chunk, item, at, n);
                if (found >= 0) return index - at + found;
                index += n;
            }
            return -1;
        }

        /// <summary>The last element that equals another.</summary>
        /// <param name="item">The other.</param>
        /// <returns>Its index, or −1.</returns>
        public int LastIndexOf(T item) => LastIndexIn(item, _count, 0);

        /// <summary>The last element up to an index that equals another.</summary>
        /// <param name="item">The other.</param>
        /// <param name="index">Up to where.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> is not in the list.</exception>
        public int LastIndexOf(T item, int index)
        {
            if (index >= _count) Throw.Index();
            return LastIndexOf(item, index, index + 1);
        }

        /// <summary>The last element of some that equals another.</summary>
        /// <param name="item">The other.</param>
        /// <param name="index">The last of the some.</param>
        /// <param name="count">How many they are.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentOutOfRangeException">They are not in the list.</exception>
        public int LastIndexOf(T item, int index, int count)
        {
            if (_count != 0 && index < 0) Throw.Index();
            if (_count != 0 && count < 0) Throw.OutOfRange(nameof(count));
            if (_count == 0) return -1;
            if (index >= _count) Throw.Index();
            if (count > index + 1) Throw.OutOfRange(nameof(count));
            return LastIndexIn(item, index + 1, index + 1 - count);
        }

        int LastIndexIn(T item, int end, int start)
        {
            while (end > start)
            {
                T[] chunk = ChunkOf(end - 1);
                int at = (end - 1) & Chunk<T>.ListMask, n = Math.Min(at + 1, end - start);
                int found = Array.LastIndexOf(chunk, item, at, n);
                if (found >= 0) return end - 1 - at + found;
                end -= n;
            }
            return -1;
        }

        /// <summary>Whether an element matches.</summary>
        /// <param name="match">Says which do.</param>
        /// <returns>Whether one does.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        public bool Exists(Predicate<T> match) => FindIndex(match) >= 0;

        /// <summary>The first element that matches.</summary>
        /// <param name="match">Says which do.</param>
        /// <returns>The element, or the type's default value.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        [return: MaybeNull]
        public T Find(Predicate<T> match)
        {
            int index = FindIndex(match);
            return index < 0 ? default! : this[index];
        }

        /// <summary>The last element that matches.</summary>
        /// <param name="match">Says which do.</param>
        /// <returns>The element, or the type's default value.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        [return: MaybeNull]
        public T FindLast(Predicate<T> match)
        {
            int index = FindLastIndex(match);
            return index < 0 ? default! : this[index];
        }

        /// <summary>All elements that match.</summary>
        /// <param name="match">Says which do.</param>
        /// <returns>A list of them.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        public ChunkedList<T> FindAll(Predicate<T> match)
        {
            if (match == null) Throw.Null(nameof(match));
            var all = new ChunkedList<T>();
            for (int i = 0; i < _count; i++)
            {
                T item = this[i];
                if (match!(item)) all.Add(item);
            }
            return all;
        }

        /// <summary>The first element that matches.</summary>
        /// <param name="match">Says which do.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        public int FindIndex(Predicate<T> match) => FindIndex(0, _count, match);

        /// <summary>The first element from an index on that matches.</summary>
        /// <param name="startIndex">From where on.</param>
        /// <param name="match">Says which do.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="startIndex"/> is not in the list.</exception>
        public int FindIndex(int startIndex, Predicate<T> match) => FindIndex(startIndex, _count - startIndex, match);

        /// <summary>The first element of some that matches.</summary>
        /// <param name="startIndex">The first of the some.</param>
        /// <param name="count">How many they are.</param>
        /// <param name="match">Says which do.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        /// <exception cref="ArgumentOutOfRangeException">They are not in the list.</exception>
        public int FindIndex(int startIndex, int count, Predicate<T> match)
        {
            if ((uint)startIndex > (uint)_count) Throw.OutOfRange(nameof(startIndex));
            if (count < 0 || startIndex > _count - count) Throw.OutOfRange(nameof(count));
            if (match == null) Throw.Null(nameof(match));
            for (int i = startIndex; i < startIndex + count; i++)
            {
                if (match!(this[i])) return i;
            }
            return -1;
        }

        /// <summary>The last element that matches.</summary>
        /// <param name="match">Says which do.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        public int FindLastIndex(Predicate<T> match) => FindLastIndex(_count - 1, _count, match);

        /// <summary>The last element up to an index that matches.</summary>
        /// <param name="startIndex">Up to where.</param>
        /// <param name="match">Says which do.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="startIndex"/> is not in the list.</exception>
        public int FindLastIndex(int startIndex, Predicate<T> match) => FindLastIndex(startIndex, startIndex + 1, match);

        /// <summary>The last element of some that matches.</summary>
        /// <param name="startIndex">The last of the some.</param>
        /// <param name="count">How many they are.</param>
        /// <param name="match">Says which do.</param>
        /// <returns>Its index, or −1.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        /// <exception cref="ArgumentOutOfRangeException">They are not in the list.</exception>
        public int FindLastIndex(int startIndex, int count, Predicate<T> match)
        {
            if (match == null) Throw.Null(nameof(match));
            if (_count == 0 ? startIndex != -1 : (uint)startIndex >= (uint)_count) Throw.OutOfRange(nameof(startIndex));
            if (count < 0 || startIndex - count + 1 < 0) Throw.OutOfRange(nameof(count));
            for (int i = startIndex; i > startIndex - count; i--)
            {
                if (match!(this[i])) return i;
            }
            return -1;
        }

        /// <summary>Whether all elements match.</summary>
        /// <param name="match">Says which do.</param>
        /// <returns>Whether all do; so they do if there are none.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="match"/> is null.</exception>
        public bool TrueForAll(Predicate<T> match)
        {
            if (match == null) Throw.Null(nameof(match));
            for (int i = 0; i < _count; i++)
            {
                if (!match!(this[i])) return false;
            }
            return true;
        }

        /// <summary>Does something with each element.</summary>
        /// <param name="action">What to do.</param>
        /// <exception cref="ArgumentNullException"><paramref name="action"/> is null.</exception>
        /// <exception cref="InvalidOperationException">It changed the list.</exception>
        public void ForEach(Action<T> action)
        {
            if (action == null) Throw.Null(nameof(action));
            int version = _version;
            for (int i = 0; i < _count && version == _version; i++) action!(this[i]);
            if (version != _version) Throw.Modified();
        }

        /// <summary>A list of what is made of each element.</summary>
        /// <typeparam name="TOutput">The type of what is made.</typeparam>
        /// <param name="converter">Makes one of one.</param>
        /// <returns>The list.</returns>
        /// <exception cref="ArgumentNullException"><paramref name="converter"/> is null.</exception>
        public ChunkedList<TOutput> ConvertAll<TOutput>(Converter<T, TOutput> converter)
        {
            if (converter == null) Throw.Null(nameof(converter));
            var all = new ChunkedList<TOutput>(_count);
            for (int i = 0; i < _count; i++) all.Add(converter!(this[i]));
            return all;
        }

        /// <summary>A view of the list that cannot change it.</summary>
        /// <returns>The view.</returns>
        public ReadOnlyCollection<T> AsReadOnly() => new ReadOnlyCollection<T>(this);
    }
}
