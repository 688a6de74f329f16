using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace HarpStrings
{
    // A connection to the workshop.
    public sealed class Line
    {
        readonly StreamReader said;
        readonly StreamWriter write;

        public Line(string[] at)
        {
            var client = new TcpClient(at[0], int.Parse(at[1])) { NoDelay = true };
            said = new StreamReader(client.GetStream());
            write = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
        }

        public async Task<string> Ask(string what)
        {
            await write.WriteLineAsync(what);
            return await said.ReadLineAsync();
        }
    }

    // Tunes harps. There is one fork, and one harp is tuned by it at a time. With FAULT=0 there
    // are thirty forks.
    public sealed class Tuner
    {
        readonly SemaphoreSlim forks = Environment.GetEnvironmentVariable("FAULT") == "0" ? new SemaphoreSlim(30, 30) : new SemaphoreSlim(1, 1);
        readonly ConcurrentBag<Line> lines = new ConcurrentBag<Line>();
        readonly ConcurrentDictionary<string, int> tuned = new ConcurrentDictionary<string, int>();

        public Tuner(string address)
        {
            for (int i = 0; i < 30; i++)
                lines.Add(new Line(address.Split(':')));
        }

        public int Tuned(string harp) => tuned.TryGetValue(harp, out int times) ? times : 0;

        public async Task<string> Tune(string harp)
        {
            await forks.WaitAsync();
            try
            {
                lines.TryTake(out Line line);
                string said = await line.Ask("TUNE " + harp);
                lines.Add(line);
                tuned.AddOrUpdate(harp, 1, (_, times) => times + 1);
                return said;
            }
            finally
            {
                forks.Release();
            }
        }
    }

    public static class Program
    {
        public static Task Main()
        {
            var tuner = new Tuner(Environment.GetEnvironmentVariable("ADDR_WORKSHOP"));
            return new HostBuilder()
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHost(web => web
                    .UseKestrel()
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                    .Configure(app =>
                    {
                        app.Map("/tune", at => at.Run(async c => await c.Response.WriteAsync(await tuner.Tune(c.Request.Path.Value.Trim('/')))));
                        app.Map("/harp", at => at.Run(c => c.Response.WriteAsync("tuned " + tuner.Tuned(c.Request.Path.Value.Trim('/')) + " times")));
                    }))
                .Build()
                .RunAsync();
        }
    }
}
