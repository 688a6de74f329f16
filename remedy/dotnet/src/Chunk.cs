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
            get
            {
                if (IntPtr.Size == 4 && typeof(T) == typeof(double)) return 9; // those of 1,000 doubles are large there
                return NotNegative(ListBits - Bits);
            }
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

        /// <summary>How long a list's first chunk is at first: 32 bytes and more, four elements as of List or more.</summary>
        internal static int FirstLength => Math.Min(ListLength, Math.Max(4, 32 >> Bits));

        /// <summary>A chunk of a table's entries has 1 &lt;&lt; TableShift of them.</summary>
        internal static int TableShift
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => NotNegative(TableBits - Bits);
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

        /// <summary>The element's size is at most 1 &lt;&lt; Bits bytes; 65,537 and more count as 65,536.</summary>
        /// <remarks>The compiler knows the size, so that of all this one constant is left in what it generates: arithmetic
        /// without branches, since it would keep the result of these in a variable.</remarks>
        static int Bits
        {
            [MethodImpl(MethodImplOptions.AggressiveInlining)]
            get => -(((1 - Size) >> 31) + ((2 - Size) >> 31) + ((4 - Size) >> 31) + ((8 - Size) >> 31) + ((16 - Size) >> 31)
                + ((32 - Size) >> 31) + ((64 - Size) >> 31) + ((128 - Size) >> 31) + ((256 - Size) >> 31) + ((512 - Size) >> 31)
                + ((1024 - Size) >> 31) + ((2048 - Size) >> 31) + ((4096 - Size) >> 31) + ((8192 - Size) >> 31)
                + ((16384 - Size) >> 31) + ((32768 - Size) >> 31)); // n − Size is negative if it is larger: −1 is left of that
        }

        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        static int NotNegative(int n) => n & ~(n >> 31);

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
