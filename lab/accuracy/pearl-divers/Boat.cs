using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

namespace PearlDivers
{
    // The boat answers by callbacks. Lines to it have a thread each, which calls back; there
    // are as many as callers at once.
    public sealed class Boat
    {
        readonly string host;
        readonly int port;
        readonly ConcurrentBag<BoatLine> idle = new ConcurrentBag<BoatLine>();

        public Boat(string address)
        {
            string[] at = address.Split(':');
            (host, port) = (at[0], int.Parse(at[1]));
        }

        // Depth is the facade for who wants no callback.
        public int Depth(string diver)
        {
            using var answered = new ManualResetEventSlim();
            int fathoms = 0;
            BeginDepth(diver, depth =>
            {
                fathoms = depth;
                answered.Set();
            });
            answered.Wait();
            return fathoms;
        }

        public Task<int> DepthAsync(string diver)
        {
            var answer = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
            BeginDepth(diver, answer.SetResult);
            return answer.Task;
        }

        void BeginDepth(string diver, Action<int> then)
        {
            if (!idle.TryTake(out BoatLine line))
                line = new BoatLine(host, port);
            line.Ask(diver, depth =>
            {
                idle.Add(line);
                then(depth);
            });
        }
    }

    sealed class BoatLine
    {
        readonly StreamWriter ask;
        readonly StreamReader answers;
        Action<int> then;

        public BoatLine(string host, int port)
        {
            NetworkStream stream = new TcpClient(host, port) { NoDelay = true }.GetStream();
            ask = new StreamWriter(stream) { NewLine = "\n", AutoFlush = true };
            answers = new StreamReader(stream);
            new Thread(Receive) { Name = "boat-line", IsBackground = true }.Start();
        }

        public void Ask(string diver, Action<int> then)
        {
            Volatile.Write(ref this.then, then);
            ask.WriteLine("GET diver-" + diver);
        }

        void Receive()
        {
            while (answers.ReadLine() is string line)
                Volatile.Read(ref then)(line.Length % 40);
        }
    }
}
