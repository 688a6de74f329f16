using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;

namespace LampOil
{
    // The depot's book, which speaks lines over TCP. Calls wait for the answer; connections
    // are kept.
    public sealed class Depot
    {
        readonly string host;
        readonly int port;
        readonly ConcurrentBag<(StreamReader, StreamWriter)> idle = new ConcurrentBag<(StreamReader, StreamWriter)>();

        public Depot(string address)
        {
            string[] at = address.Split(':');
            (host, port) = (at[0], int.Parse(at[1]));
        }

        public string Ask(string line)
        {
            if (!idle.TryTake(out var conn))
            {
                var client = new TcpClient(host, port) { NoDelay = true };
                conn = (new StreamReader(client.GetStream()), new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true });
            }
            (StreamReader answers, StreamWriter asks) = conn;
            asks.WriteLine(line);
            string answer = answers.ReadLine() ?? throw new IOException("the depot is closed");
            idle.Add(conn);
            return answer;
        }
    }
}
