using System.Collections.Generic;

namespace StampAlbum
{
    // A page of an album, read from the archive when it is first asked for.
    public sealed class Page
    {
        public int Number { get; }
        public IReadOnlyList<Stamp> Stamps { get; }

        public Page(int number, IReadOnlyList<Stamp> stamps)
        {
            Number = number;
            Stamps = stamps;
        }
    }

    public sealed class Stamp
    {
        public string Country { get; set; }
        public string Motif { get; set; }
        public int Year { get; set; }
        public byte[] Thumbnail { get; set; }
    }

    // Pages that were used last, up to a number of them.
    public sealed class Album
    {
        readonly int room;
        readonly Dictionary<int, LinkedListNode<Page>> pages = new Dictionary<int, LinkedListNode<Page>>();
        readonly LinkedList<Page> used = new LinkedList<Page>();

        public Album(int room) => this.room = room;

        public int Count
        {
            get
            {
                lock (used)
                    return pages.Count;
            }
        }

        public Page Get(int number)
        {
            lock (used)
            {
                if (!pages.TryGetValue(number, out LinkedListNode<Page> at))
                    return null;
                used.Remove(at);
                used.AddFirst(at);
                return at.Value;
            }
        }

        public void Add(Page page)
        {
            lock (used)
            {
                if (pages.ContainsKey(page.Number))
                    return;
                pages[page.Number] = used.AddFirst(page);
                if (pages.Count <= room)
                    return;
                pages.Remove(used.Last.Value.Number);
                used.RemoveLast();
            }
        }
    }
}
