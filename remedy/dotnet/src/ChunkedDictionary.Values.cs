using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    // The values alone.
    public sealed partial class ChunkedDictionary<TKey, TValue>
    {
        ValueCollection? _values;

        /// <summary>The values, as they are whenever one looks.</summary>
        public ValueCollection Values => _values ??= new ValueCollection(this);

        ICollection<TValue> IDictionary<TKey, TValue>.Values => Values;

        IEnumerable<TValue> IReadOnlyDictionary<TKey, TValue>.Values => Values;

        ICollection IDictionary.Values => Values;

        /// <summary>The values of a dictionary; it cannot be changed through them.</summary>
        [DebuggerDisplay("Count = {Count}")]
        public sealed class ValueCollection : ICollection<TValue>, IReadOnlyCollection<TValue>, ICollection
        {
            readonly ChunkedDictionary<TKey, TValue> _dictionary;

            /// <summary>Creates a view of the values of a dictionary.</summary>
            /// <param name="dictionary">The dictionary.</param>
            /// <exception cref="ArgumentNullException"><paramref name="dictionary"/> is null.</exception>
            public ValueCollection(ChunkedDictionary<TKey, TValue> dictionary)
            {
                if (dictionary == null) Throw.Null(nameof(dictionary));
                _dictionary = dictionary!;
            }

            /// <summary>How many there are.</summary>
            public int Count => _dictionary.Count;

            bool ICollection<TValue>.IsReadOnly => true;

            bool ICollection.IsSynchronized => false;

            object ICollection.SyncRoot => _dictionary;

            /// <summary>Whether a value is there.</summary>
            /// <param name="item">The value.</param>
            /// <returns>Whether it is.</returns>
            public bool Contains(TValue item) => _dictionary.ContainsValue(item);

            /// <summary>Copies all.</summary>
            /// <param name="array">To where.</param>
            /// <param name="index">The index of the first in the array.</param>
            /// <exception cref="ArgumentNullException"><paramref name="array"/> is null.</exception>
            /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> is not in the array.</exception>
            /// <exception cref="ArgumentException">The array is too short.</exception>
            public void CopyTo(TValue[] array, int index)
            {
                Throw.UnlessFits(array, index, Count);
                foreach (TValue item in this) array[index++] = item;
            }

            void ICollection.CopyTo(Array array, int index)
            {
                Throw.UnlessFits(array, index, Count);
                if (array is TValue[] items) CopyTo(items, index);
                else Throw.CopyObjects(this, array, index);
            }

            void ICollection<TValue>.Add(TValue item) => Throw.ReadOnly();

            void ICollection<TValue>.Clear() => Throw.ReadOnly();

            bool ICollection<TValue>.Remove(TValue item)
            {
                Throw.ReadOnly();
                return false;
            }

            /// <summary>Goes through the values.</summary>
            /// <returns>The enumerator.</returns>
            public Enumerator GetEnumerator() => new Enumerator(_dictionary);

            IEnumerator<TValue> IEnumerable<TValue>.GetEnumerator() => new Enumerator(_dictionary);

            IEnumerator IEnumerable.GetEnumerator() => new Enumerator(_dictionary);

            /// <summary>Goes through the values of a dictionary.</summary>
            public struct Enumerator : IEnumerator<TValue>
            {
                Walk _walk;
                [AllowNull, MaybeNull] TValue _current;

                internal Enumerator(ChunkedDictionary<TKey, TValue> dictionary)
                {
                    _walk = new Walk(dictionary);
                    _current = default!;
                }

                /// <summary>The value it is at.</summary>
                public TValue Current => _current!;

                /// <summary>Goes to the next.</summary>
                /// <returns>Whether there is one.</returns>
                /// <exception cref="InvalidOperationException">A key was added to the dictionary.</exception>
                [MethodImpl(MethodImplOptions.AggressiveInlining)]
                public bool MoveNext()
                {
                    bool next = _walk.Next();
                    _current = next ? _walk.Entry.Value : default!;
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
