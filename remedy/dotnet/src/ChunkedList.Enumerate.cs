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
        /// memory instead of registers. Hence numbers share fields, and the element is not kept. What each step asks is in
        /// the lower half of its field, or is a sign, so that nothing is shifted. No other call either: what is read of
        /// the list is then read once for a whole loop.</remarks>
        public struct Enumerator : IEnumerator<T>
        {
            readonly ChunkedList<T> _list;
            T[] _chunk;           // of the element it is at; empty before the first and behind the last
            int _position;        // in _chunk in the lower half; minus how many follow there in the upper one
            long _versionAndNext; // the list's version in the lower half, the index behind _chunk's elements in the upper one

            internal Enumerator(ChunkedList<T> list)
            {
                _list = list;
                _chunk = Array.Empty<T>();
                _position = 0;
                _versionAndNext = (uint)list._version;
            }

            /// <summary>The element it is at; before the first and behind the last the type's default value.</summary>
            public T Current
            {
                [MethodImpl(MethodImplOptions.AggressiveInlining)]
                get
                {
                    T[] chunk = _chunk;
                    int at = (ushort)_position;
                    return (uint)at < (uint)chunk.Length ? chunk[at] : default!;
                }
            }

            /// <summary>Goes to the next element.</summary>
            /// <returns>Whether there is one.</returns>
            /// <exception cref="InvalidOperationException">The list was changed.</exception>
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            public bool MoveNext()
            {
                ChunkedList<T> list = _list;
                int position = _position;
                if ((int)_versionAndNext != list._version) Throw.Modified();
                if (position < 0)
                {
                    _position = position + 0x10001;
                    return true;
                }
                int next = (int)(_versionAndNext >> 32);
                if (next >= list._count)
                {
                    _chunk = Array.Empty<T>();
                    return false;
                }
                _chunk = list.ChunkOf(next);
                int n = Math.Min(list._count - next, Chunk<T>.ListLength);
                _position = -(n - 1) << 16;
                _versionAndNext += (long)n << 32;
                return true;
            }

            /// <summary>Does nothing.</summary>
            public void Dispose() { }

            object? IEnumerator.Current
            {
                get
                {
                    if (_chunk.Length == 0) Throw.NotAtElement();
                    return Current;
                }
            }

            void IEnumerator.Reset()
            {
                if ((int)_versionAndNext != _list._version) Throw.Modified();
                this = new Enumerator(_list);
            }
        }
    }
}
