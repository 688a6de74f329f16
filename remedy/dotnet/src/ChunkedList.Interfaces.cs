using System;
using System.Collections;
using System.Collections.Generic;

namespace Unstall.Collections
{
    // What the non-generic interfaces ask.
    public sealed partial class ChunkedList<T>
    {
        bool ICollection<T>.IsReadOnly => false;

        bool IList.IsReadOnly => false;

        bool IList.IsFixedSize => false;

        bool ICollection.IsSynchronized => false;

        object ICollection.SyncRoot => this;

        object? IList.this[int index]
        {
            get => this[index];
            set => this[index] = Throw.Cast<T>(value, nameof(value))!;
        }

        int IList.Add(object? value)
        {
            Add(Throw.Cast<T>(value, "item")!);
            return _count - 1;
        }

        void IList.Insert(int index, object? value) => Insert(index, Throw.Cast<T>(value, "item")!);

        void IList.Remove(object? value)
        {
            if (CanBe(value)) Remove((T)value!);
        }

        bool IList.Contains(object? value) => CanBe(value) && Contains((T)value!);

        int IList.IndexOf(object? value) => CanBe(value) ? IndexOf((T)value!) : -1;

        static bool CanBe(object? value) => value is T || value == null && default(T)! == null;

        void ICollection.CopyTo(Array array, int arrayIndex)
        {
            Throw.UnlessFits(array, arrayIndex, _count);
            if (array is T[] elements) CopyTo(elements, arrayIndex);
            else Throw.CopyObjects(this, array, arrayIndex);
        }
    }

    /// <summary>What a debugger shows of a collection.</summary>
    internal sealed class CollectionView<T>
    {
        readonly ICollection<T> _collection;

        public CollectionView(ICollection<T> collection) => _collection = collection;

        [System.Diagnostics.DebuggerBrowsable(System.Diagnostics.DebuggerBrowsableState.RootHidden)]
        public T[] Items
        {
            get
            {
                var items = new T[_collection.Count];
                _collection.CopyTo(items, 0);
                return items;
            }
        }
    }
}
