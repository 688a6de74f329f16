using System;
using System.Runtime.CompilerServices;
#if !NETCOREAPP && !NETSTANDARD2_0
using System.Runtime.InteropServices;
#endif

namespace Unstall.Collections
{
    /// <summary>How many elements a chunk has: a power of two, so that an index is a shift and a mask.</summary>
    /// <remarks>
    /// The runtime puts an array of 85,000 bytes and more, its header counted, into the large object heap. Full
    /// chunks of lists have at most 16 KB: 50,000 ints then cost less than half of what List allocates for them, and
    /// no list allocates more than List does. Tables of sets and dictionaries have at most 64 KB.
    /// An element of more than that has a chunk of its own, which is below the limit unless the element is not.
    /// </remarks>
    internal static class Chunk<T>
    {
        const int ListBits = 14, TableBits = 16; // 16 KB, 64 KB

        /// <summary>A list's chunk has 1 &lt;&lt; ListShift elements.</summary>
        internal static int ListShift
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => IsDoubleIn32Bits ? 9 : Bits < ListBits ? ListBits - Bits : 0;
        }

        internal static int ListLength
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => 1 << ListShift;
        }

        internal static int ListMask
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => (1 << ListShift) - 1;
        }

        /// <summary>A chunk of a table's entries has 1 &lt;&lt; TableShift of them.</summary>
        internal static int TableShift
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => Bits < TableBits ? TableBits - Bits : 0;
        }

        /// <summary>32-bit runtimes put arrays of 1,000 doubles and more into the large object heap, to align them.</summary>
        static bool IsDoubleIn32Bits
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => IntPtr.Size == 4 && typeof(T) == typeof(double);
        }

        /// <summary>Whether elements hold references, so that what is removed must be cleared.</summary>
        internal static bool HasReferences
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
#if NETSTANDARD2_0
            get => !typeof(T).IsPrimitive;
#else
            get => RuntimeHelpers.IsReferenceOrContainsReferences<T>();
#endif
        }

        /// <summary>The element's size is at most 1 &lt;&lt; Bits bytes.</summary>
        /// <remarks>The compiler knows the size, so that of all this one constant is left in what it generates.</remarks>
        static int Bits
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get
            {
                int size = Size;
                if (size <= 1) return 0;
                if (size <= 2) return 1;
                if (size <= 4) return 2;
                if (size <= 8) return 3;
                if (size <= 16) return 4;
                if (size <= 32) return 5;
                if (size <= 64) return 6;
                if (size <= 128) return 7;
                if (size <= 256) return 8;
                if (size <= 512) return 9;
                if (size <= 1024) return 10;
                if (size <= 2048) return 11;
                if (size <= 4096) return 12;
                if (size <= 8192) return 13;
                if (size <= 16384) return 14;
                if (size <= 32768) return 15;
                return 16;
            }
        }

#if NETCOREAPP || NETSTANDARD2_0
        static int Size
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => Unsafe.SizeOf<T>();
        }
#else
        static readonly int Size = Measure();

        // Without Unsafe, which netstandard2.1 has not: the distance of two neighbours, measured anew if a collection
        // moved them meanwhile.
        static int Measure()
        {
            var two = new T[2];
            for (; ; )
            {
                long first = (long)Marshal.UnsafeAddrOfPinnedArrayElement(two, 0);
                long size = (long)Marshal.UnsafeAddrOfPinnedArrayElement(two, 1) - first;
                if ((long)Marshal.UnsafeAddrOfPinnedArrayElement(two, 0) == first) return (int)size;
            }
        }
#endif
    }
}
