using System.Collections.Generic;

namespace Tracker
{
    // What a client may see: the ids of its tasks, in order.
    public interface IClientCaches
    {
        IReadOnlyList<int> Compute(int user);
    }

    // The cache of a client, of the collections that everybody uses.
    public sealed class StandardCaches : IClientCaches
    {
        private readonly TaskStore store;

        public StandardCaches(TaskStore store) => this.store = store;

        public IReadOnlyList<int> Compute(int user)
        {
            var visible = new HashSet<int>();
            foreach (var list in Client.Lists(user))
                foreach (var part in store.List(list))
                    visible.UnionWith(part);
            var ordered = new List<int>();
            foreach (var id in visible)
                if (Client.Sees(user, store[id]))
                    ordered.Add(id);
            ordered.Sort();
            return ordered;
        }
    }

    public static class Client
    {
        // The lists of a user's teams: three to seven.
        public static IEnumerable<int> Lists(int user)
        {
            for (var i = 0; i < 3 + user % 5; i++)
                yield return user * 31 + i * 11;
        }

        public static bool Sees(int user, TrackedTask task) => task.Comments.Count > 0 && task.Id % 101 != user % 101;
    }
}
