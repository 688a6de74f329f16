using System.Collections.Generic;

namespace Tracker
{
    // A task with what is said about it.
    public sealed class TrackedTask
    {
        public int Id;
        public string Title;
        public TrackedTask Parent;
        public List<Comment> Comments;
    }

    public sealed class Comment
    {
        public string Author;
        public string Text;
    }

    // All tasks of all teams, in memory for good, and which of them each list holds.
    public sealed class TaskStore
    {
        public const int Lists = 64;

        private readonly TrackedTask[][] pages;
        private readonly int[][][] lists; // list, part of it, ids of tasks
        private const int Page = 4096;

        public TaskStore(int tasks)
        {
            Count = tasks;
            pages = new TrackedTask[(tasks + Page - 1) / Page][];
            for (var id = 0; id < tasks; id++)
            {
                if (id % Page == 0)
                    pages[id / Page] = new TrackedTask[Page];
                pages[id / Page][id % Page] = new TrackedTask
                {
                    Id = id,
                    Title = "Task " + id,
                    Parent = id > 0 ? this[id / 2] : null,
                    Comments = new List<Comment> { new Comment { Author = "user " + id % 997, Text = "Comment on " + id }, new Comment { Author = "user " + id % 991, Text = "Done" } },
                };
            }
            lists = new int[Lists][][];
            for (var list = 0; list < Lists; list++)
                lists[list] = Part(list, 12_000 + list % 8 * 3_000);
        }

        public int Count { get; }

        public TrackedTask this[int id] => pages[id / Page][id % Page];

        // The ids of a list's tasks, in parts that are each small.
        public int[][] List(int list) => lists[list % Lists];

        private int[][] Part(int list, int count)
        {
            const int part = 8_000;
            var parts = new int[(count + part - 1) / part][];
            var id = (uint)list * 7919;
            for (var i = 0; i < parts.Length; i++)
            {
                parts[i] = new int[System.Math.Min(part, count - i * part)];
                for (var k = 0; k < parts[i].Length; k++)
                    parts[i][k] = (int)((id += 7 + (uint)k % 5) % (uint)Count);
            }
            return parts;
        }
    }
}
