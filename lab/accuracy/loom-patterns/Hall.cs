using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;

namespace LoomPatterns
{
    // A pattern that was ordered. Who ordered it waits until it is woven.
    public sealed class Order
    {
        readonly object woven = new object();
        string cloth;

        public readonly int Number;

        public Order(int number) => Number = number;

        public void Deliver(string cloth)
        {
            lock (woven)
            {
                this.cloth = cloth;
                Monitor.PulseAll(woven);
            }
        }

        public string Await()
        {
            lock (woven)
            {
                while (cloth == null)
                    Monitor.Wait(woven);
                return cloth;
            }
        }
    }

    // Weavers, who wait for orders, and the frames they weave on.
    public sealed class Hall
    {
        const int Width = 64;

        readonly Queue<Order> orders = new Queue<Order>();
        readonly Stack<byte[]> frames = new Stack<byte[]>();

        public Hall(int weavers)
        {
            for (int n = 0; n < weavers; n++)
            {
                frames.Push(new byte[Width * Width]);
                new Thread(Work) { IsBackground = true, Name = "weaver " + n }.Start();
            }
        }

        public string Weave(int number)
        {
            var order = new Order(number);
            lock (orders)
            {
                orders.Enqueue(order);
                Monitor.Pulse(orders);
            }
            return order.Await();
        }

        void Work()
        {
            while (true)
            {
                Order order;
                byte[] frame;
                lock (orders)
                {
                    while (orders.Count == 0)
                        Monitor.Wait(orders);
                    order = orders.Dequeue();
                    frame = frames.Pop();
                }
                order.Deliver(Fill(frame, order.Number));
                lock (orders)
                    frames.Push(frame);
            }
        }

        // Weaves from the lower edge, each thread by the two below it.
        static string Fill(byte[] frame, int number)
        {
            var random = new Random(number);
            for (int round = 0; round < 8; round++)
            {
                random.NextBytes(frame);
                for (int at = Width + 1; at < frame.Length; at++)
                    frame[at] = (byte)(frame[at - Width] ^ frame[at - Width - 1] ^ (frame[at] & 1));
            }
            var text = new StringBuilder(Width + 1);
            for (int at = frame.Length - Width; at < frame.Length; at++)
                text.Append((char)('a' + frame[at] % 26));
            return text.Append('\n').ToString();
        }
    }

    // The archive of patterns, which the foreman orders anew all day, a drawer at a time.
    public sealed class Archive
    {
        readonly SortedDictionary<int, string> drawers = new SortedDictionary<int, string>();

        public void Keep()
        {
            for (int round = 0; ; round++)
            {
                lock (drawers)
                {
                    for (int drawer = 0; drawer < 400; drawer++)
                        drawers[(drawer * 31 + round) % 900] = "patterns of year " + round;
                    Thread.Sleep(700); // walks along the shelves
                }
                Thread.Sleep(300);
            }
        }
    }
}
