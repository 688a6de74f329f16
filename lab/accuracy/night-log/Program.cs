using System;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.IO;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace NightLog
{
    // Entries of a night porter's log, in a file of each department. Every line of an entry is
    // on the disk before the next is written. With FAULT=0 they are in the kernel's memory,
    // and the disk gets them when it may.
    public sealed class Journal
    {
        static readonly bool Durable = Environment.GetEnvironmentVariable("FAULT") != "0";

        // So many lines that an entry takes about 20 ms where each is flushed, whatever the disk: one is fast, another slow.
        static readonly int Lines = Math.Max(4, Math.Min(2000, (int)(20 / FlushMilliseconds())));

        readonly ConcurrentDictionary<string, FileStream> files = new ConcurrentDictionary<string, FileStream>();

        static double FlushMilliseconds()
        {
            using (var file = new FileStream("trial.log", FileMode.Create, FileAccess.Write, FileShare.Read, 1))
            {
                var took = new double[64];
                for (int n = 0; n < took.Length; n++)
                {
                    var watch = Stopwatch.StartNew();
                    file.Write(new byte[330], 0, 330);
                    file.Flush(flushToDisk: true);
                    took[n] = watch.Elapsed.TotalMilliseconds;
                }
                Array.Sort(took);
                return took[took.Length / 2];
            }
        }

        public long Append(string department, string entry)
        {
            byte[] line = Encoding.UTF8.GetBytes(DateTime.UtcNow.ToString("O") + " " + entry.PadRight(300) + "\n");
            FileStream file = files.GetOrAdd(department, name => new FileStream(name + ".log", FileMode.Append, FileAccess.Write, FileShare.Read, 1));
            lock (file)
            {
                for (int n = 0; n < Lines; n++)
                {
                    file.Write(line, 0, line.Length);
                    file.Flush(flushToDisk: Durable);
                }
                return file.Position;
            }
        }
    }

    public static class Program
    {
        public static void Main()
        {
            var journal = new Journal();
            Host.CreateDefaultBuilder()
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .Configure(app => app.Run(context =>
                    {
                        string[] path = context.Request.Path.Value.Split('/');
                        return context.Response.WriteAsync(journal.Append(path[1], path[2]).ToString());
                    })))
                .Build()
                .Run();
        }
    }
}
