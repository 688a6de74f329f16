using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Sockets;
using System.Threading;

namespace LetterSorting
{
    // Sorts letters on threads of its own. Who brings a letter waits until there is room in
    // the queue, then until it is sorted. There are two sorting threads; with FAULT=0 twelve.
    public sealed class SortingHall
    {
        const int Room = 40;

        readonly Queue<Letter> queue = new Queue<Letter>();
        readonly string[] machine;

        public SortingHall(string machine, int threads)
        {
            this.machine = machine.Split(':');
            for (int n = 0; n < threads; n++)
                new Thread(SortAll) { IsBackground = true, Name = "sorter " + n }.Start();
        }

        public string Bring(string address)
        {
            var letter = new Letter { Address = address };
            lock (queue)
            {
                while (queue.Count >= Room)
                    Monitor.Wait(queue);
                queue.Enqueue(letter);
                Monitor.PulseAll(queue);
            }
            return letter.AwaitBag();
        }

        void SortAll()
        {
            using var client = new TcpClient(machine[0], int.Parse(machine[1])) { NoDelay = true };
            var answers = new StreamReader(client.GetStream());
            var orders = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
            while (true)
            {
                Letter letter;
                lock (queue)
                {
                    while (queue.Count == 0)
                        Monitor.Wait(queue);
                    letter = queue.Dequeue();
                    Monitor.PulseAll(queue);
                }
                orders.WriteLine("SORT " + letter.Address);
                letter.PutInto(answers.ReadLine());
            }
        }

        sealed class Letter
        {
            public string Address;

            string bag;

            public string AwaitBag()
            {
                lock (this)
                {
                    while (bag == null)
                        Monitor.Wait(this);
                    return bag;
                }
            }

            public void PutInto(string found)
            {
                lock (this)
                {
                    bag = found;
                    Monitor.Pulse(this);
                }
            }
        }
    }
}
