using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    // The keys alone.
    public sealed partial class ChunkedDictionary<TKey, TValue>
    {
        KeyCollection? _keys;

        /// <summary>The keys, as they are whenever one looks.</summary>
        public KeyCollection Keys => _keys ??= new KeyCollection(this);

        ICollection<TKey> IDictionary<TKey, TValue>.Keys => Keys;

        IEnumerable<TKey> IReadOnlyDictionary<TKey, TValue>.Keys => Keys;

        ICollection IDictionary.Keys => Keys;

        /// <summary>The keys of a dictionary; it cannot be changed through them.</summary>
        [DebuggerDisplay("Count = {Count}")]
        public sealed class KeyCollection : ICollection<TKey>, IReadOnlyCollection<TKey>, ICollection
        {
            readonly ChunkedDictionary<TKey, TValue> _dictionary;

            /// <summary>Creates a view of the keys of a dictionary.</summary>
            /// <param name="dictionary">The dictionary.</param>
            /// <exception cref="ArgumentNullException"><paramref name="dictionary"/> is null.</exception>
            public KeyCollection(ChunkedDictionary<TKey, TValue> dictionary)
            {
                if (dictionary == null) Throw.Null(nameof(dictionary));
                _dictionary = dictionary!;
            }

            /// <summary>How many there are.</summary>
            public int Count => _dictionary.Count;

            bool ICollection<TKey>.IsReadOnly => true;

            bool ICollection.IsSynchronized => false;

            object ICollection.SyncRoot => _dictionary;

            /// <summary>Whether a key is there.</summary>
            /// <param name="item">The key.</param>
            /// <returns>Whether it is.</returns>
            public bool Contains(TKey item) => _dictionary.ContainsKey(item);

            /// <summary>Copies all.</summary>
            /// <param name="array">To where.</param>
            /// <param name="index">The index of the first in the array.</param>
            /// <exception cref="ArgumentNullException"><paramref name="array"/> is null.</exception>
            /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> is not in the array.</exception>
            /// <exception cref="ArgumentException">The array is too short.</exception>
            public void CopyTo(TKey[] array, int index)
            {
                Throw.UnlessFits(array, index, Count);
                foreach (TKey item in this) array[index++] = item;
            }

            void ICollection.CopyTo(Array array, int index)
            {
                Throw.UnlessFits(array, index, Count);
                if (array is TKey[] items) CopyTo(items, index);
                else Throw.CopyObjects(this, array, index);
            }

            void ICollection<TKey>.Add(TKey item) => Throw.ReadOnly();

            void ICollection<TKey>.Clear() => Throw.ReadOnly();

            bool ICollection<TKey>.Remove(TKey item)
            {
                Throw.ReadOnly();
                return false;
            }

            /// <summary>Goes through the keys.</summary>
            /// <returns>The enumerator.</returns>
            public Enumerator GetEnumerator() => new Enumerator(_dictionary);

            IEnumerator<TKey> IEnumerable<TKey>.GetEnumerator() => new Enumerator(_dictionary);

            IEnumerator IEnumerable.GetEnumerator() => new Enumerator(_dictionary);

            /// <summary>Goes through the keys of a dictionary.</summary>
            public struct Enumerator : IEnumerator<TKey>
            {
                Walk _walk;
                [AllowNull, MaybeNull] TKey _current;

                internal Enumerator(ChunkedDictionary<TKey, TValue> dictionary)
                {
                    _walk = new Walk(dictionary);
                    _current = default!;
                }

                /// <summary>The key it is at.</summary>
                public TKey Current => _current!;

                /// <summary>Goes to the next.</summary>
                /// <returns>Whether there is one.</returns>
                /// <exception cref="InvalidOperationException">A key was added to the dictionary.</exception>
                [MethodImpl(MethodImplOptions.AggressiveInlining)]
                public bool MoveNext()
                {
                    bool next = _walk.Next();
                    _current = next ? _walk.Entry.Key : default!;
                    return next;
                }

                /// <summary>Does nothing.</summary>
                public void Dispose() { }

                object? IEnumerator.Current
                {
                    get
                    {
                        _walk.CheckAtOne();
                        return _current;
                    }
                }

                void IEnumerator.Reset()
                {
                    _walk.Reset();
                    _current = default!;
                }
            }
        }
    }
}
