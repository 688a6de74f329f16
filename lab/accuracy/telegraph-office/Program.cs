using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Runtime.Loader;
using System.Threading;

namespace TelegraphOffice
{
    // Takes telegrams by a protocol of lines over TCP, a thread for each operator's line:
    //   SEND station text    is answered with the telegram's number
    //   FETCH number         with its text
    //   ROUTE from to        with what it costs
    public sealed class Office
    {
        readonly TcpListener listener;
        readonly Network network;
        readonly ConcurrentDictionary<long, string> telegrams = new ConcurrentDictionary<long, string>();
        long number;

        public Office(IPEndPoint at, Network network)
        {
            listener = new TcpListener(at);
            this.network = network;
        }

        public void Run()
        {
            listener.Start(64);
            for (int n = 1; ; n++)
            {
                TcpClient client = listener.AcceptTcpClient();
                client.NoDelay = true;
                new Thread(() => Serve(client)) { IsBackground = true, Name = "line " + n }.Start();
            }
        }

        void Serve(TcpClient client)
        {
            using (client)
            using (var lines = new StreamReader(client.GetStream()))
            using (var answers = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true })
            {
                try
                {
                    for (string line = lines.ReadLine(); line != null; line = lines.ReadLine())
                        answers.WriteLine(Answer(line));
                }
                catch (IOException)
                {
                    // The operator hung up.
                }
            }
        }

        string Answer(string line)
        {
            string[] words = line.Split(' ', 3);
            switch (words[0])
            {
                case "SEND" when words.Length == 3:
                    return "NUMBER " + Take(words[1] + ": " + words[2]);
                case "FETCH" when words.Length == 2 && long.TryParse(words[1], out long wanted):
                    return telegrams.TryGetValue(wanted, out string text) ? "TEXT " + text : "NONE";
                case "ROUTE" when words.Length == 3 && int.TryParse(words[1], out int from) && int.TryParse(words[2], out int to):
                    return "COST " + network.Route(from, to);
                default:
                    return "WHAT";
            }
        }

        long Take(string text)
        {
            long mine = Interlocked.Increment(ref number);
            telegrams[mine] = text;
            telegrams.TryRemove(mine - 5000, out _);
            return mine;
        }
    }

    public static class Program
    {
        public static void Main()
        {
            AssemblyLoadContext.Default.Unloading += _ => Environment.Exit(0);
            string[] at = Environment.GetEnvironmentVariable("ADDR").Split(':');
            new Office(new IPEndPoint(IPAddress.Parse(at[0]), int.Parse(at[1])), new Network()).Run();
        }
    }
}
