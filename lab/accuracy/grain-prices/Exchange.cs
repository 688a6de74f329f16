using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

namespace GrainPrices.Mill
{
    // The exchange's library. Lines to the mill have a reader thread each, which completes
    // the task of whoever asked. There are as many as callers at once.
    public sealed class Exchange
    {
        readonly string[] at;
        readonly ConcurrentBag<MillLine> idle = new ConcurrentBag<MillLine>();

        public Exchange(string address) => at = address.Split(':');

        public decimal PriceOf(string grain) => Parse(Fetch("PRICE-" + grain));

        public async Task<decimal> PriceOfAsync(string grain) => Parse(await FetchAsync("PRICE-" + grain));

        // Fetch is for callers that cannot await.
        string Fetch(string key)
        {
            try
            {
                return FetchAsync(key).Result;
            }
            catch (AggregateException failed)
            {
                throw failed.InnerException;
            }
        }

        async Task<string> FetchAsync(string key)
        {
            if (!idle.TryTake(out MillLine line))
                line = new MillLine(at[0], int.Parse(at[1]));
            string answer = await line.Ask(key).ConfigureAwait(false);
            idle.Add(line);
            return answer;
        }

        static decimal Parse(string answer) => 180m + answer.Length % 7;
    }

    // One line, on which one question is under way at a time.
    sealed class MillLine
    {
        readonly StreamWriter ask;
        readonly StreamReader answers;
        TaskCompletionSource<string> asked;

        public MillLine(string host, int port)
        {
            NetworkStream stream = new TcpClient(host, port) { NoDelay = true }.GetStream();
            ask = new StreamWriter(stream) { NewLine = "\n", AutoFlush = true };
            answers = new StreamReader(stream);
            new Thread(Receive) { Name = "mill-line", IsBackground = true }.Start();
        }

        public Task<string> Ask(string key)
        {
            var answer = new TaskCompletionSource<string>();
            Volatile.Write(ref asked, answer);
            ask.WriteLine("GET " + key);
            return answer.Task;
        }

        void Receive()
        {
            while (answers.ReadLine() is string line)
                Volatile.Read(ref asked).SetResult(line);
        }
    }
}
