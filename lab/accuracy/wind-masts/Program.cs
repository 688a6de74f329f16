using System;
using System.Collections.Concurrent;
using System.IO;
using System.Linq;
using System.Net.Sockets;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace WindMasts
{
    // Knows the wind at each mast, as it was when a timer last read it. A mast takes 350 ms to
    // answer, and all are asked at once, on threads of the pool. With FAULT=0 one thread asks one
    // after the other.
    public sealed class Mast
    {
        readonly string host;
        readonly int port;
        readonly ConcurrentBag<(StreamReader, StreamWriter)> lines = new ConcurrentBag<(StreamReader, StreamWriter)>();

        public Mast(string address)
        {
            string[] at = address.Split(':');
            (host, port) = (at[0], int.Parse(at[1]));
        }

        public int Knots { get; private set; } = 8;

        public void Read()
        {
            if (!lines.TryTake(out var line))
            {
                NetworkStream stream = new TcpClient(host, port) { NoDelay = true }.GetStream();
                line = (new StreamReader(stream), new StreamWriter(stream) { NewLine = "\n", AutoFlush = true });
            }
            line.Item2.WriteLine("GET wind");
            Knots = 5 + line.Item1.ReadLine().Length % 30;
            lines.Add(line);
        }
    }

    public static class Program
    {
        static readonly TimeSpan each = TimeSpan.FromSeconds(1);

        public static void Main()
        {
            Mast[] masts = Enumerable.Range(0, 8).Select(_ => new Mast(Environment.GetEnvironmentVariable("ADDR_MAST"))).ToArray();
            Timer[] timers = Environment.GetEnvironmentVariable("FAULT") == "0" ? ReadInTurn(masts) : masts.Select(mast => new Timer(_ => mast.Read(), null, each, each)).ToArray();

            new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.Map("/wind", wind => wind.Run(context =>
                {
                    int mast = int.Parse(context.Request.Path.Value.Trim('/'));
                    return context.Response.WriteAsync(masts[mast].Knots + " kn");
                })))
                .Build()
                .Run();
            GC.KeepAlive(timers);
        }

        static Timer[] ReadInTurn(Mast[] masts)
        {
            new Thread(() =>
            {
                while (true)
                    foreach (Mast mast in masts)
                        mast.Read();
            }) { IsBackground = true }.Start();
            return Array.Empty<Timer>();
        }
    }
}
