using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    // Elements one by one, and copies of them.
    public sealed partial class ChunkedHashSet<T>
    {
        bool ICollection<T>.IsReadOnly => false;

        bool ICollection.IsSynchronized => false;

        object ICollection.SyncRoot => this;

        /// <summary>Goes through the elements; in the order in which they were added, as long as none was removed.</summary>
        /// <returns>The enumerator.</returns>
        public Enumerator GetEnumerator() => new Enumerator(this);

        IEnumerator<T> IEnumerable<T>.GetEnumerator() => new Enumerator(this);

        IEnumerator IEnumerable.GetEnumerator() => new Enumerator(this);

        /// <summary>Goes through the elements of a set.</summary>
        /// <remarks>Made as that of <see cref="ChunkedList{T}"/>.</remarks>
        public struct Enumerator : IEnumerator<T>
        {
            readonly ChunkedHashSet<T> _set;
            Entry[]? _chunk;
            long _state; // the version in the upper half, the index of the next entry in the lower
            [AllowNull, MaybeNull] T _current;

            internal Enumerator(ChunkedHashSet<T> set)
            {
                _set = set;
                _chunk = null;
                _state = (long)set._version << 32;
                _current = default!;
            }

            /// <summary>The element it is at.</summary>
            public T Current => _current!;

            /// <summary>Goes to the next element.</summary>
            /// <returns>Whether there is one.</returns>
            /// <exception cref="InvalidOperationException">Something was added to the set.</exception>
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            public bool MoveNext()
            {
                ChunkedHashSet<T> set = _set;
                long state = _state;
                if ((int)(state >> 32) != set._version) Throw.Modified();
                while ((uint)state < (uint)set._used)
                {
                    int at = (int)state & Mask;
                    if (at == 0) _chunk = set._entries[(int)state >> Shift];
                    state++;
                    ref Entry entry = ref _chunk![at];
                    if (entry.Next >= -1)
                    {
                        _current = entry.Value;
                        _state = state;
                        return true;
                    }
                }
                _state = (state & ~0xffffffffL) | (uint)(set._used + 1);
                _current = default!;
                return false;
            }

            /// <summary>Does nothing.</summary>
            public void Dispose() { }

            object? IEnumerator.Current
            {
                get
                {
                    if ((int)_state == 0 || (uint)_state == (uint)_set._used + 1) Throw.NotAtElement();
                    return Current;
                }
            }

            void IEnumerator.Reset()
            {
                if ((int)(_state >> 32) != _set._version) Throw.Modified();
                _state = (long)_set._version << 32;
                _current = default!;
            }
        }

        /// <summary>Copies all elements.</summary>
        /// <param name="array">To where.</param>
        /// <exception cref="ArgumentNullException"><paramref name="array"/> is null.</exception>
        /// <exception cref="ArgumentException">The array is too short.</exception>
        public void CopyTo(T[] array) => CopyTo(array, 0, Count);

        /// <summary>Copies all elements.</summary>
        /// <param name="array">To where.</param>
        /// <param name="arrayIndex">The index of the first in the array.</param>
        /// <exception cref="ArgumentNullException"><paramref name="array"/> is null.</exception>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="arrayIndex"/> is negative.</exception>
        /// <exception cref="ArgumentException">The array is too short.</exception>
        public void CopyTo(T[] array, int arrayIndex) => CopyTo(array, arrayIndex, Count);

        /// <summary>Copies the first elements.</summary>
        /// <param name="array">To where.</param>
        /// <param name="arrayIndex">The index of the first in the array.</param>
        /// <param name="count">How many, or fewer if there are not so many.</param>
        /// <exception cref="ArgumentNullException"><paramref name="array"/> is null.</exception>
        /// <exception cref="ArgumentOutOfRangeException"><paramref name="arrayIndex"/> or <paramref name="count"/> is negative.</exception>
        /// <exception cref="ArgumentException">The array is too short.</exception>
        public void CopyTo(T[] array, int arrayIndex, int count)
        {
            if (array == null) Throw.Null(nameof(array));
            if (arrayIndex < 0) Throw.OutOfRange(nameof(arrayIndex));
            if (count < 0) Throw.OutOfRange(nameof(count));
            if (arrayIndex > array!.Length || count > array.Length - arrayIndex) Throw.TooShort();
            foreach (T item in this)
            {
                if (count-- == 0) break;
                array[arrayIndex++] = item;
            }
        }

        void ICollection.CopyTo(Array array, int index)
        {
            Throw.UnlessFits(array, index, Count);
            if (array is T[] elements) CopyTo(elements, index);
            else Throw.CopyObjects(this, array, index);
        }
    }
}
