using System.Collections.Generic;

namespace Tracker
{
    // What was answered to each user, up to a size: it grows at first, and then no more.
    public sealed class Recent
    {
        private const int Each = 64 << 10;

        private readonly long most;
        private readonly Dictionary<int, byte[]> answers = new Dictionary<int, byte[]>();
        private readonly Queue<int> order = new Queue<int>();

        public Recent(long most) => this.most = most;

        public void Keep(int user)
        {
            if (most == 0)
                return;
            lock (answers)
            {
                if (answers.ContainsKey(user))
                    return;
                answers[user] = new byte[Each + user % 1000];
                order.Enqueue(user);
                while ((long)order.Count * Each > most)
                    answers.Remove(order.Dequeue());
            }
        }
    }
}
