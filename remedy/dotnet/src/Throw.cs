using System;
using System.Collections;
using System.Diagnostics.CodeAnalysis;

namespace Unstall.Collections
{
    /// <summary>The exceptions of the standard collections, out of the way of what runs when there is none.</summary>
    internal static class Throw
    {
        internal static void Index() => throw new ArgumentOutOfRangeException("index", "Index was out of range. Must be non-negative and less than the size of the collection.");

        internal static void OutOfRange(string parameter) => throw new ArgumentOutOfRangeException(parameter);

        internal static void Null(string parameter) => throw new ArgumentNullException(parameter);

        internal static void TooShort() => throw new ArgumentException("Offset and length were out of bounds, or count is greater than the number of elements from index to the end.");

        internal static void Modified() => throw new InvalidOperationException("Collection was modified; enumeration operation may not execute.");

        internal static void NotAtElement() => throw new InvalidOperationException("Enumeration has either not started or has already finished.");

        internal static void Concurrent() => throw new InvalidOperationException("Operations that change non-concurrent collections must have exclusive access. A concurrent update was performed on this collection and corrupted its state.");

        internal static void ReadOnly() => throw new NotSupportedException("Keys and values of a dictionary cannot be changed through their collections.");

        internal static void WrongType(object? value, Type wanted, string parameter) => throw new ArgumentException($"The value \"{value}\" is not of type \"{wanted}\" and cannot be used in this generic collection.", parameter);

        /// <summary>What a value that comes as an object may be: one of T, or null if T can be.</summary>
        [return: MaybeNull]
        internal static T Cast<T>(object? value, string parameter)
        {
            if (value is T t) return t;
            if (value != null) WrongType(value, typeof(T), parameter);
            if (default(T)! != null) Null(parameter);
            return default!;
        }

        /// <summary>Checks what a non-generic CopyTo is given.</summary>
        internal static void UnlessFits(Array array, int index, int count)
        {
            if (array == null) Null(nameof(array));
            if (array!.Rank != 1) throw new ArgumentException("Only single dimensional arrays are supported for the requested action.", nameof(array));
            if (array.GetLowerBound(0) != 0) throw new ArgumentException("The lower bound of target array must be zero.", nameof(array));
            if ((uint)index > (uint)array.Length) OutOfRange(nameof(index));
            if (array.Length - index < count) TooShort();
        }

        /// <summary>Copies elements as objects, where the array is not one of T.</summary>
        internal static void CopyObjects(IEnumerable from, Array to, int index)
        {
            if (!(to is object?[] objects)) throw new ArgumentException("Target array type is not compatible with the type of items in the collection.", "array");
            try
            {
                foreach (object? o in from) objects[index++] = o;
            }
            catch (ArrayTypeMismatchException)
            {
                throw new ArgumentException("Target array type is not compatible with the type of items in the collection.", "array");
            }
        }
    }
}
