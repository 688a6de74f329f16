using System;
using System.Collections;
using System.Collections.Generic;

namespace Unstall.Collections
{
    // What the interfaces ask beyond that.
    public sealed partial class ChunkedDictionary<TKey, TValue>
    {
        bool ICollection<KeyValuePair<TKey, TValue>>.IsReadOnly => false;

        bool IDictionary.IsReadOnly => false;

        bool IDictionary.IsFixedSize => false;

        bool ICollection.IsSynchronized => false;

        object ICollection.SyncRoot => this;

        void ICollection<KeyValuePair<TKey, TValue>>.Add(KeyValuePair<TKey, TValue> pair) => Add(pair.Key, pair.Value);

        bool ICollection<KeyValuePair<TKey, TValue>>.Contains(KeyValuePair<TKey, TValue> pair)
        {
            int i = Find(pair.Key);
            return i >= 0 && EqualityComparer<TValue>.Default.Equals(_entries[i >> Shift][i & Mask].Value, pair.Value);
        }

        bool ICollection<KeyValuePair<TKey, TValue>>.Remove(KeyValuePair<TKey, TValue> pair)
        {
            int i = Find(pair.Key);
            if (i < 0 || !EqualityComparer<TValue>.Default.Equals(_entries[i >> Shift][i & Mask].Value, pair.Value)) return false;
            RemoveEntry(i);
            return true;
        }

        void ICollection<KeyValuePair<TKey, TValue>>.CopyTo(KeyValuePair<TKey, TValue>[] array, int index)
        {
            Throw.UnlessFits(array, index, Count);
            foreach (KeyValuePair<TKey, TValue> pair in this) array[index++] = pair;
        }

        void ICollection.CopyTo(Array array, int index)
        {
            Throw.UnlessFits(array, index, Count);
            switch (array)
            {
                case KeyValuePair<TKey, TValue>[] pairs:
                    foreach (KeyValuePair<TKey, TValue> pair in this) pairs[index++] = pair;
                    break;
                case DictionaryEntry[] entries:
                    foreach (KeyValuePair<TKey, TValue> pair in this) entries[index++] = new DictionaryEntry(pair.Key, pair.Value);
                    break;
                default:
                    Throw.CopyObjects(this, array, index);
                    break;
            }
        }

        object? IDictionary.this[object key]
        {
            get => key is TKey k && TryGetValue(k, out TValue value) ? value : key == null ? throw new ArgumentNullException(nameof(key)) : (object?)null;
            set
            {
                CheckPair(key, value);
                this[Throw.Cast<TKey>(key, nameof(key))!] = Throw.Cast<TValue>(value, nameof(value))!;
            }
        }

        void IDictionary.Add(object key, object? value)
        {
            CheckPair(key, value);
            Add(Throw.Cast<TKey>(key, nameof(key))!, Throw.Cast<TValue>(value, nameof(value))!);
        }

        static void CheckPair(object key, object? value)
        {
            if (key == null) Throw.Null(nameof(key));
            if (value == null && default(TValue)! != null) Throw.Null(nameof(value));
        }

        bool IDictionary.Contains(object key)
        {
            if (key == null) Throw.Null(nameof(key));
            return key is TKey k && ContainsKey(k);
        }

        void IDictionary.Remove(object key)
        {
            if (key == null) Throw.Null(nameof(key));
            if (key is TKey k) Remove(k);
        }
    }

    /// <summary>What a debugger shows of a dictionary.</summary>
    internal sealed class DictionaryView<TKey, TValue> where TKey : notnull
    {
        readonly ICollection<KeyValuePair<TKey, TValue>> _dictionary;

        public DictionaryView(ICollection<KeyValuePair<TKey, TValue>> dictionary) => _dictionary = dictionary;

        [System.Diagnostics.DebuggerBrowsable(System.Diagnostics.DebuggerBrowsableState.RootHidden)]
        public KeyValuePair<TKey, TValue>[] Items
        {
            get
            {
                var items = new KeyValuePair<TKey, TValue>[_dictionary.Count];
                _dictionary.CopyTo(items, 0);
                return items;
            }
        }
    }
}
