using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Unstall.Collections
{
    // Elements one by one, and chunk by chunk.
    public sealed partial class ChunkedList<T>
    {
        /// <summary>Goes through the elements.</summary>
        /// <returns>The enumerator.</returns>
        public Enumerator GetEnumerator() => new Enumerator(this);

        IEnumerator<T> IEnumerable<T>.GetEnumerator() => new Enumerator(this);

        IEnumerator IEnumerable.GetEnumerator() => new Enumerator(this);

        /// <summary>How many chunks have elements.</summary>
        public int ChunkCount => (int)(((long)_count + Chunk<T>.ListMask) >> Chunk<T>.ListShift);

        /// <summary>The elements of a chunk. All but the last one have the same number, a power of two. What is written
        /// to the span is in the list, and no enumerator notices; it is the list's until one adds or removes.</summary>
        /// <param name="chunk">From 0 to <see cref="ChunkCount"/> − 1.</param>
        /// <returns>The elements.</returns>
        /// <exception cref="ArgumentOutOfRangeException">There is no such chunk.</exception>
        public Span<T> GetChunk(int chunk)
        {
            if ((uint)chunk >= (uint)ChunkCount) Throw.OutOfRange(nameof(chunk));
            return Run(chunk << Chunk<T>.ListShift, _count);
        }

        /// <summary>The chunks, for foreach: <c>foreach (Span&lt;T&gt; chunk in list.Chunks)</c>.</summary>
        public ChunkSequence Chunks => new ChunkSequence(this);

        /// <summary>The chunks of a list.</summary>
        public readonly struct ChunkSequence
        {
            readonly ChunkedList<T> _list;

            internal ChunkSequence(ChunkedList<T> list) => _list = list;

            /// <summary>Goes through the chunks.</summary>
            /// <returns>The enumerator.</returns>
            public ChunkEnumerator GetEnumerator() => new ChunkEnumerator(_list);
        }

        /// <summary>Goes through the chunks of a list.</summary>
        public struct ChunkEnumerator
        {
            readonly ChunkedList<T> _list;
            readonly int _version;
            int _chunk;

            internal ChunkEnumerator(ChunkedList<T> list)
            {
                _list = list;
                _version = list._version;
                _chunk = -1;
            }

            /// <summary>The elements of the chunk it is at.</summary>
            public Span<T> Current => _list.GetChunk(_chunk);

            /// <summary>Goes to the next chunk.</summary>
            /// <returns>Whether there is one.</returns>
            /// <exception cref="InvalidOperationException">The list was changed.</exception>
            public bool MoveNext()
            {
                if (_version != _list._version) Throw.Modified();
                return ++_chunk < _list.ChunkCount;
            }
        }

        /// <summary>Goes through the elements of a list.</summary>
        /// <remarks>Four fields and no call that takes its address: more, and compilers before .NET 8 keep it in
        /// memory instead of registers. Hence index and version share one.</remarks>
        public struct Enumerator : IEnumerator<T>
        {
            readonly ChunkedList<T> _list;
            T[]? _chunk;
            long _state; // the version in the upper half, the index of the next element in the lower
            [AllowNull, MaybeNull] T _current;

            internal Enumerator(ChunkedList<T> list)
            {
                _list = list;
                _chunk = null;
                _state = (long)list._version << 32;
                _current = default!;
            }

            /// <summary>The element it is at.</summary>
            public T Current => _current!;

            /// <summary>Goes to the next element.</summary>
            /// <returns>Whether there is one.</returns>
            /// <exception cref="InvalidOperationException">The list was changed.</exception>
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            public bool MoveNext()
            {
                ChunkedList<T> list = _list;
                long state = _state;
                if ((int)(state >> 32) != list._version) Throw.Modified();
                int index = (int)state;
                if ((uint)index < (uint)list._count)
                {
                    int at = index & Chunk<T>.ListMask;
                    if (at == 0) _chunk = list.ChunkFrom(index);
                    _current = _chunk![at];
                    _state = state + 1;
                    return true;
                }
                _state = (state & ~0xffffffffL) | (uint)(list._count + 1);
                _current = default!;
                return false;
            }

            /// <summary>Does nothing.</summary>
            public void Dispose() { }

            object? IEnumerator.Current
            {
                get
                {
                    if ((int)_state == 0 || (uint)_state == (uint)_list._count + 1) Throw.NotAtElement();
                    return Current;
                }
            }

            void IEnumerator.Reset()
            {
                if ((int)(_state >> 32) != _list._version) Throw.Modified();
                _state = (long)_list._version << 32;
                _current = default!;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        T[] ChunkFrom(int index) => ChunkOf(index);
    }
}
