using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using Microsoft.Extensions.Logging;

namespace PawnShop
{
    // Ships lines of the log to a collector, one by one, so that none is lost: each is
    // acknowledged before the next. A few may wait for the thread that does it; who logs
    // when there is no room stands until there is. With FAULT=0 a line is dropped then.
    public sealed class LogShipper : ILoggerProvider
    {
        static readonly bool Drops = Environment.GetEnvironmentVariable("FAULT") == "0";

        readonly BlockingCollection<string> lines = new BlockingCollection<string>(8);
        readonly StreamReader acknowledged;
        readonly StreamWriter shipped;

        public LogShipper(string collector)
        {
            string[] at = collector.Split(':');
            var client = new TcpClient(at[0], int.Parse(at[1])) { NoDelay = true };
            acknowledged = new StreamReader(client.GetStream());
            shipped = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
            new Thread(Ship) { IsBackground = true, Name = "log shipper" }.Start();
        }

        void Ship()
        {
            foreach (string line in lines.GetConsumingEnumerable())
            {
                shipped.WriteLine(line);
                acknowledged.ReadLine();
            }
        }

        void Enqueue(string line)
        {
            if (Drops)
                lines.TryAdd(line);
            else
                lines.Add(line);
        }

        public ILogger CreateLogger(string category) => new Logger(this, category);

        public void Dispose() => lines.CompleteAdding();

        sealed class Logger : ILogger
        {
            readonly LogShipper shipper;
            readonly string category;

            public Logger(LogShipper shipper, string category)
            {
                this.shipper = shipper;
                this.category = category;
            }

            public IDisposable BeginScope<T>(T state) => null;

            public bool IsEnabled(LogLevel level) => level >= LogLevel.Information;

            public void Log<T>(LogLevel level, EventId id, T state, Exception error, Func<T, Exception, string> format)
            {
                if (IsEnabled(level))
                    shipper.Enqueue(DateTime.UtcNow.ToString("O") + " " + level + " " + category + " " + format(state, error).Replace('\n', ' '));
            }
        }
    }
}
