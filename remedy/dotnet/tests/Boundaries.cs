using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Unstall.Collections.Tests
{
    static class Boundaries
    {
        // Sizes one by one up to several chunks and down again, looked at wherever a chunk begins or ends.
        public static long OneByOne(int seed)
        {
            int full = Chunk<int>.ListLength, most = 5 * full + 3;
            var list = new ChunkedList<int>();
            var set = new ChunkedHashSet<int>();
            var dictionary = new ChunkedDictionary<int, long>();
            long operations = 0;
            void Look(int n)
            {
                Check.Equal(n, list.Count, "list's Count");
                Check.Sequence(Enumerable.Range(0, n), list, "list");
                Check.Sequence(Enumerable.Range(0, n), set, "set, in the order of adding");
                Check.Sequence(Enumerable.Range(0, n), dictionary.Keys, "keys, in the order of adding");
                for (int i = 0; i < n; i++) Check.Equal(i, list[i], "index");
                Check.Same("index at the end", () => new List<int>(0)[0], () => list[n]);
                for (int i = 0; i < list.ChunkCount; i++) Check.Equal(Math.Min(full, n - i * full), list.GetChunk(i).Length, "length of a chunk");
                operations += 4 * n;
            }
            for (int n = 0; n <= most; n++)
            {
                if (n < 70 || (n + 2) % full < 4 || n % 1021 == 0) Look(n);
                list.Add(n);
                set.Add(n);
                dictionary.Add(n, n);
            }
            for (int n = most; n >= 0; n--)
            {
                list.RemoveAt(n);
                set.Remove(n);
                dictionary.Remove(n);
                if (n < 70 || (n + 2) % full < 4)
                {
                    Check.Sequence(Enumerable.Range(0, n), list, "list, shrinking");
                    Check.Sequence(Enumerable.Range(0, n), set, "set, shrinking");
                    list.TrimExcess();
                    Check.True(list.Capacity >= n && list.Capacity <= n + full, "Capacity, shrinking");
                    list.Insert(n / 2, -1);
                    list.RemoveAt(n / 2);
                    operations += 2 * n;
                }
            }
            return operations;
        }
    }

    static class Sizes
    {
        // All arrays a collection refers to are below 85,000 bytes, whatever the elements' size.
        public static long Run(bool all)
        {
            Fill<byte>(300_000);
            Fill<short>(300_000);
            Fill<int>(300_000);
            Fill<string>(300_000);
            Fill<decimal>(100_000);
            Fill<Three>(200_000);
            Fill<Mixed>(100_000);
            Fill<Large>(200);
            Fill<Huge>(100);
            Fill<(long, long, long, long, long, int)>(50_000);
            if (all)
            {
                Fill<Huge>(9_000);     // more chunks than are one step away
                Fill<int>(10_000_000);
                for (int i = 0; i < 9_000; i++) Check.Equal(i, _far![i].GetHashCode(), "far chunk");
            }
            return 3_000_000;
        }

        static ChunkedList<Huge>? _far;

        static void Fill<T>(int n)
        {
            var list = new ChunkedList<T>();
            var set = new ChunkedHashSet<int>();
            var dictionary = new ChunkedDictionary<int, T>();
            for (int i = 0; i < n; i++)
            {
                list.Add(typeof(T) == typeof(Huge) ? (T)(object)new Huge(i) : default!);
                set.Add(i);
                dictionary.Add(i, default!);
            }
            if (n == 9_000) _far = list as ChunkedList<Huge>;
            Look(list);
            Look(set);
            Look(dictionary);
            Look(new ChunkedList<T>(n));
            Look(new ChunkedHashSet<int>(n));
            Look(new ChunkedDictionary<int, T>(n));
            list.Capacity = 2 * n;
            Look(list);
            Check.Equal(n, set.Count, "set's Count");
            if (n == 9_000)
            {
                list.RemoveRange(8_192, n - 8_192);
                list.TrimExcess();
                list.Add(default!);
                Check.Equal(8_193, list.Count, "Count after trimming");
                list.RemoveAt(8_192);
                for (int i = 8_192; i < n; i++) list.Add((T)(object)new Huge(i));
            }
        }

        public static void Look(object o)
        {
            foreach (FieldInfo f in o.GetType().GetFields(BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public))
            {
                if (f.FieldType.IsArray || f.FieldType.IsValueType && f.FieldType.Namespace == "Unstall.Collections")
                {
                    object? value = f.GetValue(o);
                    if (value is Array array) Measure(array);
                    else if (value != null) Look(value);
                }
            }
        }

        static void Measure(Array array)
        {
            Type element = array.GetType().GetElementType()!;
            var size = (int)typeof(Unsafe).GetMethod("SizeOf")!.MakeGenericMethod(element).Invoke(null, null)!;
            Check.True((long)array.Length * size + 24 < 85_000, $"{element}[{array.Length}] has {(long)array.Length * size + 24} bytes");
            if (!element.IsArray) return;
            foreach (object? inner in array)
            {
                if (inner is Array a) Measure(a);
            }
        }
    }
}
