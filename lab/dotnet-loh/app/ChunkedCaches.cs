using System.Collections.Generic;
using Unstall.Collections;

namespace Tracker
{
    // The cache of a client, of collections none of whose arrays is large.
    public sealed class ChunkedCaches : IClientCaches
    {
        private readonly TaskStore store;

        public ChunkedCaches(TaskStore store) => this.store = store;

        public IReadOnlyList<int> Compute(int user)
        {
            var visible = new ChunkedHashSet<int>();
            foreach (var list in Client.Lists(user))
                foreach (var part in store.List(list))
                    visible.UnionWith(part);
            var ordered = new ChunkedList<int>();
            foreach (var id in visible)
                if (Client.Sees(user, store[id]))
                    ordered.Add(id);
            ordered.Sort();
            return ordered;
        }
    }
}
