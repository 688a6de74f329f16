using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    // Keys with their values one by one.
    public sealed partial class ChunkedDictionary<TKey, TValue>
    {
        /// <summary>Goes through keys and values; in the order in which they were added, as long as none was removed.</summary>
        /// <returns>The enumerator.</returns>
        public Enumerator GetEnumerator() => new Enumerator(this, false);

        IEnumerator<KeyValuePair<TKey, TValue>> IEnumerable<KeyValuePair<TKey, TValue>>.GetEnumerator() => new Enumerator(this, false);

        IEnumerator IEnumerable.GetEnumerator() => new Enumerator(this, false);

        IDictionaryEnumerator IDictionary.GetEnumerator() => new Enumerator(this, true);

        /// <summary>Goes through the keys and values of a dictionary.</summary>
        public struct Enumerator : IEnumerator<KeyValuePair<TKey, TValue>>, IDictionaryEnumerator
        {
            Walk _walk;
            KeyValuePair<TKey, TValue> _current;
            readonly bool _asEntries;

            internal Enumerator(ChunkedDictionary<TKey, TValue> dictionary, bool asEntries)
            {
                _walk = new Walk(dictionary);
                _current = default;
                _asEntries = asEntries;
            }

            /// <summary>The key and value it is at.</summary>
            public KeyValuePair<TKey, TValue> Current => _current;

            /// <summary>Goes to the next.</summary>
            /// <returns>Whether there is one.</returns>
            /// <exception cref="InvalidOperationException">A key was added to the dictionary.</exception>
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            public bool MoveNext()
            {
                if (!_walk.Next())
                {
                    _current = default;
                    return false;
                }
                ref Entry entry = ref _walk.Entry;
                _current = new KeyValuePair<TKey, TValue>(entry.Key, entry.Value);
                return true;
            }

            /// <summary>Does nothing.</summary>
            public void Dispose() { }

            object? IEnumerator.Current
            {
                get
                {
                    _walk.CheckAtOne();
                    return _asEntries ? (object)new DictionaryEntry(_current.Key, _current.Value) : _current;
                }
            }

            DictionaryEntry IDictionaryEnumerator.Entry
            {
                get
                {
                    _walk.CheckAtOne();
                    return new DictionaryEntry(_current.Key, _current.Value);
                }
            }

            object IDictionaryEnumerator.Key
            {
                get
                {
                    _walk.CheckAtOne();
                    return _current.Key;
                }
            }

            object? IDictionaryEnumerator.Value
            {
                get
                {
                    _walk.CheckAtOne();
                    return _current.Value;
                }
            }

            void IEnumerator.Reset()
            {
                _walk.Reset();
                _current = default;
            }
        }

        /// <summary>Goes from entry to entry; what the enumerators of pairs, keys and values share.</summary>
        struct Walk
        {
            readonly ChunkedDictionary<TKey, TValue> _dictionary;
            Entry[]? _chunk;
            long _state; // the version in the upper half, the index of the next entry in the lower

            internal Walk(ChunkedDictionary<TKey, TValue> dictionary)
            {
                _dictionary = dictionary;
                _chunk = null;
                _state = (long)dictionary._version << 32;
            }

            internal ref Entry Entry
            {
                [MethodImpl(MethodImplOptions.AggressiveInlining)]
                get => ref _chunk![((int)_state - 1) & Mask];
            }

            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            internal bool Next()
            {
                ChunkedDictionary<TKey, TValue> dictionary = _dictionary;
                long state = _state;
                if ((int)(state >> 32) != dictionary._version) Throw.Modified();
                while ((uint)state < (uint)dictionary._used)
                {
                    int at = (int)state & Mask;
                    if (at == 0) _chunk = dictionary._entries[(int)state >> Shift];
                    state++;
                    if (_chunk![at].Next >= -1)
                    {
                        _state = state;
                        return true;
                    }
                }
                _state = (state & ~0xffffffffL) | (uint)(dictionary._used + 1);
                return false;
            }

            internal void Reset()
            {
                if ((int)(_state >> 32) != _dictionary._version) Throw.Modified();
                _state = (long)_dictionary._version << 32;
            }

            internal void CheckAtOne()
            {
                if ((int)_state == 0 || (uint)_state == (uint)_dictionary._used + 1) Throw.NotAtElement();
            }
        }
    }
}
